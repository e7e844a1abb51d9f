/** The generator's HTTP against a server that sends bytes by the letter: what is an answer, what is none, and when. */
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { headerOf, type Reply, unchunked } from '../../src/load/connection.ts';
import { Pool } from '../../src/load/pool.ts';
import { parseTarget } from '../../src/load/target.ts';

let server: Server | undefined;
let pool: Pool | undefined;
afterEach(() => {
  pool?.close();
  server?.close();
});

/** A server that handles each request text on its socket, and a pool of connections to it. */
async function open(onRequest: (socket: Socket, text: string) => void, connectionCountMax = 1, timeoutMs = 5_000) {
  let connectionCount = 0;
  const listening = createServer((socket) => {
    connectionCount++;
    socket.on('error', () => {});
    socket.on('data', (bytes) => onRequest(socket, bytes.toString('latin1')));
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as { port: number };
  const target = parseTarget(`http://127.0.0.1:${port}`);
  const endpoint = { target, address: '127.0.0.1' };
  const opened = new Pool({ endpoint, clock: systemClock, connectionCountMax, timeoutMs });
  pool = opened;
  return { pool: opened, connections: () => connectionCount };
}

const shown = (reply: Reply): unknown =>
  reply.kind === 'failure' ? reply.code : [reply.status, reply.body.toString('latin1')];

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Eleven bytes, so that a length could be right. */
const CHUNKED = '1\r\nx\r\n0\r\n\r\n';

const ANSWERS: readonly (readonly [because: string, bytes: string, shown: unknown])[] = [
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', [200, 'hello']],
  ['a length of zero', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', [404, '']],
  ['a status without a reason', 'HTTP/1.1 402\r\ncontent-length: 2\r\n\r\n{}', [402, '{}']],
  ['an odd spelling', 'HTTP/1.1 200 OK\r\nCONTENT-length:3\r\n\r\nabc', [200, 'abc']],
  ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\ncontent-length:1 \r\n\r\nx', [200, 'x']],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', [204, '']],
  [
    'chunks',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\n\r\n',
    [200, 'abc0123456789'],
  ],
  [
    'an interim answer before',
    'HTTP/1.1 103 Early Hints\r\na: b\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx',
    [200, 'x'],
  ],
  ['another protocol', 'SSH-2.0-x\r\n\r\n', 'MALFORMED'],
  ['a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: 1x\r\n\r\n', 'MALFORMED'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\na: b\r\nContent-Length: 2\r\n\r\nx', 'MALFORMED'],
  ['two lengths, one in capitals', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\nCONTENT-LENGTH: 2\r\n\r\nx', 'MALFORMED'],
  ['more than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxy', 'MALFORMED'],
  [
    'a length and a coding',
    `HTTP/1.1 200 OK\r\ncontent-length: 11\r\nTransfer-encoding: chunked\r\n\r\n${CHUNKED}`,
    'MALFORMED',
  ],
  ['a coding that is not known', 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n', 'MALFORMED'],
  ['a head that does not end', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(12_000)}`, 'TOO_LARGE'],
  ['too long a body', `HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n${'x'.repeat(9_000_000)}`, 'TOO_LARGE'],
  ['chunks that are none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'MALFORMED'],
];

describe('a connection', () => {
  it.each(ANSWERS)('reads %s, in one piece', async (_, bytes, expected) => {
    const { pool: opened } = await open((socket) => socket.write(bytes, 'latin1'));
    expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual(expected);
  });

  it.each(ANSWERS.filter(([, , expected]) => Array.isArray(expected)))(
    'reads %s, in pieces',
    async (_, bytes, expected) => {
      const { pool: opened } = await open(async (socket) => {
        socket.setNoDelay(true);
        for (let at = 0; at < bytes.length; at += 7) {
          socket.write(bytes.slice(at, at + 7), 'latin1');
          await pause(1);
        }
      });
      expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual(expected);
    },
  );

  it('is used again for the next request, and replaced once the server has closed it', async () => {
    let count = 0;
    const { pool: opened, connections } = await open((socket) => {
      count++;
      const close = count === 3 ? 'Connection: close\r\n' : '';
      socket.write(`HTTP/1.1 200 OK\r\n${close}content-length: 1\r\n\r\n${count}`);
    });
    for (const expected of ['1', '2', '3', '4']) {
      expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual([200, expected]);
    }
    expect(connections()).toBe(2);
  });

  it('is replaced when the server closes it between two requests', async () => {
    let count = 0;
    const { pool: opened, connections } = await open((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${++count}`);
      setTimeout(() => socket.end(), 10);
    });
    expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual([200, '1']);
    await pause(100);
    expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual([200, '2']);
    expect(connections()).toBe(2);
  });

  it('ends an answer of no stated length with the connection', async () => {
    const { pool: opened } = await open((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nto the end'));
    expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual([200, 'to the end']);
  });

  it('says that it was closed, reset, refused or too slow', async () => {
    const { pool: opened } = await open(
      (socket, text) => {
        if (text.startsWith('GET /closed')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
        if (text.startsWith('GET /reset')) socket.resetAndDestroy();
      },
      3,
      300,
    );
    const replies = await Promise.all(
      ['closed', 'reset', 'slow'].map((path) => opened.ask(`GET /${path} HTTP/1.1\r\n\r\n`)),
    );
    expect(replies.map(shown)).toEqual(['CLOSED', 'ECONNRESET', 'TIMEOUT']);
    server?.close();
    await pause(50);
    expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toBe('ECONNREFUSED');
  });

  it('has room for so many at a time, and tells when there is room again', async () => {
    const held: Socket[] = [];
    const { pool: opened } = await open((socket) => held.push(socket), 2);
    const replies = [1, 2].map(() => new Promise<Reply>((resolve) => opened.send('GET / HTTP/1.1\r\n\r\n', resolve)));
    expect(opened.hasRoom()).toBe(false);
    const room = new Promise<void>((resolve) => {
      opened.onRoom = resolve;
    });
    await expect.poll(() => held.length).toBe(2);
    held[0]?.write('HTTP/1.1 204 No Content\r\n\r\n');
    await room;
    expect(opened.hasRoom()).toBe(true);
    opened.close();
    expect((await Promise.all(replies)).map(shown)).toContain('CLOSED');
  });

  it('gives up what is under way without a reply, and has room at once', async () => {
    let isHeld = false;
    const { pool: opened, connections } = await open((socket, text) => {
      if (text.startsWith('GET /held')) isHeld = true;
      else socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    });
    const replies: Reply[] = [];
    opened.send('GET /held HTTP/1.1\r\n\r\n', (reply) => replies.push(reply));
    await expect.poll(() => isHeld).toBe(true);
    expect(opened.hasRoom()).toBe(false);
    opened.abandonBusy();
    expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual([204, '']);
    opened.abandonBusy(); // nothing is under way
    expect(shown(await opened.ask('GET / HTTP/1.1\r\n\r\n'))).toEqual([204, '']);
    expect([connections(), replies]).toEqual([2, []]);
  });
});

describe('headers and chunks', () => {
  it('are found whatever their case, at the start of a line only', () => {
    const head = 'HTTP/1.1 200 OK\r\nx-note: retry-after: 5\r\nRetry-After: 7\r\npayment-RESPONSE:abc \r\nlast: 1';
    expect(headerOf(head, 'retry-after')).toBe('7');
    expect(headerOf(head, 'payment-response')).toBe('abc');
    expect(headerOf(head, 'last')).toBe('1');
    expect(headerOf(head, 'note')).toBeUndefined();
  });

  it.each([
    ['0\r\n\r\n', ''],
    ['1\r\na\r\n0\r\n\r\n', 'a'],
    ['1\r\na\r\n0\r\n', undefined],
    ['5\r\nab', undefined],
    ['', undefined],
    ['1\r\nab\r\n0\r\n\r\n', null],
    ['fffffffff\r\n', null],
    ['-1\r\n', null],
  ])('of %j are %j', (bytes, expected) => {
    const body = unchunked(Buffer.from(bytes));
    expect(body instanceof Buffer ? body.toString() : body).toBe(expected);
  });
});
