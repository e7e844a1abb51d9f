/** Both listeners behind real sockets: what the handler learns about its client. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AT_ONCE_COUNT, LAST_IDLE_MS } from '../../../src/adapters/listen/limits.ts';
import { binaryOf, RUNTIMES, startProcess } from '../../support/server.ts';
import { pause } from '../../support/until.ts';
import { ECHO_PROGRAM, requestOf, StartedEcho, startedEcho } from './started-echo.ts';

describe.each(RUNTIMES)('the listener of %s', (runtime) => {
  const echo = startedEcho(runtime);

  /** The whole answer to the text, on a connection that closes behind it. */
  const ask = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = echo.socket(text);
      let received = '';
      socket.setEncoding('utf8').on('data', (part: string) => {
        received += part;
      });
      socket.on('end', () => resolve(received)).on('error', reject);
    });

  it.each([
    ['example.com', 'a name'],
    ['Example.COM:8402', 'a name with capitals and a port'],
    ['[::1]:80', 'an IPv6 address'],
    ['127.0.0.1', 'another address than the listening one'],
  ])('gives the Host as sent: %s, %s', async (host) => {
    const answer = await ask(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))).toEqual({
      host,
      address: '127.0.0.1',
    });
  });

  it('shares its port with no other server of its runtime (reliability 271)', async () => {
    const { ended } = startProcess(binaryOf(runtime), [ECHO_PROGRAM], { PORT: String(echo.port) });
    const { exitCode, stdout, stderr } = await ended;
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('EADDRINUSE'),
    });
  });

  it.each(['', 'x', '200-ok'])('hands over a request that expects %j', async (expectation) => {
    const answer = await ask(`GET / HTTP/1.1\r\nHost: x\r\nExpect: ${expectation}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('says once when a client disconnects from a held request', async () => {
    const socket = echo.socket(requestOf('/held'));
    await expect.poll(() => echo.server.stdout()).toContain('held\n');
    socket.destroy();
    await expect.poll(() => echo.server.stdout()).toContain('disconnected\n');
    expect(echo.server.stdout().match(/disconnected/g)).toHaveLength(1);
  });

  it('asks for no piece of an answer whose client left before it was made, and gives it up', async () => {
    const before = echo.server.stdout().length;
    const said = (): string => echo.server.stdout().slice(before);
    const socket = echo.socket(requestOf('/left'));
    await expect.poll(said).toContain('held\n');
    socket.destroy();
    await expect.poll(said).toContain('given up\n');
    expect(said()).not.toContain('piece');
  });

  it.runIf(runtime === 'node')(
    'says when the system has taken an answer, and never of one that was cut off',
    async () => {
      const before = echo.server.stdout().length;
      const said = (): string => echo.server.stdout().slice(before);
      const stuck = echo.socket(requestOf('/watched?count=64000001'));
      stuck.pause();
      for (const end of ['Connection: close\r\n', '']) {
        const socket = echo.socket(`GET /watched?count=1 HTTP/1.1\r\nHost: x\r\n${end}\r\n`);
        await new Promise((resolve) => socket.once('data', resolve));
        socket.destroy();
      }
      await expect.poll(said).toBe('delivered 1\ndelivered 1\n');
      stuck.resetAndDestroy();
      const slow = echo.socket(requestOf('/watched?count=64000000'));
      slow.resume();
      await expect.poll(said, { timeout: 10_000 }).toBe('delivered 1\ndelivered 1\ndelivered 64000000\n');
      slow.destroy();
    },
  );

  it('keeps an answer back for no more than the next of the handlers that run in its turn', async () => {
    const promised = requestOf('/promised');
    const others = await Promise.all(Array.from({ length: 34 }, () => echo.opened(promised)));
    for (const socket of others) if (socket.bytesRead === 0) await once(socket.resume(), 'data');
    const arrivedMs: number[] = [];
    const early = others.splice(0, AT_ONCE_COUNT + 2);
    for (const socket of early) socket.on('data', () => arrivedMs.push(performance.now()));
    // All arrive while it stands still, so that they are handled in one turn.
    echo.server.child.kill('SIGSTOP');
    for (const socket of early) socket.write(promised);
    for (const socket of others) socket.write(requestOf('/spin?ms=10'));
    await pause(30);
    echo.server.child.kill('SIGCONT');
    await expect.poll(() => arrivedMs.length).toBe(early.length);
    expect(arrivedMs.at(-1)! - arrivedMs[0]!).toBeLessThan((10 * others.length) / 2);
    for (const socket of [...early, ...others]) socket.destroy();
  });

  const pieceCount = (): number => echo.server.stdout().match(/^piece /gm)?.length ?? 0;
  const started = (path: string): { readonly socket: Socket; readonly ended: Promise<Buffer> } => {
    const socket = echo.socket(requestOf(path));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
    return { socket, ended: new Promise((resolve) => socket.on('close', () => resolve(Buffer.concat(chunks)))) };
  };

  it('stops asking for pieces while a client does not read, and when it disconnects (reliability 202)', async () => {
    const before = pieceCount();
    const { socket } = started('/pieces/whole');
    socket.pause();
    let asked = -1;
    await expect
      .poll(
        () => {
          const isStill = pieceCount() === asked;
          asked = pieceCount();
          return isStill && asked > before;
        },
        { interval: 400, timeout: 15_000 },
      )
      .toBe(true);
    // What the kernel's buffers of both ends take, and no more.
    expect(asked - before).toBeLessThan(400);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(pieceCount() - asked).toBeLessThanOrEqual(1);
  });

  it('sends all pieces to a client that reads', async () => {
    const { socket, ended } = started('/pieces/whole');
    let bytes = 0;
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > 1_000 * 65_536 && chunk.subarray(-5).toString() === '0\r\n\r\n') socket.destroy();
    });
    expect((await ended).subarray(-7).toString()).toBe('\r\n0\r\n\r\n');
  });

  it.each(['fault', 'cut'])(
    'resets a connection of HTTP/1.0, where its end would be that of the answer: a %s',
    async (end) => {
      const socket = echo.socket(`GET /pieces/${end} HTTP/1.0\r\n\r\n`);
      socket.resume();
      const failure = await new Promise((resolve) => socket.on('error', resolve).on('end', () => resolve('ended')));
      expect(failure).toMatchObject({ code: 'ECONNRESET' });
    },
  );

  it.each(['fault', 'cut'])('closes the connection without an end of the answer: a %s', async (end) => {
    const before = echo.server.stdout().length;
    const received = await started(`/pieces/${end}`).ended;
    expect(received.subarray(0, 15).toString()).toBe('HTTP/1.1 200 OK');
    expect(received.subarray(-7).toString()).not.toContain('0\r\n\r\n');
    const said = echo.server.stdout().slice(before);
    expect(said.match(/^req_1: .*$/gm)).toEqual(end === 'fault' ? ['req_1: the store'] : null);
    expect(await ask('GET / HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n')).toContain('"host":"y"');
    expect(echo.server.stderr()).toBe('');
  });
});

describe.each(RUNTIMES)('the listener of %s at shutdown', (runtime) => {
  /** A connection that has had an answer to `target`, or the beginning of one, and keeps what comes. */
  async function opened(echo: StartedEcho, target: string) {
    const socket = await echo.opened(requestOf(target));
    const client = { socket, received: '', isClosed: false };
    socket.on('data', (data) => {
      client.received += data.toString('latin1');
    });
    socket.on('close', () => {
      client.isClosed = true;
    });
    return client;
  }

  async function stopping(): Promise<StartedEcho> {
    const echo = new StartedEcho();
    await echo.start(runtime, ECHO_PROGRAM, { GRACE_MS: '20000' });
    return echo;
  }

  /** What each of eight open connections gets for a request that it sends when the server has the signal. */
  async function lastAnswers(isStopped: boolean): Promise<string[]> {
    const echo = await stopping();
    const { child, exited, stdout } = echo.server;
    const clients = await Promise.all(Array.from({ length: 8 }, () => opened(echo, '/bytes?count=1')));
    await expect.poll(() => clients.every(({ received }) => received.endsWith('\r\n\r\nx'))).toBe(true);
    const signalledMs = performance.now();
    child.kill('SIGTERM');
    await expect.poll(stdout, { interval: 1 }).toContain('closing\n');
    if (isStopped) child.kill('SIGSTOP');
    for (const [index, client] of clients.entries()) {
      client.received = '';
      client.socket.write(requestOf(index % 2 === 0 ? '/later?name=x' : '/bytes?count=2'));
    }
    const sentMs = performance.now();
    if (isStopped) {
      await pause(2 * LAST_IDLE_MS);
      child.kill('SIGCONT');
    }
    await expect.poll(() => clients.every(({ isClosed }) => isClosed)).toBe(true);
    expect(await exited).toBe(0);
    // On a busy machine the requests may leave later than an idle connection is kept.
    return sentMs - signalledMs < LAST_IDLE_MS ? clients.map(({ received }) => received) : lastAnswers(isStopped);
  }
  const LAST_ANSWER = /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n.*(?:ran |xx)/is;

  it('answers the request that each open connection sends next, as its last (reliability 264)', async () => {
    for (const answer of await lastAnswers(false)) expect(answer).toMatch(LAST_ANSWER);
  });

  it('answers it also when the process had no processor until connections are closed', async () => {
    // Which of its timers and its sockets such a process looks at first is chance.
    const trials = await Promise.all(Array.from({ length: 6 }, () => lastAnswers(true)));
    for (const answer of trials.flat()) expect(answer).toMatch(LAST_ANSWER);
  });

  it('waits until a slow client has its whole answer (reliability 264)', async () => {
    const echo = await stopping();
    const byteCount = 20_000_000;
    const client = await opened(echo, `/bytes?count=${byteCount}`);
    await expect.poll(() => client.received.length).toBeGreaterThan(0);
    client.socket.pause();
    echo.server.child.kill('SIGTERM');
    await pause(300);
    client.socket.resume();
    await expect.poll(() => client.isClosed).toBe(true);
    expect(client.received.split('\r\n\r\n')[1]).toHaveLength(byteCount);
    expect(await echo.server.exited).toBe(0);
  });
});
