/** The bound on recoveries, with workers and time that the test owns: everything is counted, nothing is timed. */
import { describe, expect, it } from 'vitest';
import { digestOf, STRUCT_BYTES } from '../../../src/payment/protocol/typed-data.ts';
import { recoverWithNoble } from '../../../src/payment/signature/noble-recovery.ts';
import {
  FORGERY_BURST_MS,
  FORGERY_SHARE,
  type Recovery,
  type RecoveryJob,
  RecoveryQueue,
  type RecoveryRequest,
  type RecoveryWorker,
  WAIT_MS_MAX,
  WAITING_COUNT_MAX,
} from '../../../src/payment/signature/recovery-queue.ts';
import type { Recovered } from '../../../src/payment/signature/signature.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';
import { promptWorker } from '../../support/recovery.ts';

/** Takes jobs and does them when the test says so. */
class ManualWorker implements RecoveryWorker {
  readonly jobs: { readonly job: RecoveryJob; readonly done: (recovered: Recovered | undefined) => void }[] = [];
  startedCount = 0;
  slots = 1;
  isWorking = true;
  freeCount(): number {
    return this.isWorking ? this.slots - this.jobs.length : 0;
  }
  isHealthy(): boolean {
    return this.isWorking;
  }
  recoveryMs(): number {
    return 3;
  }
  start(job: RecoveryJob, done: (recovered: Recovered | undefined) => void): void {
    if (this.freeCount() <= 0) throw new Error('more jobs than slots');
    this.startedCount++;
    this.jobs.push({ job, done });
  }
  get workedCount(): number {
    return this.startedCount - this.jobs.length;
  }
  /** Does the oldest job; the address says which one it was. */
  work(): RecoveryJob {
    const next = this.jobs.shift();
    if (next === undefined) throw new Error('nothing to do');
    next.done({ ok: true, address: next.job.struct.slice(0, 20) });
    return next.job;
  }
}

let count = 0;

/** A request that no other equals, of a form that passes; from the given client. */
function request(client: string, change: Partial<RecoveryRequest> = {}): RecoveryRequest {
  const struct = new Uint8Array(STRUCT_BYTES);
  new DataView(struct.buffer).setUint32(0, ++count);
  return { struct, signature: new Uint8Array(65).fill(27), network: client, isDisconnected: () => false, ...change };
}

const FLOOD = '198.51.100.66';
const HONEST = '192.0.2.1';

function setUp(workerCount = 1) {
  const time = new ManualTime();
  const workers = Array.from({ length: workerCount }, () => new ManualWorker());
  const queue = new RecoveryQueue(workers, time, time);
  const outcomes = new Map<RecoveryRequest, Recovery>();
  const ask = (one: RecoveryRequest): RecoveryRequest => {
    const answer = queue.recover(one);
    if (answer instanceof Promise) void answer.then((recovery) => outcomes.set(one, recovery));
    else outcomes.set(one, answer);
    return one;
  };
  const reasonOf = (one: RecoveryRequest): string | undefined => {
    const outcome = outcomes.get(one);
    return outcome === undefined ? undefined : outcome.ok === true ? 'recovered' : outcome.reason;
  };
  const [worker] = workers as [ManualWorker];
  return { time, workers, worker, queue, ask, outcomes, reasonOf };
}

