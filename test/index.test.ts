/** The library: the handler mounted without a socket. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../src/app/request-record.ts';
import { createPaygrade, type Paygrade, type PaygradeOptions } from '../src/index.ts';
import { checkedResponse } from './support/published.ts';
import { decodeHeader, encodeHeader, type PaymentRequired, paymentFor, wallet } from './support/wallet.ts';

const fetchChecked = async (app: Paygrade, request: Request, client?: { address: string }): Promise<Response> =>
  checkedResponse(request.method, request.url, await app.fetch(request, client));

describe('createPaygrade', () => {
  let app: Paygrade;
  beforeAll(async () => {
    app = await createPaygrade({
      stateDir: ':memory:',
      baseUrl: 'https://api.example.com/pay/',
      rateLimitPerMinute: 2,
      shedding: false, // a busy machine runs this test late, and the server would make no offers
    });
  });
  afterAll(() => app.close());

  it('sells an answer without a server of its own', async () => {
    const url = 'https://elsewhere.example/v1/jobs/search?keyword=engineer';
    const unpaid = await fetchChecked(app, new Request(url));
    expect(unpaid.status).toBe(402);
    const offer = decodeHeader<PaymentRequired>(unpaid.headers.get('payment-required'));
    expect(offer.resource.url).toBe('https://api.example.com/pay/v1/jobs/search?keyword=engineer');
    const payment = encodeHeader(await paymentFor(offer, wallet()));
    const paid = await app.fetch(new Request(url, { headers: { 'payment-signature': payment } }), {
      address: '10.0.0.1',
    });
    expect(paid.status).toBe(200);
    const again = await app.fetch(new Request(url, { headers: { 'payment-signature': payment } }), {
      address: '10.0.0.1',
    });
    expect(again.status).toBe(409);
    expect(again.headers.get('payment-response')).toBe(paid.headers.get('payment-response'));
  });

  it('says in its answers that the sample is made up', async () => {
    const url = 'http://h/v1/jobs/signals';
    const offer = decodeHeader<PaymentRequired>(
      (await fetchChecked(app, new Request(url), { address: 'b' })).headers.get('payment-required'),
    );
    const headers = { 'payment-signature': encodeHeader(await paymentFor(offer, wallet())) };
    const body = (await (await app.fetch(new Request(url, { headers }), { address: 'b' })).json()) as {
      meta: { limitations: string[] };
    };
    expect(body.meta.limitations.join()).toContain('made up');
  });

  it('answers even when the one who listens fails, and under an IPv6 host', async () => {
    const onRequest = () => {
      throw new Error('a log that broke');
    };
    const other = await createPaygrade({ host: '::1', snapshot: 'none', stateDir: ':memory:', onRequest });
    expect((await fetchChecked(other, new Request('http://h/health'))).status).toBe(200);
    const offer = decodeHeader<PaymentRequired>(
      (await fetchChecked(other, new Request('http://h/v1/callbacks', { method: 'POST' }))).headers.get(
        'payment-required',
      ),
    );
    expect(offer.resource.url).toBe('http://[::1]:8402/v1/callbacks');
    await other.close();
  });

  it('logs a wait when it ends, with its own client and request id, and sees the client leave', async () => {
    const records: RequestRecord[] = [];
    const other = await createPaygrade({
      snapshot: 'none',
      stateDir: ':memory:',
      onRequest: (record) => records.push(record),
    });
    const creation = (headers = {}) => new Request('http://h/v1/callbacks', { method: 'POST', headers });
    const offer = decodeHeader<PaymentRequired>((await other.fetch(creation())).headers.get('payment-required'));
    const paid = await other.fetch(creation({ 'payment-signature': encodeHeader(await paymentFor(offer, wallet())) }));
    const { id, read_token: token } = (await paid.json()) as { id: string; read_token: string };
    const path = `/v1/callbacks/${id}/wait`;
    const wait = (address: string, signal?: AbortSignal): Promise<Response> =>
      (async () => {
        const headers = { authorization: `Bearer ${token}` };
        const url = `http://h${path}?timeout=20`;
        return other.fetch(new Request(url, { headers, ...(signal === undefined ? {} : { signal }) }), { address });
      })();
    records.length = 0;
    const leaving = new AbortController();
    const [staying, left] = [wait('10.0.0.1'), wait('10.0.0.2', leaving.signal)];
    await Promise.resolve();
    expect(records).toEqual([]);
    leaving.abort();
    expect((await left).status).toBe(200);
    await other.fetch(
      new Request(`http://h/hooks/${id}`, { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }),
    );
    const response = await staying;
    expect(await response.json()).toMatchObject({ received: true });
    const common = { method: 'GET', path, operation: 'waitForEvent', status: 200, code: null, detail: null };
    const waits = records.filter(({ operation }) => operation === 'waitForEvent');
    expect(waits).toMatchObject([
      { ...common, client: '10.0.0.2' },
      { ...common, client: '10.0.0.1' },
    ]);
    expect(waits[1]!.requestId).toBe(response.headers.get('x-request-id'));
    expect(waits[0]!.requestId).not.toBe(waits[1]!.requestId);
    await other.close();
  });

  it('sells to a client without an address, whatever else its server hands over', async () => {
    const other = await createPaygrade({ stateDir: ':memory:', shedding: false });
    const request = (): Request => new Request('http://h/v1/jobs/search?keyword=engineer');
    const hono = { incoming: {} };
    const bun = { address: { address: '::', port: 3000 } };
    const closedSocket = { address: undefined };
    for (const given of [hono, bun, closedSocket, null]) {
      expect((await other.fetch(request(), given as { address: string | undefined })).status).toBe(402);
    }
    await other.close();
  });

  it('tells its caller what is no request that it could answer', async () => {
    const message = { url: '/health', method: 'GET', headers: {} };
    for (const given of ['http://h/health', new URL('http://h/health'), message, undefined, null]) {
      await expect(app.fetch(given as unknown as Request)).rejects.toThrow(new TypeError('app.fetch takes a Request'));
    }
    const read = new Request('http://h/resolve/v1/resolve', { method: 'POST', body: '{}' });
    await read.text();
    await expect(app.fetch(read)).rejects.toThrow(/^the body of this request has been read already/);
  });

  it('says at its start that the folder of the watched boards holds no catalogue', async () => {
    const other = await createPaygrade({ catalogue: '/nowhere/at/all', snapshot: 'none', stateDir: ':memory:' });
    expect(other.notices.filter((notice) => notice.startsWith('CATALOGUE'))).toEqual([
      expect.stringMatching(/^CATALOGUE \/nowhere\/at\/all: there is no catalogue\.sqlite in it; [^\n]*$/),
    ]);
    await other.close();
  });

  it.each([
    ['https://facilitator.example', 1],
    [undefined, 0],
  ])('says at its start that play money has no use for FACILITATOR_URL %s: %i', async (facilitatorUrl, count) => {
    const other = await createPaygrade({ facilitatorUrl, snapshot: 'none', stateDir: ':memory:' });
    const said = other.notices.filter((notice) => notice.startsWith('FACILITATOR_URL is not used'));
    expect(said).toHaveLength(count);
    await other.close();
  });

  it('refuses what it cannot use, in one line', async () => {
    const unusable = createPaygrade({ snapshot: '/nowhere/at/all', stateDir: ':memory:' });
    await expect(unusable).rejects.toThrow(/^SNAPSHOT \/nowhere\/at\/all: [^\n]*$/);
    for (const options of [5, 'port=1', [], null, () => {}] as unknown as PaygradeOptions[]) {
      await expect(createPaygrade(options)).rejects.toThrow(/^createPaygrade takes its options as one object$/);
    }
    await expect(createPaygrade({ port: 'x' })).rejects.toThrow(/PORT/);
    const onFailure = console as unknown as () => void;
    await expect(createPaygrade({ stateDir: ':memory:', onFailure })).rejects.toThrow('onFailure must be a function');
  });
});
