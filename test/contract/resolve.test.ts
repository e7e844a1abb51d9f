/** The Resolve API from outside (siblings §7), paid for in the play ledger, with targets of the test's own; on both runtimes. */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { PAYER_WORK_COUNT_MAX, TEXT_CODE_POINTS_MAX } from '../../src/resolve/limits.ts';
import { answerOf, expectError as expectErrorIn } from '../support/answers.ts';
import { ManualTime } from '../support/manual-time.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import {
  bodyFor,
  type Created,
  ended,
  payWith,
  RESOLVE_PATH,
  resolve,
  resolvePayment,
  show,
} from '../support/resolve-client.ts';
import { ShiftedClock } from '../support/shifted-clock.ts';
import { TargetsByAddress } from '../support/targets-by-address.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';

const PAGE = 'https://news.example/story';
const HTML =
  '<!doctype html><html lang="en"><title>A story</title><link rel=canonical href="/story"><main><p>It began with rain.</p></main>';

const opened: OpenedApp[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

async function open(variables: Readonly<Record<string, string>> = {}) {
  const outbound = new TargetsByAddress();
  outbound.targets.set(PAGE, { body: HTML });
  const app = await openedApp({ SNAPSHOT: 'none', ...variables }, { outbound });
  opened.push(app);
  return { app, outbound };
}

async function expectError(response: Response, status: number, code: string, words = ''): Promise<void> {
  expect(expectErrorIn(await answerOf(response), status, code).message).toContain(words);
}

const codeIn = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { error: { code: string } }).error.code;

async function stateOf(app: OpenedApp, payment: Awaited<ReturnType<typeof resolvePayment>>): Promise<string> {
  const { from, nonce } = payment.payload.authorization;
  const answer = await app.fetch(`/v1/payments/${payment.accepted.network}/${from}/${nonce}`);
  return answer.status === 404 ? 'unpaid' : ((await answer.json()) as { state: string }).state;
}