describe('what needs no recovery', () => {
  it.each([
    ['a signature of 64 bytes', new Uint8Array(64).fill(27), 'length'],
    ['v of 29', new Uint8Array(65).fill(29), 'v'],
    ['an s in the upper half', new Uint8Array(65).fill(0xff, 32, 64).fill(1, 0, 32).fill(27, 64), 's-range'],
  ])('is answered at once: %s', (_, signature, reason) => {
    const { queue, worker } = setUp();
    expect(queue.recover(request(HONEST, { signature }))).toEqual({ ok: false, reason });
    expect(worker.startedCount).toBe(0);
  });

  it('is a signature over a struct that was recovered lately, from any client', async () => {
    const { queue, worker, ask, outcomes } = setUp();
    const one = ask(request(HONEST));
    worker.work();
    await settle();
    for (let i = 0; i < 2000; i++) expect(queue.recover({ ...one, network: FLOOD })).toEqual(outcomes.get(one));
    expect(worker.startedCount).toBe(1);
    ask({ ...one, struct: request(HONEST).struct });
    worker.work();
    ask({ ...one, signature: new Uint8Array(65).fill(27).fill(1, 0, 1) });
    expect(worker.startedCount).toBe(3);
  });

  it('is one that the same client is waiting for already; another client’s waits for its own', async () => {
    const { worker, ask, reasonOf } = setUp();
    const one = request(HONEST);
    const asked = Array.from({ length: 300 }, () => ask({ ...one }));
    ask({ ...one, network: FLOOD });
    expect(worker.startedCount).toBe(1);
    worker.work();
    await settle();
    expect(asked.map(reasonOf)).toEqual(Array(300).fill('recovered'));
    expect(worker.startedCount).toBe(2);
  });

  it('is at most so many equal ones of one client at a time', async () => {
    const { worker, ask, reasonOf } = setUp();
    const one = request(HONEST);
    const asked = Array.from({ length: WAITING_COUNT_MAX }, () => ask({ ...one }));
    const tooMany = ask({ ...one });
    worker.work();
    await settle();
    expect([reasonOf(tooMany), reasonOf(asked.at(-1)!)]).toEqual(['client-crowded', 'recovered']);
  });

  it('is never two equal answers for different signatures', async () => {
    const time = new ManualTime();
    const queue = new RecoveryQueue([promptWorker()], time, time);
    const bytes = (fill: number) => new Uint8Array(32).fill(fill);
    const signature = new Uint8Array([...bytes(5), ...bytes(6), 27]);
    for (const struct of [new Uint8Array(STRUCT_BYTES).fill(1), new Uint8Array(STRUCT_BYTES).fill(2)]) {
      for (const v of [27, 28]) {
        const signed = new Uint8Array([...signature.subarray(0, 64), v]);
        const answer = await queue.recover({ struct, signature: signed, network: '', isDisconnected: () => false });
        expect(answer).toEqual(recoverWithNoble(digestOf(struct), signed));
      }
    }
  });
});

describe('a flood of forged payments', () => {
  it('from one address fills half of the slots, and an honest client is next', async () => {
    const { worker, ask, reasonOf, queue } = setUp();
    const flood = Array.from({ length: 20_000 }, () => ask(request(FLOOD)));
    await settle();
    expect(queue.waitingCount).toBe(WAITING_COUNT_MAX / 2);
    expect(flood.filter((one) => reasonOf(one) === 'client-crowded')).toHaveLength(20_000 - 1 - WAITING_COUNT_MAX / 2);
    const honest = ask(request(HONEST));
    worker.work(); // the flood's first
    worker.work(); // the flood's turn in the round
    worker.work();
    await settle();
    expect(reasonOf(honest)).toBe('recovered');
  });

  it('never has more recoveries under way than there are workers, in any order of events', async () => {
    const { workers, ask, queue } = setUp(3);
    let workedCount = 0;
    for (let i = 0; i < 5000; i++) {
      ask(request(`198.51.100.${i % 7}`));
      const worker = workers[i % 3] as ManualWorker;
      if (i % 4 === 0 && worker.jobs.length > 0) {
        worker.work();
        workedCount++;
      }
    }
    const startedCount = workers.reduce((sum, worker) => sum + worker.startedCount, 0);
    expect(startedCount - workedCount).toBe(3);
    expect(queue.waitingCount).toBeLessThanOrEqual(WAITING_COUNT_MAX);
  });

  it('costs no more than the workers can do in the time, and each honest payer among them is served', async () => {
    // 10 s of 2,000 forged a second from 50 addresses, a worker that takes 3 ms a recovery, an honest payment each 100 ms.
    const { time, worker, ask, reasonOf } = setUp();
    const honest: RecoveryRequest[] = [];
    for (let ms = 0; ms < 10_000; ms++) {
      for (let i = 0; i < 2; i++) ask(request(`198.51.100.${(2 * ms + i) % 50}`));
      if (ms % 100 === 0) honest.push(ask(request(`192.0.2.${ms / 100}`)));
      if (ms % 3 === 0) worker.work();
      time.pass(1);
      if (ms % 10 === 0) await settle();
    }
    for (let i = 0; i < 200; i++) worker.work();
    await settle();
    expect(worker.workedCount).toBe(3334 + 200);
    expect(honest.map(reasonOf)).toEqual(honest.map(() => 'recovered'));
  });

  it('from more addresses than there are slots gets newcomers rejected, and clients that have paid keep every other turn', async () => {
    const { worker, ask, reasonOf, queue } = setUp();
    queue.markPaid('2001:db8:5:0::/64');
    expect(['2001:db8:5:0::/64', HONEST].map((network) => queue.isKnownPayer(network))).toEqual([true, false]);
    ask(request('203.0.113.1'));
    for (let i = 0; i < WAITING_COUNT_MAX; i++) ask(request(`10.0.${i >> 8}.${i & 255}`));
    const newcomer = ask(request(HONEST));
    const returning = [1, 2, 3].map(() => ask(request('2001:db8:5:0::/64')));
    await settle();
    expect(reasonOf(newcomer)).toBe('crowded');
    for (let i = 0; i < 7; i++) worker.work();
    await settle();
    expect(returning.map(reasonOf)).toEqual(['recovered', 'recovered', 'recovered']);
    // A flood from a client that has paid leaves every other turn to newcomers.
    const flood = new Set(Array.from({ length: 100 }, () => ask(request('2001:db8:5:0::/64')).struct));
    const before = queue.waitingCount;
    const worked = Array.from({ length: 20 }, () => worker.work().struct);
    expect(new Set(worked.map(String)).size).toBe(20);
    expect(before - queue.waitingCount).toBe(20);
    expect(worked.filter((struct) => !flood.has(struct)).length).toBeGreaterThanOrEqual(10);
  });
});

