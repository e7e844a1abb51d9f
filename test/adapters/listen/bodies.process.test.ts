/** Bodies on real sockets, under both listeners: every size and framing, in one packet and in many, read, unread and cut. */
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DISCARD_MS } from '../../../src/adapters/listen/limits.ts';
import { answersIn } from '../../support/raw-socket.ts';
import { RUNTIMES } from '../../support/server.ts';
import { pause } from '../../support/until.ts';
import { partOf } from '../../support/whole.ts';
import { BODY_PROGRAM, requestOf, startedEcho } from './started-echo.ts';

const BYTES_MAX = 262_144;
/** What body-server.ts gives a body: until then a busy machine may take for 1.6 million chunks, which is 2.5 s of a processor. */
const BODY_MS = 20_000;
/** Around what one read of a socket, a stream of node:http and the bound hold. */
const SIZES = [0, 1, 2, 1_023, 1_024, 4_097, 65_535, 65_536, 65_537, 131_073, BYTES_MAX - 1, BYTES_MAX];

type Framing = 'declared' | 'chunked';
const FRAMINGS: readonly Framing[] = ['declared', 'chunked'];

const digestOf = (body: Uint8Array): string => `${body.length} ${createHash('sha256').update(body).digest('hex')}`;

function framed(body: Buffer, framing: Framing, chunkBytes = 5_000): Buffer {
  if (framing === 'declared') return body;
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes);
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/** A POST as bytes. */
function post(target: string, body: Buffer, framing: Framing, chunkBytes?: number): Buffer {
  const length = framing === 'declared' ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked';
  const head = `POST ${target} HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), framed(body, framing, chunkBytes)]);
}

describe.each(RUNTIMES)('bodies under the listener of %s', (runtime) => {
  const server = startedEcho(runtime, BODY_PROGRAM);

  /** A connection that keeps what comes. */
  async function opened(): Promise<{
    send(bytes: string | Uint8Array): void;
    end(): void;
    destroy(): void;
    answers(count: number): Promise<string[]>;
    received(): string;
    isClosed(): boolean;
  }> {
    const socket = await server.opened('');
    let received = '';
    let isClosed = false;
    socket
      .on('data', (data: Buffer) => {
        received += data.toString('latin1');
      })
      .on('close', () => {
        isClosed = true;
      });
    socket.setNoDelay(true);
    return {
      send: (bytes) => socket.write(bytes),
      end: () => socket.end(),
      destroy: () => socket.destroy(),
      received: () => received,
      isClosed: () => isClosed,
      async answers(count) {
        await expect
          .poll(() => answersIn(received, [], isClosed).length, { timeout: BODY_MS })
          .toBeGreaterThanOrEqual(count);
        const answers = answersIn(received, [], isClosed);
        return answers.map(({ status, text }) => (status === 200 ? text : `${status} ${text}`));
      },
    };
  }

  /** What the server says of itself. */
  const ask = async (path: string): Promise<string> => {
    const one = await opened();
    one.send(requestOf(path));
    const [text = ''] = await one.answers(1);
    one.destroy();
    return text;
  };

  it.each(FRAMINGS)(
    'of every size are read whole where that is the bound, one after the other: %s',
    async (framing) => {
      const one = await opened();
      const bodies = SIZES.map((size) => randomBytes(size));
      for (const [index, body] of bodies.entries()) {
        one.send(post(`/?max=${body.length}`, body, framing));
        expect((await one.answers(index + 1)).at(-1)).toBe(digestOf(body));
      }
      one.destroy();
    },
  );

  it.each(FRAMINGS)('in many packets are read whole: %s', async (framing) => {
    const one = await opened();
    const body = randomBytes(200);
    for (const byte of post('/', body, framing, 7)) {
      one.send(Buffer.of(byte));
      await pause(0);
    }
    expect(await one.answers(1)).toEqual([digestOf(body)]);
    const head = post('/', randomBytes(0), 'declared')
      .toString('latin1')
      .replace('Content-Length: 0', 'Content-Length: 3');
    one.send(head);
    await pause(30);
    one.send('abc');
    expect((await one.answers(2))[1]).toBe(digestOf(Buffer.from('abc')));
    one.destroy();
  });

  it.each(FRAMINGS)('beyond the bound are refused, and the server goes on: %s', async (framing) => {
    for (const [size, bytesMax] of [
      [2, 1],
      [1, 0],
      [65_537, 65_536],
      [BYTES_MAX + 1, BYTES_MAX],
      [4 * BYTES_MAX, BYTES_MAX],
      [BYTES_MAX, 10],
    ] as const) {
      const one = await opened();
      one.send(post(`/?max=${bytesMax}`, randomBytes(size), framing));
      expect(await one.answers(1)).toEqual(['too-large']);
      one.send(post('/', Buffer.from('next'), framing));
      // Its rest is discarded, or the connection closes.
      await expect.poll(() => one.isClosed() || one.received().split('HTTP/1.1 200').length === 3).toBe(true);
      if (!one.isClosed()) expect((await one.answers(2))[1]).toBe(digestOf(Buffer.from('next')));
      one.destroy();
    }
    expect(await ask('/claimed')).toBe('0');
  });

  it('that nobody reads are discarded behind the answer', async () => {
    for (const size of [1, 65_536, 1_048_576]) {
      for (const path of ['/unread', '/unread-later?pause=60']) {
        const one = await opened();
        one.send(post(path, randomBytes(size), 'declared'));
        expect(await one.answers(1)).toEqual(['unread']);
        one.send(post('/', Buffer.from('next'), 'declared'));
        expect((await one.answers(2))[1]).toBe(digestOf(Buffer.from('next')));
        one.destroy();
      }
    }
  });

  it.each([
    ['that nobody reads', '/unread', 'unread'],
    ['beyond the bound', '/?max=5000', 'too-large'],
  ])('%s whose rest comes soon leave their connection open', async (_, target, text) => {
    const one = await opened();
    // Undeclared, so that one beyond the bound is found to be so while it is read.
    const request = post(target, randomBytes(200_000), 'chunked');
    one.send(request.subarray(0, 100_000));
    expect(await one.answers(1)).toEqual([text]);
    one.send(request.subarray(100_000));
    await pause(DISCARD_MS + 100);
    one.send(post('/', Buffer.from('next'), 'declared'));
    expect((await one.answers(2))[1]).toBe(digestOf(Buffer.from('next')));
    one.destroy();
  });

  it('with Expect: 100-continue are asked for once', async () => {
    const one = await opened();
    one.send('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    await expect.poll(() => one.received()).toContain('100 Continue\r\n\r\n');
    one.send('hello');
    await expect.poll(() => one.received()).toContain(digestOf(Buffer.from('hello')));
    expect(one.received().match(/100 Continue/g)).toHaveLength(1);
    one.destroy();
  });

  it('with Expect: 100-continue that nobody reads are not asked for, except by Bun (reliability 170)', async () => {
    for (const path of ['/unread', '/unread-later?pause=60']) {
      const one = await opened();
      one.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000000\r\n\r\n`);
      await expect.poll(() => one.received()).toContain('200 OK');
      expect(one.received().startsWith('HTTP/1.1 100 Continue')).toBe(runtime === 'bun');
      if (runtime === 'node') await expect.poll(() => one.isClosed()).toBe(true);
      one.destroy();
    }
  });

  it('that are cut give back their memory and harm nobody', async () => {
    for (const framing of FRAMINGS) {
      const one = await opened();
      const whole = post('/', randomBytes(BYTES_MAX), framing);
      one.send(whole.subarray(0, whole.length / 2));
      await pause(50);
      one.destroy();
    }
    await expect.poll(() => ask('/claimed')).toBe('0');
  });

  it('that are late are said to be', async () => {
    const one = await opened();
    one.send('POST /?ms=50 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe');
    expect(await one.answers(1)).toEqual(['late']);
    one.destroy();
    await expect.poll(() => ask('/claimed')).toBe('0');
  });

  it.each(['Z\r\nabc\r\n0\r\n\r\n', '-1\r\n', '3\r\nabcd\r\n0\r\n\r\n'])(
    'of no chunks are refused: %j',
    async (body) => {
      const one = await opened();
      one.send(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
      await expect.poll(() => one.isClosed() || one.received().length > 0).toBe(true);
      expect(one.received()).not.toContain(' 200 ');
      one.destroy();
      await expect.poll(() => ask('/claimed')).toBe('0');
    },
  );

  it('of a byte a chunk take the memory of a body', async () => {
    const before = Number(await ask('/memory'));
    const sent = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const many = await Promise.all(Array.from({ length: partOf(8, runtime === 'node' ? 4 : 1) }, () => opened()));
    for (const one of many) one.send(sent + '1\r\na\r\n'.repeat(200_000));
    await pause(1_500);
    const taken = Number(await ask('/memory')) - before;
    for (const one of many) one.send('0\r\n\r\n');
    const digest = digestOf(Buffer.alloc(200_000, 'a'));
    for (const one of many) {
      expect(await one.answers(1)).toEqual([digest]);
      one.destroy();
    }
    // Objects of all chunks would take 620 MB, and those of half of them twice the bound. What Bun takes is its own.
    if (runtime === 'node') expect(taken).toBeLessThan(150 * 1_048_576);
  });
});

