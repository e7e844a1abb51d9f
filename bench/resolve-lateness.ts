/**
 * How late the event loop is while 64 resolves of big pages are under way, compared with an idle app: the whole app in
 * this process, paid requests, pages of 2 MiB on the wire from another process, half of them packed (8 MiB unpacked),
 * with every value of `include`. Prints one JSON object.
 *
 *   node bench/resolve-lateness.ts [RESOLVES]
 */
import { equal } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { openedApp } from '../test/support/opened-app.ts';
import { type Created, payWith, resolvePayment } from '../test/support/resolve-client.ts';
import { wallet } from '../test/support/wallet.ts';

const UNDER_WAY = 64;
const HOSTS = 32;
const PAYERS = 4;
const IDLE_MS = 5_000;
/** Between two looks at the clock. */
const TICK_MS = 4;
const MB = 1_048_576;

const paragraph = (number: number): string =>
  `<section><h2>Part ${number}</h2><p>Word ${number} and <a href="/p/${number}">a link</a>, and words without a meaning.</p></section>\n`;

function pageOf(bytes: number): Buffer {
  const parts = ['<!doctype html><html lang="en"><head><title>A long page</title></head><body><main>'];
  for (let number = 0, length = 0; length < bytes - 400; number++) {
    const part = paragraph(number);
    parts.push(part);
    length += part.length;
  }
  return Buffer.from(`${parts.join('')}</main></body></html>`);
}

function serve(): void {
  const plain = pageOf(2 * MB);
  const packed = gzipSync(pageOf(7.9 * MB));
  const server = createServer((request, response) => {
    const isPacked = request.url === '/packed';
    const headers = { 'content-type': 'text/html; charset=utf-8', ...(isPacked ? { 'content-encoding': 'gzip' } : {}) };
    response.writeHead(200, headers).end(isPacked ? packed : plain);
  });
  server.listen(0, '0.0.0.0', () => process.send?.(server.address()));
}

/** Lateness of the loop, sampled every 4 ms, including samples missed while it was blocked. */
class Lateness {
  readonly #lateMs: number[] = [];
  #isOver = false;

  constructor() {
    const look = (dueMs: number): void => {
      const lateMs = performance.now() - dueMs;
      for (let ms = lateMs; ms >= 0; ms -= TICK_MS) this.#lateMs.push(ms);
      if (!this.#isOver) setTimeout(look, TICK_MS, performance.now() + TICK_MS);
    };
    look(performance.now());
  }

  end(): { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number } {
    this.#isOver = true;
    const sorted = this.#lateMs.sort((one, other) => one - other);
    const at = (share: number): number => Number((sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1));
    return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }
}

async function run(count: number): Promise<void> {
  const server = fork(process.argv[1] as string, ['server']);
  const { port } = await new Promise<{ port: number }>((resolve) => {
    server.once('message', (address) => resolve(address as { port: number }));
  });
  // Signatures are verified in threads, as in a server.
  const app = await openedApp({ SNAPSHOT: 'none', TARGET_ALLOW: `127.0.0.0/8:${port}` }, { recoveryWorker: undefined });
  const accounts = Array.from({ length: PAYERS }, () => wallet());
  const order = (number: number) => ({
    url: `http://127.2.0.${1 + (number % HOSTS)}:${port}/${number % 2 === 0 ? 'plain' : 'packed'}`,
    include: ['metadata', 'text', 'links'],
    max_wait_seconds: 20,
  });
  /** Resolves not read within the wait or within the time of an extraction. */
  let unread = 0;
  const resolve = async (number: number, payment: Awaited<ReturnType<typeof resolvePayment>>): Promise<number> => {
    const answer = await payWith(app, payment, order(number));
    const { result } = (await answer.json()) as Created;
    const text = result?.text ?? null;
    if (text !== null) equal(text.length, 100_000);
    else unread++;
    return answer.status;
  };
  const payments = await Promise.all(
    Array.from({ length: count }, (_, number) => resolvePayment(app, accounts[number % PAYERS])),
  );
  // Warms up what is compiled and opened at first use.
  for (const number of [0, 1]) await resolve(number, payments[number] as (typeof payments)[number]);
  const idle = new Lateness();
  await new Promise((done) => setTimeout(done, IDLE_MS));
  const idleSeen = idle.end();
  let next = 2;
  const statuses: number[] = [];
  const busy = new Lateness();
  const startMs = performance.now();
  const lane = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      statuses.push(await resolve(number, payments[number] as (typeof payments)[number]));
    }
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, lane));
  const seconds = (performance.now() - startMs) / 1000;
  const busySeen = busy.end();
  const answered = (status: number): number => statuses.filter((one) => one === status).length;
  const beyondIdleMs = Number((busySeen.p99Ms - idleSeen.p99Ms).toFixed(1));
  const rates = {
    resolved: answered(200),
    pending: answered(202),
    unread,
    perSecond: Number((statuses.length / seconds).toFixed(1)),
  };
  process.stdout.write(`${JSON.stringify({ idle: idleSeen, busy: busySeen, beyondIdleMs, ...rates })}\n`);
  server.kill();
  await app.close();
  process.exit(0);
}

if (process.argv[2] === 'server') serve();
else await run(Number(process.argv[2] ?? 320));
