/** Webhooks (callback.md; decisions §5; reliability, section G). What takes bytes on a socket is in `blackbox/webhooks.process.test.ts`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLAIM_BYTES } from '../../src/callback/limits.ts';
import {
  bearer,
  type Callback,
  callbackCounts,
  createCallback,
  eventsOf,
  eventsText,
  outcomeOf,
  post,
  postJson,
  wait,
} from '../support/callback-client.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';

const PAYLOAD_MAX = 262_144;
const UNKNOWN = `cb_${'0'.repeat(24)}`;

describe(`a webhook on ${RUNTIME}`, () => {
  let server: OpenedApp;
  beforeAll(async () => {
    server = await openedApp({ SNAPSHOT: 'none' });
  });
  afterAll(async () => {
    await server.close();
  });

  it.each([
    [`cb_${'a'.repeat(23)}`, '400 INVALID_CALLBACK_ID'],
    [`cb_${'a'.repeat(25)}`, '400 INVALID_CALLBACK_ID'],
    [`cb_${'a'.repeat(23)}-`, '400 INVALID_CALLBACK_ID'],
    [`cb_${'a'.repeat(23)}%C3%A9`, '400 INVALID_CALLBACK_ID'],
    [`cb_%41${'a'.repeat(23)}`, '400 INVALID_CALLBACK_ID'],
    [`cb_${'a'.repeat(24)}%0A`, '400 INVALID_CALLBACK_ID'],
    [`CB_${'a'.repeat(24)}`, '400 INVALID_CALLBACK_ID'],
    [`cb_${'a'.repeat(24)}/`, '404 NOT_FOUND'],
    ['x', '400 INVALID_CALLBACK_ID'],
  ])('to %s is answered %s (reliability 137)', async (id, outcome) => {
    expect(await outcomeOf(await post(server, id, 'x'))).toBe(outcome);
  });

  it('comes in the order of the contract: rate, limit of events, type, size, JSON', async () => {
    const full = await createCallback(server);
    for (let i = 0; i < 10; i++) expect((await post(server, full.id, String(i))).status).toBe(200);
    const bad = { headers: { 'content-type': 'image/png' } };
    expect(await outcomeOf(await post(server, full.id, 'x'.repeat(PAYLOAD_MAX + 1), bad))).toBe(
      '410 CALLBACK_EVENT_LIMIT_REACHED',
    );
    expect(await eventsOf(server, full)).toHaveLength(10);
    const open = await createCallback(server);
    expect(await outcomeOf(await post(server, open.id, 'x'.repeat(PAYLOAD_MAX + 1), bad))).toBe(
      '415 UNSUPPORTED_MEDIA_TYPE',
    );
    expect(await outcomeOf(await postJson(server, open.id, '{'.repeat(PAYLOAD_MAX + 1)))).toBe('413 PAYLOAD_TOO_LARGE');
    expect(await outcomeOf(await postJson(server, open.id, '{'.repeat(PAYLOAD_MAX)))).toBe('400 INVALID_JSON');
    // None of these has used a place (reliability 146), all of them have used the rate (140).
    for (let i = 0; i < 10; i++) expect((await post(server, open.id, String(i))).status).toBe(200);
    for (let i = 0; i < 17; i++) await post(server, open.id, 'x');
    expect(await outcomeOf(await post(server, open.id, 'x'))).toBe('429 RATE_LIMIT_EXCEEDED');
    expect(await eventsOf(server, open)).toHaveLength(10);
  });

  it('is stored once when twenty arrive at once and nine are stored (reliability 144)', async () => {
    const callback = await createCallback(server);
    for (let i = 0; i < 9; i++) await post(server, callback.id, String(i));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => post(server, callback.id, 'x').then(outcomeOf)),
    );
    expect(outcomes.sort()).toEqual(['200', ...Array(19).fill('410 CALLBACK_EVENT_LIMIT_REACHED')]);
    expect(await eventsOf(server, callback)).toHaveLength(10);
  });

  it.each<readonly [string, string, unknown, string]>([
    ['application/json; charset=utf-8', '{"a":1}', { a: 1 }, '147'],
    ['Application/JSON', '[]', [], '147'],
    ['application/json ;x=y', 'null', null, '156'],
    ['application/json', '\ufeff0', 0, '153'],
    ['application/json', '"x"', 'x', '156'],
    ['application/json', 'true', true, '156'],
    ['text/html', '<script>alert(1)</script>', '<script>alert(1)</script>', '175'],
    ['text/plain', '', '', '155'],
    ['text/plain', '\ufeffmarked', 'marked', 'decisions §5'],
    ['application/x-www-form-urlencoded', 'a=1&b=%20', 'a=1&b=%20', 'callback.md'],
  ])('of type %s is stored: %j (reliability %4$s)', async (contentType, body, shown) => {
    const callback = await createCallback(server);
    const response = await post(server, callback.id, body, { headers: { 'content-type': contentType } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe('sandbox');
    const text = await response.text();
    expect(text).toMatch(/^\{"received":true,"event_id":"evt_[a-f0-9]{32}"\}$/);
    const [event] = await eventsOf(server, callback);
    expect(event).toEqual({
      id: (JSON.parse(text) as { event_id: string }).event_id,
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      method: 'POST',
      content_type: contentType,
      headers: { 'content-type': contentType, 'user-agent': expect.any(String) },
      body: shown,
      size_bytes: new TextEncoder().encode(body).length,
    });
  });

  it.each([
    ['application/vnd.api+json', '148'],
    ['application/ld+json', '148'],
    ['multipart/form-data; boundary=x', '149'],
    ['application/octet-stream', '149'],
    ['image/png', '149'],
    ['application/xml', '149'],
    ['*/*', '149'],
    ['json', '149'],
    ['text', '149'],
    ['text/plain; charset=klingon', '152'],
  ])('of type %j is refused with 415 (reliability %s)', async (contentType) => {
    const { id } = await createCallback(server);
    expect(await outcomeOf(await post(server, id, '{}', { headers: { 'content-type': contentType } }))).toBe(
      '415 UNSUPPORTED_MEDIA_TYPE',
    );
  });

  it('of an unknown charset is told what a Content-Type must be', async () => {
    const { id } = await createCallback(server);
    const response = await post(server, id, 'x', { headers: { 'content-type': 'text/plain; charset=klingon' } });
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain('well formed and with a known charset');
  });

  it.each<readonly [string | Uint8Array, string]>([
    [Uint8Array.of(0x22, 0xff, 0x22), 'malformed UTF-8 (154)'],
    ['', 'nothing (155)'],
    ['{"a":1', 'half an object'],
    ['['.repeat(257) + ']'.repeat(257), '257 arrays (160)'],
    ['['.repeat(131_072) + ']'.repeat(131_072), '131,072 arrays (160)'],
    ['{"a":'.repeat(40_000), '40,000 open objects (160)'],
  ])('of JSON that is none is refused with 400: $1', async (body) => {
    const callback = await createCallback(server);
    expect(await outcomeOf(await postJson(server, callback.id, body))).toBe('400 INVALID_JSON');
    expect(await eventsOf(server, callback)).toEqual([]);
  });

  it('keeps the text of JSON: numbers, order, repeated keys, escapes (reliability 157 to 159, 162)', async () => {
    const callback = await createCallback(server);
    const texts = [
      '{"n":9007199254740993,"e":1e400,"z":-0,"f":1.0}',
      '{"2":1,"1":2,"2":3,"__proto__":{"x":1},"constructor":1}',
      '["\\ud800","\\u0000","\\/"]',
      '7'.repeat(400),
      '['.repeat(256) + ']'.repeat(256),
      ' {\r\n\t"spaced" : true }\n',
    ];
    for (const text of texts) expect((await postJson(server, callback.id, text)).status).toBe(200);
    const shown = await eventsText(server, callback);
    for (const text of texts) expect(shown).toContain(`"body":${text},"size_bytes":${text.length}}`);
    JSON.parse(shown);
    const waited = await (await wait(server, callback)).text();
    expect(waited).toContain(`"body":${texts[0]}`);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it.each([
    ['a', PAYLOAD_MAX, '200'],
    ['a', PAYLOAD_MAX + 1, '413 PAYLOAD_TOO_LARGE'],
    ['é', PAYLOAD_MAX / 2, '200'],
    ['é', PAYLOAD_MAX / 2 + 1, '413 PAYLOAD_TOO_LARGE'],
    ['\u0001', PAYLOAD_MAX, '200'],
  ])('of %j times %i is answered %s, declared or chunked (reliability 163, 165)', async (letter, count, outcome) => {
    const callback = await createCallback(server);
    const body = new TextEncoder().encode(letter.repeat(count));
    expect(await outcomeOf(await post(server, callback.id, body))).toBe(outcome);
    const chunked = await server.fetch(`/hooks/${callback.id}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: new ReadableStream({
        start(controller) {
          for (let at = 0; at < body.length; at += 10_000) controller.enqueue(body.subarray(at, at + 10_000));
          controller.close();
        },
      }),
      duplex: 'half',
    } as RequestInit);
    expect(await outcomeOf(chunked)).toBe(outcome);
    const events = await eventsOf(server, callback);
    expect(events.map(({ size_bytes }) => size_bytes)).toEqual(outcome === '200' ? [body.length, body.length] : []);
    for (const event of events) expect(event.body).toBe(letter.repeat(count));
  });

  it('keeps headers whole or not at all, 2,560 characters of them (reliability 174)', async () => {
    const callback = await createCallback(server);
    const headers = { 'x-signature': 's'.repeat(12_000), 'stripe-signature': 't=1', 'user-agent': 'u'.repeat(3_000) };
    expect((await post(server, callback.id, 'x', { headers })).status).toBe(200);
    const [event] = await eventsOf(server, callback);
    expect(event?.headers).toEqual({ 'content-type': 'text/plain', 'stripe-signature': 't=1' });
  });

  it.each(['POST', 'PUT', 'PATCH'])('is taken by %s, all alike (reliability 177)', async (method) => {
    const callback = await createCallback(server);
    const response = await post(server, callback.id, 'x', { method });
    expect(await response.text()).toMatch(/^\{"received":true,"event_id":"evt_[a-f0-9]{32}"\}$/);
    expect(await outcomeOf(await post(server, callback.id, 'x', { method, headers: { 'content-type': 'a/b' } }))).toBe(
      '415 UNSUPPORTED_MEDIA_TYPE',
    );
    expect(await eventsOf(server, callback)).toMatchObject([{ method }]);
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'])(
    'is not taken by %s, whatever the id (reliability 176)',
    async (method) => {
      const callback = await createCallback(server);
      for (const id of [callback.id, UNKNOWN, 'x']) {
        const response = await server.fetch(`/hooks/${id}`, { method });
        expect(response.status).toBe(405);
        expect(response.headers.get('allow')).toBe('POST, PUT, PATCH');
        await response.arrayBuffer();
      }
      expect(await eventsOf(server, callback)).toEqual([]);
    },
  );

  it('that meets a deletion leaves nothing (reliability 178)', async () => {
    const callbacks: Callback[] = await Promise.all(Array.from({ length: 10 }, () => createCallback(server)));
    const before = await callbackCounts(server);
    const outcomes = await Promise.all(
      callbacks.flatMap((callback) => [
        post(server, callback.id, 'x'.repeat(100_000)).then(outcomeOf),
        server.fetch(`/v1/callbacks/${callback.id}`, { method: 'DELETE', headers: bearer(callback) }).then(outcomeOf),
      ]),
    );
    expect(outcomes.filter((_, i) => i % 2 === 1)).toEqual(Array(10).fill('200'));
    for (const outcome of outcomes) expect(['200', '404 CALLBACK_NOT_FOUND']).toContain(outcome);
    const after = await callbackCounts(server);
    expect(after.live).toBe(before.live - 10);
    expect(after.claimedBytes).toBe(before.claimedBytes - 10 * CLAIM_BYTES);
  });
});
