/** What the runner puts on record of a job, and what it leaves behind, where nothing went out or the state failed (siblings §6). */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Exposition } from '../../src/base/prometheus.ts';
import type { RetryJob } from '../../src/retry/job.ts';
import { CLOSE_GRACE_MS, DELIVERY_TIMEOUT_MS, KEPT_MS } from '../../src/retry/limits.ts';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import type { RetryOrder } from '../../src/retry/retries.ts';
import { settle } from '../support/manual-time.ts';
import { answer, failure, hanging } from '../support/targets-by-host.ts';
import { heldCountOf, RetryWorld } from './model.ts';

const orderTo = (host: string, callbackUrl: string | null = null): RetryOrder => ({
  request: { method: 'GET', url: `https://${host}/`, headers: [], body: null },
  policy: { ...DEFAULT_POLICY, backoff: 'fixed', jitter: false },
  callbackUrl,
  deadlineSeconds: 600,
});

/** `well.example` answers 200; requests to `crowded.example` wait for a turn that never comes. */
function opened(): RetryWorld {
  const world = new RetryWorld(1);
  onTestFinished(() => world.close());
  world.outbound.target('well.example', () => answer(200));
  world.outbound.target('crowded.example', () => answer(200));
  world.outbound.turnOf = (host) => (host === 'crowded.example' ? new Promise(() => {}) : Promise.resolve());
  return world;
}

/** Names do not resolve any more, which is known once the function that it gives is called: at the moment of an abort too. */
function slowLookUp({ outbound }: RetryWorld): () => void {
  const looked = Promise.withResolvers<void>();
  outbound.send = async () => {
    await looked.promise;
    return failure('unreachable');
  };
  return looked.resolve;
}

describe('a job that is carried on', () => {
  it('goes to its target and to its callback as what each is, in the turns of its customer', async () => {
    const world = opened();
    world.outbound.target('hook.example', () => answer(200));
    const judged = vi.spyOn(world.outbound.policy, 'judge');
    const sent = vi.spyOn(world.outbound, 'send');
    const order = orderTo('well.example', 'https://hook.example/');
    const request = { ...order.request, method: 'POST', body: 'grüße' } as const;
    await world.create({ ...order, request, policy: { ...order.policy, attemptTimeoutSeconds: 7 } });
    await world.pass(1000);
    expect(judged.mock.calls).toEqual([
      ['https://well.example/', 'retry'],
      ['https://hook.example/', 'delivery'],
    ]);
    expect(sent.mock.calls.map(([{ customer, timeoutMs }]) => ({ customer, timeoutMs }))).toEqual([
      { customer: 'org:acme', timeoutMs: 7000 },
      { customer: 'org:acme', timeoutMs: DELIVERY_TIMEOUT_MS },
    ]);
    expect(world.outbound.seenBy('well.example')).toMatchObject([{ method: 'POST', body: 'grüße' }]);
    const [event] = world.outbound.seenBy('hook.example').map(({ body }) => JSON.parse(body!));
    expect(Date.parse(event.completed_at)).toBe(world.time.nowMs() - 1000);
  });

  it('has its pauses drawn where its policy wants jitter', async () => {
    const world = opened();
    world.outbound.target('busy.example', () => answer(503));
    const order = orderTo('busy.example');
    await world.create({ ...order, policy: { ...order.policy, jitter: true } });
    await world.pass(2499);
    expect(world.outbound.seen).toHaveLength(1);
    await world.pass(2500);
    expect(world.outbound.seen).toHaveLength(2);
  });

  it('is removed a day after its end', async () => {
    const world = opened();
    await world.create(orderTo('well.example'));
    await world.pass(1000);
    await world.pass(KEPT_MS - 2000, 60_000);
    expect(world.jobCount).toBe(1);
    await world.pass(2000);
    expect([world.jobCount, heldCountOf(world.process.worker)]).toEqual([0, 0]);
  });

  it('leaves no timer of its deadline when its attempt ended before anything was sent', async () => {
    const world = opened();
    await settle();
    const before = world.time.pendingCount;
    world.outbound.blocked.add('blocked.example');
    const id = await world.create(orderTo('blocked.example'));
    await world.pass(1000);
    expect(await world.process.retries.find(id)).toMatchObject({
      status: 'failed',
      attempts: [{ outcome: 'blocked' }],
    });
    expect(world.time.pendingCount).toBe(before);
  });

  it('is not sent to an address that is not allowed any more', async () => {
    const world = opened();
    const order = orderTo('well.example');
    const id = await world.create({ ...order, request: { ...order.request, url: 'http://well.example/' } });
    await world.pass(1000);
    expect(await world.process.retries.find(id)).toMatchObject({
      status: 'failed',
      attempts: [{ outcome: 'blocked' }],
    });
    expect([world.outbound.seen, world.failures]).toEqual([[], []]);
  });

  const HOOK = 'https://hangs.example/';
  type Shown = RetryJob | undefined;
  it.each([
    [
      'interrupts its attempt',
      'update',
      'hangs.example',
      null,
      1000,
      (job: Shown) => job?.attempts[0]?.outcome,
      'interrupted',
    ],
    ['interrupts its delivery', 'update', 'well.example', HOOK, 1000, (job: Shown) => job?.delivery?.isUnderWay, false],
    ['ends it at its deadline', 'update', 'crowded.example', null, 599_000, (job: Shown) => job?.status, 'expired'],
    ['removes it', 'remove', 'well.example', null, KEPT_MS - 1000, (job: Shown) => job, undefined],
  ] as const)('goes on after the state has failed as it %s', async (_, kind, host, hook, untilMs, of, expected) => {
    const world = opened();
    world.outbound.target('hangs.example', hanging);
    const id = await world.create(orderTo(host, hook));
    await world.pass(untilMs, 60_000);
    if (untilMs === 1000) world.kill();
    world.isRefused = (operation) => operation.kind === kind;
    await world.pass(5000);
    expect(new Set(world.failures.map(String))).toEqual(new Set(['Error: the disk is full']));
    world.isRefused = () => false;
    await world.pass(2000);
    expect(of(await world.process.retries.find(id))).toBe(expected);
  });

  it('ends at its deadline while it waits for its turn, although the state gives no look', async () => {
    const world = opened();
    const id = await world.create(orderTo('crowded.example'));
    await world.pass(1000);
    world.isRefused = ({ kind }) => kind === 'take';
    await world.pass(600_000, 60_000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'expired', attempts: [] });
  });

  it('has no attempt on record when it was cancelled during the look-up of its name', async () => {
    const world = opened();
    const look = slowLookUp(world);
    const id = await world.create(orderTo('well.example'));
    await world.pass(1000);
    const { meter, retries } = world.process;
    await retries.cancel(id);
    look();
    await world.pass(1000);
    expect(await retries.find(id)).toMatchObject({ status: 'cancelled', attempts: [] });
    const page = new Exposition();
    meter.write(page, 0);
    expect(page.text).not.toMatch(/outcome="interrupted"\} [^0]/);
  });

  it('is no longer under way once the state has failed to record the end of its attempt', async () => {
    const world = opened();
    let updates = 0;
    world.isRefused = ({ kind }) => kind === 'update' && ++updates === 2;
    const id = await world.create(orderTo('well.example'));
    await settle();
    const { worker, retries } = world.process;
    expect([updates, heldCountOf(worker), worker.dueCount]).toEqual([2, 1, 1]);
    await world.pass(20_000);
    expect((await retries.find(id))?.attempts.map(({ outcome }) => outcome)).toEqual(['interrupted', 'success']);
    expect([heldCountOf(worker), worker.dueCount]).toEqual([0, 0]);
    const numbers = world.outbound.seenBy('well.example').map(({ headers }) => headers['x-retry-attempt']);
    expect(numbers).toEqual(['1', '2']);
  });
});

