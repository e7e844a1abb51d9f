/** Who recovers while signatures come one by one and while they come together, with turns of the loop that the test owns. */
import { describe, expect, it } from 'vitest';
import { inlineRecovery } from '../../../src/adapters/verification/recovery-inline.ts';
import { lateMainWorker, mainWorker } from '../../../src/adapters/verification/recovery-main.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { STRUCT_BYTES } from '../../../src/payment/protocol/typed-data.ts';
import {
  type MainWorker,
  type Recovery,
  RecoveryQueue,
  type RecoveryRequest,
  type RecoveryWorker,
} from '../../../src/payment/signature/recovery-queue.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const ROOM = 32;

let count = 0;
const request = (network: string): RecoveryRequest => {
  const struct = new Uint8Array(STRUCT_BYTES);
  new DataView(struct.buffer).setUint32(0, ++count);
  return { struct, signature: new Uint8Array(65).fill(27), network, isDisconnected: () => false };
};

/** @param late what the main worker is wrapped in */
function setUp(late: (main: MainWorker) => MainWorker = (main) => main) {
  const time = new ManualTime();
  let due: (() => void)[] = [];
  let isWithoutNoble = true;
  const done = { here: [] as Uint8Array[], onThread: [] as Uint8Array[] };
  /** Jobs of the thread, which it does in the next turn. */
  const jobs: (() => void)[] = [];
  const thread: RecoveryWorker & { isWorking: boolean } = {
    isWorking: true,
    freeCount: () => (thread.isWorking ? ROOM - jobs.length : 0),
    isHealthy: () => thread.isWorking,
    recoveryMs: () => 0.1,
    start: ({ struct }, answer) =>
      jobs.push(() => {
        done.onThread.push(struct);
        answer({ ok: true, address: struct.slice(0, 20) });
      }),
  };
  const recoverSigner = (struct: Uint8Array) => {
    done.here.push(struct);
    return { ok: true, address: struct.slice(0, 20) } as const;
  };
  const queue = new RecoveryQueue([thread], time, time);
  const later = (run: () => void): void => void due.push(run);
  queue.useMain(late(mainWorker(inlineRecovery(recoverSigner, 0.1, later), () => isWithoutNoble, later)));
  const recoveries: (Recovery | Promise<Recovery>)[] = [];
  /** A turn of the loop: requests come, and what was put off until after its I/O runs. */
  const turn = async (arrivals: number, network = '192.0.2.1'): Promise<void> => {
    for (let i = 0; i < arrivals; i++) recoveries.push(queue.recover(request(network)));
    const running = due;
    due = [];
    for (const run of running) run();
    for (const run of jobs.splice(0)) run();
    await settle();
    time.pass(1);
  };
  const counts = () => ({ here: done.here.length, onThread: done.onThread.length });
  const doubt = (): void => {
    isWithoutNoble = false;
  };
  return { turn, counts, queue, thread, done, recoveries, doubt };
}

