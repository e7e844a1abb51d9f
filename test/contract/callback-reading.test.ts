/**
 * Reading, waiting and deleting (callback.md; decisions §5; reliability, section H). What takes a socket is in
 * `blackbox/callback-reading.process.test.ts`.
 */
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest';
import { deletedAnswer, eventsAnswer, receivedAnswer, waitAnswer } from '../../src/modules/callbacks/answers.ts';
import {
  bearer,
  type Callback,
  callbackCounts,
  codeOf,
  createCallback,
  outcomeOf,
  post,
  READING_ROUTES,
  wait,
} from '../support/callback-client.ts';
import { ManualTime } from '../support/manual-time.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';

describe(`reading on ${RUNTIME}`, () => {
  /** Waits last as long as a test says. */
  const time = new ManualTime(Date.now());
  let server: OpenedApp;
  let callback: Callback;
  let other: Callback;
  beforeAll(async () => {
    server = await openedApp({ SNAPSHOT: 'none' }, { clock: time, timers: time });
    callback = await createCallback(server);
    other = await createCallback(server);
  });
  afterAll(async () => {
    await server.close();
  });
  beforeEach(() => time.catchUp());

  /** Lets time pass once a wait is held. */
  const passWhileWaiting = async (ms: number): Promise<void> => {
    await expect.poll(async () => (await callbackCounts(server)).waits, { interval: 1 }).toBe(1);
    time.pass(ms);
  };

  const ids = {
    malformed: () => 'cb_short',
    unknown: () => `cb_${'0'.repeat(24)}`,
    known: () => callback.id,
  };
  const authorizations: Record<string, () => Record<string, string>> = {
    none: () => ({}),
    basic: () => ({ Authorization: `Basic ${callback.read_token}` }),
    'empty bearer': () => ({ Authorization: 'Bearer ' }),
    'another token': () => ({ Authorization: `Bearer ${other.read_token}` }),
    'one letter wrong': () => ({ Authorization: `Bearer ${callback.read_token.slice(0, -1)}-` }),
    'a letter more': () => ({ Authorization: `Bearer ${callback.read_token}x` }),
    right: () => ({ Authorization: `Bearer ${callback.read_token}` }),
    'right, lower case, spaced': () => ({ authorization: `bearer   ${callback.read_token}  ` }),
  };
  const headerOutcome: Record<string, string> = {
    none: '401 MISSING_AUTHORIZATION',
    basic: '401 INVALID_AUTHORIZATION',
  };
  const expected = (id: string, authorization: string): string => {
    if (id === 'malformed') return '400 INVALID_CALLBACK_ID';
    const early = headerOutcome[authorization];
    if (early !== undefined) return early;
    if (id === 'unknown') return '404 CALLBACK_NOT_FOUND';
    return authorization.startsWith('right') ? '200' : '401 INVALID_TOKEN';
  };
  const table = READING_ROUTES.flatMap(([method, rest]) =>
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
      const answering = server.fetch(`/v1/callbacks/${ids[id]()}${rest}`, {
        method,
        headers: authorizations[authorization]!(),
      });
      if (rest.startsWith('/wait') && outcome === '200') await passWhileWaiting(1_000);
      const found = rest.endsWith('/raw') && outcome === '200' ? '404 EVENT_NOT_FOUND' : outcome;
      expect(await outcomeOf(await answering)).toBe(found);
    },
  );

  it('never takes a token from the query (reliability 188)', async () => {
    const url = `/v1/callbacks/${callback.id}/events?read_token=${callback.read_token}&access_token=${callback.read_token}`;
    expect(await outcomeOf(await server.fetch(url))).toBe('401 MISSING_AUTHORIZATION');
  });

  it.each([0, 1, 52, 53, 54, 1_000, 10_000])(
    'refuses a wrong token of %i characters without a fault (reliability 189)',
    async (length) => {
      const response = await server.fetch(`/v1/callbacks/${callback.id}/events`, {
        headers: { authorization: `Bearer ${'x'.repeat(length)}` },
      });
      expect(await outcomeOf(response)).toBe('401 INVALID_TOKEN');
    },
  );

  it('shows events in the contract’s shape, closed to content sniffing (reliability 175)', async () => {
    const fresh = await createCallback(server);
    const empty = await server.fetch(`/v1/callbacks/${fresh.id}/events`, { headers: bearer(fresh) });
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
    const response = await server.fetch(`/v1/callbacks/${fresh.id}/events`, { headers: bearer(fresh) });
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
        const response = await server.fetch(path, { headers: bearer(fresh) });
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
    let isAnswered = false;
    const answering = wait(server, fresh, '?timeout=0&timeout=30&x=1').finally(() => {
      isAnswered = true;
    });
    await passWhileWaiting(999);
    await callbackCounts(server);
    expect(isAnswered).toBe(false);
    time.pass(1);
    const answer = v.parse(waitAnswer, await (await answering).json());
    expect(answer).toEqual({ received: false, timeout: true, after: null });
    const { event_id: after } = v.parse(receivedAnswer, await (await post(server, fresh.id, 'x')).json());
    const late = wait(server, fresh, `?timeout=1&after=${after}&after=x`);
    await passWhileWaiting(1_000);
    expect(await (await late).json()).toEqual({ received: false, timeout: true, after });
    const first = v.parse(waitAnswer, await (await wait(server, fresh, '?after=&timeout=1')).json());
    expect(first.received && first.event.id).toBe(after);
  });

  it.each(['evt_', 'x', `evt_${'0'.repeat(32)}`, '%FF', '"'])('refuses after=%s (reliability 193)', async (after) => {
    expect(await outcomeOf(await wait(server, callback, `?timeout=1&after=${after}`))).toBe('404 EVENT_NOT_FOUND');
  });

  it('holds 64 waits on one callback and wakes them all; one more is 429 (reliability 196)', async () => {
    const fresh = await createCallback(server);
    // Else its waits would be counted by the tests after it.
    onTestFailed(async () => void (await post(server, fresh.id, 'wake')));
    const waits = Array.from({ length: 64 }, () =>
      wait(server, fresh, '?timeout=20').then((response) => response.json()),
    );
    await expect.poll(async () => (await callbackCounts(server)).waits).toBe(64);
    const refused = await wait(server, fresh, '?timeout=20');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await outcomeOf(refused)).toBe('429 TOO_MANY_WAITS');
    const startMs = performance.now();
    await post(server, fresh.id, 'wake');
    const woken = (await Promise.all(waits)) as { event: { body: string } }[];
    expect(performance.now() - startMs).toBeLessThan(5_000);
    expect(woken.every(({ event }) => event.body === 'wake')).toBe(true);
    expect((await callbackCounts(server)).waits).toBe(0);
  });

  it('ends a wait with 404 when its callback is deleted; deletes once (reliability 200, 203)', async () => {
    const fresh = await createCallback(server);
    const waiting = wait(server, fresh, '?timeout=20').then(outcomeOf);
    await expect.poll(async () => (await callbackCounts(server)).waits).toBe(1);
    const remove = () => server.fetch(`/v1/callbacks/${fresh.id}`, { method: 'DELETE', headers: bearer(fresh) });
    const wrong = await server.fetch(`/v1/callbacks/${fresh.id}`, { method: 'DELETE', headers: bearer(other) });
    expect(await outcomeOf(wrong)).toBe('401 INVALID_TOKEN');
    const deleted = await remove();
    expect(deleted.status).toBe(200);
    expect(v.parse(deletedAnswer, await deleted.json())).toEqual({ deleted: true, callback_id: fresh.id });
    expect(await waiting).toBe('404 CALLBACK_NOT_FOUND');
    expect(await outcomeOf(await remove())).toBe('404 CALLBACK_NOT_FOUND');
    expect(await outcomeOf(await post(server, fresh.id, 'x'))).toBe('404 CALLBACK_NOT_FOUND');
  });

  it.each([
    ['POST', '/events', 'GET'],
    ['PUT', '/wait', 'GET'],
    ['GET', '', 'DELETE'],
    ['HEAD', '/events', 'GET'],
  ])('has no %s …%s', async (method, rest, allow) => {
    const response = await server.fetch(`/v1/callbacks/${callback.id}${rest}`, {
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
        const response = await server.fetch(`/v1/callbacks/x/events`);
        return ((await response.json()) as { error: { request_id: string } }).error.request_id;
      }),
    );
    expect(new Set(requestIds).size).toBe(50);
  });

  it('is limited to 600 reads of a callback in any minute, of all kinds together (decisions §5)', async () => {
    const fresh = await createCallback(server);
    const posted = (await (await post(server, fresh.id, 'x')).json()) as { event_id: string };
    const read = (rest: string, token = fresh.read_token): Promise<Response> =>
      server.fetch(`/v1/callbacks/${fresh.id}${rest}`, { headers: { authorization: `Bearer ${token}` } });
    const reads = ['/events', '/wait?timeout=1', `/events/${posted.event_id}/raw`, '/wait?after=unknown'];
    const outcomes = new Map<string, number>();
    for (let i = 0; i < 600; i++) {
      const outcome = await outcomeOf(await read(reads[i % reads.length]!));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect(Object.fromEntries(outcomes)).toEqual({ 200: 450, '404 EVENT_NOT_FOUND': 150 });
    for (const rest of reads) {
      const refused = await read(rest);
      expect(refused.headers.get('retry-after')).toBe('60');
      expect(await outcomeOf(refused)).toBe('429 RATE_LIMIT_EXCEEDED');
    }
    expect(await outcomeOf(await read('/events', other.read_token))).toBe('401 INVALID_TOKEN');
    expect(await outcomeOf(await post(server, fresh.id, 'y'))).toBe('200');
    time.pass(60_000);
    expect(await outcomeOf(await read('/events'))).toBe('200');
    for (let i = 1; i < 600; i++) await read('/events');
    expect(await outcomeOf(await read('/events'))).toBe('429 RATE_LIMIT_EXCEEDED');
    const deleted = await server.fetch(`/v1/callbacks/${fresh.id}`, { method: 'DELETE', headers: bearer(fresh) });
    expect(await outcomeOf(deleted)).toBe('200');
  });

  it.each([
    ['/events', (text: string) => v.parse(eventsAnswer, JSON.parse(text)).events.map(({ body }) => body)],
    ['/wait', (text: string) => [(v.parse(waitAnswer, JSON.parse(text)) as { event: { body: unknown } }).event.body]],
  ] as const)(
    'of long events has its closed schema, sent in pieces of at most 64 KiB: %s (reliability 202)',
    async (rest, bodiesOf) => {
      const fresh = await createCallback(server);
      const text = `"\u0000é\u{1f600}`.repeat(20_000);
      await post(server, fresh.id, text);
      await post(server, fresh.id, 'short');
      const response = await server.fetch(`/v1/callbacks/${fresh.id}${rest}`, { headers: bearer(fresh) });
      expect(response.headers.get('content-type')).toBe('application/json');
      const pieces: Uint8Array[] = [];
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) pieces.push(piece);
      expect(pieces.length).toBeGreaterThan(3);
      for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(65_536);
      expect(bodiesOf(Buffer.concat(pieces).toString())[0]).toBe(text);
    },
  );

  it('is 410 from the end of a callback on for an hour, for webhooks too, and then 404 (reliability 204)', async () => {
    const ended = await createCallback(server);
    const asked = async (token: string): Promise<string[]> => {
      const headers = { authorization: `Bearer ${token}` };
      const reads = READING_ROUTES.map(([method, rest]) =>
        server.fetch(`/v1/callbacks/${ended.id}${rest}`, { method, headers }),
      );
      return [...new Set(await Promise.all(reads.map(async (each) => outcomeOf(await each))))];
    };
    const hooked = async (): Promise<string> => outcomeOf(await post(server, ended.id, 'x'));
    time.pass(600_000);
    for (const ms of [0, 3_599_999]) {
      time.pass(ms);
      expect(await asked(ended.read_token)).toEqual(['410 CALLBACK_EXPIRED']);
      expect(await asked(other.read_token)).toEqual(['401 INVALID_TOKEN']);
      expect(await hooked()).toBe('410 CALLBACK_EXPIRED');
    }
    time.pass(1);
    expect(await asked(ended.read_token)).toEqual(['404 CALLBACK_NOT_FOUND']);
    expect(await hooked()).toBe('404 CALLBACK_NOT_FOUND');
  });
});