describe(`a resolve, under ${RUNTIME}`, () => {
  it('is answered with its result, paid for, and readable with its token', async () => {
    const { app, outbound } = await open();
    const answer = await resolve(app, { url: PAGE, include: ['metadata', 'text', 'links'] });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('payment-response')).not.toBeNull();
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('content-security-policy')).toBe('sandbox');
    const created = (await answer.json()) as Created;
    expect(created).toMatchObject({ status: 'resolved', failure: null });
    expect(Date.parse(created.expires_at) - Date.parse(created.created_at)).toBe(3_600_000);
    expect(created.result).toMatchObject({
      requested_url: PAGE,
      final_url: PAGE,
      redirects: [],
      status_code: 200,
      content_type: 'text/html; charset=utf-8',
      size_bytes: HTML.length,
      content_sha256: createHash('sha256').update(HTML).digest('hex'),
      truncated: false,
      metadata: { title: 'A story', canonical_url: PAGE, language: 'en', description: null },
      text: 'It began with rain.',
      links: [],
      warnings: [],
    });
    const { read_token, ...shown } = created;
    expect(created.result_url).toBe(`${app.url}/resolve/v1/resolves/${created.id}`);
    expect(await (await show(app, created)).json()).toEqual(shown);
    expect(outbound.sent[0]?.headers.map(([name]) => name)).toEqual(['accept']);
    expect(read_token).toMatch(/^svc_rs_sk_/);
  });

  it.each([
    ['no JSON', '{', 'INVALID_JSON', ''],
    ['65 lists in one another', '['.repeat(65) + ']'.repeat(65), 'INVALID_JSON', 'at most 64 arrays'],
    ['a list', '[]', 'INVALID_BODY', 'object'],
    ['no url', {}, 'INVALID_BODY', '`url`'],
    ['a url that is no text', { url: 1 }, 'INVALID_BODY', '`url`'],
    ['an unknown field', { url: PAGE, wait: 1 }, 'INVALID_BODY', '`wait`'],
    ['an unknown part', { url: PAGE, include: ['html'] }, 'INVALID_BODY', '`include[0]`'],
    ['a part twice', { url: PAGE, include: ['text', 'text'] }, 'INVALID_BODY', '`include`'],
    ['a wait of 21', { url: PAGE, max_wait_seconds: 21 }, 'INVALID_BODY', '`max_wait_seconds`'],
    ['a wait of -1', { url: PAGE, max_wait_seconds: -1 }, 'INVALID_BODY', '`max_wait_seconds`'],
    ['half a second', { url: PAGE, max_wait_seconds: 0.5 }, 'INVALID_BODY', '`max_wait_seconds`'],
    ['no address', { url: 'story' }, 'INVALID_URL', '`url`'],
    ['an empty address', { url: '' }, 'INVALID_URL', '`url`'],
    ['an address whose host is no Punycode', { url: 'https://xn--a.example/' }, 'INVALID_URL', '`url`'],
    ['an address that is too long', { url: `${PAGE}?${'x'.repeat(2048)}` }, 'INVALID_URL', '2048'],
    ['another scheme', { url: 'ftp://news.example/' }, 'TARGET_NOT_ALLOWED', ''],
    ['an address that is not public', { url: 'http://127.0.0.1/' }, 'TARGET_NOT_ALLOWED', ''],
  ])('with %s is refused before payment', async (_, body, code, words) => {
    const { app, outbound } = await open();
    const answer = await app.fetch(RESOLVE_PATH, bodyFor(body));
    await expectError(answer, 400, code, words);
    expect(outbound.lookUpCount).toBe(0);
  });

  it.each([
    ['https://blocked.example/', 400, 'TARGET_NOT_ALLOWED', 'not public, or not allowed with this port'],
    ['https://missing.example/', 502, 'TARGET_UNREACHABLE', 'does not resolve'],
    ['https://slow-name.example/', 504, 'TARGET_TIMEOUT', 'not resolved in time'],
  ])('of %s ends at the look-up, which follows the payment, and is free: %i %s', async (url, status, code, words) => {
    const { app, outbound } = await open();
    expect((await app.fetch(RESOLVE_PATH, bodyFor({ url }))).status).toBe(402);
    expect(outbound.lookUpCount).toBe(0);
    const payment = await resolvePayment(app);
    for (const max_wait_seconds of [0, 5]) {
      const answer = await payWith(app, payment, { url, max_wait_seconds });
      await expectError(answer, status, code, words);
    }
    expect(outbound.sent).toEqual([]);
    expect((await payWith(app, payment, { url: PAGE })).status).toBe(200);
  });

  it.each([
    ['unreachable', 502, 'TARGET_UNREACHABLE'],
    ['too-large', 502, 'RESPONSE_TOO_LARGE'],
    ['tls-error', 502, 'TLS_ERROR'],
    ['timeout', 504, 'TARGET_TIMEOUT'],
    ['blocked', 400, 'TARGET_NOT_ALLOWED'],
  ] as const)(
    'that fails within the wait (%s) charges nothing and frees the authorization: %i',
    async (fails, status, code) => {
      const { app, outbound } = await open();
      outbound.targets.set('https://bad.example/', { fails });
      const payment = await resolvePayment(app);
      const answer = await payWith(app, payment, { url: 'https://bad.example/' });
      expect([answer.status, await codeIn(answer)]).toEqual([status, code]);
      expect(await stateOf(app, payment)).toBe('unpaid');
      expect((await payWith(app, payment, { url: PAGE })).status).toBe(200);
      expect(await stateOf(app, payment)).toBe('settled');
    },
  );

  it('of a target that answers 404 is resolved, with the status', async () => {
    const { app } = await open();
    const created = (await (await resolve(app, { url: 'https://news.example/gone' })).json()) as Created;
    expect(created).toMatchObject({ status: 'resolved', result: { status_code: 404 } });
  });

  it('that is not done within the wait settles, and its result comes later', async () => {
    const { app, outbound } = await open();
    const url = 'https://slow.example/';
    outbound.targets.set(url, 'held');
    const payment = await resolvePayment(app);
    const answer = await payWith(app, payment, { url, max_wait_seconds: 0 });
    expect(answer.status).toBe(202);
    expect(await stateOf(app, payment)).toBe('settled');
    const created = (await answer.json()) as Created;
    expect(created).toMatchObject({ status: 'pending', result: null, failure: null });
    expect(await (await show(app, created)).json()).toMatchObject({ status: 'pending' });
    await outbound.answer(url, { body: HTML });
    expect(await ended(app, created)).toMatchObject({ status: 'resolved', result: { metadata: { title: 'A story' } } });
  });

  it('takes the look-up of the name from the wait', async () => {
    const clock = new ShiftedClock();
    const outbound = new TargetsByAddress();
    outbound.targets.set('https://slow.example/', 'held');
    outbound.lookUp = async () => {
      clock.aheadMs = 4000;
      return 'allowed';
    };
    const app = await openedApp({ SNAPSHOT: 'none' }, { outbound, clock });
    opened.push(app);
    const startMs = performance.now();
    const answer = await resolve(app, { url: 'https://slow.example/', max_wait_seconds: 4 });
    expect(answer.status).toBe(202);
    expect(performance.now() - startMs).toBeLessThan(3000);
  });

  it('that fails after its answer is failed, and paid for', async () => {
    const { app, outbound } = await open();
    const url = 'https://slow.example/';
    outbound.targets.set(url, 'held');
    const payment = await resolvePayment(app);
    const created = (await (await payWith(app, payment, { url, max_wait_seconds: 0 })).json()) as Created;
    await outbound.answer(url, { fails: 'unreachable' });
    expect(await ended(app, created)).toMatchObject({
      status: 'failed',
      result: null,
      failure: { code: 'TARGET_UNREACHABLE' },
    });
    expect(await stateOf(app, payment)).toBe('settled');
  });

  it('that waits at shutdown settles and answers 202', async () => {
    const { app, outbound } = await open();
    const url = 'https://slow.example/';
    outbound.targets.set(url, 'held');
    const answering = resolve(app, { url, max_wait_seconds: 20 });
    while (!outbound.isHeld(url)) await new Promise((done) => setImmediate(done));
    app.app.drain();
    expect((await answering).status).toBe(202);
  });

  it('whose client goes away ends its work and charges nothing', async () => {
    const { app, outbound } = await open();
    const url = 'https://slow.example/';
    outbound.targets.set(url, 'held');
    const payment = await resolvePayment(app);
    const leaving = new AbortController();
    const answering = payWith(app, payment, { url, max_wait_seconds: 20 }, leaving.signal);
    while (!outbound.isHeld(url)) await new Promise((done) => setImmediate(done));
    leaving.abort();
    await expect(answering).rejects.toThrow();
    expect(outbound.sent[0]?.signal?.aborted).toBe(true);
    await expect.poll(() => stateOf(app, payment)).toBe('unpaid');
  });

  it('asks for an authorization that lasts for its wait', async () => {
    const { app } = await open();
    const offer = await offerFrom(app.fetch(RESOLVE_PATH, bodyFor({ url: PAGE })));
    const validBefore = String(Math.floor(Date.now() / 1000) + 20);
    const payment = await paymentFor(offer, wallet(), { authorization: { validBefore } });
    const answer = await payWith(app, payment, { url: PAGE, max_wait_seconds: 20 });
    await expectError(answer, 402, 'PAYMENT_INVALID', '26 s');
    expect((await payWith(app, payment, { url: PAGE, max_wait_seconds: 5 })).status).toBe(200);
    // The look at the name comes before the settlement, whatever the wait is.
    const soon = String(Math.floor(Date.now() / 1000) + 10);
    const short = await paymentFor(offer, wallet(), { authorization: { validBefore: soon } });
    await expectError(await payWith(app, short, { url: PAGE, max_wait_seconds: 0 }), 402, 'PAYMENT_INVALID', '11 s');
  });

  it('whose authorization lapses while it waits is 402, uncharged, and its work ends', async () => {
    const clock = new ShiftedClock();
    const outbound = new TargetsByAddress();
    const url = 'https://slow.example/';
    outbound.targets.set(url, 'held');
    const app = await openedApp({ SNAPSHOT: 'none' }, { outbound, clock });
    opened.push(app);
    const payment = await resolvePayment(app);
    const answering = payWith(app, payment, { url, max_wait_seconds: 20 });
    while (!outbound.isHeld(url)) await new Promise((done) => setImmediate(done));
    clock.aheadMs = 115_000;
    await outbound.answer(url, { body: HTML });
    await expectError(await answering, 402, 'PAYMENT_INVALID', '6 s');
    expect(await stateOf(app, payment)).toBe('unpaid');
  });

  it('follows ten redirects, whose bodies never come, each judged as if it were asked for, and no eleventh', async () => {
    const { app, outbound } = await open();
    const to = (location: string) => ({ status: 302, headers: { location }, isStuck: true as const });
    for (let hop = 0; hop < 12; hop++) outbound.targets.set(`https://hop.example/${hop}`, to(`./${hop + 1}`));
    outbound.targets.set('https://hop.example/12', { body: HTML });
    const ten = (await (await resolve(app, { url: 'https://hop.example/2#part' })).json()) as Created;
    expect(ten.result?.redirects).toHaveLength(10);
    expect(ten.result?.redirects[0]).toEqual({ url: 'https://hop.example/2#part', status_code: 302 });
    expect(ten.result?.final_url).toBe('https://hop.example/12#part');
    expect(await codeIn(await resolve(app, { url: 'https://hop.example/1' }))).toBe('TOO_MANY_REDIRECTS');
    outbound.targets.set('https://hop.example/in', to('http://10.0.0.1/'));
    const answer = await resolve(app, { url: 'https://hop.example/in' });
    expect([answer.status, await codeIn(answer)]).toEqual([400, 'TARGET_NOT_ALLOWED']);
  });

  it.each([
    ['UTF-8', '/caf\u00c3\u00a9', 'https://hop.example/caf%C3%A9'],
    ['no UTF-8, whose bytes are Latin-1', '/caf\u00e9', 'https://hop.example/caf%C3%A9'],
  ])('follows a location that is %s', async (_, location, finalUrl) => {
    const { app, outbound } = await open();
    outbound.targets.set('https://hop.example/', { status: 302, headers: { location } });
    outbound.targets.set(finalUrl, { body: HTML });
    const answer = (await (await resolve(app, { url: 'https://hop.example/' })).json()) as Created;
    expect(answer.result?.final_url).toBe(finalUrl);
  });

  it('of one payer is refused after thirty that ended uncharged', async () => {
    const { app, outbound } = await open();
    outbound.targets.set('https://bad.example/', { fails: 'unreachable' });
    const payment = await resolvePayment(app);
    for (let i = 0; i < 30; i++)
      expect((await payWith(app, payment, { url: 'https://bad.example/' })).status).toBe(502);
    const answer = await payWith(app, payment, { url: PAGE });
    await expectError(answer, 429, 'RATE_LIMIT_EXCEEDED', '30');
    expect((await resolve(app, { url: PAGE })).status).toBe(200);
  });

  it('counts against the rate of the client', async () => {
    const { app } = await open({ RATE_LIMIT_PER_MINUTE: '2' });
    const statuses: number[] = [];
    for (const body of [{ url: PAGE }, { url: 1 }, { url: PAGE }, { url: PAGE }]) {
      statuses.push((await app.fetch(RESOLVE_PATH, bodyFor(body))).status);
    }
    expect(statuses).toEqual([402, 400, 402, 429]);
  });

  it('of a payer who has half of all places under way is 503, uncharged', async () => {
    const { app, outbound } = await open();
    outbound.targets.set('https://slow.example/', 'held');
    const account = wallet();
    for (let i = 0; i < PAYER_WORK_COUNT_MAX; i++) {
      expect((await resolve(app, { url: 'https://slow.example/', max_wait_seconds: 0 }, account)).status).toBe(202);
    }
    const payment = await resolvePayment(app, account);
    await expectError(await payWith(app, payment, { url: PAGE }), 503, 'RESOLVE_CAPACITY_EXCEEDED', 'payer');
    expect(await stateOf(app, payment)).toBe('unpaid');
    for (let i = 0; i < PAYER_WORK_COUNT_MAX; i++) {
      expect((await resolve(app, { url: 'https://slow.example/', max_wait_seconds: 0 })).status).toBe(202);
    }
    await expectError(await app.fetch(RESOLVE_PATH, bodyFor({ url: PAGE })), 503, 'RESOLVE_CAPACITY_EXCEEDED');
  });

  it.each([
    ['short', HTML],
    ['as long as it may be', `<main>${'漢'.repeat(TEXT_CODE_POINTS_MAX)}</main>`],
  ])('whose text is %s is given again to the same payer under the same payment identifier', async (_, page) => {
    const { app, outbound } = await open();
    outbound.targets.set(PAGE, { body: page });
    const account = wallet();
    const extensions = { 'payment-identifier': { info: { required: false, id: 'resolve_0000000000000001' } } };
    const body = { url: PAGE, include: ['text'] };
    const send = async () => {
      const payment = { ...(await resolvePayment(app, account)), extensions };
      return app.fetch(RESOLVE_PATH, {
        ...bodyFor(body),
        headers: { 'content-type': 'application/json', 'PAYMENT-SIGNATURE': encodeHeader(payment) },
      });
    };
    const first = await (await send()).text();
    expect(await (await send()).text()).toBe(first);
    expect(outbound.sent).toHaveLength(1);
  });
});

