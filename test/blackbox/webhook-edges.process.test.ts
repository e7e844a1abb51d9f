/** Requests that no honest sender makes (reliability 150, 163, 167, 169, 171, 173, 187). */
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callbackCounts, createCallback, eventsOf } from '../support/callback-client.ts';
import { exchange, requestText } from '../support/raw-socket.ts';
import { RUNTIMES, type RunningServer, startServer } from '../support/server.ts';

const HOOK = `/hooks/cb_${'A'.repeat(24)}`;

/** Messages that two readers could cut differently; the second request inside must never be answered as one. */
const SMUGGLED = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
const CHUNKED = 'Transfer-Encoding: chunked';
/** What follows the lines that every one of them begins with. */
const AMBIGUOUS: readonly (readonly [string, string])[] = [
  ['a length and chunks', `Content-Length: 4\r\n${CHUNKED}\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['chunks and a length', `${CHUNKED}\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['two lengths', `Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
  ['a list of lengths', 'Content-Length: 2, 2\r\n\r\nhi'],
  ['a length with a sign', 'Content-Length: +5\r\n\r\nhello'],
  ['a negative length', 'Content-Length: -5\r\n\r\nhello'],
  ['a length of 23 digits', `Content-Length: ${'9'.repeat(23)}\r\n\r\nhello`],
  ['a folded header', 'X-A: 1\r\n Content-Length: 5\r\nContent-Length: 0\r\n\r\n'],
  ['a NUL in a header', 'X-A: a\0b\r\nContent-Length: 2\r\n\r\nhi'],
  ['a CR in a header', 'X-A: a\rContent-Length: 2\r\n\r\nhi'],
  ['an LF alone after a header', 'X-A: 1\nContent-Length: 2\r\n\r\nhi'],
  ['an LF alone after the head', `Content-Length: ${SMUGGLED.length}\r\n\n${SMUGGLED}`],
  ['a blank before the colon', 'Content-Length : 2\r\n\r\nhi'],
  ['an unknown coding', `Transfer-Encoding: gzip, identity\r\n\r\n${SMUGGLED}`],
  ['a coding like chunked', 'Transfer-Encoding: xchunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'],
  ['chunks within chunks', `${CHUNKED}\r\n${CHUNKED}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`],
  ['a chunk length that is none', `${CHUNKED}\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`],
  ['a chunk length of 17 digits', `${CHUNKED}\r\n\r\n${'F'.repeat(17)}\r\nhi\r\n0\r\n\r\n`],
  ['a chunk that is longer than its length', `${CHUNKED}\r\n\r\n2\r\nhixx\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk without an end of line', `${CHUNKED}\r\n\r\n2\r\nhi0\r\n\r\n${SMUGGLED}`],
  ['chunks that end in an LF alone', `${CHUNKED}\r\n\r\n2\nhi\n0\n\n`],
  ['an LF alone in a chunk extension', `${CHUNKED}\r\n\r\n2;\nxx\r\nhi\r\n0\r\n\r\n`],
];
const MEBIBYTE = 1024 * 1024;
const EXTENSION_MEBIBYTES = 32;

describe.each(RUNTIMES)('the edge of the hooks under %s', (runtime) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(runtime, { LOG_LEVEL: 'silent' });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  const isHealthy = async (): Promise<void> => {
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  };

  it('refuses or closes what could be cut in two ways, stores none of it and sees no second request in it (reliability 171)', async () => {
    const outcomes = await Promise.all(
      AMBIGUOUS.map(async ([what, rest]) => {
        // Its own, live, and of a type that is stored: nothing but the framing can refuse it.
        const callback = await createCallback(server);
        const head = `POST /hooks/${callback.id} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n`;
        const { answers, closed } = await exchange(server.port, head + rest, { answerCount: 2, methods: ['POST'] });
        const statuses = answers.map(({ status }) => status);
        return { what, statuses, closed, events: await eventsOf(server, callback) };
      }),
    );
    expect(outcomes).toEqual(
      AMBIGUOUS.map(([what]) => ({ what, statuses: [expect.toBeOneOf([400, 501, 505])], closed: true, events: [] })),
    );
    await isHealthy();
  });

  it(`a chunk extension of ${EXTENSION_MEBIBYTES} MiB is cut and takes no memory (reliability 171)`, async () => {
    const callback = await createCallback(server);
    const { residentBytes } = await callbackCounts(server);
    const piece = Buffer.alloc(MEBIBYTE, 'e');
    const head = `POST /hooks/${callback.id} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${CHUNKED}\r\n\r\n2;a=`;
    const takenBytes = await new Promise<number>((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => {
        socket.write(head);
        for (let i = 0; i < EXTENSION_MEBIBYTES; i++) socket.write(piece);
        socket.write('\r\nhi\r\n0\r\n\r\n');
      });
      socket.on('error', () => {}).resume();
      socket.on('close', () => resolve(socket.bytesWritten - socket.writableLength));
    });
    // What the buffers of two sockets hold has left this side without being read.
    expect(takenBytes).toBeLessThan((EXTENSION_MEBIBYTES * MEBIBYTE) / 2);
    expect(await eventsOf(server, callback)).toEqual([]);
    expect((await callbackCounts(server)).residentBytes - residentBytes).toBeLessThan(
      (EXTENSION_MEBIBYTES * MEBIBYTE) / 2,
    );
  });

  it('a header that counts once is refused when it comes twice, and the others are joined (reliability 150, 173, 187)', async () => {
    const callback = await createCallback(server);
    const posted = async (...lines: string[]): Promise<string> => {
      const request = requestText('POST', `/hooks/${callback.id}`, ['Host: x', ...lines, 'Content-Length: 2'], '{}');
      const { answers } = await exchange(server.port, request);
      return `${answers[0]?.status} ${/"code":"(\w+)"/.exec(answers[0]?.text ?? '')?.[1]}`;
    };
    const JSON_TYPE = 'Content-Type: application/json';
    expect(await posted(JSON_TYPE, JSON_TYPE)).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    expect(await posted(JSON_TYPE, 'content-type: text/plain')).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    expect(await eventsOf(server, callback)).toEqual([]);
    expect(await posted('User-Agent: a', 'svix-id: one', 'User-Agent: b', 'Svix-Id: two')).toBe('200 undefined');
    const [event] = await eventsOf(server, callback);
    expect(event).toMatchObject({
      content_type: 'text/plain',
      headers: { 'user-agent': 'a, b', 'svix-id': 'one, two' },
    });
    const right = `Authorization: Bearer ${callback.read_token}`;
    for (const second of [right, 'Authorization: Bearer x', 'Authorization:']) {
      const request = requestText('GET', `/v1/callbacks/${callback.id}/events`, ['Host: x', right, second]);
      const [answer] = (await exchange(server.port, request)).answers;
      expect(answer?.status).toBe(401);
      expect(answer?.text).toContain('"INVALID_AUTHORIZATION"');
    }
  });

  it('262,144 bytes are stored and one more is our own 413, declared or in chunks (reliability 163)', async () => {
    const callback = await createCallback(server);
    const most = 'é'.repeat(131_072);
    for (const [text, status] of [
      [most, 200],
      [`${most}x`, 413],
    ] as const) {
      const body = Buffer.from(text).toString('latin1');
      for (const framed of [
        `Content-Length: ${body.length}\r\n\r\n${body}`,
        `${CHUNKED}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ]) {
        const head = `POST /hooks/${callback.id} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n`;
        const [answer] = (await exchange(server.port, head + framed)).answers;
        expect(answer?.status).toBe(status);
        expect(answer?.text).toContain(status === 200 ? '"received":true' : '"PAYLOAD_TOO_LARGE"');
      }
    }
    const events = await eventsOf(server, callback);
    expect(events.map(({ size_bytes, body }) => [size_bytes, body === most])).toEqual(Array(2).fill([262_144, true]));
  });

  it('a body in a transfer coding is not stored (reliability 167)', async () => {
    const callback = await createCallback(server);
    const message = `POST /hooks/${callback.id} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`;
    const { answers } = await exchange(server.port, message, { methods: ['POST'] });
    // Bun refuses the message itself.
    expect(answers[0]?.status).toBe(runtime === 'node' ? 415 : 400);
    expect(await eventsOf(server, callback)).toHaveLength(0);
  });

  it('a thousand half-sent headers delay no other request, and go when their senders go (reliability 169)', async () => {
    const openFiles = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length;
    const sockets: Socket[] = [];
    for (let i = 0; i < 1_000; i++) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`POST ${HOOK} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
      sockets.push(socket);
    }
    for (let i = 0; i < 20; i++) await isHealthy();
    await expect.poll(openFiles).toBeGreaterThan(sockets.length);
    for (const socket of sockets) socket.destroy();
    await expect.poll(openFiles).toBeLessThan(sockets.length / 10);
    await isHealthy();
  }, 60_000);
});
