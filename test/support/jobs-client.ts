/** A running server as its customers meet it: the three paid routes, their offers, and payments for them. */
import type { PrivateKeyAccount } from 'viem/accounts';
import { summarizeCompany } from '../../src/modules/jobs/company.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { findSignals } from '../../src/modules/jobs/signals.ts';
import { type Answer, get } from '../support/answers.ts';
import { type RunningServer, type Runtime, startServer } from '../support/server.ts';
import { buy, type Changes, encodeHeader, offerOf, type Payment, paymentFor, wallet } from '../support/wallet.ts';

export const JOBS_PATHS = ['/v1/jobs/search', '/v1/jobs/company', '/v1/jobs/signals'] as const;
export const DECLARATIONS = [searchJobs, summarizeCompany, findSignals] as const;

const SIGNALS_PRICE_ATOMIC = 90_000;

export class Counter {
  readonly server: RunningServer;
  /** A company of the catalogue, so that `/v1/jobs/company` has something to say. */
  readonly domain: string;
  readonly search = '/v1/jobs/search?limit=1';
  readonly signals = '/v1/jobs/signals?limit=1';
  readonly company: string;

  constructor(server: RunningServer, domain: string) {
    this.server = server;
    this.domain = domain;
    this.company = `/v1/jobs/company?company=${domain}`;
  }

  get port(): number {
    return this.server.port;
  }

  url(path: string): string {
    return this.server.url + path;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return get(this.url(path), headers);
  }

  /** A good payment for the path, not yet sent. */
  async payment(path: string, account: PrivateKeyAccount, changes: Changes = {}): Promise<Payment> {
    return paymentFor(await offerOf(this.url(path)), account, changes);
  }

  /** Sends a payment, or any text in its place. */
  pay(path: string, payment: unknown): Promise<Answer> {
    return this.get(path, { 'PAYMENT-SIGNATURE': typeof payment === 'string' ? payment : encodeHeader(payment) });
  }
}

/** Starts a server without a usage rate; every further variable is the test's. */
export async function openCounter(runtime: Runtime, variables: Record<string, string> = {}): Promise<Counter> {
  const server = await startServer(runtime, { RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'error', ...variables });
  // Where signals cannot be bought, the company routes are of no interest either.
  const canBuy = variables.SNAPSHOT !== 'none' && variables.SETTLEMENT !== 'facilitator';
  if (!canBuy || Number(variables.LOCAL_BALANCE ?? SIGNALS_PRICE_ATOMIC) < SIGNALS_PRICE_ATOMIC) {
    return new Counter(server, 'example.com');
  }
  const response = await buy(`${server.url}/v1/jobs/signals`, wallet());
  const { data } = (await response.json()) as { data: { companies: { company: { domain: string | null } }[] } };
  const domain = data.companies.map(({ company }) => company.domain).find((one) => one !== null);
  if (domain === undefined || domain === null) throw new Error('the sample has no company with a domain');
  return new Counter(server, domain);
}
