/** Recoveries on real threads: same verdicts, in order, through death and restart. */
import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { type OpenVerification, openVerification } from '../../../src/adapters/verification/open-verification.ts';
import { chooseRecovery } from '../../../src/adapters/verification/recovery.ts';
import { RecoveryThread } from '../../../src/adapters/verification/recovery-thread.ts';
import { CONFIGURATION } from '../../../src/app/configuration.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { LATE_START_MS } from '../../../src/base/late-start.ts';
import { THREAD_START_MS } from '../../../src/base/start-thread.ts';
import { digestOf, STRUCT_BYTES } from '../../../src/payment/protocol/typed-data.ts';
import { recoverWithNoble } from '../../../src/payment/signature/noble-recovery.ts';
import type { Recovery, RecoveryJob } from '../../../src/payment/signature/recovery-queue.ts';
import { formFault, type Recovered } from '../../../src/payment/signature/signature.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { mutatedSignatures } from './mutated-signatures.ts';

const jobs: readonly RecoveryJob[] = [...mutatedSignatures(7, 400, 100)]
  .filter(({ signature }) => formFault(signature) === undefined)
  .map(({ digest, signature }) => {
    const struct = new Uint8Array(STRUCT_BYTES);
    struct.set(digest, 0);
    return { struct, signature };
  });
const expected = jobs.map(({ struct, signature }) => recoverWithNoble(digestOf(struct), signature));

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** The program of a thread that runs and is never ready. */
const NEVER_READY = new URL('data:text/javascript,setInterval(() => {}, 1000)');

/** A recovery thread, and what ends it as a lack of memory would. */
async function startMortal(ports: Parameters<typeof RecoveryThread.start>[1]) {
  let worker: Worker | undefined;
  process.once('worker', (started) => {
    worker = started;
  });
  const { thread } = await RecoveryThread.start({ signatures: 'noble' }, ports);
  open.push(thread);
  return { thread, kill: () => void worker?.terminate() };
}

const run = (thread: RecoveryThread, job: RecoveryJob): Promise<Recovered | undefined> =>
  new Promise((resolve) => thread.start(job, resolve));

const verification = (variables: Record<string, string>): OpenVerification => {
  const opened = openVerification(CONFIGURATION.read(variables), { clock: systemClock, timers: systemTimers });
  open.push(opened);
  return opened;
};

/** Of what is installed here. */
const { library: fastest } = await chooseRecovery('auto', systemClock);

describe('a recovery thread', () => {
  it.each(['auto', 'wasm', 'noble'] as const)(
    'says what noble says, each answer to its own question (%s)',
    async (signatures) => {
      const ports = { timers: systemTimers, onFault: () => {} };
      const { thread, ready } = await RecoveryThread.start({ signatures }, ports);
      open.push(thread);
      expect(ready.library).toBe(signatures === 'auto' ? fastest : signatures);
      expect(expected.filter(({ ok }) => ok).length).toBeGreaterThan(50);
      expect(expected.filter(({ ok }) => !ok).length).toBeGreaterThan(20);
      expect(await Promise.all(jobs.map((job) => run(thread, job)))).toEqual(expected);
    },
  );

  it('that dies leaves what it did undone and says so, is out of order, and is replaced', async () => {
    const time = new ManualTime();
    const faults: (string | undefined)[] = [];
    let told = (): void => {};
    const nextFault = (): Promise<void> =>
      new Promise((resolve) => {
        told = resolve;
      });
    const onFault = (fault: string | undefined): void => {
      faults.push(fault);
      told();
    };
    const { thread, kill } = await startMortal({ timers: time, onFault });
    const died = nextFault();
    const answers = jobs.slice(0, 20).map((job) => run(thread, job));
    kill();
    await died;
    expect(await Promise.all(answers)).toEqual(Array(20).fill(undefined));
    expect(faults).toEqual(['a verification thread ended']);
    expect([thread.isHealthy(), thread.freeCount()]).toEqual([false, 0]);
    const isBack = nextFault();
    time.pass(1000);
    await isBack;
    expect(faults).toEqual(['a verification thread ended', undefined]);
    expect(await run(thread, jobs[0] as RecoveryJob)).toEqual(expected[0]);
    expect(time.pendingCount).toBe(0);
  });

  it('that is closed while another takes its place leaves none behind', async () => {
    const time = new ManualTime();
    const faults: (string | undefined)[] = [];
    const died = Promise.withResolvers<void>();
    const onFault = (fault: string | undefined): void => {
      faults.push(fault);
      died.resolve();
    };
    const { thread, kill } = await startMortal({ timers: time, onFault });
    kill();
    await died.promise;
    time.pass(1000);
    await thread.close();
    // One that starts later is ready later.
    const later = await RecoveryThread.start({ signatures: 'noble' }, { timers: time, onFault });
    open.push(later.thread);
    expect(thread.isHealthy()).toBe(false);
    expect(faults).toEqual(['a verification thread ended']);
  });
});