describe('a try of a delivery', () => {
  it('that is released while it waits for its turn is not on record', async () => {
    const world = opened();
    const id = await world.create(orderTo('well.example', 'https://crowded.example/'));
    await world.pass(1000);
    const { worker, retries } = world.process;
    worker.abandon(id);
    await world.pass(1000);
    expect((await retries.find(id))?.delivery).toMatchObject({ status: 'pending', attemptCount: 0 });
    expect(heldCountOf(worker)).toBe(1);
  });

  it('whose name does not resolve while the worker drains is not on record', async () => {
    const world = opened();
    world.outbound.target('well.example', () => {
      look = slowLookUp(world);
      return answer(200);
    });
    let look = (): void => {};
    const id = await world.create(orderTo('well.example', 'https://hook.example/'));
    await world.pass(1000);
    const { worker, retries } = world.process;
    worker.drain();
    look();
    await worker.close();
    expect((await retries.find(id))?.delivery).toMatchObject({ status: 'pending', attemptCount: 0 });
    expect(world.failures).toEqual([]);
  });

  it('whose name does not resolve is said to have failed while the state does not take it, and comes once it does', async () => {
    const world = opened();
    let refusedCount = 0;
    // The job has been created and its attempt has begun and ended.
    let updates = 0;
    world.isRefused = ({ kind }) => kind === 'update' && ++updates > 2 && ++refusedCount > 0;
    const id = await world.create(orderTo('well.example', 'https://gone.example/'));
    await world.pass(10_000);
    expect(String(world.failures[0])).toBe('Error: the disk is full');
    expect(refusedCount).toBeGreaterThan(1);
    expect(refusedCount).toBeLessThanOrEqual(11);
    const { retries } = world.process;
    expect((await retries.find(id))?.delivery).toMatchObject({ status: 'pending', attemptCount: 0 });
    world.isRefused = () => false;
    await world.pass(2000);
    expect((await retries.find(id))?.delivery).toMatchObject({
      status: 'delivering',
      attemptCount: 1,
      lastStatusCode: null,
    });
  });

  it('whose end the state does not take is said to have failed, and counts as one without an answer', async () => {
    const world = opened();
    world.outbound.target('hook.example', () => answer(200));
    let updates = 0;
    // Its attempt and this try have begun.
    world.isRefused = ({ kind }) => kind === 'update' && ++updates > 3;
    const id = await world.create(orderTo('well.example', 'https://hook.example/'));
    await world.pass(1000);
    world.isRefused = () => false;
    await world.pass(1000);
    expect(world.failures.map(String)).toEqual(['Error: the disk is full']);
    expect((await world.process.retries.find(id))?.delivery).toMatchObject({ attemptCount: 1, lastStatusCode: null });
  });

  it('that is taken while the worker closes waits for its turn five seconds at most', async () => {
    const world = opened();
    const { store, worker } = world.process;
    const looked = Promise.withResolvers<void>();
    const take = store.takeDue.bind(store);
    store.takeDue = async (query) => {
      await looked.promise;
      return take(query);
    };
    await world.create(orderTo('crowded.example'));
    let isClosed = false;
    const closing = worker.close().then(() => {
      isClosed = true;
    });
    looked.resolve();
    await world.pass(CLOSE_GRACE_MS - 250);
    expect(isClosed).toBe(false);
    await world.pass(250);
    await closing;
    expect(heldCountOf(worker)).toBe(0);
  });
});
