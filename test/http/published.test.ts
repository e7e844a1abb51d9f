/** The check that the whole suite's responses go through finds what is not as published, and nothing else. */
import { describe, expect, it } from 'vitest';
import { checkedResponse, publishedContract, type Seen, takeFaults } from '../support/published.ts';
import { inProcess } from '../support/transport.ts';

const published = publishedContract();
const ID = `req_${'0'.repeat(36)}`;
const HEALTH = { status: 'ok', version: '1', uptime_seconds: 1 };
const ERROR = { error: { code: 'NOT_FOUND', message: 'nothing', request_id: ID } };

const seen = (
  changes: Partial<Omit<Seen, 'headers' | 'bytes'>> & { headers?: Record<string, string>; body?: unknown },
): Seen => {
  const { headers = {}, body = HEALTH, ...rest } = changes;
  const all = new Headers({ 'content-type': 'application/json', 'x-request-id': ID, ...headers });
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { method: 'GET', path: '/health', status: 200, ...rest, headers: all, bytes };
};

describe('a response as published', () => {
  it.each([
    ['a success', seen({})],
    [
      'a refusal',
      seen({
        method: 'GET',
        path: '/v1/payments/a/b/c',
        status: 404,
        body: { error: { ...ERROR.error, code: 'PAYMENT_NOT_FOUND' } },
      }),
    ],
    ['a path that nobody has', seen({ path: '/nothing', status: 404, body: ERROR })],
    [
      'a method that the path does not have',
      seen({
        method: 'POST',
        status: 405,
        headers: { allow: 'GET' },
        body: { error: { ...ERROR.error, code: 'METHOD_NOT_ALLOWED' } },
      }),
    ],
    [
      'a preflight',
      seen({ method: 'OPTIONS', status: 204, headers: { 'access-control-allow-methods': 'GET' }, body: '' }),
    ],
    [
      'a preflight of a path that nobody has',
      seen({
        method: 'OPTIONS',
        path: '/nothing',
        status: 204,
        headers: { 'access-control-allow-methods': 'GET' },
        body: '',
      }),
    ],
    [
      'a type with parameters',
      seen({ path: '/metrics', headers: { 'content-type': 'text/plain; version=0.0.4' }, body: 'x' }),
    ],
  ])('%s is taken', (_, response) => {
    expect(published.fault(response)).toBeUndefined();
  });

  it.each([
    ['a member too many', seen({ body: { ...HEALTH, secret: 1 } }), /additional properties/],
    [
      'a member of another type',
      seen({ body: { ...HEALTH, uptime_seconds: 'long' } }),
      /must be integer|must be number/,
    ],
    ['no JSON', seen({ body: 'ok' }), /not JSON/],
    ['a status that is not published', seen({ status: 418 }), /this status is not published/],
    ['another media type', seen({ headers: { 'content-type': 'text/html' } }), /content type text\/html/],
    [
      'a header of ours that is not published',
      seen({ headers: { 'payment-response': 'e30=' } }),
      /PAYMENT-RESPONSE is not published/,
    ],
    ['a header that is wrong', seen({ headers: { 'x-request-id': 'req_1' } }), /X-Request-Id: req_1/],
    ['an answer at a path that nobody published', seen({ path: '/secret' }), /not published/],
    ['a method that is not published', seen({ method: 'DELETE' }), /does not publish this method/],
    [
      'a code that the operation does not have',
      seen({ path: '/v1/payments/a/b/c', status: 404, body: { error: { ...ERROR.error, code: 'EVENT_NOT_FOUND' } } }),
      /must be equal to one of the allowed values/,
    ],
    [
      'a refusal without its header',
      seen({ path: '/v1/jobs/search', status: 429, body: { error: { ...ERROR.error, code: 'RATE_LIMIT_EXCEEDED' } } }),
      /Retry-After is missing/,
    ],
    [
      'an offer that is not whole',
      seen({
        path: '/v1/jobs/search',
        status: 402,
        headers: { 'payment-required': 'e30=' },
        body: {
          error: { ...ERROR.error, code: 'PAYMENT_REQUIRED' },
          x402Version: 2,
          resource: {},
          accepts: [],
          extensions: {},
        },
      }),
      /must have required property/,
    ],
  ])('%s is found', (_, response, fault) => {
    expect(published.fault(response)).toMatch(fault);
  });

  it('makes the running test fail, and leaves the response readable', async () => {
    const init = { headers: { 'content-type': 'application/json', 'x-request-id': ID } };
    const good = await checkedResponse('GET', 'http://h/health?a=b', new Response(JSON.stringify(HEALTH), init));
    expect(await good.json()).toEqual(HEALTH);
    const { faults: none, checkedCount } = takeFaults();
    expect(none).toEqual([]);
    const bad = await checkedResponse('GET', 'http://h/health', new Response('{}', init));
    expect(await bad.text()).toBe('{}');
    const after = takeFaults();
    expect(after.faults).toEqual([expect.stringContaining('GET /health 200')]);
    expect(after.checkedCount).toBe(checkedCount + 1);
  });
});

describe('a handler in this process', () => {
  const over = (response: Response) => inProcess({ fetch: () => response }, 'http://api.test');
  const headers = { 'content-type': 'application/json', 'x-request-id': ID };

  it('gives its answer to the test when it is as published', async () => {
    const response = await over(new Response(JSON.stringify(HEALTH), { headers })).fetch('/health');
    expect(await response.json()).toEqual(HEALTH);
  });

  it('fails the test that asks when its answer is not', async () => {
    const wrong = over(new Response(JSON.stringify({ ...HEALTH, more: 1 }), { headers }));
    await expect(wrong.fetch('/health')).rejects.toThrow(/not as the contract publishes it:\nGET \/health 200/);
    await expect(over(new Response('{}', { headers })).fetch('/unknown')).rejects.toThrow(/not published/);
  });

  it('sees what a client and a listener would have sent', async () => {
    const requests: Request[] = [];
    const { fetch } = inProcess(
      {
        fetch(request, { address }) {
          requests.push(request);
          expect(address).toBe('127.0.0.1');
          return new Response(JSON.stringify(ERROR), { status: 404, headers });
        },
      },
      'http://api.test',
    );
    await fetch('/a', { method: 'POST', body: 'é', headers: { Host: 'other' } });
    await fetch('http://api.test/b?c=1');
    const [first, second] = requests;
    expect([first?.headers.get('content-length'), first?.headers.get('host')]).toEqual(['2', 'other']);
    expect([second?.url, second?.headers.get('host')]).toEqual(['http://api.test/b?c=1', 'api.test']);
  });
});
