/** The worker where its store fails, and where one customer has a long line (siblings §6). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { monthStartMs } from '../../src/accounts/month.ts';
import { Exposition } from '../../src/base/prometheus.ts';
import { endDelivery, startDelivery } from '../../src/retry/delivery.ts';
import type { RetryId } from '../../src/retry/identifier.ts';
import { withDelivery } from '../../src/retry/job.ts';
import { KEPT_MS } from '../../src/retry/limits.ts';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import type { RetryOrder } from '../../src/retry/retries.ts';
import { settle } from '../support/manual-time.ts';
import { answer, failure, hanging } from '../support/targets-by-host.ts';
import { heldCountOf, RetryWorld } from './model.ts';

const orderTo = (host: string): RetryOrder => ({
  request: { method: 'GET', url: `https://${host}/`, headers: [], body: null },
  policy: { ...DEFAULT_POLICY, backoff: 'fixed', jitter: false },
  callbackUrl: null,
  deadlineSeconds: 600,
});

const opened = (): RetryWorld => {
  const world = new RetryWorld(1);
  onTestFinished(() => world.close());
  return world;
};

/** The lines of its metrics whose value is not 0. */
function metricsOf({ process }: RetryWorld): string[] {
  const page = new Exposition();
  process.meter.write(page, process.worker.dueCount);
  return page.text.split('\n').filter((line) => /^[^#].* [^0]/.test(line));
}

describe('the worker of retries', () => {
  it.each(['release', 'update', 'take'])('goes on with a job once the state takes its %s again', async (kind) => {
    const world = opened();
    world.outbound.target('busy.example', (_request, number) => answer(number === 1 ? 503 : 200));
    let refusedCount = 0;
    world.isRefused = (operation) => operation.kind === kind && ++refusedCount > 0;
    const id = await world.create(orderTo('busy.example'));
    await world.pass(20_000);
    expect(world.failures).not.toEqual([]);
    // A second lies between two tries: a full disk is not asked again and again.
    expect(refusedCount).toBeLessThanOrEqual(25);
    expect((await world.process.retries.find(id))?.status).not.toBe('succeeded');
    world.isRefused = () => false;
    await world.pass(60_000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'succeeded' });
  });

  it.each(['state', 'secrets'] as const)(
    'sets a job aside whose %s is damaged, and goes on with the others',
    async (column) => {
      const world = opened();
      world.outbound.target('well.example', () => answer(200));
      world.process.worker.drain();
      const ids = [];
      for (let i = 0; i < 3; i++) ids.push(await world.create(orderTo('well.example')));
      const [bad, ...others] = ids;
      world.damage(bad!, column);
      for (let start = 1; start <= 2; start++) {
        world.kill();
        await world.pass(30_000);
        for (const id of others) expect(await world.process.retries.find(id)).toMatchObject({ status: 'succeeded' });
        expect(world.outbound.seen).toHaveLength(2);
        expect(heldCountOf(world.process.worker)).toBe(0);
        // Once a start: it stays where it is, for an operator to look into.
        expect(world.failures.map(String)).toEqual(
          Array.from({ length: start }, () => expect.stringContaining(`DamagedJobError: retry ${bad} is damaged`)),
        );
      }
    },
  );

  it('sets a job aside that is damaged while it waits for its delivery, and later ones are delivered', async () => {
    const world = opened();
    world.outbound.target('well.example', () => answer(200));
    world.outbound.target('busy.example', (_request, number) => answer(number <= 2 ? 503 : 200));
    const order = { ...orderTo('well.example'), callbackUrl: 'https://busy.example/' };
    const bad = await world.create(order);
    const other = await world.create(order);
    await world.pass(1000);
    world.damage(bad, 'result_body');
    await world.pass(30_000);
    expect((await world.process.retries.find(other))?.delivery?.status).toBe('delivered');
    expect((await world.process.retries.find(bad))?.delivery?.status).not.toBe('delivered');
    expect(world.failures.map(String)).toEqual([expect.stringContaining(`retry ${bad} is damaged`)]);
    expect(heldCountOf(world.process.worker)).toBe(0);
  });

  it('ends a job at its deadline while it waits for its turn, and tells its callback', async () => {
    const world = opened();
    world.outbound.turnOf = (host) => (host === 'crowded.example' ? new Promise(() => {}) : Promise.resolve());
    world.outbound.target('crowded.example', () => answer(200));
    world.outbound.target('hook.example', () => answer(200));
    const id = await world.create({ ...orderTo('crowded.example'), callbackUrl: 'https://hook.example/' });
    await world.pass(599_000, 10_000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'scheduled' });
    await world.pass(2000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'expired', attempts: [] });
    expect(world.outbound.seenBy('hook.example').map(({ body }) => JSON.parse(body!).status)).toEqual(['expired']);
    expect(world.outbound.seenBy('crowded.example')).toEqual([]);
    expect(heldCountOf(world.process.worker)).toBe(0);
  });

  it('leaves an attempt that is under way at the deadline to its end', async () => {
    const world = opened();
    let end = (): void => {};
    world.outbound.target('slow.example', (_request, _number, signal) => {
      return new Promise((resolve) => {
        end = () => resolve(answer(200));
        signal?.addEventListener('abort', () => resolve(failure('aborted')));
      });
    });
    const id = await world.create(orderTo('slow.example'));
    await world.pass(601_000, 10_000);
    end();
    await world.pass(1000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'succeeded' });
  });

  it('wakes for the job that is due first, and for each after it', async () => {
    const world = opened();
    const pauses = [10, 5, 15];
    const hosts = pauses.map((initialDelaySeconds) => `after-${initialDelaySeconds}.example`);
    for (const [i, host] of hosts.entries()) {
      world.outbound.target(host, (_request, number) => answer(number === 1 ? 503 : 200));
      const order = orderTo(host);
      await world.create({ ...order, policy: { ...order.policy, initialDelaySeconds: pauses[i]! } });
    }
    await world.pass(1000);
    for (const sent of [
      [1, 1, 1],
      [1, 2, 1],
      [2, 2, 1],
      [2, 2, 2],
    ]) {
      expect(hosts.map((host) => world.outbound.seenBy(host).length)).toEqual(sent);
      await world.pass(5000);
    }
  });

  it('aborts what is under way of a job that is cancelled, and tells its callback at once', async () => {
    const world = opened();
    world.outbound.target('held.example', hanging);
    world.outbound.target('hook.example', () => answer(200));
    const id = await world.create({ ...orderTo('held.example'), callbackUrl: 'https://hook.example/' });
    await world.pass(1000);
    expect(metricsOf(world)).toEqual(['paygrade_retries_running 1']);
    expect(await world.process.retries.cancel(id)).toMatchObject({ status: 'cancelled' });
    await world.pass(1000);
    expect(world.outbound.seenBy('hook.example').map(({ body }) => JSON.parse(body!).status)).toEqual(['cancelled']);
    expect(heldCountOf(world.process.worker)).toBe(0);
    expect(metricsOf(world)).toEqual([
      'paygrade_retry_attempts_total{outcome="interrupted"} 1',
      'paygrade_retry_deliveries_total{end="delivered"} 1',
    ]);
    expect(await world.process.retries.cancel(id)).toBeUndefined();
  });

  it('counts no attempt as running that a bug has ended, and takes it for interrupted', async () => {
    const world = opened();
    world.outbound.target('odd.example', (_request, number) => {
      if (number === 1) throw new TypeError('odd');
      return answer(200);
    });
    const id = await world.create(orderTo('odd.example'));
    await world.pass(600_000, 10_000);
    expect(world.failures).toEqual([expect.any(TypeError)]);
    expect(metricsOf(world)).toEqual([
      'paygrade_retry_attempts_total{outcome="success"} 1',
      'paygrade_retry_attempts_total{outcome="interrupted"} 1',
    ]);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'succeeded' });
  });

  it('counts attempts, tries and what waits, and keeps no secret of what is over', async () => {
    const world = opened();
    world.outbound.turnOf = (host) => (host === 'crowded.example' ? new Promise(() => {}) : Promise.resolve());
    world.outbound.target('crowded.example', () => answer(200));
    world.outbound.target('busy.example', (_request, number) => answer(number === 1 ? 503 : 200));
    world.outbound.target('hook.example', (_request, number) => answer(number === 1 ? 500 : 200));
    const ids = [
      await world.create({ ...orderTo('busy.example'), callbackUrl: 'https://hook.example/' }),
      await world.create({ ...orderTo('busy.example'), callbackUrl: 'https://unknown.example/' }),
    ];
    await world.create(orderTo('crowded.example'));
    await world.pass(15_000);
    expect(metricsOf(world)[0]).toBe('paygrade_retries_due 1');
    await world.pass(800_000, 10_000);
    expect(metricsOf(world)).toEqual([
      'paygrade_retry_attempts_total{outcome="success"} 2',
      'paygrade_retry_attempts_total{outcome="http_error"} 1',
      'paygrade_retry_deliveries_total{end="delivered"} 1',
      'paygrade_retry_deliveries_total{end="again"} 5',
      'paygrade_retry_deliveries_total{end="failed"} 1',
    ]);
    for (const id of ids) expect((await world.process.store.find(id))?.secrets).toBeNull();
    expect(await world.process.retries.usage('acme', monthStartMs(world.time.nowMs()))).toEqual({
      retriesCreated: 3,
      attemptsMade: 3,
      callbacksDelivered: 1,
    });
  });

  it('keeps the pause of a job that comes after the wall clock was set forwards (reliability 273)', async () => {
    const world = opened();
    world.outbound.target('busy.example', (_request, number) => answer(number === 1 ? 503 : 200));
    await world.pass(1000);
    world.time.stepWall(3_600_000);
    const id = await world.create(orderTo('busy.example'));
    await world.pass(6000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'succeeded' });
  });

  it('interrupts attempts five seconds after it began to drain, before it is closed (reliability 264)', async () => {
    const world = opened();
    world.outbound.target('held.example', hanging);
    const id = await world.create(orderTo('held.example'));
    await world.pass(1000);
    world.process.worker.drain();
    await world.pass(4000);
    expect(heldCountOf(world.process.worker)).toBe(1);
    await world.pass(1000);
    expect(heldCountOf(world.process.worker)).toBe(0);
    expect((await world.process.retries.find(id))?.attempts).toMatchObject([{ outcome: 'interrupted' }]);
    await world.process.worker.close();
  });

  it('lets a delivery go that waits for its turn as soon as it drains', async () => {
    const world = opened();
    world.outbound.turnOf = (host) => (host === 'crowded.example' ? new Promise(() => {}) : Promise.resolve());
    world.outbound.target('well.example', () => answer(200));
    world.outbound.target('crowded.example', () => answer(200));
    await world.create({ ...orderTo('well.example'), callbackUrl: 'https://crowded.example/' });
    await world.pass(1000);
    expect(heldCountOf(world.process.worker)).toBe(1);
    world.process.worker.drain();
    await settle();
    expect(heldCountOf(world.process.worker)).toBe(0);
  });

  describe.each(['well.example', 'unknown.example'])('to %s', (host) => {
    /** As another process that has the job does to its record, between this one's look at it and its request. */
    const meanwhile = (world: RetryWorld, change: () => Promise<unknown>): void => {
      world.outbound.target('well.example', () => answer(200));
      const { outbound } = world;
      const send = outbound.send.bind(outbound);
      outbound.send = async (request) => {
        if (request.target.url.hostname === host) await change();
        return send(request);
      };
    };

    it('sends no attempt of a job that has been cancelled meanwhile', async () => {
      const world = opened();
      const { worker, retries } = world.process;
      const { promise: created, resolve } = Promise.withResolvers<RetryId>();
      meanwhile(world, async () => worker.runner.cancel(await created));
      const id = await world.create(orderTo(host));
      resolve(id);
      await world.pass(1000);
      expect(world.outbound.seen).toEqual([]);
      expect(await retries.find(id)).toMatchObject({ status: 'cancelled', attempts: [] });
      expect([metricsOf(world), world.failures]).toEqual([[], []]);
    });

    it('sends no delivery that has been made meanwhile', async () => {
      const world = opened();
      world.outbound.target('first.example', () => answer(200));
      const { store, retries } = world.process;
      const { promise: created, resolve } = Promise.withResolvers<RetryId>();
      meanwhile(world, async () =>
        store.update(await created, ({ job }) => {
          const begun = job.delivery && startDelivery(job.delivery, world.time.nowMs());
          const made = begun && endDelivery(begun, 200, world.time.nowMs());
          return made ? { job: withDelivery(job, made) } : undefined;
        }),
      );
      const id = await world.create({ ...orderTo('first.example'), callbackUrl: `https://${host}/` });
      resolve(id);
      await world.pass(1000);
      expect(world.outbound.seenBy(host)).toEqual([]);
      expect((await retries.find(id))?.delivery).toMatchObject({ status: 'delivered', attemptCount: 1 });
      expect(world.failures).toEqual([]);
    });
  });

  it('puts no attempt on record that still waits for its turn when it drains', async () => {
    const world = opened();
    world.outbound.turnOf = () => new Promise(() => {});
    world.outbound.target('crowded.example', () => answer(200));
    const id = await world.create(orderTo('crowded.example'));
    await world.pass(1000);
    expect(world.process.worker.dueCount).toBe(1);
    await world.process.worker.close();
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'scheduled', attempts: [] });
  });

  it('keeps nothing of the request once a job has ended, while its event waits to be delivered', async () => {
    const world = opened();
    world.outbound.target('well.example', () => answer(200));
    world.outbound.target('hook.example', () => answer(500));
    const { request, ...order } = orderTo('well.example');
    const body = 'x'.repeat(10_000);
    const long = { ...order, request: { ...request, method: 'POST' as const, body } };
    const id = await world.create({ ...long, callbackUrl: 'https://hook.example/' });
    expect((await world.process.store.find(id))?.secrets?.length).toBeGreaterThan(10_000);
    await world.pass(1000);
    expect(await world.process.retries.find(id)).toMatchObject({ delivery: { attemptCount: 1, status: 'delivering' } });
    expect((await world.process.store.find(id))?.secrets?.length).toBeLessThan(1000);
    const other = await world.create(long);
    await world.pass(1000);
    expect((await world.process.store.find(other))?.secrets).toBeNull();
  });

  it('closes without waiting out the pause after a failure of the state', async () => {
    const world = opened();
    world.outbound.target('well.example', () => answer(200));
    world.isRefused = ({ kind }) => kind === 'update' || kind === 'release';
    await world.create(orderTo('well.example'));
    await settle();
    expect([world.failures.length, heldCountOf(world.process.worker)]).toEqual([1, 1]);
    let isClosed = false;
    void world.process.worker.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(true);
  });

  it('holds a job that it takes again before it has heard of its release', async () => {
    const world = opened();
    const { process, outbound } = world;
    const { store, worker, retries } = process;
    const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
    const release = store.release.bind(store);
    store.release = async (id) => {
      const dueAtMs = await release(id);
      await heard;
      return dueAtMs;
    };
    outbound.target('held.example', hanging);
    outbound.target('hook.example', hanging);
    const id = await world.create({ ...orderTo('held.example'), callbackUrl: 'https://hook.example/' });
    await world.pass(1000);
    await retries.cancel(id);
    await settle();
    worker.wake();
    await settle();
    expect(outbound.seenBy('hook.example')).toHaveLength(1);
    hear();
    await settle();
    expect(heldCountOf(worker)).toBe(1);
    let isClosed = false;
    const closing = worker.close().then(() => {
      isClosed = true;
    });
    await world.pass(4000);
    expect(isClosed).toBe(false);
    await world.pass(1000);
    await closing;
    expect((await retries.find(id))?.delivery?.isUnderWay).toBe(false);
  });

  it('begins no work on a job that it took again after a lost lease while its work before still ends', async () => {
    const world = opened();
    const { store, worker, retries } = world.process;
    const { promise: answered, resolve: end } = Promise.withResolvers<void>();
    world.outbound.target('held.example', async () => {
      await answered;
      return answer(200);
    });
    const id = await world.create(orderTo('held.example'));
    await world.pass(1000);
    const take = store.takeDue.bind(store);
    store.takeDue = async () => {
      store.takeDue = take;
      return { jobs: [{ id, customer: 'org:acme', byteCount: 0 }], nextDueMs: null };
    };
    worker.wake();
    await settle();
    expect((await retries.find(id))?.attempts).toMatchObject([{ outcome: null }]);
    end();
    await world.pass(1000);
    expect(await retries.find(id)).toMatchObject({ status: 'succeeded' });
    expect(heldCountOf(worker)).toBe(0);
  });

  it('goes on where the usage of an organization is damaged', async () => {
    const world = opened();
    world.outbound.target('well.example', () => answer(200));
    await world.create(orderTo('well.example'));
    await world.pass(1000);
    world.damageUsage();
    const id = await world.create(orderTo('well.example'));
    await world.pass(1000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'succeeded' });
    await expect(world.process.retries.usage('acme', monthStartMs(world.time.nowMs()))).rejects.toThrow(/acme/);
    expect(world.failures).toEqual([]);
  });

  it('takes the job of a customer who has few before the long line of another', async () => {
    const world = opened();
    world.outbound.target('held.example', hanging);
    world.process.worker.drain();
    const large = { customer: 'org:large', organization: 'large' };
    const small = { customer: 'org:small', organization: 'small' };
    await Promise.all(Array.from({ length: 3000 }, () => world.create(orderTo('held.example'), large)));
    await world.create(orderTo('held.example'), small);
    world.kill();
    for (let i = 0; i < 100 && world.outbound.seen.length < 3001; i++) await settle();
    expect(world.outbound.seen).toHaveLength(3001);
    expect(world.outbound.seen.slice(0, 1200).map(({ customer }) => customer)).toContain(small.customer);
  });
});

