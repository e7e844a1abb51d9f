/** Webhooks from outside (callback.md; decisions §5; reliability, section G), on both runtimes. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bearer,
  type Callback,
  type CallbackServer,
  codeOf,
  createCallback,
  eventsOf,
  eventsText,
  outcomeOf,
  post,
  postJson,
  startCallbackServer,
  wait,
} from '../../support/callback-client.ts';
import { exchange, requestText } from '../../support/raw-socket.ts';
import { RUNTIMES } from '../../support/server.ts';

const PAYLOAD_MAX = 262_144;
const UNKNOWN = `cb_${'0'.repeat(24)}`;

describe.each(RUNTIMES)('a webhook on %s', (runtime) => {
  let server: CallbackServer;
  beforeAll(async () => {
    server = await startCallbackServer(runtime);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  /** Answer to a request written by hand: its status and code. */
  const rawPost = async (id: string, headers: readonly string[], body: string, timeoutMs = 5_000): Promise<string> => {
    const { answers, received } = await exchange(
      server.port,
      requestText('POST', `/hooks/${id}`, ['Host: x', ...headers], body),
      { timeoutMs },
    );
    const [answer] = answers;
    if (answer === undefined) return `nothing: ${received.slice(0, 60)}`;
    if (answer.status === 200) return '200';
    return `${answer.status} ${(JSON.parse(answer.text) as { error: { code: string } }).error.code}`;
  };

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

  it('to an unknown id is 404 thirty times and then 429, the body unread (reliability 138, 140, 142)', async () => {
    const body = 'x'.repeat(PAYLOAD_MAX);
    for (let i = 0; i < 30; i++)
      expect(await outcomeOf(await post(server, UNKNOWN, 'x'))).toBe('404 CALLBACK_NOT_FOUND');
    const limited = await post(server, UNKNOWN, body);
    expect(limited.headers.get('retry-after')).toMatch(/^(?:[1-9]|[1-5]\d|60)$/);
    expect(await codeOf(limited)).toBe('RATE_LIMIT_EXCEEDED');
    // Nothing of this body is ever sent, and the answer comes all the same.
    expect(await rawPost(UNKNOWN, ['Content-Type: text/plain', 'Content-Length: 262144'], '')).toBe(
      '429 RATE_LIMIT_EXCEEDED',
    );
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

  it.each([
    [
      ['Content-Type: application/json', 'Content-Type: application/json'],
      '415 UNSUPPORTED_MEDIA_TYPE',
      'two types (150)',
    ],
    [['Content-Type: text/plain', 'Content-Type: image/png'], '415 UNSUPPORTED_MEDIA_TYPE', 'two types (150)'],
    [['Content-Type:'], '415 UNSUPPORTED_MEDIA_TYPE', 'an empty type (149)'],
    [[`Content-Type: text/plain; x=${'y'.repeat(512 - 14)}`], '200', 'a type of 512 characters'],
    [[`Content-Type: text/plain; x=${'y'.repeat(513 - 14)}`], '415 UNSUPPORTED_MEDIA_TYPE', 'a type of 513 characters'],
    [[], '200', 'no type (151)'],
    [['Content-Type: text/plain', 'Content-Encoding: gzip'], '415 UNSUPPORTED_MEDIA_TYPE', 'an encoding (167)'],
    [['Content-Type: text/plain', 'Content-Encoding: gzip, gzip'], '415 UNSUPPORTED_MEDIA_TYPE', 'two encodings (167)'],
    [['Content-Type: text/plain', 'Content-Encoding: identity'], '200', 'no encoding at all'],
    [['Content-Type: text/plain', 'X-HTTP-Method-Override: DELETE'], '200', 'another method in a header (177)'],
  ])('with %j is answered %s because of %s', async (headers, outcome) => {
    const callback = await createCallback(server);
    expect(await rawPost(callback.id, [...headers, 'Content-Length: 2'], '{}')).toBe(outcome);
    const events = await eventsOf(server, callback);
    expect(events).toHaveLength(outcome === '200' ? 1 : 0);
    if (headers.length === 0) expect(events[0]).toMatchObject({ content_type: 'text/plain', headers: {}, body: '{}' });
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
    const chunked = await fetch(`${server.url}/hooks/${callback.id}`, {
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

  it('that announces too much is refused at once, with nothing sent (reliability 164, 170)', async () => {
    const { id } = await createCallback(server);
    for (const more of [[], ['Expect: 100-continue']]) {
      const { answers } = await exchange(
        server.port,
        requestText('POST', `/hooks/${id}`, [
          'Host: x',
          'Content-Type: text/plain',
          'Content-Length: 1000000000',
          ...more,
        ]),
        { answerCount: 2, timeoutMs: 1_500 },
      );
      const final = answers.find(({ status }) => status >= 200);
      expect(final?.status).toBe(413);
      expect(final?.text).toContain('PAYLOAD_TOO_LARGE');
    }
  });

  it.each([1_048_577, 1e12, Number.MAX_SAFE_INTEGER])(
    'that announces %i bytes is judged in the order of the contract',
    async (length) => {
      const head = ['Host: x', 'Content-Type: image/png', `Content-Length: ${length}`];
      const { id } = await createCallback(server);
      const stranger = `cb_${String(length).padStart(24, 's')}`;
      for (const [method, to, outcome] of [
        ['DELETE', id, '405 METHOD_NOT_ALLOWED'],
        ['POST', 'x', '400 INVALID_CALLBACK_ID'],
        ['POST', stranger, '404 CALLBACK_NOT_FOUND'],
        ['POST', id, '415 UNSUPPORTED_MEDIA_TYPE'],
      ] as const) {
        const { answers } = await exchange(server.port, requestText(method, `/hooks/${to}`, head));
        const [answer] = answers;
        const code = (JSON.parse(answer?.text ?? '{}') as { error?: { code: string } }).error?.code;
        expect(`${answer?.status} ${code}`).toBe(outcome);
      }
    },
  );

  it('whose body nobody reads costs no memory, declared or chunked', async () => {
    const SENT_BYTES = 256 * 1024 * 1024;
    const piece = Buffer.alloc(65_536, 'x');
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]);
    const before = await server.counts();
    for (const [framing, data] of [
      [`Content-Length: ${SENT_BYTES}`, piece],
      ['Transfer-Encoding: chunked', chunk],
    ] as const) {
      await new Promise<void>((resolve) => {
        const socket = connect(server.port, '127.0.0.1');
        let sentBytes = 0;
        const send = (): void => {
          while (!socket.destroyed && sentBytes < SENT_BYTES) {
            sentBytes += piece.length;
            if (!socket.write(data)) {
              socket.once('drain', send);
              return;
            }
          }
          socket.destroy();
        };
        socket.on('connect', () => {
          socket.write(`POST /hooks/x HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`);
          send();
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve());
        socket.resume();
      });
      const after = await server.counts();
      expect(after.rss! - before.rss!).toBeLessThan(SENT_BYTES / 2);
    }
  });

  it('without an end is cut with our own 413 (reliability 165)', async () => {
    const callback = await createCallback(server);
    const received = await new Promise<string>((resolve) => {
      const socket = connect(server.port, '127.0.0.1');
      let text = '';
      let sentBytes = 0;
      const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      const send = (): void => {
        while (!socket.destroyed && sentBytes < 8_000_000 && text === '') {
          sentBytes += 0x4000;
          if (!socket.write(chunk)) {
            socket.once('drain', () => setImmediate(send));
            return;
          }
        }
      };
      socket.on('connect', () => {
        socket.write(
          `POST /hooks/${callback.id} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
        send();
      });
      socket.on('data', (data) => {
        text += data.toString('latin1');
        if (text.includes('}}')) socket.destroy();
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
      setTimeout(() => socket.destroy(), 8_000).unref();
    });
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received).toContain('"code":"PAYLOAD_TOO_LARGE"');
    expect(await eventsOf(server, callback)).toEqual([]);
  });

  it('that stops half way is not stored (reliability 166)', async () => {
    const callback = await createCallback(server);
    await exchange(
      server.port,
      requestText(
        'POST',
        `/hooks/${callback.id}`,
        ['Host: x', 'Content-Type: text/plain', 'Content-Length: 100'],
        'half',
      ),
      { timeoutMs: 200 },
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await eventsOf(server, callback)).toEqual([]);
  });

  it('keeps the listed headers, joined when repeated, and no other (reliability 172, 173)', async () => {
    const callback = await createCallback(server);
    expect(
      await rawPost(
        callback.id,
        [
          'Content-Type: text/plain',
          'STRIPE-Signature: t=1,v1=a',
          'Svix-Id: one',
          'svix-id: two',
          'vendorA-signature: sig\xe9\xff',
          'User-Agent: a',
          'User-Agent: b',
          'Authorization: Bearer secret',
          'Cookie: secret=1',
          'X-Forwarded-For: 1.2.3.4',
          '__proto__: x',
          'Content-Length: 1',
        ],
        'x',
      ),
    ).toBe('200');
    const [event] = await eventsOf(server, callback);
    expect(event?.headers).toEqual({
      'content-type': 'text/plain',
      'stripe-signature': 't=1,v1=a',
      'svix-id': 'one, two',
      'vendora-signature': 'sig\xe9\xff',
      'user-agent': 'a, b',
    });
  });

  it.each([0x01, 0x08, 0x0b, 0x1f, 0x7f])(
    'with the control character %i in its type is refused, by the parser or with 415, and never stored',
    async (unit) => {
      const callback = await createCallback(server);
      const type = `Content-Type: text/plain; x="${String.fromCharCode(unit)}"`;
      const { answers } = await exchange(
        server.port,
        requestText('POST', `/hooks/${callback.id}`, ['Host: x', type, 'Content-Length: 1'], 'x'),
      );
      expect([400, 415]).toContain(answers[0]?.status);
      expect(await eventsOf(server, callback)).toEqual([]);
    },
  );

  it('shows and gives back a type with a tab and characters above U+007F as it was sent', async () => {
    const callback = await createCallback(server);
    const type = 'text/plain; x="\t\x80\xff"';
    expect(await rawPost(callback.id, [`Content-Type: ${type}`, 'Content-Length: 1'], 'x')).toBe('200');
    const [event] = await eventsOf(server, callback);
    expect(event?.content_type).toBe(type);
    const raw = await fetch(`${server.url}/v1/callbacks/${callback.id}/events/${event?.id}/raw`, {
      headers: bearer(callback),
    });
    expect(raw.headers.get('x-original-content-type')).toBe(type);
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
        const response = await fetch(`${server.url}/hooks/${id}`, { method });
        expect(response.status).toBe(405);
        expect(response.headers.get('allow')).toBe('POST, PUT, PATCH');
        await response.arrayBuffer();
      }
      expect(await eventsOf(server, callback)).toEqual([]);
    },
  );

  it('that meets a deletion leaves nothing (reliability 178)', async () => {
    const callbacks: Callback[] = await Promise.all(Array.from({ length: 10 }, () => createCallback(server)));
    const { live, long } = await server.counts();
    const outcomes = await Promise.all(
      callbacks.flatMap((callback) => [
        post(server, callback.id, 'x'.repeat(100_000)).then(outcomeOf),
        fetch(`${server.url}/v1/callbacks/${callback.id}`, { method: 'DELETE', headers: bearer(callback) }).then(
          outcomeOf,
        ),
      ]),
    );
    expect(outcomes.filter((_, i) => i % 2 === 1)).toEqual(Array(10).fill('200'));
    for (const outcome of outcomes) expect(['200', '404 CALLBACK_NOT_FOUND']).toContain(outcome);
    const after = await server.counts();
    expect(after.live).toBe(live! - 10);
    expect(after.long).toBe(long);
  });

  it('gives the raw bytes back, and the type only when one was sent (decisions §5)', async () => {
    const callback = await createCallback(server);
    const bodies: [readonly string[], Uint8Array][] = [
      [['Content-Type: application/json'], new TextEncoder().encode('\ufeff{ "a": 1e400 }')],
      [['Content-Type: text/plain; charset=utf-16le'], Uint8Array.of(0xff, 0xfe, 0x61, 0, 0x62)],
      [[], Uint8Array.of(0, 1, 2, 253, 254, 255)],
      [['Content-Type: text/x; a="b,c"'], new Uint8Array(20_000).fill(0xe9)],
    ];
    for (const [headers, bytes] of bodies) {
      const body = Buffer.from(bytes).toString('latin1');
      expect(await rawPost(callback.id, [...headers, `Content-Length: ${bytes.length}`], body)).toBe('200');
    }
    const events = await eventsOf(server, callback);
    for (const [i, [headers, bytes]] of bodies.entries()) {
      const url = `${server.url}/v1/callbacks/${callback.id}/events/${events[i]?.id}/raw`;
      const raw = await fetch(url, { headers: bearer(callback) });
      expect(raw.status).toBe(200);
      expect(raw.headers.get('content-type')).toBe('application/octet-stream');
      expect(raw.headers.get('x-content-type-options')).toBe('nosniff');
      expect(raw.headers.get('content-security-policy')).toBe('sandbox');
      expect(raw.headers.get('cache-control')).toBe('no-store');
      expect(raw.headers.get('x-original-content-type')).toBe(headers[0]?.slice('Content-Type: '.length) ?? null);
      expect([...new Uint8Array(await raw.arrayBuffer())]).toEqual([...bytes]);
      expect((await fetch(url)).status).toBe(401);
    }
    const none = await fetch(`${server.url}/v1/callbacks/${callback.id}/events/evt_${'0'.repeat(32)}/raw`, {
      headers: bearer(callback),
    });
    expect(await outcomeOf(none)).toBe('404 EVENT_NOT_FOUND');
  });
});
