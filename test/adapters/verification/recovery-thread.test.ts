/** Recoveries on real threads: same verdicts, in order, through death and restart. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { chooseRecovery } from '../../../src/adapters/verification/recovery.ts';
import { RecoveryThread } from '../../../src/adapters/verification/recovery-thread.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { THREAD_START_MS } from '../../../src/base/start-thread.ts';
import type { RecoveryJob } from '../../../src/payment/signature/recovery-queue.ts';
import type { Recovered } from '../../../src/payment/signature/signature.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { threadsStarted } from '../../support/started-threads.ts';
import { until } from '../../support/until.ts';
import { expected, failing, HANG, jobs } from './recovery-trials.ts';

const open: RecoveryThread[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** A thread by noble whose time the test moves, not yet started. */
function setUp(entry?: URL) {
  const time = new ManualTime();
  /** What is wrong with it, after each change. */
  const faults: (string | undefined)[] = [];
  const thread: RecoveryThread = new RecoveryThread(
    { signatures: 'noble' },
    { timers: time, onChange: () => faults.push(thread.fault), entry },
  );
  open.push(thread);
  /** Waits for as many changes in all. */
  const changed = (count: number) => until(`${count} changes`, () => faults.length >= count);
  /** Waits until a thread that has ended is to be replaced. */
  const hasEnded = () => until('the end of the thread', () => time.pendingCount > 0);
  return { thread, time, faults, changed, hasEnded, started: threadsStarted() };
}

/** A thread is known as started from the turn after. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const run = (thread: RecoveryThread, job: RecoveryJob): Promise<Recovered | undefined> =>
  new Promise((resolve) => thread.start(job, resolve));

/** Of what is installed here. */
const { library: fastest } = await chooseRecovery('auto', systemClock);

describe('a recovery thread', () => {
  it.each(['auto', 'wasm', 'noble'] as const)(
    'says what noble says, each answer to its own question (%s)',
    async (signatures) => {
      const thread = new RecoveryThread({ signatures }, { timers: systemTimers, onChange: () => {} });
      open.push(thread);
      await thread.open();
      expect(thread.ready?.library).toBe(signatures === 'auto' ? fastest : signatures);
      expect(expected.filter(({ ok }) => ok).length).toBeGreaterThan(50);
      expect(expected.filter(({ ok }) => !ok).length).toBeGreaterThan(20);
      expect(await Promise.all(jobs.map((job) => run(thread, job)))).toEqual(expected);
    },
  );

  it('that dies leaves what it did undone and says so, is out of order, and is replaced', async () => {
    const { thread, time, faults, changed, hasEnded, started } = setUp();
    await thread.open();
    const answers = jobs.slice(0, 20).map((job) => run(thread, job));
    // As a lack of memory would.
    void started[0]?.terminate();
    await changed(2);
    expect(await Promise.all(answers)).toEqual(Array(20).fill(undefined));
    expect([thread.isHealthy(), thread.freeCount()]).toEqual([false, 0]);
    await hasEnded();
    time.pass(1000);
    await changed(3);
    expect(faults).toEqual([undefined, 'a verification thread ended', undefined]);
    expect(await run(thread, jobs[0] as RecoveryJob)).toEqual(expected[0]);
    expect(time.pendingCount).toBe(0);
  });

  it('that fails again and again is started after pauses that double up to half a minute', async () => {
    const pausesMs = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
    const { entry } = failing(`throw new Error('no luck')`, pausesMs.length);
    const { thread, time, faults, changed, hasEnded, started } = setUp(entry);
    await thread.open();
    for (const [i, pauseMs] of pausesMs.entries()) {
      await hasEnded();
      time.pass(pauseMs - 1);
      await nextTurn();
      expect(started).toHaveLength(i + 1);
      time.pass(1);
      await changed(i + 2);
    }
    const failures = pausesMs.map(() => 'a verification thread failed: no luck');
    expect(faults).toEqual([...failures, undefined]);
    // One that recovers has earned the first pause again.
    expect(await run(thread, jobs[0] as RecoveryJob)).toEqual(expected[0]);
    void started.at(-1)?.terminate();
    await hasEnded();
    time.pass(1000);
    await nextTurn();
    expect(started).toHaveLength(pausesMs.length + 2);
  });

  it('that hangs while it starts is given up, and followed by another only when it has ended', async () => {
    const { entry, areFailing } = failing(HANG, 1);
    const { thread, time, faults, changed, hasEnded, started } = setUp(entry);
    const opening = thread.open();
    await areFailing();
    time.pass(THREAD_START_MS - 1);
    expect(faults).toEqual([]);
    time.pass(1);
    await opening;
    expect(faults).toEqual(['a verification thread did not start']);
    expect(time.pendingCount).toBe(0);
    await once(started[0] as Worker, 'exit');
    await hasEnded();
    time.pass(1000);
    await changed(2);
    expect(faults).toEqual(['a verification thread did not start', undefined]);
    expect(started).toHaveLength(2);
  });

  it.each([
    ['while it starts', 0, 1],
    ['while it is given up', THREAD_START_MS, 1],
    ['before another takes its place', 'ended', 1],
    ['while another takes its place', 'replaced', 2],
  ])('that is closed %s leaves none behind', async (_, until, count) => {
    const { thread, time, faults, hasEnded, started } = setUp(failing(HANG, 1).entry);
    void thread.open();
    time.pass(typeof until === 'number' ? until : THREAD_START_MS);
    if (typeof until === 'string') await hasEnded();
    if (until === 'replaced') time.pass(1000);
    const toldCount = faults.length;
    await thread.close();
    time.pass(60_000);
    // -1: it has ended.
    expect(started.map(({ threadId }) => threadId)).toEqual(Array(count).fill(-1));
    expect(faults).toHaveLength(toldCount);
    expect([thread.isHealthy(), time.pendingCount]).toEqual([false, 0]);
  });
});
