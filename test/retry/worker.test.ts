/** The worker where its store fails, and where one customer has a long line (siblings §6). */
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import type { RetryOrder } from '../../src/retry/retries.ts';
import { answer, hanging } from '../support/fake-outbound.ts';
import { settle } from '../support/manual-time.ts';
import { RetryWorld } from './model.ts';

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

describe('the worker of retries', () => {
  it.each(['release', 'update', 'take'])('goes on with a job once the state takes its %s again', async (kind) => {
    const world = opened();
    world.outbound.target('busy.example', (_request, number) => answer(number === 1 ? 503 : 200));
    world.isRefused = (operation) => operation.kind === kind;
    const id = await world.create(orderTo('busy.example'));
    await world.pass(20_000);
    expect(world.failures).not.toEqual([]);
    expect((await world.process.retries.find(id))?.status).not.toBe('succeeded');
    world.isRefused = () => false;
    await world.pass(60_000);
    expect(await world.process.retries.find(id)).toMatchObject({ status: 'succeeded' });
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
    expect(world.outbound.seen.findIndex(({ customer }) => customer === small.customer)).toBeLessThan(1200);
  });
});
