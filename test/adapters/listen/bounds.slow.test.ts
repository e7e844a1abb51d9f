/** Bounds of the listeners in real time: idle connections outlive those of proxies, heads and unread output have their time. */
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binaryOf, listeningPort, RUNTIMES, type Started, startProcess } from '../../support/server.ts';

const PROGRAM = fileURLToPath(new URL('echo-server.ts', import.meta.url));
const LIMIT_MS = 200_000;
const requestOf = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(RUNTIMES)('in real time, the listener of %s', (runtime) => {
  let server: Started;
  let port: number;
  beforeAll(async () => {
    server = startProcess(binaryOf(runtime), [PROGRAM]);
    port = await listeningPort(server);
  });
  afterAll(async () => {
    server.child.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });

  const open = (sent: string): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(sent);
        resolve(socket);
      });
      socket.on('error', () => {});
    });

  /** Seconds until the server closes the connection. */
  const closedAfter = (socket: Socket): Promise<number> => {
    const startMs = performance.now();
    socket.resume();
    return new Promise((resolve) => socket.once('close', () => resolve((performance.now() - startMs) / 1000)));
  };

  it.concurrent(
    'answers on a connection that was idle for longer than Caddy keeps one',
    async ({ expect }) => {
      const socket = await open(requestOf('/'));
      let received = '';
      socket.on('data', (data) => {
        received += data.toString('latin1');
      });
      await pause(125_000);
      socket.write(requestOf('/'));
      await expect.poll(() => received.match(/HTTP\/1\.1 200 /g)?.length).toBe(2);
      socket.destroy();
    },
    LIMIT_MS,
  );

  it.concurrent(
    'closes a half-sent head, also one that drips (reliability 169)',
    async ({ expect }) => {
      const [silent, dripping] = [await open('GET / HTTP/1.1\r\nX: '), await open('GET / HTTP/1.1\r\nX: ')];
      const drip = setInterval(() => dripping.write('x'), 3_000);
      const seconds = await Promise.all([closedAfter(silent), closedAfter(dripping)]);
      clearInterval(drip);
      for (const each of seconds) expect(each).toBeLessThan(70);
    },
    LIMIT_MS,
  );

  it.runIf(runtime === 'node').concurrent(
    'closes a connection with more than 1 MiB of unread output after 30 s, and answers the others (reliability 213)',
    async ({ expect }) => {
      const socket = await open(requestOf('/bytes?count=16000000'));
      socket.pause();
      await pause(25_000);
      const metricsOf = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(await metricsOf()).toContain('paygrade_connections_closed_total{reason="unread"} 0');
      await pause(10_000);
      expect(await metricsOf()).toContain('paygrade_connections_closed_total{reason="unread"} 1');
      socket.destroy();
    },
    LIMIT_MS,
  );
});
