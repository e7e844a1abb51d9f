/** What the worker holds: bounded in bytes, with room for every customer, whatever one of them sends or has sent to it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HELD_BYTES_MAX, RESPONSE_BYTES_MAX } from '../../src/retry/limits.ts';
import { DEFAULT_POLICY } from '../../src/retry/policy.ts';
import type { RetryOrder } from '../../src/retry/retries.ts';
import { answer, hanging } from '../support/fake-outbound.ts';
import { RetryWorld } from './model.ts';

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

  it('counts long results that wait for their delivery, and delivers all of them', async () => {
    let open = 0;
    let openMax = 0;
    world.outbound.target('long.example', () => LONG);
    world.outbound.target('slow.example', async () => {
      openMax = Math.max(openMax, ++open);
      await new Promise<void>((resolve) => world.time.after(5000, resolve));
      open--;
      return answer(200);
    });
    const count = 40;
    for (let i = 0; i < count; i++) await world.create(orderOf('long.example', null, 'https://slow.example/'), LOUD);
    await world.pass(60_000);
    expect(world.failures).toEqual([]);
    expect(world.outbound.seenBy('slow.example')).toHaveLength(count);
    expect(openMax).toBeGreaterThan(1);
    expect(openMax * 6 * RESPONSE_BYTES_MAX).toBeLessThanOrEqual(HELD_BYTES_MAX);
  });
});
