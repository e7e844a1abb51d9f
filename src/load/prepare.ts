/** Preparation of a load test: finds the server, buys callbacks, and signs payments, as the scenario needs them. */
import type { Clock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import {
  type BoughtCallback,
  type BoughtCallbacks,
  buyCallbacks,
  CALLBACKS_PATH,
  deleteCallbacks,
} from './bought-callbacks.ts';
import { type Endpoint, headerOf } from './connection.ts';
import type { DataCharges } from './data-operation.ts';
import { DATA_PATH, type DataQuestion, dataQuestions } from './data-questions.ts';
import { PaymentSupply } from './payments.ts';
import { callbackCounts, type LoadPlan, type LoadPorts, paymentCounts } from './plan.ts';
import { Pool } from './pool.ts';
import { receiptFaultOf } from './receipt.ts';
import { companyQuestion, detailQuestion, jsonOf, QUESTIONS, Requests, saidOf, saidWithAdvice } from './requests.ts';
import { type LoadOffer, parseOffer, Signer } from './signing.ts';
import { LoadError } from './target.ts';

/** Most companies, and most jobs, that paid requests ask about by name. */
const NAMED_COUNT = 5;

/** What a run created and must remove after it, last in, first out. */
export class CleanUp {
  readonly #acts: (() => Promise<void> | void)[] = [];

  add(act: () => Promise<void> | void): void {
    this.#acts.push(act);
  }

  async run(): Promise<void> {
    for (let act = this.#acts.pop(); act !== undefined; act = this.#acts.pop()) await act();
  }
}

export interface Server {
  readonly pool: Pool;
  readonly requests: Requests;
  readonly endpoint: Endpoint;
  /** As `/health` states it; null when it does not. */
  readonly version: string | null;
}

/** Connects to the first address that answers. @throws LoadError */
async function findServer(plan: LoadPlan, clock: Clock): Promise<Server> {
  const { target, addresses, connectionCount, timeoutMs } = plan;
  const requests = new Requests(target);
  let lastCode = '';
  for (const address of addresses) {
    const endpoint = { target, address };
    const pool = new Pool({ endpoint, clock, connectionCountMax: connectionCount, timeoutMs });
    const reply = await pool.ask(requests.get('/health'));
    if (reply.kind === 'answer') {
      const { version } = (jsonOf(reply) ?? {}) as { version?: unknown };
      return { pool, requests, endpoint, version: typeof version === 'string' ? version.slice(0, 50) : null };
    }
    pool.close();
    lastCode = reply.code;
  }
  throw new LoadError(
    lastCode === 'ECONNREFUSED'
      ? `no server listens at ${target.origin}: start it, for example with \`npm start\`, or name another address`
      : `no answer from ${target.origin}: ${lastCode}`,
  );
}

/** The offer for an unpaid request. @param name of the request, for messages @throws LoadError */
async function offerFor(name: string, request: string, pool: Pool): Promise<LoadOffer> {
  const reply = await pool.ask(request);
  const offer = reply.kind === 'answer' ? parseOffer(headerOf(reply.head, 'payment-required') ?? '') : undefined;
  if (offer !== undefined) return offer;
  throw new LoadError(`expected an offer (402) from ${name}, got ${saidWithAdvice(reply)}`);
}

/**
 * Buys one answer, which proves that a throwaway wallet can pay this server.
 * @returns its data
 * @throws LoadError
 */
async function buyData<T>(path: string, { pool, requests }: Server, clock: Clock): Promise<T | undefined> {
  const payment = new Signer(systemRandom).sign(await offerFor(path, requests.get(path), pool), clock.nowMs());
  const reply = await pool.ask(requests.get(path, { 'payment-signature': payment.header }));
  if (reply.kind === 'failure' || reply.status !== 200) {
    const advice = saidOf(reply).startsWith('402')
      ? '; throwaway wallets can pay a server with SETTLEMENT=local only'
      : '';
    throw new LoadError(`the first payment bought no answer: ${saidWithAdvice(reply)}${advice}`);
  }
  const fault = receiptFaultOf(reply, payment.payer, payment.network);
  if (fault !== undefined) throw new LoadError(`the answer to the first payment has a wrong receipt: ${fault}`);
  return ((jsonOf(reply) ?? {}) as { data?: T }).data;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Questions about companies and jobs that the server named in answers. @throws LoadError */
async function namedQuestions(server: Server, clock: Clock): Promise<readonly string[]> {
  const signals = await buyData<{ companies?: { company?: { domain?: unknown } }[] }>(
    `/v1/jobs/signals?limit=${NAMED_COUNT}`,
    server,
    clock,
  );
  const found = await buyData<{ jobs?: { id?: unknown }[] }>(`/v1/jobs/search?limit=${NAMED_COUNT}`, server, clock);
  const domains = (signals?.companies ?? []).map(({ company }) => company?.domain).filter(isText);
  const ids = (found?.jobs ?? []).map(({ id }) => id).filter(isText);
  return [...domains.slice(0, NAMED_COUNT).map(companyQuestion), ...ids.slice(0, NAMED_COUNT).map(detailQuestion)];
}

/** The callbacks of a run; the clean-up deletes them. */
class RunCallbacks {
  readonly #server: Server;
  readonly #onPhase: (text: string) => void;
  readonly #bought: BoughtCallbacks = { callbacks: [], isCapacityExhausted: false };
  /** For webhooks. */
  webhook: readonly BoughtCallback[] = [];
  /** For waits. */
  wait: readonly BoughtCallback[] = [];
  wantedCount = 0;
  createdCount = 0;
  deletedCount = 0;

  constructor(server: Server, onPhase: (text: string) => void) {
    this.#server = server;
    this.#onPhase = onPhase;
  }

  get isCapacityExhausted(): boolean {
    return this.#bought.isCapacityExhausted;
  }

  /** Buys what the plan needs. @throws LoadError */
  async buy(plan: LoadPlan, { clock, stop }: LoadPorts): Promise<void> {
    const counts = callbackCounts(plan);
    const wanted = counts.webhook + counts.wait;
    this.wantedCount = wanted;
    if (wanted === 0) return;
    const { pool, requests } = this.#server;
    const { signerCount } = plan;
    const isStopped = (): boolean => stop.aborted;
    const offers = [await offerFor(`POST ${CALLBACKS_PATH}`, requests.post(CALLBACKS_PATH, {}, ''), pool)];
    const supply = new PaymentSupply({ offers, signerCount, stockCount: wanted, plannedCount: wanted, clock });
    const { callbacks } = this.#bought;
    try {
      await supply.fill((signed, of) => this.#onPhase(`signing payments for callbacks: ${signed} of ${of}`), isStopped);
      const onProgress = (count: number): void => this.#onPhase(`buying callbacks: ${count} of ${wanted}`);
      await buyCallbacks(this.#bought, wanted, this.#server, supply, onProgress, isStopped);
    } finally {
      await supply.close();
    }
    if (callbacks.length === 0 && !isStopped()) throw new LoadError('the server has no capacity for a callback');
    this.createdCount = callbacks.length;
    // Waits first: with too few callbacks webhooks still get their refusals, but a wait without a callback cannot be held.
    this.wait = callbacks.slice(0, Math.min(counts.wait, callbacks.length));
    this.webhook = callbacks.slice(this.wait.length);
  }

  /** Deletes those that are not yet deleted. Never rejects. */
  async delete(): Promise<void> {
    const { callbacks } = this.#bought;
    if (callbacks.length > 0) this.#onPhase(`deleting ${callbacks.length} callbacks`);
    const { pool, requests } = this.#server;
    this.deletedCount += await deleteCallbacks(callbacks.splice(0), pool, requests);
  }
}

/** Paths of the paid requests, and payments for them: one offer per path, in the same order. */
export interface PaidRequests {
  readonly paths: readonly string[];
  readonly supply: PaymentSupply;
}

/** Requests to the Jobs Data API. */
export interface DataRequests {
  readonly questions: readonly DataQuestion[];
  readonly key: string;
  readonly charges: DataCharges;
}

export interface Prepared {
  readonly server: Server;
  readonly callbacks: RunCallbacks;
  /** undefined: the mix has no paid requests, or the run was stopped before. */
  readonly paid: PaidRequests | undefined;
  /** undefined: the mix has no requests with a key, or the run was stopped before. */
  readonly data: DataRequests | undefined;
}

async function preparePaid(
  plan: LoadPlan,
  server: Server,
  { clock, stop, onPhase }: LoadPorts,
  cleanUp: CleanUp,
): Promise<PaidRequests> {
  const { pool, requests } = server;
  onPhase('asking for offers');
  const paths = [...QUESTIONS, ...(await namedQuestions(server, clock))];
  const offers: LoadOffer[] = [];
  for (const path of paths) offers.push(await offerFor(path, requests.get(path), pool));
  const supply = new PaymentSupply({ offers, signerCount: plan.signerCount, ...paymentCounts(plan), clock });
  cleanUp.add(() => supply.close());
  await supply.fill(
    (signed, of) => onPhase(`signing payments: ${signed} of ${of}`),
    () => stop.aborted,
  );
  return { paths, supply };
}

/** Asks for a page of jobs, which proves the key and names jobs and companies. @throws LoadError */
async function prepareData(key: string, { pool, requests }: Server): Promise<DataRequests> {
  const path = `${DATA_PATH}/v1/jobs?limit=${NAMED_COUNT}`;
  const reply = await pool.ask(requests.get(path, { authorization: `Bearer ${key}` }));
  if (reply.kind === 'failure' || reply.status !== 200) {
    throw new LoadError(`the key bought no page of jobs: ${saidOf(reply)}`);
  }
  const { data } = (jsonOf(reply) ?? {}) as { data?: { jobs?: { id?: unknown; company_domain?: unknown }[] } };
  const jobs = data?.jobs ?? [];
  const jobIds = jobs.map(({ id }) => id).filter(isText);
  const domains = [...new Set(jobs.map(({ company_domain }) => company_domain).filter(isText))];
  return { questions: dataQuestions({ jobIds, domains }), key, charges: { charged: 0 } };
}

/** @throws LoadError when the server cannot be reached or does not sell what the scenario needs */
export async function prepare(plan: LoadPlan, ports: LoadPorts, cleanUp: CleanUp): Promise<Prepared> {
  const server = await findServer(plan, ports.clock);
  cleanUp.add(() => server.pool.close());
  const callbacks = new RunCallbacks(server, ports.onPhase);
  cleanUp.add(() => callbacks.delete());
  await callbacks.buy(plan, ports);
  const needsPayments = plan.mix.has('paid') && !ports.stop.aborted;
  const paid = needsPayments ? await preparePaid(plan, server, ports, cleanUp) : undefined;
  const needsKey = plan.mix.has('data') && plan.key !== undefined && !ports.stop.aborted;
  return { server, callbacks, paid, data: needsKey ? await prepareData(plan.key, server) : undefined };
}