describe('verification', () => {
  it.each([
    ['0', 0],
    ['1', 1],
    ['2', 2],
  ])('with WORKERS=%s has %i threads, and all verdicts are noble’s', async (WORKERS, threadCount) => {
    const { queue, start } = verification({ WORKERS });
    const early = jobs.map(({ struct, signature }, i) =>
      queue.recover({ struct, signature, network: `192.0.2.${i % 4}`, isDisconnected: () => false }),
    );
    expect(await start(false)).toMatchObject({ threadCount, library: fastest, notices: [] });
    expect(await Promise.all(early)).toEqual(expected);
  });

  it.each(['auto', 'wasm', 'noble'])(
    'of requests that come one by one gives noble’s verdicts (%s)',
    async (SIGNATURES) => {
      const { queue, start } = verification({ SIGNATURES });
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
    const asked = openVerification(CONFIGURATION.read({ WORKERS: '0' }), ports);
    const idle = openVerification(CONFIGURATION.read({ WORKERS: '0' }), ports);
    open.push(asked, idle);
    const started = [false, false];
    const starts = [asked, idle].map(async ({ start }, i) => {
      await start(false);
      started[i] = true;
    });
    const [{ struct, signature }] = jobs as [RecoveryJob];
    void asked.queue.recover({ struct, signature, network: '', isDisconnected: () => false });
    await starts[0];
    expect(started).toEqual([true, false]);
    time.pass(LATE_START_MS);
    await starts[1];
    expect(time.pendingCount).toBe(0);
  });

  it('runs on the main thread when a thread does not start in time', async () => {
    const time = new ManualTime();
    const ports = { clock: time, timers: time, threadEntry: NEVER_READY };
    const { queue, start, close } = openVerification(CONFIGURATION.read({ WORKERS: '2' }), ports);
    open.push({ close });
    const early = jobs
      .slice(0, 4)
      .map(({ struct, signature }) => queue.recover({ struct, signature, network: '', isDisconnected: () => false }));
    const starting = start(true);
    await vi.waitUntil(() => time.pendingCount >= 2);
    time.pass(THREAD_START_MS);
    expect(await starting).toMatchObject({
      threadCount: 0,
      notices: ['signatures are verified on the main thread: a verification thread did not start'],
    });
    expect(await Promise.all(early)).toEqual(expected.slice(0, 4));
  });

  it('that is closed before it starts starts nothing', async () => {
    const time = new ManualTime();
    const { start, close } = openVerification(CONFIGURATION.read({}), { clock: time, timers: time });
    void start(false);
    await close();
    expect(time.pendingCount).toBe(0);
  });

  it('that is closed turns away and ends', async () => {
    const { queue, start, close } = verification({ WORKERS: '2' });
    void start(false);
    await close();
    const [{ struct, signature }] = jobs as [RecoveryJob];
    expect(queue.recover({ struct, signature, network: '', isDisconnected: () => false })).toMatchObject({
      reason: 'out-of-order',
    });
  });
});
