/** Verification by real threads and the main thread: what verifies while threads start, fail, die and come back. */
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import {
  type OpenVerification,
  openVerification,
  type VerificationPorts,
} from '../../../src/adapters/verification/open-verification.ts';
import { chooseRecovery } from '../../../src/adapters/verification/recovery.ts';
import { CONFIGURATION } from '../../../src/app/configuration.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { LATE_START_MS } from '../../../src/base/late-start.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import { THREAD_START_MS } from '../../../src/base/start-thread.ts';
import type { Recovery } from '../../../src/payment/signature/recovery-queue.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { MetricsPage } from '../../support/metrics-page.ts';
import { threadsStarted } from '../../support/started-threads.ts';
import { until } from '../../support/until.ts';
import { expected, failing, HANG, jobs } from './recovery-trials.ts';

const open: OpenVerification[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** Closed after the test. */
function opened(variables: Record<string, string>, ports: Partial<VerificationPorts> = {}): OpenVerification {
  const verification = openVerification(CONFIGURATION.read(variables), {
    clock: systemClock,
    timers: systemTimers,
    ...ports,
  });
  open.push(verification);
  return verification;
}

/** The answers to the first `count` jobs, which arrive together. */
const recoverAll = ({ queue }: OpenVerification, count: number): Promise<Recovery[]> =>
  Promise.all(
    jobs
      .slice(0, count)
      .map(async ({ struct, signature }, i) =>
        queue.recover({ struct, signature, network: `192.0.2.${i % 4}`, isDisconnected: () => false }),
      ),
  );

/** Verification whose time the test moves, and whose threads the test may end. */
function setUp(variables: Record<string, string>, threadEntry?: URL) {
  const time = new ManualTime();
  const faults: (string | undefined)[] = [];
  const started = threadsStarted();
  const verification = opened(variables, {
    clock: time,
    timers: time,
    threadEntry,
    onVerificationFault(fault, isOutOfOrder) {
      faults.push(fault);
      expect(isOutOfOrder).toBe(false); // the main thread can verify
    },
  });
  const toldFault = (count: number) => until(`${count} reports`, () => faults.length >= count);
  const haveTimers = (count: number) => until(`${count} timers`, () => time.pendingCount === count);
  /** A fault was told just now, and a thread is to be started again. */
  const hasPauses = () => haveTimers(2);
  return { verification, time, faults, started, toldFault, haveTimers, hasPauses };
}

/** Counts the answers of a thread from now on. */
function answersOf(thread: Worker | undefined): () => number {
  let count = 0;
  thread?.on('message', () => count++);
  return () => count;
}

/** Threads that run and that are configured, as the metrics show them. */
function shownThreads(verification: OpenVerification): readonly number[] {
  const page = new Exposition();
  verification.writeMetrics(page);
  const shown = new MetricsPage(page.text);
  return ['threads', 'threads_configured'].map((name) => shown.value(`paygrade_verification_${name}`));
}

/** Of what is installed here. */
const { library: fastest } = await chooseRecovery('auto', systemClock);

it.each([
  ['0', 0],
  ['1', 1],
  ['2', 2],
])('with WORKERS=%s has %i threads, and all verdicts are noble’s', async (WORKERS, threadCount) => {
  const faults: unknown[] = [];
  const verification = opened({ WORKERS }, { onVerificationFault: (fault) => faults.push(fault) });
  const early = recoverAll(verification, jobs.length);
  expect(await verification.start(false)).toEqual({ threadCount, library: fastest, notices: [] });
  expect(await early).toEqual(expected);
  expect(faults).toEqual([]);
});

it.each(['auto', 'wasm', 'noble'])(
  'of requests that come one by one gives noble’s verdicts (%s)',
  async (SIGNATURES) => {
    const { queue, start } = opened({ SIGNATURES });
    await start(true);
    const answers: Recovery[] = [];
    for (const { struct, signature } of jobs.slice(0, 40))
      answers.push(await queue.recover({ struct, signature, network: '', isDisconnected: () => false }));
    expect(answers).toEqual(expected.slice(0, 40));
  },
);

it('starts at its first request, and else a moment after it was to', async () => {
  const time = new ManualTime();
  const ports = { clock: time, timers: time };
  const asked = opened({ WORKERS: '0' }, ports);
  const idle = opened({ WORKERS: '0' }, ports);
  const started = [false, false];
  const starts = [asked, idle].map(async ({ start }, i) => {
    await start(false);
    started[i] = true;
  });
  void recoverAll(asked, 1);
  await starts[0];
  expect(started).toEqual([true, false]);
  time.pass(LATE_START_MS);
  await starts[1];
  expect(time.pendingCount).toBe(0);
});

it('goes on with the threads that start, and starts the one that did not again', async () => {
  const { entry } = failing(`throw new Error('no luck')`, 1);
  const { verification, time, faults, started, toldFault, hasPauses } = setUp({ WORKERS: '2' }, entry);
  expect(shownThreads(verification)).toEqual([0, 2]);
  const fault = '1 of 2 verification threads failed: a verification thread failed: no luck';
  expect(await verification.start(true)).toEqual({ threadCount: 1, library: fastest, notices: [fault] });
  expect(await recoverAll(verification, 40)).toEqual(expected.slice(0, 40));
  expect(faults).toEqual([fault]);
  expect(shownThreads(verification)).toEqual([1, 2]);
  await hasPauses();
  time.pass(1000);
  await toldFault(2);
  expect(faults).toEqual([fault, undefined]);
  expect(shownThreads(verification)).toEqual([2, 2]);
  const answerCounts = [started.find(({ threadId }) => threadId > 0), started[2]].map(answersOf);
  expect(await recoverAll(verification, jobs.length)).toEqual(expected);
  expect(answerCounts.map((count) => count() > 0)).toEqual([true, true]);
});

it('does not wait for a thread that hangs while it starts when another runs', async () => {
  const { verification, time, faults } = setUp({ WORKERS: '2' }, failing(HANG, 1).entry);
  const starting = verification.start(true);
  expect(await recoverAll(verification, 40)).toEqual(expected.slice(0, 40));
  time.pass(THREAD_START_MS);
  const fault = '1 of 2 verification threads failed: a verification thread did not start';
  expect(await starting).toMatchObject({ threadCount: 1, notices: [fault] });
  expect(faults).toEqual([fault]);
});

it('runs on the main thread when no thread starts in time, and leaves it when one does', async () => {
  const { entry, areFailing } = failing(HANG, 1);
  const { verification, time, faults, started, toldFault, hasPauses } = setUp({ WORKERS: '1' }, entry);
  const early = recoverAll(verification, 4);
  const starting = verification.start(true);
  await areFailing();
  time.pass(THREAD_START_MS);
  const fault = 'signatures are verified on the main thread: a verification thread did not start';
  expect(await starting).toEqual({ threadCount: 0, library: fastest, notices: [fault] });
  expect(await early).toEqual(expected.slice(0, 4));
  await hasPauses();
  time.pass(1000);
  await toldFault(2);
  expect(faults).toEqual([fault, undefined]);
  const answerCount = answersOf(started[1]);
  expect(await recoverAll(verification, 100)).toEqual(expected.slice(0, 100));
  expect(answerCount()).toBeGreaterThan(0);
});

it('recovers on the main thread long before a thread that hangs while it starts is given up', async () => {
  const { entry, areFailing } = failing(HANG, 2);
  const { verification, time, faults, started, haveTimers } = setUp({ WORKERS: '2' }, entry);
  const early = recoverAll(verification, 4);
  void verification.start(true);
  await areFailing();
  time.pass(THREAD_START_MS / 3);
  expect(await early).toEqual(expected.slice(0, 4));
  expect([started.length, faults]).toEqual([2, []]);
  await haveTimers(2); // for the two threads
});

it('tells at once that a thread died, and a second later what became of the others', async () => {
  const { verification, time, faults, started, haveTimers } = setUp({ WORKERS: '4' });
  await verification.start(true);
  for (const thread of started) void thread.terminate();
  await haveTimers(5);
  expect(await recoverAll(verification, 40)).toEqual(expected.slice(0, 40));
  time.pass(1000);
  const ended = 'a verification thread ended';
  const told = [`1 of 4 verification threads failed: ${ended}`, `signatures are verified on the main thread: ${ended}`];
  expect(faults).toEqual(told);
  await haveTimers(1);
  time.pass(1000);
  expect(faults).toEqual([...told, undefined]);
});

it.each(['auto', 'noble'])('goes on on the main thread while the only thread is dead (%s)', async (SIGNATURES) => {
  const { verification, time, faults, started, toldFault, hasPauses } = setUp({ WORKERS: '1', SIGNATURES });
  await verification.start(true);
  void started[0]?.terminate();
  await toldFault(1);
  expect(verification.queue.isOutOfOrder()).toBe(false);
  expect(await recoverAll(verification, 40)).toEqual(expected.slice(0, 40));
  await hasPauses();
  time.pass(1000);
  await toldFault(2);
  expect(faults).toEqual(['signatures are verified on the main thread: a verification thread ended', undefined]);
  const answerCount = answersOf(started[1]);
  await recoverAll(verification, 140);
  expect(answerCount()).toBeGreaterThan(0);
});

it('that is closed before it starts starts nothing', async () => {
  const { verification, time, started } = setUp({});
  void verification.start(false);
  await verification.close();
  expect([time.pendingCount, started.length]).toEqual([0, 0]);
});

it('that is closed turns away, and leaves no thread behind and nothing to come', async () => {
  const { verification, time, started } = setUp({ WORKERS: '3' }, failing(HANG, 2).entry);
  const starting = verification.start(true);
  await recoverAll(verification, 4);
  time.pass(THREAD_START_MS);
  await starting;
  await verification.close();
  expect(started.map(({ threadId }) => threadId)).toEqual([-1, -1, -1]);
  expect(time.pendingCount).toBe(0);
  expect((await recoverAll(verification, 5)).at(-1)).toMatchObject({ reason: 'out-of-order' });
});
