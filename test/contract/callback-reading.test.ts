/** Reading, waiting and deleting from outside (callback.md; decisions §5; reliability, section H), on both runtimes. */
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearerToken } from '../../../src/access/read-token.ts';
import { deletedAnswer, eventsAnswer, receivedAnswer, waitAnswer } from '../../../src/modules/callbacks/answers.ts';
import { waitSecondsOf } from '../../../src/modules/callbacks/wait.ts';
import {
  bearer,
  type Callback,
  type CallbackServer,
  codeOf,
  createCallback,
  outcomeOf,
  post,
  startCallbackServer,
  wait,
} from '../../support/callback-client.ts';
import { exchange, requestText } from '../../support/raw-socket.ts';
import { RUNTIMES } from '../../support/server.ts';

it.each<readonly [string | null, number, string]>([
  [null, 30, 'missing'],
  ['', 1, 'empty: Number gives 0'],
  ['   ', 1, 'blanks: Number gives 0'],
  ['abc', 30, 'no number'],
  ['30s', 30, 'no number'],
  ['1e400', 30, 'not finite'],
  ['-Infinity', 30, 'not finite'],
  ['NaN', 30, 'no number'],
  ['0', 1, 'clamped'],
  ['-5', 1, 'clamped'],
  ['-0', 1, 'clamped'],
  ['0.9', 1, 'floored, then clamped'],
  ['1.9', 1, 'floored'],
  ['29.999', 29, 'floored'],
  ['30', 30, 'the most'],
  ['30.1', 30, 'floored'],
  ['31', 30, 'clamped'],
  ['1e9', 30, 'clamped'],
  ['0x1f', 30, 'hexadecimal 31, clamped'],
  ['1e1', 10, 'an exponent'],
  ['0b11', 3, 'binary'],
  ['0o17', 15, 'octal'],
  [' 7 ', 7, 'white space around'],
  ['５', 30, 'a full-width digit'],
  ['1,5', 30, 'a comma'],
])('timeout=%j waits %i s: %s (reliability 191)', (text, seconds) => {
  expect(waitSecondsOf(text)).toBe(seconds);
});

it.each([
  [null, 'MISSING_AUTHORIZATION'],
  ['', 'INVALID_AUTHORIZATION'],
  ['Basic eA==', 'INVALID_AUTHORIZATION'],
  ['Bearerx', 'INVALID_AUTHORIZATION'],
  ['Bearer\tx', 'INVALID_AUTHORIZATION'],
  ['Bearer x, Bearer x', 'INVALID_AUTHORIZATION'],
  ['Bearer x,', 'INVALID_AUTHORIZATION'],
  ['x', 'INVALID_AUTHORIZATION'],
])('Authorization %j is %s (reliability 186, 187)', (header, code) => {
  expect(bearerToken(header)).toMatchObject({ code });
});

it.each([
  ['Bearer', ''],
  ['Bearer ', ''],
  ['Bearer x', 'x'],
  ['bearer x', 'x'],
  ['BEARER   x', 'x'],
  ['Bearer x y', 'x y'],
])('Authorization %j carries the token %j (reliability 186)', (header, token) => {
  expect(bearerToken(header)).toBe(token);
});