describe('a job', () => {
  it('is sent as soon as it is on record, however long that takes', async () => {
    const world = opened();
    world.outbound.target('well.example', () => answer(200));
    const { store } = world.process;
    const written = Promise.withResolvers<void>();
    const create = store.create.bind(store);
    store.create = async (record) => {
      await written.promise;
      return create(record);
    };
    const creating = world.create(orderTo('well.example'));
    await settle();
    written.resolve();
    await creating;
    await settle();
    expect(world.outbound.seen).toHaveLength(1);
  });

  it('is not there where the state does not take it, which its customer hears', async () => {
    const world = opened();
    world.isRefused = ({ kind }) => kind === 'create';
    await expect(world.create(orderTo('well.example'))).rejects.toThrow('the disk is full');
  });

  it('that waits for its next attempt tells its callback at once that it was cancelled', async () => {
    const world = opened();
    world.outbound.target('busy.example', () => answer(503));
    world.outbound.target('hook.example', () => answer(200));
    const id = await world.create({ ...orderTo('busy.example'), callbackUrl: 'https://hook.example/' });
    await world.pass(1000);
    expect(await world.process.retries.cancel(id)).toMatchObject({ status: 'cancelled' });
    await settle();
    expect(world.outbound.seenBy('hook.example')).toHaveLength(1);
  });

  it('that has ended is not cancelled, and its delivery goes on', async () => {
    const world = opened();
    world.outbound.target('well.example', () => answer(200));
    world.outbound.target('hook.example', hanging);
    const id = await world.create({ ...orderTo('well.example'), callbackUrl: 'https://hook.example/' });
    await world.pass(1000);
    expect(await world.process.retries.cancel(id)).toBeUndefined();
    await settle();
    expect((await world.process.retries.find(id))?.delivery?.isUnderWay).toBe(true);
  });

  it('is unknown when its day is over, also while the state cannot remove it', async () => {
    const world = opened();
    world.outbound.target('well.example', () => answer(200));
    world.isRefused = ({ kind }) => kind === 'remove';
    const id = await world.create(orderTo('well.example'));
    await world.pass(1000);
    const { retries } = world.process;
    expect(await retries.read(id)).toMatchObject({ job: { status: 'succeeded' } });
    await world.pass(KEPT_MS, 60_000);
    expect([await retries.find(id), await retries.read(id), world.jobCount]).toEqual([undefined, undefined, 1]);
    world.isRefused = () => false;
    await world.pass(2000);
    expect([await retries.find(id), await retries.read(id), world.jobCount]).toEqual([undefined, undefined, 0]);
  });
});

describe('a paid creation', () => {
  it('has its own job although another process took its idempotency key meanwhile: its read token opens it', async () => {
    const { retries } = opened().process;
    const order = orderTo('well.example');
    const payer = { customer: 'payer:0xpayer', organization: null };
    const key = { key: 'digest of the key', fingerprint: 'digest of the body' };
    const drafts = [retries.draft(payer, order, null), retries.draft(payer, order, null)] as const;
    for (const draft of [...drafts, ...drafts]) {
      expect((await retries.create(draft, payer, order, key)).id).toBe(draft.id);
    }
    expect((await retries.find(drafts[0].id))?.idempotency).toEqual(key);
    expect((await retries.find(drafts[1].id))?.idempotency).toBeNull();
  });
});