describe('forgeries', () => {
  it('cost a quarter of a processor at most, however long they go on, and honest payers pass among them', async () => {
    // 20 s of 2,000 forged a second, 3 ms each: whatever can be done is done at once, in the same millisecond.
    const { time, worker, ask, reasonOf, queue } = setUp();
    const honest: RecoveryRequest[] = [];
    const isForged = new Map<Uint8Array, string>();
    for (let ms = 0; ms < 20_000; ms++) {
      for (let i = 0; i < 2; i++) {
        const client = `198.51.100.${(2 * ms + i) % 20}`;
        isForged.set(ask(request(client)).struct, client);
      }
      if (ms % 100 === 0) honest.push(ask(request(`192.0.2.${(ms / 100) % 250}`)));
      while (worker.jobs.length > 0) {
        const client = isForged.get(worker.work().struct);
        if (client !== undefined) queue.chargeForgery(client);
      }
      time.pass(1);
      if (ms % 10 === 0) await settle();
    }
    await settle();
    const spentMs = 3 * (worker.workedCount - honest.length);
    expect(spentMs).toBeGreaterThan(20_000 * FORGERY_SHARE * 0.9);
    expect(spentMs).toBeLessThan(20_000 * FORGERY_SHARE + FORGERY_BURST_MS + 10);
    expect(honest.slice(0, -10).map(reasonOf)).toEqual(honest.slice(0, -10).map(() => 'recovered'));
  });

  it('charge nobody while no worker is healthy, and one timer ends all pauses', () => {
    const { time, worker, ask, queue } = setUp();
    worker.isWorking = false;
    for (let i = 0; i < 100; i++) queue.chargeForgery(FLOOD);
    worker.isWorking = true;
    ask(request(FLOOD));
    expect(worker.startedCount).toBe(1);
    worker.work();
    for (let i = 0; i < 100; i++) queue.chargeForgery(FLOOD);
    for (let i = 0; i < 10; i++) ask(request(FLOOD));
    expect([worker.startedCount, time.pendingCount]).toEqual([1, 1]);
  });

  it('of newcomers do not slow down clients that have paid, nor the other way round', async () => {
    const { time, worker, ask, queue } = setUp();
    queue.markPaid('192.0.2.1');
    for (const [bad, good] of [
      [FLOOD, '192.0.2.1'],
      ['192.0.2.1', FLOOD],
    ] as const) {
      while (worker.jobs.length > 0) worker.work();
      for (let i = 0; i < 100; i++) queue.chargeForgery(bad);
      const [slow, quick] = [ask(request(bad)), ask(request(good))];
      const worked = [];
      while (worker.jobs.length > 0) worked.push(worker.work().struct);
      expect(worked).toEqual([quick.struct]);
      time.pass(300 / FORGERY_SHARE);
      expect(worker.jobs.map(({ job }) => job.struct)).toEqual([slow.struct]);
    }
  });
});

