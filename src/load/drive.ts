/** The run itself: holds waits, sends requests as the pacing says, and measures the generator's own share. */
import { setTimeout } from 'node:timers/promises';
import { isoTime } from '../base/iso-time.ts';
import { WAIT_SECONDS_MAX } from '../callback/limits.ts';
import { dataOperation } from './data-operation.ts';
import { type Kind, kindsInTurn } from './mix.ts';
import type { Operation, Run } from './operation.ts';
import { healthOperation, paidOperation, unpaidOperation, webhookOperation } from './operations.ts';
import { Pacing } from './pacing.ts';
import { callbackCounts, type LoadPlan, type LoadPorts } from './plan.ts';
import { Pool } from './pool.ts';
import type { CleanUp, Prepared } from './prepare.ts';
import { Recorder } from './recorder.ts';
import { QUESTIONS } from './requests.ts';
import { WaitOperation } from './wait-operation.ts';

const FIGURES_INTERVAL_MS = 250;
/** Pause after the last wait was sent, so that the server holds it before the first webhook goes out. */
const HOLD_PAUSE_MS = 100;
/** Longest time for the answer to a wait, including an allowance for the network. */
const WAIT_TIMEOUT_MS = (WAIT_SECONDS_MAX + 10) * 1000;
/** Grace for answers beyond the timeout of a request. */
const LAST_ANSWERS_GRACE_MS = 1000;

/** What the run measured. */
export interface Driven {
  readonly startedAt: string;
  readonly recorder: Recorder;
  readonly pacing: Pacing;
  /** Warm-up and measured part, at least 1. */
  readonly runMs: number;
  /** Measured part. */
  readonly durationMs: number;
  /** `stop` ended the sending, or the wait for last answers that then had not all come. */
  readonly isInterrupted: boolean;
  /** When sending ended, by the monotonic clock. */
  readonly stoppedMs: number;
  /** CPU time of the sending thread. */
  readonly cpuMs: number;
  readonly areWaitsHeld: boolean;
}

/** CPU time of the sending thread, ms; of the whole process on runtimes that do not separate threads (Node 22). */
function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}

/** The wait operation with its waits held, or undefined when there is none to hold. */
async function holdWaits(
  plan: LoadPlan,
  { server, callbacks }: Prepared,
  run: Run,
  cleanUp: CleanUp,
): Promise<WaitOperation | undefined> {
  if (!plan.mix.has('wait') || callbacks.wait.length === 0) return undefined;
  const { waitCount, timeoutMs } = plan;
  const { endpoint, pool, requests } = server;
  const { clock } = run;
  const waitPool = new Pool({ endpoint, clock, connectionCountMax: waitCount, timeoutMs: WAIT_TIMEOUT_MS });
  cleanUp.add(() => waitPool.close());
  const waits = new WaitOperation(run, {
    callbacks: callbacks.wait,
    waitPool,
    waitCount,
    waitsPerCallback: callbackCounts(plan).waitsEach,
    timeoutMs,
  });
  waits.hold();
  await pool.ask(requests.get('/health')); // sent after the waits, so the server has probably read them
  await setTimeout(HOLD_PAUSE_MS);
  return waits;
}

function operationFor(
  kind: Kind,
  run: Run,
  { callbacks, data, paid }: Prepared,
  waits: WaitOperation | undefined,
): Operation {
  switch (kind) {
    case 'health':
      return healthOperation(run);
    case 'unpaid':
      return unpaidOperation(run, QUESTIONS);
    case 'paid':
      // Without a supply the run was stopped during the preparation, and sends nothing.
      return paid === undefined ? NOTHING_TO_SEND : paidOperation(run, paid.paths, paid.supply);
    case 'webhook':
      return webhookOperation(run, callbacks.webhook);
    case 'wait':
      return waits ?? NOTHING_TO_SEND;
    case 'data':
      return data === undefined ? NOTHING_TO_SEND : dataOperation(run, data.questions, data.key, data.charges);
    default:
      return kind satisfies never;
  }
}