describe('beside a recovery thread', () => {
  it.each([
    { arrivals: [1, 0, 0, 0], repeats: 50, here: 50, because: 'they come one by one' },
    { arrivals: [2, 0, 0], repeats: 50, here: 100, because: 'they come in pairs' },
    { arrivals: [3, 1, 0, 0], repeats: 50, here: 200, because: 'a few come together, and fewer after them' },
    {
      arrivals: [6, ...Array(10).fill(0), ...Array(8).fill([1, 0]).flat()],
      repeats: 40,
      here: 560,
      because: 'a late turn finds a few now and then',
    },
  ])('the main thread recovers all when $because', async ({ arrivals, repeats, here }) => {
    const { turn, counts } = setUp();
    for (let i = 0; i < repeats; i++) for (const arriving of arrivals) await turn(arriving);
    expect(counts()).toEqual({ here, onThread: 0 });
  });

  it.each([
    { arrivals: [16], because: 'many come in each turn' },
    { arrivals: [8, 0, 0], because: 'they come in groups, even if turns pass between' },
    { arrivals: [32, ...Array(50).fill(0)], because: 'bursts come' },
  ])('the thread recovers nearly all when $because', async ({ arrivals }) => {
    const { turn, counts } = setUp();
    for (let i = 0; i < 100; i++) for (const arriving of arrivals) await turn(arriving);
    const { here, onThread } = counts();
    expect(here + onThread).toBe(100 * arrivals.reduce((sum, arriving) => sum + arriving, 0));
    expect(here).toBeLessThan(onThread / 10);
  });

  it('the thread helps out when two come in each turn, and few wait', async () => {
    const { turn, counts, queue } = setUp();
    for (let i = 0; i < 2000; i++) {
      await turn(2);
      expect(queue.waitingCount).toBeLessThanOrEqual(20);
    }
    expect(counts().here).toBeLessThan(counts().onThread / 5);
  });

  it('the main thread takes over again when they come one by one again', async () => {
    const { turn, counts } = setUp();
    for (let i = 0; i < 40; i++) await turn(16);
    const before = counts();
    for (let i = 0; i < 200; i++) await turn(1);
    const after = counts();
    expect(after.onThread - before.onThread).toBeLessThan(120);
    expect(after.here - before.here).toBeGreaterThan(80);
  });

  it('the main thread recovers one a turn at most, and each request has its own answer, whatever comes', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = new SeededRandom(seed);
      const { turn, counts, done, recoveries, queue } = setUp();
      for (let i = 0; i < 300; i++) {
        const before = counts().here;
        await turn(random.unit() < 0.5 ? 0 : Math.floor(random.unit() ** 2 * 20), `192.0.2.${i % 5}`);
        expect(counts().here - before).toBeLessThanOrEqual(1);
      }
      for (let i = 0; i < 100; i++) await turn(0);
      expect(queue.waitingCount).toBe(0);
      const answers = await Promise.all(recoveries);
      expect(answers.every(({ ok }) => ok === true)).toBe(true);
      const addresses = answers.map((answer) => (answer.ok === true ? String(answer.address) : ''));
      expect(new Set(addresses).size).toBe(answers.length);
      expect(done.here.length + done.onThread.length).toBe(answers.length);
    }
  });

  it('what waits for the main thread goes round among clients', async () => {
    const { turn, done, queue } = setUp();
    void queue.recover(request('198.51.100.1'));
    for (let i = 0; i < 3; i++) void queue.recover(request('198.51.100.1'));
    const other = request('192.0.2.1');
    void queue.recover(other);
    for (let i = 0; i < 5; i++) await turn(0);
    expect(done.here).toHaveLength(5);
    expect(done.here.indexOf(other.struct)).toBeLessThanOrEqual(2);
  });

  it('the main thread recovers nothing once noble would have to', async () => {
    const { turn, counts, doubt } = setUp();
    await turn(1);
    doubt();
    for (let i = 0; i < 10; i++) await turn(1);
    expect(counts()).toEqual({ here: 1, onThread: 10 });
  });

  it('the main thread takes nothing while no thread is healthy', async () => {
    const { turn, counts, thread, recoveries } = setUp();
    thread.isWorking = false;
    await turn(1);
    expect(counts()).toEqual({ here: 0, onThread: 0 });
    expect(recoveries).toEqual([{ ok: 'rejected', reason: 'out-of-order' }]);
  });
});

describe('a main worker that is loaded late', () => {
  it('is loaded once, at the first request, which the thread recovers', async () => {
    let loadCount = 0;
    const { turn, counts } = setUp((main) =>
      lateMainWorker(async () => {
        loadCount++;
        return main;
      }),
    );
    await turn(0);
    expect(loadCount).toBe(0);
    for (let i = 0; i < 10; i++) await turn(1);
    expect(loadCount).toBe(1);
    expect(counts()).toEqual({ here: 9, onThread: 1 });
  });

  it('leaves what comes together to the thread, like one that is there from the start', async () => {
    const { turn, counts } = setUp((main) => lateMainWorker(async () => main));
    for (let i = 0; i < 100; i++) for (const arriving of [12, ...Array(20).fill(0)]) await turn(arriving);
    expect(counts().here).toBeLessThan(counts().onThread / 10);
  });

  it('that could not be loaded is loaded at a later request', async () => {
    let failureCount = 3;
    const { turn, counts } = setUp((main) =>
      lateMainWorker(async () => {
        if (failureCount-- > 0) throw new Error('no file descriptors');
        return main;
      }),
    );
    for (let i = 0; i < 10; i++) await turn(1);
    expect(counts()).toEqual({ here: 6, onThread: 4 });
  });

  it.each<[string, () => Promise<MainWorker | undefined>]>([
    ['cannot be loaded', async () => Promise.reject(new Error('a file is gone'))],
    ['would need noble', async () => undefined],
  ])('that %s leaves all to the thread', async (_why, load) => {
    const { turn, counts } = setUp(() => lateMainWorker(load));
    for (let i = 0; i < 10; i++) await turn(1);
    expect(counts()).toEqual({ here: 0, onThread: 10 });
  });
});