describe(`reading a resolve, under ${RUNTIME}`, () => {
  it('makes its checks in the order of the callbacks', async () => {
    const { app } = await open();
    const created = (await (await resolve(app, { url: PAGE })).json()) as Created;
    const read = (id: string, authorization?: string) =>
      app.fetch(`/resolve/v1/resolves/${id}`, authorization === undefined ? {} : { headers: { authorization } });
    const other = `rs_${'A'.repeat(24)}`;
    await expectError(await read('rs_short'), 400, 'INVALID_RESOLVE_ID', 'rs_');
    await expectError(await read(`${other}A`), 400, 'INVALID_RESOLVE_ID');
    await expectError(await read(`x${other}`), 400, 'INVALID_RESOLVE_ID');
    await expectError(await read(`cb_${'A'.repeat(24)}`, 'Bearer x'), 400, 'INVALID_RESOLVE_ID');
    await expectError(await read(other), 401, 'MISSING_AUTHORIZATION');
    await expectError(await read(other, 'Basic x'), 401, 'INVALID_AUTHORIZATION');
    await expectError(await read(other, 'Bearer x'), 404, 'RESOLVE_NOT_FOUND');
    await expectError(await read(created.id, 'Bearer x'), 401, 'INVALID_TOKEN');
    await expectError(await read(created.id, 'Bearer '), 401, 'INVALID_TOKEN');
    await expectError(await read(`${created.id}?page=1`, 'Bearer x'), 401, 'INVALID_TOKEN');
    await expectError(await read(`${created.id}?page=1`, `Bearer ${created.read_token}`), 400, 'UNKNOWN_PARAMETER');
    const found = await read(created.id, `bearer ${created.read_token}`);
    expect([found.status, found.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect((await app.fetch(`/resolve/v1/resolves/${created.id}`, { method: 'DELETE' })).status).toBe(405);
  });

  it('is 410 for an hour after its hour, then 404', async () => {
    const time = new ManualTime(Date.now());
    const outbound = new TargetsByAddress();
    outbound.targets.set(PAGE, { body: HTML });
    const app = await openedApp({ SNAPSHOT: 'none' }, { outbound, clock: time, timers: time });
    opened.push(app);
    const created = (await (await resolve(app, { url: PAGE })).json()) as Created;
    time.pass(Date.parse(created.expires_at) - 1 - time.nowMs());
    expect((await show(app, created)).status).toBe(200);
    time.pass(1);
    await expectError(await show(app, created), 410, 'RESOLVE_EXPIRED');
    time.pass(3_599_999);
    await expectError(await show(app, created), 410, 'RESOLVE_EXPIRED');
    time.pass(1);
    await expectError(await show(app, created), 404, 'RESOLVE_NOT_FOUND');
  });
});