describe.each(RUNTIMES)('reading on %s', (runtime) => {
  let server: CallbackServer;
  let callback: Callback;
  let other: Callback;
  beforeAll(async () => {
    server = await startCallbackServer(runtime);
    callback = await createCallback(server);
    other = await createCallback(server);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  const ids = {
    malformed: () => 'cb_short',
    unknown: () => `cb_${'0'.repeat(24)}`,
    known: () => callback.id,
  };
  const authorizations: Record<string, () => readonly string[]> = {
    none: () => [],
    blank: () => ['Authorization:'],
    basic: () => [`Authorization: Basic ${callback.read_token}`],
    repeated: () => [`Authorization: Bearer ${callback.read_token}`, `Authorization: Bearer ${callback.read_token}`],
    'empty bearer': () => ['Authorization: Bearer '],
    'another token': () => [`Authorization: Bearer ${other.read_token}`],
    'one letter wrong': () => [`Authorization: Bearer ${callback.read_token.slice(0, -1)}-`],
    'a letter more': () => [`Authorization: Bearer ${callback.read_token}x`],
    right: () => [`Authorization: Bearer ${callback.read_token}`],
    'right, lower case, spaced': () => [`authorization: bearer   ${callback.read_token}  `],
  };
  const headerOutcome: Record<string, string> = {
    none: '401 MISSING_AUTHORIZATION',
    blank: '401 INVALID_AUTHORIZATION',
    basic: '401 INVALID_AUTHORIZATION',
    repeated: '401 INVALID_AUTHORIZATION',
  };
  const expected = (id: string, authorization: string): string => {
    if (id === 'malformed') return '400 INVALID_CALLBACK_ID';
    const early = headerOutcome[authorization];
    if (early !== undefined) return early;
    if (id === 'unknown') return '404 CALLBACK_NOT_FOUND';
    return authorization.startsWith('right') ? '200' : '401 INVALID_TOKEN';
  };
  const routes = [
    ['GET', '/events'],
    ['GET', '/wait?timeout=1'],
    ['GET', `/events/evt_${'0'.repeat(32)}/raw`],
    ['DELETE', ''],
  ] as const;
  const table = routes.flatMap(([method, rest]) =>
    Object.keys(ids).flatMap((id) =>
      Object.keys(authorizations).map(
        (authorization) => [method, rest, id as keyof typeof ids, authorization, expected(id, authorization)] as const,
      ),
    ),
  );

  it.each(table)(
    '%s …%s with a(n) %s id and authorization %s is %s (invariant 12, reliability 185 to 188)',
    async (...row) => {
      const [method, rest, id, authorization, outcome] = row;
      if (method === 'DELETE' && outcome === '200') return; // deletes what the rows after it need; tested below
      const { answers } = await exchange(
        server.port,
        requestText(method, `/v1/callbacks/${ids[id]()}${rest}`, ['Host: x', ...authorizations[authorization]!()]),
      );
      const [answer] = answers;
      const code =
        answer === undefined || answer.status < 300
          ? ''
          : (JSON.parse(answer.text) as { error: { code: string } }).error.code;
      const found = rest.endsWith('/raw') && outcome === '200' ? '404 EVENT_NOT_FOUND' : outcome;
      expect(`${answer?.status} ${code}`.trim()).toBe(found);
    },
  );

  it('never takes a token from the query (reliability 188)', async () => {
    const url = `${server.url}/v1/callbacks/${callback.id}/events?read_token=${callback.read_token}&access_token=${callback.read_token}`;
    expect(await outcomeOf(await fetch(url))).toBe('401 MISSING_AUTHORIZATION');
  });

  it.each([0, 1, 52, 53, 54, 1_000, 10_000])(
    'refuses a wrong token of %i characters without a fault (reliability 189)',
    async (length) => {
      const response = await fetch(`${server.url}/v1/callbacks/${callback.id}/events`, {
        headers: { authorization: `Bearer ${'x'.repeat(length)}` },
      });
      expect(await outcomeOf(response)).toBe('401 INVALID_TOKEN');
    },
  );

  it('shows events in the contract’s shape, closed to whoever sniffs (reliability 175)', async () => {
    const fresh = await createCallback(server);
    const empty = await fetch(`${server.url}/v1/callbacks/${fresh.id}/events`, { headers: bearer(fresh) });
    expect(await empty.json()).toEqual({
      callback_id: fresh.id,
      status: 'active',
      expires_at: fresh.expires_at,
      event_count: 0,
      events: [],
    });
    for (let i = 0; i < 3; i++) {
      v.parse(receivedAnswer, await (await post(server, fresh.id, `<b>${i}</b>`)).json());
    }
    const response = await fetch(`${server.url}/v1/callbacks/${fresh.id}/events`, { headers: bearer(fresh) });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe('sandbox');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const listing = v.parse(eventsAnswer, await response.json());
    expect(listing.event_count).toBe(3);
    expect(listing.events.map(({ body }) => body)).toEqual(['<b>0</b>', '<b>1</b>', '<b>2</b>']);
  });

  it('waits by a chain of next_wait_url that gives each event once, in order (reliability 195)', async () => {
    const fresh = await createCallback(server);
    const seen: string[] = [];
    const reader = (async () => {
      let path = `/v1/callbacks/${fresh.id}/wait?timeout=7.9`;
      while (seen.length < 10) {
        const response = await fetch(server.url + path, { headers: bearer(fresh) });
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
        const answer = v.parse(waitAnswer, await response.json());
        if (!answer.received) throw new Error('timed out');
        seen.push(String(answer.event.body));
        expect(answer.next_wait_url).toBe(`/v1/callbacks/${fresh.id}/wait?after=${answer.event.id}&timeout=7`);
        path = answer.next_wait_url;
      }
    })();
    for (let i = 0; i < 10; i++) {
      if (i % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 15));
      expect((await post(server, fresh.id, String(i))).status).toBe(200);
    }
    await reader;
    expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => String(i)));
  });

  it('times out in the contract’s shape after its seconds', async () => {
    const fresh = await createCallback(server);
    const startMs = performance.now();
    const answer = v.parse(waitAnswer, await (await wait(server, fresh, '?timeout=0&timeout=30&x=1')).json());
    expect(answer).toEqual({ received: false, timeout: true, after: null });
    expect(performance.now() - startMs).toBeGreaterThan(990);
    expect(performance.now() - startMs).toBeLessThan(2_500);
    const { event_id: after } = v.parse(receivedAnswer, await (await post(server, fresh.id, 'x')).json());
    expect(await (await wait(server, fresh, `?timeout=1&after=${after}&after=x`)).json()).toEqual({
      received: false,
      timeout: true,
      after,
    });
    const first = v.parse(waitAnswer, await (await wait(server, fresh, '?after=&timeout=1')).json());
    expect(first.received && first.event.id).toBe(after);
  });

  it.each(['evt_', 'x', `evt_${'0'.repeat(32)}`, '%FF', '"'])('refuses after=%s (reliability 193)', async (after) => {
    expect(await outcomeOf(await wait(server, callback, `?timeout=1&after=${after}`))).toBe('404 EVENT_NOT_FOUND');
  });

  it('holds 64 waits on one callback and wakes them all; one more is 429 (reliability 196)', async () => {
    const fresh = await createCallback(server);
    const waits = Array.from({ length: 64 }, () =>
      wait(server, fresh, '?timeout=20').then((response) => response.json()),
    );
    await expect.poll(async () => (await server.counts()).waits, { timeout: 5_000 }).toBe(64);
    const refused = await wait(server, fresh, '?timeout=20');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await outcomeOf(refused)).toBe('429 TOO_MANY_WAITS');
    const startMs = performance.now();
    await post(server, fresh.id, 'wake');
    const woken = (await Promise.all(waits)) as { event: { body: string } }[];
    expect(performance.now() - startMs).toBeLessThan(1_000);
    expect(woken.every(({ event }) => event.body === 'wake')).toBe(true);
    expect((await server.counts()).waits).toBe(0);
  });

  it('frees the wait of a client that leaves, at once (reliability 198)', async () => {
    const fresh = await createCallback(server);
    for (let round = 0; round < 5; round++) {
      const leaving = new AbortController();
      const waits = Array.from({ length: 40 }, () =>
        wait(server, fresh, '?timeout=30', leaving.signal).catch(() => 'left'),
      );
      await expect.poll(async () => (await server.counts()).waits, { timeout: 5_000 }).toBe(40);
      leaving.abort();
      await Promise.all(waits);
      await expect.poll(async () => (await server.counts()).waits, { timeout: 2_000 }).toBe(0);
    }
  });

  it('ends a wait with 404 when its callback is deleted; deletes once (reliability 200, 203)', async () => {
    const fresh = await createCallback(server);
    const waiting = wait(server, fresh, '?timeout=20').then(outcomeOf);
    await expect.poll(async () => (await server.counts()).waits, { timeout: 5_000 }).toBe(1);
    const remove = () => fetch(`${server.url}/v1/callbacks/${fresh.id}`, { method: 'DELETE', headers: bearer(fresh) });
    const wrong = await fetch(`${server.url}/v1/callbacks/${fresh.id}`, { method: 'DELETE', headers: bearer(other) });
    expect(await outcomeOf(wrong)).toBe('401 INVALID_TOKEN');
    const deleted = await remove();
    expect(deleted.status).toBe(200);
    expect(v.parse(deletedAnswer, await deleted.json())).toEqual({ deleted: true, callback_id: fresh.id });
    expect(await waiting).toBe('404 CALLBACK_NOT_FOUND');
    expect(await outcomeOf(await remove())).toBe('404 CALLBACK_NOT_FOUND');
    expect(await outcomeOf(await post(server, fresh.id, 'x'))).toBe('404 CALLBACK_NOT_FOUND');
  });

  it('reads ten events of 262,144 control characters, and others are not kept waiting (reliability 202)', async () => {
    const fresh = await createCallback(server);
    const worst = new Uint8Array(262_144).fill(1);
    for (let i = 0; i < 10; i++) expect((await post(server, fresh.id, worst)).status).toBe(200);
    const reading = fetch(`${server.url}/v1/callbacks/${fresh.id}/events`, { headers: bearer(fresh) }).then((r) =>
      r.json(),
    );
    let worstMs = 0;
    for (let i = 0; i < 20; i++) {
      const startMs = performance.now();
      await outcomeOf(await post(server, `cb_${'9'.repeat(24)}`, 'x'));
      worstMs = Math.max(worstMs, performance.now() - startMs);
    }
    const listing = (await reading) as { events: { body: string }[] };
    expect(listing.events).toHaveLength(10);
    expect(listing.events.every(({ body }) => body === '\u0001'.repeat(262_144))).toBe(true);
    expect(worstMs).toBeLessThan(1_000);
  });

  it.each([
    ['POST', '/events', 'GET'],
    ['PUT', '/wait', 'GET'],
    ['GET', '', 'DELETE'],
    ['HEAD', '/events', 'GET'],
  ])('has no %s …%s', async (method, rest, allow) => {
    const response = await fetch(`${server.url}/v1/callbacks/${callback.id}${rest}`, {
      method,
      headers: bearer(callback),
    });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe(allow);
    if (method !== 'HEAD') expect(await codeOf(response)).toBe('METHOD_NOT_ALLOWED');
  });

  it('gives every error its own request id (reliability 207)', async () => {
    const requestIds = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await fetch(`${server.url}/v1/callbacks/x/events`);
        return ((await response.json()) as { error: { request_id: string } }).error.request_id;
      }),
    );
    expect(new Set(requestIds).size).toBe(50);
  });

  it('answers waits at once at shutdown, in the timed-out shape, and exits 0 (reliability 201)', async () => {
    const ending = await startCallbackServer(runtime);
    const fresh = await createCallback(ending);
    const waits = Array.from({ length: 10 }, () =>
      wait(ending, fresh, '?timeout=30').then((response) => response.json()),
    );
    await expect.poll(async () => (await ending.counts()).waits, { timeout: 5_000 }).toBe(10);
    const startMs = performance.now();
    const exit = ending.stop();
    expect(await Promise.all(waits)).toEqual(Array(10).fill({ received: false, timeout: true, after: null }));
    expect(performance.now() - startMs).toBeLessThan(1_500);
    expect(await exit).toBe(0);
  });
});
