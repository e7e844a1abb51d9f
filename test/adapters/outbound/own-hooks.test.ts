/** Requests to webhook addresses of this server, delivered inside the process. */
import { expect, it } from 'vitest';
import { type OwnFetch, OwnHooks } from '../../../src/adapters/outbound/own-hooks.ts';
import { OutboundPolicy } from '../../../src/outbound/policy.ts';
import { NOTHING_ALLOWED } from '../../support/nothing-allowed.ts';

const HOOKS = 'https://hooks.example.com/pay/';

async function delivered(
  fetch: OwnFetch,
  headers: readonly (readonly [string, string])[] = [],
  signal = new AbortController().signal,
  hookBaseUrl = HOOKS,
) {
  const own = { urls: [], hookBaseUrl, listening: { ranges: [], port: 1 } };
  const text = `${hookBaseUrl.replace(/\/$/, '')}/hooks/cb_AAAA?a=b`;
  const judged = new OutboundPolicy({ own, allow: NOTHING_ALLOWED }).judge(text, 'delivery');
  if (!judged.ok) throw new Error(judged.reason);
  const request = {
    ...{ target: judged.target, method: 'POST', headers, body: Buffer.from('{}'), customer: 'a' },
    ...{ timeoutMs: 1000, wireBytesMax: 2048, unpackedBytesMax: 1024 },
  };
  let answerCount = 0;
  const hooks = new OwnHooks(fetch, hookBaseUrl, 'paygrade/1.2.3 (+ops@shop.example)');
  const result = await hooks.deliver(request, () => answerCount++, signal);
  return { result, answerCount };
}

it('they name the same client as the requests that go out, and nothing else of who sends them', async () => {
  const seen: unknown[] = [];
  const { result, answerCount } = await delivered(
    async (request, { address }) => {
      const headers = ['user-agent', 'x-own', 'x-forwarded-for', 'forwarded'].map((name) => request.headers.get(name));
      seen.push(request.url, address, ...headers, await request.text());
      return new Response('stored');
    },
    [
      ['X-Own', 'mine'],
      ['X-Forwarded-For', '192.0.2.1'],
      ['Forwarded', 'for=192.0.2.1'],
    ],
  );
  expect(result).toMatchObject({ kind: 'answer', status: 200, body: new TextEncoder().encode('stored') });
  expect(answerCount).toBe(1);
  // The path before is the proxy's.
  const url = 'https://hooks.example.com/hooks/cb_AAAA?a=b';
  expect(seen).toEqual([url, 'customer a', 'paygrade/1.2.3 (+ops@shop.example)', 'mine', null, null, '{}']);
});

it.each<[string, OwnFetch, object]>([
  ['no body', () => new Response(null, { status: 204 }), { kind: 'answer', status: 204, isTruncated: false }],
  ['headers', () => new Response('', { headers: { a: 'b' } }), { headers: expect.arrayContaining([['a', 'b']]) }],
  ['a body over the bound', () => new Response('x'.repeat(1025)), { kind: 'too-large' }],
  ['no answer', () => Promise.reject(new Error('a bug')), { kind: 'unreachable' }],
])('with %s they end', async (_, fetch, expected) => {
  expect((await delivered(fetch)).result).toMatchObject(expected);
});

it.each(['https://hooks.example.com', 'https://hooks.example.com/', 'https://hooks.example.com/pay'])(
  'they come without the path of HOOK_BASE_URL=%s',
  async (hookBaseUrl) => {
    const { result } = await delivered(({ url }) => new Response(url), [], undefined, hookBaseUrl);
    expect(result).toMatchObject({ body: new TextEncoder().encode('https://hooks.example.com/hooks/cb_AAAA?a=b') });
  },
);

it('they end with their signal, whatever the handler does', async () => {
  const leaving = new AbortController();
  const unanswered = delivered(() => new Promise(() => {}), [], leaving.signal);
  leaving.abort();
  expect(await unanswered).toEqual({ result: { kind: 'aborted', detail: 'the request was ended' }, answerCount: 0 });
});
