/** A customer of the paid jobs routes: asks, pays and reads, over whichever transport. */
import type { PrivateKeyAccount } from 'viem/accounts';
import { SAMPLE_SEED } from '../../src/ingest/synth/sample.ts';
import { synthRecords } from '../../src/ingest/synth/synth.ts';
import { listChanges } from '../../src/modules/jobs/changes.ts';
import { summarizeCompany } from '../../src/modules/jobs/company.ts';
import { getJob } from '../../src/modules/jobs/detail.ts';
import { describeMarket } from '../../src/modules/jobs/market.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { findSignals } from '../../src/modules/jobs/signals.ts';
import { listSkills } from '../../src/modules/jobs/skills.ts';
import { type Answer, answerOf } from './answers.ts';
import { SMALL_SAMPLE_JOB_COUNT } from './small-sample.ts';
import type { Transport } from './transport.ts';
import {
  type Changes,
  encodeHeader,
  offerFrom,
  type Payment,
  type PaymentRequired,
  paymentFor,
  wallet,
} from './wallet.ts';

export const DECLARATIONS = [
  searchJobs,
  summarizeCompany,
  findSignals,
  getJob,
  listChanges,
  listSkills,
  describeMarket,
] as const;
export const JOBS_PATHS = DECLARATIONS.map(({ path }) => path);

/** A job of the small sample, whose ids follow from its seed and size. */
export const SAMPLE_JOB_ID = firstOf(
  synthRecords({ jobs: SMALL_SAMPLE_JOB_COUNT, seed: SAMPLE_SEED, asOfMs: Date.now(), descriptions: false }),
).id;

function firstOf<T>(records: Iterable<T>): T {
  for (const record of records) return record;
  throw new Error('no record');
}

const SIGNALS_PRICE_ATOMIC = 90_000;

export class JobsClient {
  readonly transport: Transport;
  /** A company of the catalogue, for which `/v1/jobs/company` has data. */
  readonly domain: string;
  readonly search = '/v1/jobs/search?limit=1';
  readonly signals = '/v1/jobs/signals?limit=1';
  readonly company: string;
  readonly detail = `/v1/jobs/detail?id=${SAMPLE_JOB_ID}`;

  constructor(transport: Transport, domain: string) {
    this.transport = transport;
    this.domain = domain;
    this.company = `/v1/jobs/company?company=${domain}`;
  }

  /** A path of `JOBS_PATHS` with its required parameters. */
  targetOf(path: string): string {
    return [this.company, this.detail].find((target) => target.startsWith(`${path}?`)) ?? path;
  }

  /** The address of a path, as this client asks for it. */
  url(path: string): string {
    return this.transport.url + path;
  }

  async send(path: string, init?: RequestInit): Promise<Answer> {
    return answerOf(await this.transport.fetch(path, init));
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send(path, { headers });
  }

  offer(path: string, init?: RequestInit): Promise<PaymentRequired> {
    return offerFrom(this.transport.fetch(path, init));
  }

  /** A valid payment for the path, not yet sent. */
  async payment(path: string, account: PrivateKeyAccount, changes: Changes = {}): Promise<Payment> {
    return paymentFor(await this.offer(path), account, changes);
  }

  /** Sends a payment, or any text in its place. */
  pay(path: string, payment: unknown): Promise<Answer> {
    return this.get(path, { 'PAYMENT-SIGNATURE': typeof payment === 'string' ? payment : encodeHeader(payment) });
  }
}

/** A company that the catalogue has, for `/v1/jobs/company`; bought, as its customers learn it. */
export async function companyDomainFrom(
  transport: Transport,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  // If signals cannot be bought, the company routes are not tested either.
  const canBuy = variables.SNAPSHOT !== 'none' && variables.SETTLEMENT !== 'facilitator';
  if (!canBuy || Number(variables.LOCAL_BALANCE ?? SIGNALS_PRICE_ATOMIC) < SIGNALS_PRICE_ATOMIC) return 'example.com';
  const client = new JobsClient(transport, '');
  const path = '/v1/jobs/signals';
  const { text } = await client.pay(path, await client.payment(path, wallet()));
  const { data } = JSON.parse(text) as { data: { companies: { company: { domain: string | null } }[] } };
  const domain = data.companies.map(({ company }) => company.domain).find((one) => one !== null);
  if (domain === undefined || domain === null) throw new Error('the sample has no company with a domain');
  return domain;
}
