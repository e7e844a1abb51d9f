/** Whose turns count together, those of one host and apart from them those of own webhook addresses, and what ends with a turn. */
import { describe, expect, it } from 'vitest';
import { OutboundClient, type OutboundClientOptions } from '../../../src/adapters/outbound/outbound-client.ts';
import { OwnHooks } from '../../../src/adapters/outbound/own-hooks.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { HOST_SLOTS_MAX } from '../../../src/outbound/limits.ts';
import { OutboundPolicy } from '../../../src/outbound/policy.ts';
import { NOTHING_ALLOWED } from '../../support/nothing-allowed.ts';

const HOOKS = 'https://hooks.example.com';

const opened = (ports: Pick<OutboundClientOptions, 'resolver' | 'exchange'>) => {
  const own = { urls: [], hookBaseUrl: HOOKS, listening: { ranges: [], port: 8402 } };
  const client = new OutboundClient({
    policy: new OutboundPolicy({ own, allow: NOTHING_ALLOWED }),
    concurrency: 64,
    ownHooks: new OwnHooks(() => new Response('stored'), HOOKS, 'x'),
    userAgent: 'x',
    clock: systemClock,
    timers: systemTimers,
    ...ports,
  });
  return (url: string, signal: AbortSignal) => {
    const judged = client.policy.judge(url, 'delivery');
    if (!judged.ok) throw new Error(judged.reason);
    const bounds = { timeoutMs: 20_000, wireBytesMax: 1000, unpackedBytesMax: 1000 };
    const request = { target: judged.target, method: 'POST', headers: [], body: null, customer: 'one', signal };
    return client.send({ ...request, ...bounds });
  };
};

describe('requests to the host name of the own webhook addresses on another port', () => {
  it('leave the slots of the webhook addresses alone', async () => {
    const send = opened({
      // Never knows the name.
      resolver: {
        resolve: (_name, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ kind: 'timeout', code: 'ECANCELLED' }));
          }),
      },
    });
    const leaving = new AbortController();
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

it('an answer that was whole counts, though its request ended meanwhile', async () => {
  const leaving = new AbortController();
  const answer = { kind: 'answer', status: 200, headers: [], body: new Uint8Array(), isTruncated: false } as const;
  const send = opened({
    resolver: { resolve: async () => ({ kind: 'addresses', addresses: ['198.41.0.4'] }) },
    async exchange() {
      leaving.abort();
      return answer;
    },
  });
  expect(await send('https://some.example/', leaving.signal)).toMatchObject(answer);
});
