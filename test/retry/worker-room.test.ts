/** What the worker holds: bounded in bytes, with room for every customer, whatever one of them sends or has sent to it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HELD_BYTES_MAX, RESPONSE_BYTES_MAX } from '../../src/retry/limits.ts';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import type { RetryOrder } from '../../src/retry/retries.ts';
import { garbageCollector } from '../support/garbage-collector.ts';
import { answer, hanging } from '../support/targets-by-host.ts';
import { heldCountOf, RetryWorld } from './model.ts';

const LOUD = { customer: 'org:loud', organization: 'loud' };
const QUIET = { customer: 'org:quiet', organization: 'quiet' };

/** In JSON each of its characters takes six bytes. */
const LONG = answer(200, '\0'.repeat(RESPONSE_BYTES_MAX), { 'content-type': 'text/plain' });

const orderOf = (host: string, body: string | null, callbackUrl: string | null = null): RetryOrder => ({
  request: { method: 'POST', url: `https://${host}/`, headers: [], body },
  policy: DEFAULT_POLICY,
  callbackUrl,
  deadlineSeconds: 3600,
});

describe('the worker of retries', () => {
  let world: RetryWorld;
  beforeEach(() => {
    world = new RetryWorld(1);
    world.outbound.target('hangs.example', hanging);
    world.outbound.target('works.example', () => answer(200));
  });
  afterEach(() => world.close());

  it('keeps room for others when the bodies of one customer are as long as they may be', async () => {
    const count = 20;
    const body = 'x'.repeat(HELD_BYTES_MAX / count + 1);
    for (let i = 0; i < count; i++) await world.create(orderOf('hangs.example', body), LOUD);
    await world.pass(1000);
    expect(world.outbound.seenBy('hangs.example').length).toBeLessThanOrEqual(count / 2 + 2);
    await world.create(orderOf('works.example', null), QUIET);
    await world.pass(1000);
    expect(world.outbound.seenBy('works.example')).toHaveLength(1);
  });

  it('takes the rest of a long line at once as its jobs end', async () => {
    const turn = Promise.withResolvers<void>();
    world.outbound.turnOf = () => turn.promise;
    const count = 20;
    const body = 'x'.repeat(HELD_BYTES_MAX / count + 1);
    for (let i = 0; i < count; i++) await world.create(orderOf('works.example', body), LOUD);
    await world.pass(1000);
    expect(heldCountOf(world.process.worker)).toBeLessThan(count);
    turn.resolve();
    await world.pass(1000);
    expect(world.outbound.seenBy('works.example')).toHaveLength(count);
    expect(heldCountOf(world.process.worker)).toBe(0);
  });

  it('has no long result in memory while its delivery waits for a turn, and signs each event in its turn', async () => {
    const collect = garbageCollector();
    const usedBytes = (): number => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const turn = Promise.withResolvers<void>();
    world.outbound.turnOf = (host) => (host === 'busy.example' ? turn.promise : Promise.resolve());
    world.outbound.target('long.example', () => LONG);
    world.outbound.target('busy.example', () => answer(200));
    const count = 30;
    const beforeBytes = usedBytes();
    for (let i = 0; i < count; i++) await world.create(orderOf('long.example', null, 'https://busy.example/'), LOUD);
    await world.pass(600_000, 60_000);
    expect(world.outbound.seenBy('long.example')).toHaveLength(count);
    // What the collector has found is freed by a thread of its own.
    await expect.poll(usedBytes).toBeLessThan(beforeBytes + (count / 3) * 6 * RESPONSE_BYTES_MAX);
    const sentSeconds = Math.floor(world.time.nowMs() / 1000);
    turn.resolve();
    await world.pass(1000);
    const events = world.outbound.seenBy('busy.example');
    expect(new Set(events.map(({ headers }) => headers['webhook-timestamp']))).toEqual(new Set([`${sentSeconds}`]));
    expect(events.map(({ body }) => JSON.parse(body!).result.size_bytes)).toEqual(
      Array.from({ length: count }, () => RESPONSE_BYTES_MAX),
    );
  });
});