const NOTHING_TO_SEND: Operation = { readiness: () => 'used-up', start: () => {} };

/** Reports figures until the returned function is called. */
function reportFigures(
  pacing: Pacing,
  recorder: Recorder,
  { startMs, warmUpMs, endMs }: { readonly startMs: number; readonly warmUpMs: number; readonly endMs: number },
  { clock, onFigures }: LoadPorts,
): () => void {
  let lastMs = startMs;
  let lastCount = 0;
  const timer = setInterval(() => {
    const nowMs = clock.monotonicMs();
    const count = recorder.warmUpCount + recorder.expectedCount + recorder.unexpectedCount;
    const recent = recorder.recentLatencies();
    onFigures({
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
  }, FIGURES_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Runs until the end, `stop`, or until nothing is left to send, and waits for the last answers. */
export async function drive(plan: LoadPlan, prepared: Prepared, ports: LoadPorts, cleanUp: CleanUp): Promise<Driven> {
  const { mix, rate, connectionCount, durationMs, warmUpMs, timeoutMs } = plan;
  const { clock, stop, onPhase } = ports;
  const { pool, requests } = prepared.server;
  const supply = prepared.paid?.supply;
  const startedAt = isoTime(clock.nowMs());
  const recorder = new Recorder(durationMs);
  const run: Run = { pool, requests, clock, recorder };
  const waits = await holdWaits(plan, prepared, run, cleanUp);
  const operations = new Map([...mix.keys()].map((kind) => [kind, operationFor(kind, run, prepared, waits)]));

  const startMs = clock.monotonicMs();
  recorder.begin(startMs + warmUpMs);
  const endMs = startMs + warmUpMs + durationMs;
  const nextKind = kindsInTurn(mix);
  const pacing = new Pacing({ rate, inFlightMax: connectionCount, startMs, endMs, pool, clock, operations, nextKind });
  if (supply !== undefined) supply.onStock = () => pacing.pump();
  if (waits !== undefined) waits.onHeld = () => pacing.pump();

  const cpuBeforeMs = cpuTimeMs();
  const busyBeforeMs = supply?.busyMs ?? 0;
  const onStop = (): void => pacing.stop();
  stop.addEventListener('abort', onStop);
  const stopFigures = reportFigures(pacing, recorder, { startMs, warmUpMs, endMs }, ports);
  if (stop.aborted) pacing.stop();
  await pacing.run();
  const isSendingCut = stop.aborted;
  const stoppedMs = clock.monotonicMs();
  const usedMs = cpuTimeMs() - cpuBeforeMs;
  // If the process's time includes the signing threads, subtract their known busy time.
  const signingMs = process.threadCpuUsage === undefined ? (supply?.busyMs ?? 0) - busyBeforeMs : 0;
  stopFigures();
  stop.removeEventListener('abort', onStop);

  // A stop that ended the sending leaves the time for its last answers; one that comes in this time ends it.
  const isCut = (): boolean => !isSendingCut && stop.aborted;
  while (pacing.inFlight > 0 && !isCut() && clock.monotonicMs() - stoppedMs < timeoutMs + LAST_ANSWERS_GRACE_MS) {
    onPhase('waiting for the last answers'); // again and again: a line that comes soon after another is not shown
    await setTimeout(5);
  }
  const isInterrupted = isSendingCut || (isCut() && pacing.inFlight > 0);
  const sendingEndMs = Math.min(stoppedMs, endMs);
  pacing.unsent(sendingEndMs, (kind, plannedMs) => recorder.recordUnsent(kind, plannedMs, stoppedMs));
  waits?.stop();
  // Callbacks are deleted over the same connections, which would be busy until the timeout.
  if (isCut()) pool.abandonBusy();
  return {
    startedAt,
    recorder,
    pacing,
    runMs: Math.max(1, sendingEndMs - startMs),
    durationMs: Math.max(0, sendingEndMs - startMs - warmUpMs),
    isInterrupted,
    stoppedMs,
    cpuMs: Math.max(0, usedMs - signingMs),
    areWaitsHeld: waits !== undefined,
  };
}
