/** Overload of real servers (decisions §4; reliability 211, 212): real memory, and a process that really stands still. */
import { setTimeout as passed } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bearer, createCallback, post } from '../support/callback-client.ts';
import { oneRuntime } from '../support/server.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';
import { expectFreeRoutes, levelOf, loggedOf, outcomeOf, PATH, pageOf, start } from './overloaded-server.ts';

describe.each(oneRuntime('bun'))('overload, under %s', (runtime) => {
  it('a server above 92 % accepts no payments either', async () => {
    const server = await start(runtime, { MEMORY_LIMIT_BYTES: '1000000' });
    try {
      expect(await outcomeOf(server.fetch(PATH))).toBe('503 OVERLOADED');
      const headers = { 'PAYMENT-SIGNATURE': 'e30=' };
      expect(await outcomeOf(server.fetch(PATH, { headers }))).toBe('503 OVERLOADED');
      expect(await outcomeOf(server.fetch('/v1/callbacks', { method: 'POST', headers }))).toBe('503 OVERLOADED');
      expect(await outcomeOf(server.fetch('/v1/jobs/search?limit=0'))).toBe('400');
      await expectFreeRoutes(server);
      const page = await pageOf(server);
      expect(page.value('paygrade_shed_requests_total', { operation: 'searchJobs', reason: 'memory' })).toBe(2);
      expect(page.value('paygrade_overload_level')).toBe(2);
      expect(page.families.has('paygrade_heap_limit_bytes')).toBe(runtime === 'node');
      expect(loggedOf(server)).toMatchObject([{ overload_level: 2, reason: 'memory' }]);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });

  it('a loop that stood still sheds right after it, and serves again five seconds later (reliability 212)', async () => {
    const server = await start(runtime);
    try {
      const callback = await createCallback(server);
      const payment = encodeHeader(await paymentFor(await offerFrom(server.fetch(PATH)), wallet()));
      await passed(200);
      server.child.kill('SIGSTOP');
      await passed(2_000);
      server.child.kill('SIGCONT');
      await expect.poll(() => outcomeOf(server.fetch(PATH)), { timeout: 3_000, interval: 5 }).toBe('503 OVERLOADED');
      const pay = (): Promise<string> => outcomeOf(server.fetch(PATH, { headers: { 'PAYMENT-SIGNATURE': payment } }));
      expect(await pay()).toBe('503 OVERLOADED');
      await expectFreeRoutes(server);
      expect((await post(server, callback.id, 'hello')).status).toBe(200);
      const read = await server.fetch(`/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
      expect([read.status, (await read.text()).includes('hello')]).toEqual([200, true]);
      const page = await pageOf(server);
      expect(page.value('paygrade_event_loop_lag_seconds', { statistic: 'max' })).toBeGreaterThan(1.9);
      await expect.poll(() => levelOf(server), { timeout: 30_000, interval: 100 }).toBe(0);
      expect(await pay()).toBe('200');
      expect(await outcomeOf(server.fetch(PATH))).toBe('402');
      const levels = loggedOf(server).map(({ overload_level }) => overload_level);
      expect([levels[0], levels.at(-1)]).toEqual([2, 0]);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
});
