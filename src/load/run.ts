/** One load test: finds the server, buys and signs what the scenario needs, runs, cleans up, and says what was seen. */
import type { Clock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { EVENT_COUNT_MAX, WAIT_COUNT_MAX, WAIT_SECONDS_MAX } from '../callback/limits.ts';
import { type Endpoint, headerOf } from './connection.ts';
import { buyCallbacks, CALLBACKS_PATH, deleteCallbacks, type LentCallbacks } from './lent-callbacks.ts';
import { type Kind, kindsInTurn, type Mix, type Scenario, shareOf } from './mix.ts';
import {
  healthOperation,
  type Operation,
  paidOperation,
  type Run,
  unpaidOperation,
  WaitOperation,
  webhookOperation,
} from './operations.ts';
import { Pacing } from './pacing.ts';
import { PaymentSupply } from './payments.ts';
import { Pool } from './pool.ts';
import { receiptFaultOf } from './receipt.ts';
import { Recorder } from './recorder.ts';
import { companyQuestion, jsonOf, QUESTIONS, Requests, saidOf } from './requests.ts';
import { generatorResult, type LoadResult, operationResults } from './result.ts';
import { type LoadOffer, parseOffer, Signer } from './signing.ts';
import { duration } from './summary.ts';
import { LoadError, type Target } from './target.ts';

export interface LoadPlan {
  readonly target: Target;
  /** Judged; the first that answers is used. */
  readonly addresses: readonly string[];
  readonly scenario: Scenario;
  readonly mix: Mix;
  /** Requests a second; undefined = closed loop. */
  readonly rate: number | undefined;
  readonly connectionCount: number;
  readonly durationMs: number;
  readonly warmUpMs: number;
  readonly timeoutMs: number;
  /** Waits held at a time. */
  readonly waitCount: number;
  /** Callbacks to buy; undefined = as many as the rate needs. */
  readonly callbackCount: number | undefined;
  readonly signerCount: number;
  /** Payments kept signed ahead; undefined = by rate and duration. */
  readonly signedCount: number | undefined;
}

export interface LivePicture {
  readonly elapsedMs: number;
  readonly totalMs: number;
  readonly isWarmingUp: boolean;
  /** Answers a second since the last picture. */
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly unexpectedCount: number;
  readonly inFlight: number;
}

export interface LoadPorts {
  /** Of paygrade, for the result. */
  readonly version: string;
  readonly clock: Clock;
  /** Ends the run early, with what has been seen so far. */
  readonly stop: AbortSignal;
  /** What is being prepared or cleaned up, for a live line. */
  readonly onPhase: (text: string) => void;
  readonly onPicture: (picture: LivePicture) => void;
}

const PICTURE_INTERVAL_MS = 250;
/** Callbacks that are bought where no number is given: a closed loop's, and the most for a rate. */
const CALLBACK_COUNT_CLOSED = 200;
const CALLBACK_COUNT_MAX = 1000;
/** Callbacks that waits are spread over, one wait each as long as that is enough. */
const WAIT_CALLBACK_COUNT = 200;
/** Payments signed ahead: for a closed loop so many a second of the run, in all at least and at most. */
const SIGNED_PER_SECOND_CLOSED = 400;
const SIGNED_COUNT_MIN = 64;
const SIGNED_COUNT_MAX = 10_000;
/** Companies of the sample of companies that are asked about. */
const COMPANY_COUNT = 5;
/** After the last wait was sent, so that it is held before the first webhook goes out. */
const HOLD_PAUSE_MS = 100;
/** Time for the answers to the last waits, beside their own. */
const WAIT_TIMEOUT_MS = (WAIT_SECONDS_MAX + 10) * 1000;

/** Part of the latency from which the generator's own lag is worth a word. */
const LAG_HINT_SHARE = 0.1;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Found {
  readonly pool: Pool;
  readonly endpoint: Endpoint;
  readonly version: string | null;
}

/** Connects to the first address that answers. @throws LoadError */
async function findServer(plan: LoadPlan, clock: Clock): Promise<Found> {
  const { target, addresses, connectionCount, timeoutMs } = plan;
  let said = '';
  for (const address of addresses) {
    const endpoint = { target, address };
    const pool = new Pool({ endpoint, clock, connectionCountMax: connectionCount, timeoutMs });
    const reply = await pool.ask(new Requests(target).get('/health'));
    if (reply.kind === 'answer') {
      const { version } = (jsonOf(reply) ?? {}) as { version?: unknown };
      return { pool, endpoint, version: typeof version === 'string' ? version.slice(0, 50) : null };
    }
    pool.close();
    said = reply.code;
  }
  throw new LoadError(`no answer from ${target.origin}: ${said}`);
}

const LIMITED = 'start the server with RATE_LIMIT_PER_MINUTE=0';

/** The offer for a request that is not paid for. @param name of what is bought, for people @throws LoadError */
async function offerFor(name: string, request: string, pool: Pool): Promise<LoadOffer> {
  const reply = await pool.ask(request);
  const offer = reply.kind === 'answer' ? parseOffer(headerOf(reply.head, 'payment-required') ?? '') : undefined;
  if (offer !== undefined) return offer;
  const advice = reply.kind === 'answer' && reply.status === 429 ? `; ${LIMITED}` : '';
  throw new LoadError(`expected an offer (402) from ${name}, got ${saidOf(reply)}${advice}`);
}

/**
 * Buys one answer, to see that a throwaway wallet can pay here at all, and takes from it the companies to ask about.
 * @throws LoadError
 */
async function domainsBought(pool: Pool, requests: Requests, clock: Clock): Promise<readonly string[]> {
  const path = '/v1/jobs/signals?limit=5';
  const payment = new Signer(systemRandom).sign(await offerFor(path, requests.get(path), pool), clock.nowMs());
  const reply = await pool.ask(requests.get(path, { 'payment-signature': payment.header }));
  if (reply.kind === 'failure' || reply.status !== 200) {
    const advice = saidOf(reply).startsWith('402')
      ? '; throwaway wallets can pay a server with SETTLEMENT=local only'
      : '';
    throw new LoadError(`a first payment bought no answer: ${saidOf(reply)}${advice}`);
  }
  const fault = receiptFaultOf(reply, payment.payer);
  if (fault !== undefined) throw new LoadError(`a first payment was answered with a wrong receipt: ${fault}`);
  const { data } = (jsonOf(reply) ?? {}) as { data?: { companies?: { company?: { domain?: unknown } }[] } };
  const domains = (data?.companies ?? []).map(({ company }) => company?.domain);
  return domains.filter((domain): domain is string => typeof domain === 'string').slice(0, COMPANY_COUNT);
}

/** Callbacks for webhooks and for waits: by number where one is given, else by what the rate will send. */
function callbackCounts(plan: LoadPlan): {
  readonly webhook: number;
  readonly wait: number;
  readonly waitsEach: number;
} {
  const { mix, rate, durationMs, warmUpMs, waitCount, callbackCount } = plan;
  const countFor = (kind: Kind): number => {
    if (!mix.has(kind)) return 0;
    if (callbackCount !== undefined) return callbackCount;
    if (rate === undefined) return CALLBACK_COUNT_CLOSED;
    const sentCount = (rate * shareOf(mix, kind) * (durationMs + warmUpMs)) / 1000;
    return Math.min(CALLBACK_COUNT_MAX, Math.ceil(sentCount / EVENT_COUNT_MAX) + 1);
  };
  const waitsEach = Math.min(WAIT_COUNT_MAX, Math.ceil(waitCount / WAIT_CALLBACK_COUNT));
  const wait = mix.has('wait') ? Math.max(countFor('wait'), Math.ceil(waitCount / waitsEach)) : 0;
  return { webhook: countFor('webhook'), wait, waitsEach };
}

/** Payments that a run will send at most, and those that are signed before it. */
function paymentCounts(plan: LoadPlan): { readonly plannedCount: number; readonly stockCount: number } {
  const { mix, rate, durationMs, warmUpMs, signedCount } = plan;
  const seconds = (durationMs + warmUpMs) / 1000;
  const perSecond = (rate ?? SIGNED_PER_SECOND_CLOSED) * shareOf(mix, 'paid');
  const needed = Math.ceil(perSecond * seconds) + 1;
  return {
    plannedCount: rate === undefined ? Number.POSITIVE_INFINITY : needed,
    stockCount: signedCount ?? Math.min(SIGNED_COUNT_MAX, Math.max(SIGNED_COUNT_MIN, needed)),
  };
}

/** CPU time of the sending thread, ms; of the whole process where the runtime (Node 22) knows no better. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}

/** What was made for a run and must be taken away after it, the last first. */
class CleanUp {
  readonly #acts: (() => Promise<void> | void)[] = [];

  add(act: () => Promise<void> | void): void {
    this.#acts.push(act);
  }

  async run(): Promise<void> {
    for (let act = this.#acts.pop(); act !== undefined; act = this.#acts.pop()) await act();
  }
}

/** @throws LoadError when the server cannot be reached or does not sell what the scenario needs */
export async function runLoad(plan: LoadPlan, ports: LoadPorts): Promise<LoadResult> {
  const cleanUp = new CleanUp();
  try {
    return await prepareAndRun(plan, ports, cleanUp);
  } finally {
    await cleanUp.run();
  }
}

async function prepareAndRun(plan: LoadPlan, ports: LoadPorts, cleanUp: CleanUp): Promise<LoadResult> {
  const { target, mix, connectionCount, timeoutMs, waitCount, signerCount } = plan;
  const { clock, stop, onPhase } = ports;
  const isStopped = (): boolean => stop.aborted;
  const requests = new Requests(target);
  const { pool, endpoint, version } = await findServer(plan, clock);
  cleanUp.add(() => pool.close());

  const counts = callbackCounts(plan);
  const wanted = counts.webhook + counts.wait;
  const lent: LentCallbacks = { callbacks: [], isRoomUsedUp: false };
  let deletedCount = 0;
  const giveBack = async (): Promise<void> => {
    if (lent.callbacks.length > 0) onPhase(`deleting ${lent.callbacks.length} callbacks`);
    deletedCount += await deleteCallbacks(lent.callbacks.splice(0), pool, requests);
  };
  if (wanted > 0) {
    const offers = [await offerFor(`POST ${CALLBACKS_PATH}`, requests.post(CALLBACKS_PATH, {}, ''), pool)];
    const supply = new PaymentSupply({ offers, signerCount, stockCount: wanted, plannedCount: wanted, clock });
    cleanUp.add(giveBack);
    try {
      await supply.fill((signed, of) => onPhase(`signing payments for callbacks: ${signed} of ${of}`), isStopped);
      const buying = { pool, requests, supply, offerIndex: 0 };
      await buyCallbacks(
        lent,
        wanted,
        buying,
        (count) => onPhase(`buying callbacks: ${count} of ${wanted}`),
        isStopped,
      );
    } finally {
      await supply.close();
    }
    if (lent.callbacks.length === 0 && !isStopped()) throw new LoadError('the server has no room for a callback');
  }
  const createdCount = lent.callbacks.length;
  // Waits come first: too few webhook addresses are refused by their limits, a wait without one cannot be held.
  const waitCallbacks = lent.callbacks.slice(0, Math.min(counts.wait, createdCount));
  const webhookCallbacks = lent.callbacks.slice(waitCallbacks.length);

  let supply: PaymentSupply | undefined;
  let questions: readonly string[] = [];
  if (mix.has('paid') && !isStopped()) {
    onPhase('asking for offers');
    const domains = await domainsBought(pool, requests, clock);
    questions = [...QUESTIONS, ...domains.map(companyQuestion)];
    const offers: LoadOffer[] = [];
    for (const path of questions) offers.push(await offerFor(path, requests.get(path), pool));
    supply = new PaymentSupply({ offers, signerCount, ...paymentCounts(plan), clock });
    cleanUp.add(() => supply?.close());
    await supply.fill((signed, of) => onPhase(`signing payments: ${signed} of ${of}`), isStopped);
  }

  const startedAt = new Date(clock.nowMs()).toISOString();
  const recorder = new Recorder(plan.durationMs);
  const run: Run = { pool, requests, clock, recorder };
  let waits: WaitOperation | undefined;
  if (mix.has('wait') && waitCallbacks.length > 0) {
    const waitPool = new Pool({ endpoint, clock, connectionCountMax: waitCount, timeoutMs: WAIT_TIMEOUT_MS });
    cleanUp.add(() => waitPool.close());
    waits = new WaitOperation(run, {
      callbacks: waitCallbacks,
      waitPool,
      waitCount,
      waitsPerCallback: counts.waitsEach,
      timeoutMs,
    });
    waits.hold();
    await pool.ask(requests.get('/health')); // sent after the waits, so likely read after them
    await pause(HOLD_PAUSE_MS);
  }
  const operationFor = (kind: Kind): Operation => {
    switch (kind) {
      case 'health':
        return healthOperation(run);
      case 'unpaid':
        return unpaidOperation(run, QUESTIONS);
      case 'paid':
        return paidOperation(run, questions, supply!); // made above, or stopped before
      case 'webhook':
        return webhookOperation(run, webhookCallbacks);
      case 'wait':
        return waits ?? { readiness: () => 'used-up', start: () => {} };
      default:
        return kind satisfies never;
    }
  };
  const operations = new Map([...mix.keys()].map((kind) => [kind, operationFor(kind)]));

  const startMs = clock.monotonicMs();
  recorder.begin(startMs + plan.warmUpMs);
  const endMs = startMs + plan.warmUpMs + plan.durationMs;
  const pacing = new Pacing({
    rate: plan.rate,
    inFlightMax: connectionCount,
    startMs,
    endMs,
    pool,
    clock,
    operations,
    nextKind: kindsInTurn(mix),
  });
  if (supply !== undefined) supply.onStock = () => pacing.pump();
  if (waits !== undefined) waits.onHeld = () => pacing.pump();

  const cpuBeforeMs = cpuMs();
  const busyBeforeMs = supply?.busyMs ?? 0;
  const onStop = (): void => pacing.stop();
  stop.addEventListener('abort', onStop);
  const stopPictures = showPictures(pacing, recorder, startMs, endMs, plan, ports);
  if (isStopped()) pacing.stop();
  await pacing.run();
  const stoppedMs = clock.monotonicMs();
  const cpuUsedMs = cpuMs() - cpuBeforeMs;
  // Threads that the runtime does not tell apart are counted with the whole process; what they did is known.
  const signingMs = process.threadCpuUsage === undefined ? (supply?.busyMs ?? 0) - busyBeforeMs : 0;
  stopPictures();
  stop.removeEventListener('abort', onStop);

  onPhase('waiting for the last answers');
  while (pacing.inFlight > 0 && clock.monotonicMs() - stoppedMs < timeoutMs + 1000) await pause(5);
  pacing.unsent(Math.min(stoppedMs, endMs), (kind, plannedMs) => recorder.recordUnsent(kind, plannedMs, stoppedMs));
  waits?.stop();
  await giveBack();

  const runMs = Math.max(1, Math.min(stoppedMs, endMs) - startMs);
  const durationMs = Math.max(0, Math.min(stoppedMs, endMs) - startMs - plan.warmUpMs);
  const latency = recorder.latenciesOf().summary();
  const generator = generatorResult({
    cpuShare: Math.max(0, cpuUsedMs - signingMs) / runMs,
    lag: pacing.lag,
    latencyP99Us: latency?.p99 ?? 0,
    connectionsBusyShare: plan.rate === undefined ? 0 : pacing.roomBlockedMs / runMs,
    unsignedShare: pacing.unsignedMs / runMs,
    isOpenLoop: plan.rate !== undefined,
    unsentCount: recorder.unsentCount,
  });
  const result: Omit<LoadResult, 'hints'> = {
    paygrade: ports.version,
    runtime: process.versions.bun === undefined ? `Node ${process.versions.node}` : `Bun ${process.versions.bun}`,
    url: target.origin + target.basePath,
    server_version: version,
    started_at: startedAt,
    scenario: plan.scenario,
    mix: Object.fromEntries(mix),
    loop: plan.rate === undefined ? 'closed' : 'open',
    rate: plan.rate ?? null,
    connections: connectionCount,
    warmup_ms: plan.warmUpMs,
    duration_ms: Math.round(durationMs),
    ended: isStopped() ? 'interrupted' : pacing.isUsedUp ? 'nothing left to send' : 'in time',
    requests: {
      expected: recorder.expectedCount,
      unexpected: recorder.unexpectedCount,
      unsent: recorder.unsentCount,
      passed_over: pacing.passedOverCount,
      in_warmup: recorder.warmUpCount,
      per_second: durationMs > 0 ? Math.round((recorder.expectedCount / durationMs) * 1e5) / 100 : 0,
    },
    latency_us: latency,
    operations: operationResults(recorder),
    timeline: { stretch_ms: recorder.stretchMs, stretches: recorder.stretchesUntil(stoppedMs) },
    generator,
    payments:
      supply === undefined
        ? null
        : { signed: supply.signedCount, sent: supply.takenCount, expired: supply.expiredCount },
    callbacks:
      wanted === 0
        ? null
        : { created: createdCount, deleted: deletedCount, waits_held: waits === undefined ? 0 : waitCount },
  };
  return { ...result, hints: hintsOn(result, lent.isRoomUsedUp) };
}

function showPictures(
  pacing: Pacing,
  recorder: Recorder,
  startMs: number,
  endMs: number,
  { warmUpMs }: LoadPlan,
  { clock, onPicture }: LoadPorts,
): () => void {
  let lastMs = startMs;
  let lastCount = 0;
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    const count = recorder.warmUpCount + recorder.expectedCount + recorder.unexpectedCount;
    const recent = recorder.memoizeRecent();
    onPicture({
      elapsedMs: nowMs - startMs,
      totalMs: endMs - startMs,
      isWarmingUp: nowMs < startMs + warmUpMs,
      perSecond: ((count - lastCount) * 1000) / (nowMs - lastMs),
      p50Us: recent?.p50 ?? 0,
      p99Us: recent?.p99 ?? 0,
      unexpectedCount: recorder.unexpectedCount,
      inFlight: pacing.inFlight,
    });
    lastMs = nowMs;
    lastCount = count;
  }, PICTURE_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Advice on what is seen in the answers, each piece once. */
function hintsOn(result: Omit<LoadResult, 'hints'>, isRoomUsedUp: boolean): readonly string[] {
  const hints: string[] = [];
  const has = (operations: readonly Kind[], outcome: string): boolean =>
    result.operations.some(
      (each) => operations.includes(each.operation) && each.outcomes.some((seen) => seen.outcome === outcome),
    );
  if (has(['unpaid', 'paid'], '429 RATE_LIMIT_EXCEEDED')) {
    hints.push(`the server counts requests per client address (429): ${LIMITED}`);
  }
  if (has(['webhook'], '410 CALLBACK_EVENT_LIMIT_REACHED')) {
    hints.push('webhooks beyond the tenth of a callback are refused (410, 429), as they should be: more --callbacks');
  }
  if (has(['paid'], '402 PAYMENT_NOT_SETTLED')) {
    hints.push('payments were not settled: the play ledger must lend each wallet a dollar (LOCAL_BALANCE=1000000)');
  }
  const lagP99Us = result.generator.lag_us?.p99 ?? 0;
  if (!result.generator.was_the_limit && lagP99Us > Math.max(1000, LAG_HINT_SHARE * (result.latency_us?.p99 ?? 0))) {
    hints.push(`part of the latency is the generator's own lag (p99 ${duration(lagP99Us)}): the machine is busy`);
  }
  if (isRoomUsedUp) hints.push('the server had no room for all the callbacks: CALLBACK_BYTES bounds them');
  if (result.ended === 'nothing left to send') {
    hints.push('every callback has had its ten events before the time was over: more --callbacks, or a lower --rate');
  }
  return hints;
}
