/** Webhooks as bytes on a socket: repeated headers, framing, bodies without an end, senders that stop half way (reliability, section G). */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bearer,
  callbackCounts,
  codeOf,
  createCallback,
  eventsOf,
  outcomeOf,
  post,
} from '../support/callback-client.ts';
import { exchange, requestText } from '../support/raw-socket.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';

const PAYLOAD_MAX = 262_144;
const UNKNOWN = `cb_${'0'.repeat(24)}`;

describe.each(oneRuntime('bun'))('a webhook on %s', (runtime) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(runtime, { SNAPSHOT: 'none', LOG_LEVEL: 'error' });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stdout()).not.toContain('"level":"error"');
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
      // Bun asks for the body itself, before the server sees the request.
      const isAskedFor = runtime === 'bun' && more.length > 0;
      expect(answers.map(({ status }) => status)).toEqual(isAskedFor ? [100, 413] : [413]);
      expect(answers.at(-1)?.text).toContain('PAYLOAD_TOO_LARGE');
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
    const before = await callbackCounts(server);
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
      const after = await callbackCounts(server);
      expect(after.residentBytes - before.residentBytes).toBeLessThan(SENT_BYTES / 2);
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
    const raw = await server.fetch(`/v1/callbacks/${callback.id}/events/${event?.id}/raw`, {
      headers: bearer(callback),
    });
    expect(raw.headers.get('x-original-content-type')).toBe(type);
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
      const url = `/v1/callbacks/${callback.id}/events/${events[i]?.id}/raw`;
      const raw = await server.fetch(url, { headers: bearer(callback) });
      expect(raw.status).toBe(200);
      expect(raw.headers.get('content-type')).toBe('application/octet-stream');
      expect(raw.headers.get('x-content-type-options')).toBe('nosniff');
      expect(raw.headers.get('content-security-policy')).toBe('sandbox');
      expect(raw.headers.get('cache-control')).toBe('no-store');
      expect(raw.headers.get('x-original-content-type')).toBe(headers[0]?.slice('Content-Type: '.length) ?? null);
      expect([...new Uint8Array(await raw.arrayBuffer())]).toEqual([...bytes]);
      expect((await server.fetch(url)).status).toBe(401);
    }
    const none = await server.fetch(`/v1/callbacks/${callback.id}/events/evt_${'0'.repeat(32)}/raw`, {
      headers: bearer(callback),
    });
    expect(await outcomeOf(none)).toBe('404 EVENT_NOT_FOUND');
  });
});