describe('a request that waits', () => {
  it('is not recovered once its client has disconnected, and the next one has the turn', async () => {
    const { time, worker, ask, reasonOf } = setUp();
    let isGone = false;
    ask(request(HONEST));
    const leaving = ask(request(FLOOD, { isDisconnected: () => isGone }));
    const staying = ask(request('192.0.2.9'));
    isGone = true;
    time.pass(10);
    worker.work();
    worker.work();
    await settle();
    expect([leaving, staying].map(reasonOf)).toEqual(['client-gone', 'recovered']);
    expect(worker.startedCount).toBe(2);
  });

  it('is recovered while one of the equal requests of its client still waits', async () => {
    const { time, worker, ask, reasonOf } = setUp();
    ask(request(FLOOD));
    const gone = ask(request(HONEST, { isDisconnected: () => true }));
    const staying = ask({ ...gone, isDisconnected: () => false });
    time.pass(10);
    worker.work();
    worker.work();
    await settle();
    expect(reasonOf(staying)).toBe('recovered');
  });

  it('is asked whether its client is there only after a while', () => {
    const { time, worker, ask } = setUp();
    let askedCount = 0;
    const isDisconnected = (): boolean => ++askedCount < 0;
    ask(request(FLOOD));
    ask(request(HONEST, { isDisconnected }));
    time.pass(9);
    worker.work();
    expect([worker.startedCount, askedCount]).toEqual([2, 0]);
  });

  it('can be asked again once it was rejected', async () => {
    const { time, worker, ask, reasonOf } = setUp();
    ask(request(FLOOD));
    const first = ask(request(HONEST));
    time.pass(WAIT_MS_MAX + 1);
    worker.work();
    const again = ask({ ...first });
    worker.work();
    await settle();
    expect([first, again].map(reasonOf)).toEqual(['waited-too-long', 'recovered']);
  });

  it('goes to the worker with the most room', () => {
    const { workers, ask } = setUp(3);
    workers.forEach((worker, i) => {
      worker.slots = [1, 3, 2][i]!;
    });
    for (let i = 0; i < 3; i++) ask(request(HONEST));
    expect(workers.map(({ startedCount }) => startedCount)).toEqual([0, 2, 1]);
  });

  it(`waits ${WAIT_MS_MAX} ms at most`, async () => {
    const { time, worker, ask, reasonOf } = setUp();
    ask(request(HONEST));
    const [early, late] = [ask(request(HONEST)), ask(request(HONEST))];
    time.pass(WAIT_MS_MAX);
    worker.work();
    time.pass(1);
    worker.work();
    await settle();
    expect([early, late].map(reasonOf)).toEqual(['recovered', 'waited-too-long']);
  });

  it('is rejected when the last worker fails, and so is a later one; a worker that is healthy again takes new jobs', async () => {
    const { worker, queue, ask, reasonOf } = setUp();
    const [inside, waiting] = [ask(request(HONEST)), ask(request(HONEST))];
    worker.isWorking = false;
    worker.jobs.shift()?.done(undefined);
    const after = ask(request(HONEST));
    await settle();
    expect([inside, waiting, after].map(reasonOf)).toEqual(['out-of-order', 'out-of-order', 'out-of-order']);
    worker.isWorking = true;
    queue.resume();
    const back = ask(request(HONEST));
    worker.work();
    await settle();
    expect(reasonOf(back)).toBe('recovered');
  });

  it('goes on with the other worker when one fails', async () => {
    const { workers, ask, reasonOf } = setUp(2);
    const [first, second] = workers as [ManualWorker, ManualWorker];
    const asked = [1, 2, 3].map(() => ask(request(HONEST)));
    first.isWorking = false;
    first.jobs.shift()?.done(undefined);
    second.work();
    second.work();
    await settle();
    expect(asked.map(reasonOf).sort()).toEqual(['out-of-order', 'recovered', 'recovered']);
  });

  it('is rejected at the end, and a job that a worker holds is still answered', async () => {
    const { worker, queue, ask, reasonOf } = setUp();
    queue.markPaid(FLOOD);
    const [inside, waiting, paid] = [ask(request(HONEST)), ask(request(HONEST)), ask(request(FLOOD))];
    queue.close();
    const late = ask(request(HONEST));
    worker.work();
    await settle();
    expect([inside, waiting, paid, late].map(reasonOf)).toEqual(['recovered', ...Array(3).fill('out-of-order')]);
    expect(queue.waitingCount).toBe(0);
  });
});

describe('a queue whose workers have not started', () => {
  it('says that they are needed, and gives them what waited', async () => {
    const time = new ManualTime();
    let neededCount = 0;
    const queue = new RecoveryQueue(undefined, time, time, () => neededCount++);
    const recovering = queue.recover(request(HONEST));
    expect([neededCount, queue.waitingCount]).toEqual([1, 1]);
    const worker = new ManualWorker();
    queue.use([worker]);
    expect([worker.startedCount, queue.waitingCount]).toEqual([1, 0]);
    worker.work();
    expect(await recovering).toMatchObject({ ok: true });
    void queue.recover(request(HONEST));
    expect([neededCount, worker.startedCount]).toEqual([1, 2]);
  });
});
