/** Whose turns count together: those of one host, and those of this server's own webhook addresses apart from any host. */
import { describe, expect, it } from 'vitest';
import { OutboundClient } from '../../../src/adapters/outbound/outbound-client.ts';
import { OwnHooks } from '../../../src/adapters/outbound/own-hooks.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { HOST_SLOTS_MAX } from '../../../src/outbound/limits.ts';
import { OutboundPolicy } from '../../../src/outbound/policy.ts';
import { NOTHING_ALLOWED } from '../../../src/outbound/target-allow.ts';

const HOOKS = 'https://hooks.example.com';

describe('requests to the host name of the own webhook addresses on another port', () => {
  it('leave the slots of the webhook addresses alone', async () => {
    const own = { urls: [], hookBaseUrl: HOOKS, listening: { ranges: [], port: 8402 } };
    const client = new OutboundClient({
      policy: new OutboundPolicy({ own, allow: NOTHING_ALLOWED }),
      concurrency: 64,
      // Never knows the name.
      resolver: {
        resolve: (_name, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ kind: 'timeout', code: 'ECANCELLED' }));
          }),
      },
      ownHooks: new OwnHooks(() => new Response('stored'), HOOKS),
      clock: systemClock,
      timers: systemTimers,
    });
    const leaving = new AbortController();
    const send = (url: string, signal: AbortSignal) => {
      const judged = client.policy.judge(url, 'delivery');
      if (!judged.ok) throw new Error(judged.reason);
      const bounds = { timeoutMs: 20_000, wireBytesMax: 1000, unpackedBytesMax: 1000 };
      const request = { target: judged.target, method: 'POST', headers: [], body: null, customer: 'one', signal };
      return client.send({ ...request, ...bounds });
    };
    const hanging = Array.from({ length: HOST_SLOTS_MAX }, () => send(`${HOOKS}:8443/`, leaving.signal));
    try {
      const delivered = await send(`${HOOKS}/hooks/cb_AAAA`, AbortSignal.timeout(2000));
      expect(delivered).toMatchObject({ kind: 'answer', status: 200 });
    } finally {
      leaving.abort();
      await Promise.all(hanging);
    }
  });
});
