/** Requests to webhook addresses of this server, delivered inside the process. */
import { expect, it } from 'vitest';
import { OwnHooks } from '../../../src/adapters/outbound/own-hooks.ts';
import { OutboundPolicy } from '../../../src/outbound/policy.ts';
import { NOTHING_ALLOWED } from '../../../src/outbound/target-allow.ts';

const HOOKS = 'https://hooks.example.com/pay';

it('they name the same client as the requests that go out', async () => {
  const seen: (string | null)[] = [];
  const hooks = new OwnHooks(
    ({ headers }) => {
      seen.push(headers.get('user-agent'));
      return new Response('stored');
    },
    HOOKS,
    'paygrade/1.2.3 (+ops@shop.example)',
  );
  const own = { urls: [], hookBaseUrl: HOOKS, listening: { ranges: [], port: 1 } };
  const judged = new OutboundPolicy({ own, allow: NOTHING_ALLOWED }).judge(`${HOOKS}/hooks/cb_AAAA`, 'delivery');
  if (!judged.ok) throw new Error(judged.reason);
  const request = {
    ...{ target: judged.target, method: 'POST', headers: [], body: Buffer.from('{}'), customer: 'a' },
    ...{ timeoutMs: 1000, wireBytesMax: 1024, unpackedBytesMax: 1024 },
  };
  const result = await hooks.deliver(request, () => {}, new AbortController().signal);
  expect(result).toMatchObject({ kind: 'answer', status: 200 });
  expect(seen).toEqual(['paygrade/1.2.3 (+ops@shop.example)']);
});
