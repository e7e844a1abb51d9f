/**
 * What a parked request takes in the server's resident memory, and how long it takes to be woken: the callbacks of this
 * project beside a bare server that holds responses and answers them all when it is posted to. Each in a process of its own,
 * WAIT_COUNT connections, waiters in groups of 50 that one post wakes.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { isBun, pause, quantile } from '../harness.ts';

const WAIT_COUNT = 10_000;
const GROUP = 50;
const BODY = JSON.stringify({ data: { received: true, event: { id: 'evt_0', body: 'x' } } });

export interface WaitOptions {
  readonly program: string;
  readonly runtime: string;
  readonly rounds: number;
}

interface Target {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => void;
}

async function start(program: string, script: string, words: readonly string[]): Promise<Target> {
  const child = spawn(program, ['--expose-gc', script, ...words], {
    env: { PATH: process.env.PATH, PAYMENT: 'taken' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => resolve(Number(/:(\d+)\n/.exec(text)?.[1])));
  });
  // The program may be a wrapper; what holds the port is what listens.
  return { port, pid: child.pid!, stop: () => child.kill('SIGKILL') };
}

function rssKibOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

interface Held {
  readonly socket: Socket;
  readonly answered: Promise<number>;
}

function hold(port: number, path: string, token: string): Promise<Held> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      resolve({ socket, answered });
    });
    socket.setNoDelay(true);
    socket.once('error', reject);
    const answered = new Promise<number>((answer) => {
      socket.once('data', (data) => {
        if (!data.includes('"received":true')) throw new Error(data.toString());
        answer(performance.now());
      });
    });
  });
}

interface Group {
  readonly waitPath: string;
  readonly postPath: string;
  readonly token: string;
}

async function groupsOf(kind: string, port: number, count: number): Promise<Group[]> {
  const groups: Group[] = [];
  for (let i = 0; i < count; i++) {
    if (kind === 'bare') {
      groups.push({ waitPath: `/wait/${i}`, postPath: `/post/${i}`, token: 'x' });
      continue;
    }
    const made = await fetch(`http://127.0.0.1:${port}/v1/callbacks`, { method: 'POST' });
    const { id, read_token: token } = (await made.json()) as { id: string; read_token: string };
    groups.push({ waitPath: `/v1/callbacks/${id}/wait?timeout=30`, postPath: `/hooks/${id}`, token });
  }
  return groups;
}

async function measured(kind: string, target: Target): Promise<{ kib: number; p50Ms: number; p99Ms: number }> {
  const { port, pid } = target;
  const groups = await groupsOf(kind, port, WAIT_COUNT / GROUP);
  await pause(200);
  const before = rssKibOf(pid);
  const held: Held[][] = groups.map(() => []);
  for (let i = 0; i < WAIT_COUNT; i += 100) {
    await Promise.all(
      Array.from({ length: 100 }, async (_, j) => {
        const which = (i + j) % groups.length;
        const { token, waitPath } = groups[which]!;
        held[which]!.push(await hold(port, waitPath, token));
      }),
    );
  }
  await pause(500);
  const kib = (rssKibOf(pid) - before) / WAIT_COUNT;
  const wakeMs: number[] = [];
  for (const [which, { postPath }] of groups.entries()) {
    const startMs = performance.now();
    const posted = fetch(`http://127.0.0.1:${port}${postPath}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    for (const at of await Promise.all(held[which]!.map(({ answered }) => answered))) wakeMs.push(at - startMs);
    await (await posted).arrayBuffer();
  }
  for (const group of held) for (const { socket } of group) socket.destroy();
  const sorted = Float64Array.from(wakeMs).sort();
  return { kib, p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

export async function measureWaits({ program, runtime, rounds }: WaitOptions): Promise<unknown> {
  const own = fileURLToPath(new URL('../../test/support/callback-server.ts', import.meta.url));
  const results: Record<string, { kib: number; p50Ms: number; p99Ms: number }[]> = { paygrade: [], bare: [] };
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    for (const kind of ['paygrade', 'bare']) {
      const target =
        kind === 'bare'
          ? await start(program, fileURLToPath(import.meta.url), ['--serve'])
          : await start(program, own, []);
      try {
        results[kind]!.push(await measured(kind, target));
      } finally {
        target.stop();
      }
    }
  }
  const figures: Record<string, unknown> = {};
  console.log(`${runtime}: ${WAIT_COUNT} parked requests, ours and a bare server's`);
  for (const name of ['kib', 'p50Ms', 'p99Ms'] as const) {
    const median = (kind: string): number =>
      quantile(Float64Array.from(results[kind]!, (each) => each[name]).sort(), 0.5);
    const [ours, bare] = [median('paygrade'), median('bare')];
    figures[name] = { paygrade: ours, bare, ratio: ours / bare };
    console.log(
      `  ${name.padEnd(8)} ${ours.toFixed(2)}, ${bare.toFixed(2)}, x ${(ours / bare).toFixed(2)} of the bare`,
    );
  }
  return figures;
}

type Answer = () => void;

/** Holds a GET until a POST of the same number comes. */
async function serveBare(): Promise<number> {
  const parked = new Map<string, Answer[]>();
  const wake = (number: string): void => {
    for (const answer of parked.get(number) ?? []) answer();
    parked.delete(number);
  };
  const park = (number: string, answer: Answer): void => {
    const those = parked.get(number);
    if (those === undefined) parked.set(number, [answer]);
    else those.push(answer);
  };
  const headers = { 'content-type': 'application/json' };
  if (isBun) {
    const { Bun } = globalThis as unknown as {
      Bun: {
        serve(options: {
          hostname: string;
          port: number;
          idleTimeout: number;
          fetch(request: Request): Response | Promise<Response>;
        }): { readonly port: number };
      };
    };
    return Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 60,
      fetch(request) {
        const number = request.url.slice(request.url.lastIndexOf('/') + 1);
        if (request.method === 'GET') {
          return new Promise((resolve) => park(number, () => resolve(new Response(BODY, { headers }))));
        }
        wake(number);
        return new Response(BODY, { headers });
      },
    }).port;
  }
  const end = (outgoing: ServerResponse): void => {
    outgoing.writeHead(200, headers).end(BODY);
  };
  const server = createServer((incoming, outgoing) => {
    const number = incoming.url!.slice(incoming.url!.lastIndexOf('/') + 1);
    if (incoming.method === 'GET') {
      park(number, () => end(outgoing));
      return;
    }
    wake(number);
    end(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

if (process.argv[2] === '--serve') console.log(`listening on http://127.0.0.1:${await serveBare()}`);
