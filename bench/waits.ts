/**
 * Long polls over real sockets: what a held one takes in the server's process, and how long after a webhook is sent its
 * waiters have their answers. The server is a process of its own (test/support/callback-server.ts) under the same runtime.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Context, type Figure, figureOf, pause, quantile, sized } from './harness.ts';

interface Served {
  readonly port: number;
  readonly stop: () => void;
  counts(): Promise<Record<string, number>>;
}

async function serve(): Promise<Served> {
  const script = fileURLToPath(new URL('../test/support/callback-server.ts', import.meta.url));
  const child = spawn(process.execPath, ['--expose-gc', script], {
    env: { PATH: process.env.PATH, PAYMENT: 'taken' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => resolve(Number(/:(\d+)\n/.exec(text)?.[1])));
  });
  return {
    port,
    stop: () => child.kill('SIGKILL'),
    counts: async () => (await (await fetch(`http://127.0.0.1:${port}/counts`)).json()) as Record<string, number>,
  };
}

interface Held {
  readonly socket: Socket;
  /** When its answer came. */
  readonly answered: Promise<number>;
}

function hold(port: number, id: string, token: string): Promise<Held> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `GET /v1/callbacks/${id}/wait?timeout=30 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
      resolve({ socket, answered });
    });
    socket.setNoDelay(true);
    const answered = new Promise<number>((answer) => {
      socket.once('data', (data) => {
        ok(data.includes('"received":true'), data.toString());
        answer(performance.now());
      });
    });
    socket.once('error', reject);
  });
}

export async function measure({ size }: Context): Promise<Figure[]> {
  const waitCount = sized(size, 200, 10_000);
  const callbackCount = waitCount / 50;
  const server = await serve();
  try {
    const url = `http://127.0.0.1:${server.port}`;
    const callbacks: { readonly id: string; readonly read_token: string }[] = [];
    for (let i = 0; i < callbackCount; i++) {
      callbacks.push(
        (await (await fetch(`${url}/v1/callbacks`, { method: 'POST' })).json()) as { id: string; read_token: string },
      );
    }
    await server.counts();
    const before = await server.counts();
    const held: Held[][] = callbacks.map(() => []);
    for (let i = 0; i < waitCount; i += 100) {
      const some = Array.from({ length: Math.min(100, waitCount - i) }, async (_, j) => {
        const which = (i + j) % callbackCount;
        const { id, read_token } = callbacks[which]!;
        held[which]!.push(await hold(server.port, id, read_token));
      });
      await Promise.all(some);
    }
    let during = await server.counts();
    for (let tries = 0; during.waits !== waitCount && tries < 50; tries++) {
      await pause(50);
      during = await server.counts();
    }
    deepStrictEqual(during.waits, waitCount);

    const wakeMs: number[] = [];
    for (const [which, { id }] of callbacks.entries()) {
      const startMs = performance.now();
      const posted = fetch(`${url}/hooks/${id}`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: 'x',
      });
      for (const answeredMs of await Promise.all(held[which]!.map(({ answered }) => answered))) {
        wakeMs.push(answeredMs - startMs);
      }
      ok((await posted).ok);
    }
    const after = await server.counts();
    deepStrictEqual([after.waits, wakeMs.length], [0, waitCount]);
    for (const sockets of held) for (const { socket } of sockets) socket.destroy();
    const kibOf = (name: string): number => (during[name]! - before[name]!) / waitCount / 1024;
    const sorted = Float64Array.from(wakeMs).sort();
    return [
      { name: 'resident memory of a wait', value: kibOf('rss'), unit: 'KiB', note: `${waitCount} held` },
      { name: 'heap of a wait', value: kibOf('heapUsed'), unit: 'KiB' },
      figureOf('from webhook to answer, 50 waiters each', 'ms', wakeMs),
      { name: 'the same, p99', value: quantile(sorted, 0.99), unit: 'ms' },
    ];
  } finally {
    server.stop();
  }
}