describe('bodies under the listener of Node alone', () => {
  const server = startedEcho('node', BODY_PROGRAM, { BODY_BYTES: '300000' });
  /** What comes until so many answers are complete, or the connection closes. */
  const received = (sent: string | Buffer, count = 1, methods: readonly string[] = []): Promise<string> =>
    new Promise((resolve) => {
      const socket = server.socket('');
      let text = '';
      const finish = (): void => {
        socket.destroy();
        resolve(text);
      };
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1');
        if (answersIn(text, methods, false).length === count) finish();
      });
      socket.on('error', () => {}).on('close', finish);
      socket.once('connect', () => socket.write(sent));
    });
  const ask = async (path: string): Promise<string | undefined> =>
    answersIn(await received(requestOf(path)), [], true)[0]?.text;

  it('of pipelined requests are each their own, in order', async () => {
    const bodies = Array.from({ length: 16 }, (_, index) => randomBytes(1 + index * 700));
    const all = Buffer.concat(
      bodies.map((body, index) => post('/?pause=2', body, index % 2 === 0 ? 'declared' : 'chunked')),
    );
    const answers = answersIn(await received(all, bodies.length), [], true);
    expect(answers.map(({ text }) => text)).toEqual(bodies.map(digestOf));
  });

  it('without a reader take no more memory for small chunks', async () => {
    const before = Number(await ask('/memory'));
    const sent = 'POST /unread-later?pause=4000 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const chunks = '1\r\na\r\n'.repeat(80_000);
    const many = await Promise.all(Array.from({ length: partOf(20, 10) }, () => server.opened(sent + chunks)));
    await pause(1_500);
    const taken = Number(await ask('/memory')) - before;
    for (const socket of many) socket.destroy();
    // Objects of the chunks in full streams would take 500 MB, and half of them 250 MB.
    expect(taken).toBeLessThan(120 * 1_048_576);
  });

  it('that wait for the budget are read when it is their turn, and given up with their client', async () => {
    const held = await server.opened('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 140000\r\n\r\n');
    await pause(50);
    const body = randomBytes(140_000);
    const waiting = received(post('/', body, 'declared'));
    const left = await server.opened('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 140000\r\n\r\n');
    await pause(50);
    left.destroy();
    await pause(50);
    held.destroy();
    expect(await waiting).toContain(digestOf(body));
    await expect.poll(() => ask('/claimed')).toBe('0');
  });

  it('have their answer without one where the status has none, and for HEAD', async () => {
    for (const [status, length] of [
      [204, false],
      [304, false],
      [200, true],
    ] as const) {
      const answer = await received(requestOf(`/empty?status=${status}`));
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(/content-length: 0\r\n/i.test(answer)).toBe(length);
      expect(answer.endsWith('\r\n\r\n')).toBe(true);
      expect(answer).not.toMatch(/transfer-encoding/i);
    }
    const head = await received('HEAD /unread HTTP/1.1\r\nHost: x\r\n\r\n', 1, ['HEAD']);
    expect(head).toMatch(/content-length: 6\r\n/i);
    expect(head.endsWith('\r\n\r\n')).toBe(true);
  });

  it('close the connection when the answer cannot be sent, and the server reports it', async () => {
    expect(await received(requestOf('/unsendable'))).toBe('');
    await expect.poll(() => server.server.stdout()).toContain('reported: Invalid character in header content');
    expect(await ask('/claimed')).toBe('0');
  });
});
