/**
 * How a flood of forged payments affects other clients of a real server, which runs in a separate process:
 *
 *   node bench/flood.ts [--rate 2000] [--sources 1] [--seconds 4] [--rounds 4] [--workers 1] [--signatures auto]
 *                       [--settle 20] [--server src/main.ts] [--unpaid] [--json]
 *
 * `bun bench/flood.ts` runs server and load under Bun. Quiet and flooded spans alternate. In each the bench sends the same
 * probes at fixed rates, independent of the answers: `/health`, webhooks into paid callbacks (durable state on disk), and honest
 * payments, each from another client address. The flood's payments are well formed, with fresh nonces and signatures of real
 * points, so that each costs a whole recovery; `--sources N` spreads them over N client addresses. Latency counts from sending.
 * `--unpaid` sends requests without a payment at the same rate instead: what so many more requests cost by themselves, in the
 * server, the generator and the kernel. Before it times anything, the bench checks that a forged payment gets 402 and an honest one 200.
 *
 * The load comes from threads of this process, so on two cores it takes CPU from the server.
 */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { BASE } from '../src/payment/protocol/network.ts';
import { digestOf, structOf } from '../src/payment/protocol/typed-data.ts';
import { setup as bundleServer } from '../test/support/bundled-setup.ts';
import { MAIN, startServer } from '../test/support/server.ts';
import { RUNTIME } from './harness.ts';

// ---- a small HTTP client: requests as text over kept connections, answers by their length -------------------------------

interface Answered {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
}

const HEAD_END = '\r\n\r\n';

/** Opens connections on demand; each has one request under way. */
class Client {
  readonly #port: number;
  readonly #idle: Socket[] = [];
  readonly #all = new Set<Socket>();
  readonly #onAnswer = new Map<Socket, (status: number, body: string) => void>();
  connectionCount = 0;

  constructor(port: number) {
    this.#port = port;
  }

  send(request: string, done: (answered: Answered) => void): void {
    const socket = this.#idle.pop() ?? this.#open();
    const startMs = performance.now();
    this.#onAnswer.set(socket, (status, body) => {
      this.#idle.push(socket);
      done({ status, body, ms: performance.now() - startMs });
    });
    socket.write(request);
  }

  get underWayCount(): number {
    return this.#onAnswer.size;
  }

  /** Drops the requests under way without calling their listeners. */
  close(): void {
    this.#onAnswer.clear();
    for (const socket of this.#all) socket.destroy();
  }

  #open(): Socket {
    const socket = connect(this.#port, '127.0.0.1');
    this.connectionCount++;
    this.#all.add(socket);
    socket.setNoDelay(true);
    let received = '';
    let bodyFrom = -1;
    let end = 0;
    const answer = (status: number, body: string): void => {
      const onAnswer = this.#onAnswer.get(socket);
      this.#onAnswer.delete(socket);
      onAnswer?.(status, body);
    };
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      received += String(data);
      if (bodyFrom < 0) {
        const headEnd = received.indexOf(HEAD_END);
        if (headEnd < 0) return;
        bodyFrom = headEnd + HEAD_END.length;
        const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, headEnd));
        if (length === null) throw new Error(`an answer without a length: ${received.slice(0, headEnd)}`);
        end = bodyFrom + Number(length[1]);
      }
      if (received.length < end) return;
      const status = Number(received.slice(9, 12));
      const body = received.slice(bodyFrom, end);
      received = '';
      bodyFrom = -1;
      answer(status, body);
    });
    const lost = (): void => {
      this.#all.delete(socket);
      const at = this.#idle.indexOf(socket);
      if (at >= 0) this.#idle.splice(at, 1);
      answer(0, '');
    };
    socket.on('error', () => {});
    socket.on('close', lost);
    return socket;
  }
}

function requestText(method: string, path: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === 'GET' ? '' : `content-length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: bench\r\n${lines.join('')}${length}\r\n${body}`;
}

// ---- payments -----------------------------------------------------------------------------------------------------------

interface Offer {
  readonly resource: unknown;
  readonly accepts: readonly { readonly amount: string; readonly payTo: string }[];
}

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

const SECRET = new Uint8Array(32).fill(9);
const PAYER = hex(keccak_256(secp256k1.getPublicKey(SECRET, false).subarray(1)).subarray(12));

function authorizationOf(
  offer: Offer,
): Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string> {
  const [accepted] = offer.accepts;
  return {
    from: PAYER,
    to: accepted!.payTo,
    value: accepted!.amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + 120),
    nonce: hex(randomBytes(32)),
  };
}

const header = (offer: Offer, authorization: object, signature: string): string =>
  Buffer.from(
    JSON.stringify({
      x402Version: 2,
      payload: { signature, authorization },
      resource: offer.resource,
      accepted: offer.accepts[0],
    }),
  ).toString('base64');

function signatureOf(authorization: ReturnType<typeof authorizationOf>): string {
  const struct = structOf(
    {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: 0n,
      validBefore: BigInt(authorization.validBefore),
    },
    BASE,
  );
  const signed = secp256k1.sign(digestOf(struct), SECRET, { prehash: false, format: 'recovered' });
  return hex(new Uint8Array([...signed.subarray(1), 27 + signed[0]!]));
}

function honest(offer: Offer): string {
  const authorization = authorizationOf(offer);
  return header(offer, authorization, signatureOf(authorization));
}

/** A real signature under another nonce: looks valid until its key is recovered. */
function forger(offer: Offer): () => string {
  const signatures = Array.from({ length: 32 }, () => signatureOf(authorizationOf(offer)));
  let count = 0;
  return () => header(offer, authorizationOf(offer), signatures[count++ % signatures.length] as string);
}

// ---- the flood, on a worker thread -------------------------------------------------------------------------------------

const JOB = '/v1/jobs/search?keyword=engineer&limit=1';

interface FloodData {
  readonly port: number;
  readonly rate: number;
  readonly sourceCount: number;
  readonly offer: Offer;
  readonly isUnpaid: boolean;
}

function runFlood({ port, rate, sourceCount, offer, isUnpaid }: FloodData): void {
  const client = new Client(port);
  const forge = forger(offer);
  const statuses: Record<string, number> = {};
  const durations: number[] = [];
  let isOn = false;
  let sent = 0;
  let startMs = 0;
  const send = (): void => {
    const source = `10.${(sent >> 16) & 255}.${((sent % sourceCount) >> 8) & 255}.${(sent % sourceCount) & 255}`;
    const address = sourceCount === 1 ? '10.0.0.1' : source.replace(/^10\.\d+/, '10.1');
    sent++;
    const payment = isUnpaid ? {} : { 'payment-signature': forge() };
    client.send(requestText('GET', JOB, { ...payment, 'x-forwarded-for': address }), (answered) => {
      statuses[answered.status] = (statuses[answered.status] ?? 0) + 1;
      durations.push(answered.ms);
    });
  };
  const tick = (): void => {
    if (!isOn) return;
    const due = Math.min(sent + 50, Math.floor(((performance.now() - startMs) * rate) / 1000));
    while (sent < due) send();
    setTimeout(tick, 1);
  };
  parentPort?.on('message', (order: 'on' | 'off' | 'end') => {
    if (order === 'on') {
      isOn = true;
      sent = 0;
      startMs = performance.now();
      tick();
      return;
    }
    isOn = false;
    parentPort?.postMessage({ sent, seconds: (performance.now() - startMs) / 1000, statuses, durations });
    if (order === 'end') {
      client.close();
      parentPort?.close();
    }
  });
  parentPort?.postMessage('ready');
}

// ---- the measurement ----------------------------------------------------------------------------------------------------

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
const median = (values: readonly number[]): number => percentile(values, 0.5);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** User and system time of a process in ms (Linux). */
function cpuMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

interface Span {
  health: number[];
  webhook: number[];
  paid: number[];
  paidSent: number;
  paidStatuses: Record<string, number>;
  webhookFailedCount: number;
  cpuShare: number;
  /** How late the probes were sent, p99 of the gap between intended and real sending. */
  lateMs: number[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rate: { type: 'string', default: '2000' },
      sources: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '4' },
      workers: { type: 'string' },
      signatures: { type: 'string' },
      settle: { type: 'string', default: '20' },
      server: { type: 'string', default: MAIN },
      unpaid: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.seconds);
  const rounds = Number(values.rounds);
  const rate = Number(values.rate);
  const paidRate = Number(values.settle);
  const HEALTH_RATE = 400;
  const WEBHOOK_RATE = 100;
  const EVENTS_MAX = 10;

  if (values.server === MAIN) await bundleServer();
  const server = await startServer(
    { binary: process.execPath, entry: resolve(values.server) },
    {
      TRUST_PROXY: 'true',
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      LOCAL_BALANCE: '1000000000000',
      LOG_LEVEL: 'error',
      ...(values.workers === undefined ? {} : { WORKERS: values.workers }),
      ...(values.signatures === undefined ? {} : { SIGNATURES: values.signatures }),
    },
  );
  const { port } = server;
  const pid = server.child.pid as number;

  const offerOf = async (path: string, method: string): Promise<Offer> => {
    const response = await fetch(server.url + path, { method });
    await response.arrayBuffer();
    return JSON.parse(Buffer.from(response.headers.get('payment-required') ?? '', 'base64').toString());
  };
  const searchOffer = await offerOf(JOB, 'GET');
  const callbackOffer = await offerOf('/v1/callbacks', 'POST');

  const client = new Client(port);
  const ask = (request: string): Promise<Answered> => new Promise((resolve) => client.send(request, resolve));
  const paidRequest = (path: string, method: string, payment: string, from: number): string =>
    requestText(method, path, { 'payment-signature': payment, 'x-forwarded-for': `192.0.2.${from % 250}` });

  // Check the answers before timing them.
  const forged = await ask(paidRequest(JOB, 'GET', forger(searchOffer)(), 251));
  if (forged.status !== 402) throw new Error(`a forged payment got ${forged.status}`);
  const bought = await ask(paidRequest(JOB, 'GET', honest(searchOffer), 252));
  if (bought.status !== 200) throw new Error(`an honest payment got ${bought.status}: ${bought.body}`);

  const spanCount = 2 * rounds + 2;
  const webhookCount = Math.ceil(WEBHOOK_RATE * (seconds + 1) * spanCount);
  const hooks: string[] = [];
  while (hooks.length * EVENTS_MAX < webhookCount) {
    const made = await ask(paidRequest('/v1/callbacks', 'POST', honest(callbackOffer), hooks.length));
    if (made.status !== 201) throw new Error(`the creation of a callback got ${made.status}: ${made.body}`);
    hooks.push(new URL((JSON.parse(made.body) as { callback_url: string }).callback_url).pathname);
  }
  let webhooksSent = 0;
  const nextWebhook = (): string => {
    const path = hooks[Math.floor(webhooksSent++ / EVENTS_MAX)] as string;
    return requestText('POST', path, { 'content-type': 'application/json' }, '{"order":4711,"state":"paid"}');
  };

  const flood = new Worker(new URL(import.meta.url), {
    workerData: {
      port,
      rate,
      sourceCount: Number(values.sources),
      offer: searchOffer,
      isUnpaid: values.unpaid,
    } satisfies FloodData,
  });
  const fromFlood = <T>(): Promise<T> => new Promise((resolve) => flood.once('message', resolve));
  await fromFlood();

  /** One span of probes; honest payments are signed just before it. */
  const span = async (): Promise<Span> => {
    const payments = Array.from({ length: Math.ceil(paidRate * seconds) }, () => honest(searchOffer));
    const one: Span = {
      health: [],
      webhook: [],
      paid: [],
      paidSent: 0,
      paidStatuses: {},
      webhookFailedCount: 0,
      cpuShare: 0,
      lateMs: [],
    };
    const startMs = performance.now();
    const startCpuMs = cpuMs(pid);
    const plans = [
      {
        everyMs: 1000 / HEALTH_RATE,
        send: () => client.send(requestText('GET', '/health'), ({ ms }) => one.health.push(ms)),
      },
      {
        everyMs: 1000 / WEBHOOK_RATE,
        send: () =>
          client.send(nextWebhook(), ({ ms, status }) => {
            if (status === 200) one.webhook.push(ms);
            else one.webhookFailedCount++;
          }),
      },
      {
        everyMs: paidRate === 0 ? Number.POSITIVE_INFINITY : 1000 / paidRate,
        send: () => {
          const payment = payments.pop();
          if (payment === undefined) return;
          one.paidSent++;
          client.send(paidRequest(JOB, 'GET', payment, one.paidSent), ({ ms, status }) => {
            one.paidStatuses[status] = (one.paidStatuses[status] ?? 0) + 1;
            if (status === 200) one.paid.push(ms);
          });
        },
      },
    ].map((plan, i) => ({ ...plan, dueMs: startMs + i * 0.7 }));
    for (;;) {
      const nowMs = performance.now();
      if (nowMs - startMs > seconds * 1000) break;
      for (const plan of plans) {
        for (; plan.dueMs <= nowMs; plan.dueMs += plan.everyMs) {
          one.lateMs.push(nowMs - plan.dueMs);
          plan.send();
        }
      }
      await pause(1);
    }
    one.cpuShare = (cpuMs(pid) - startCpuMs) / (performance.now() - startMs);
    for (let waited = 0; client.underWayCount > 0 && waited < 5000; waited += 50) await pause(50);
    return one;
  };

  const quiet: Span[] = [];
  const flooded: Span[] = [];
  let sent = 0;
  let floodSeconds = 0;
  let statuses: Record<string, number> = {};
  await span(); // warm, and once with the flood
  flood.postMessage('on');
  await span();
  const warmed = fromFlood();
  flood.postMessage('off');
  await warmed;
  for (let round = 0; round < rounds; round++) {
    quiet.push(await span());
    flood.postMessage('on');
    await pause(300);
    flooded.push(await span());
    const counts = fromFlood<{ sent: number; seconds: number; statuses: Record<string, number> }>();
    flood.postMessage('off');
    const report = await counts;
    sent += report.sent;
    floodSeconds += report.seconds;
    statuses = report.statuses;
    await pause(1200);
  }
  const last = fromFlood<{ statuses: Record<string, number>; durations: number[] }>();
  flood.postMessage('end');
  const { statuses: allStatuses, durations } = await last;
  statuses = allStatuses;
  client.close();
  await server.stop();

  const row = (name: 'health' | 'webhook' | 'paid') => {
    const of = (spans: readonly Span[], share: number) => median(spans.map((one) => percentile(one[name], share)));
    const [q50, q99, f50, f99] = [of(quiet, 0.5), of(quiet, 0.99), of(flooded, 0.5), of(flooded, 0.99)];
    const each = (spans: readonly Span[]) => spans.map((one) => Number(percentile(one[name], 0.99).toFixed(2)));
    const rounds = { quiet: each(quiet), flood: each(flooded) };
    return {
      name,
      p99MsByRound: rounds,
      quietP50Ms: q50,
      quietP99Ms: q99,
      floodP50Ms: f50,
      floodP99Ms: f99,
      ratioP99: f99 / q99,
    };
  };
  const sum = (spans: readonly Span[]): Record<string, number> => {
    const all: Record<string, number> = {};
    for (const { paidStatuses } of spans)
      for (const [status, count] of Object.entries(paidStatuses)) all[status] = (all[status] ?? 0) + count;
    return all;
  };
  const result = {
    runtime: RUNTIME,
    workers: values.workers ?? 'default',
    signatures: values.signatures ?? 'default',
    flood: {
      askedPerSecond: rate,
      sentPerSecond: Math.round(sent / floodSeconds),
      sources: Number(values.sources),
      statuses,
      p50Ms: percentile(durations, 0.5),
      p99Ms: percentile(durations, 0.99),
    },
    rows: [row('health'), row('webhook'), row('paid')],
    honest: { quiet: sum(quiet), flooded: sum(flooded) },
    webhooksFailed: [...quiet, ...flooded].reduce((all, one) => all + one.webhookFailedCount, 0),
    serverCpuShare: {
      quiet: median(quiet.map((one) => one.cpuShare)),
      flooded: median(flooded.map((one) => one.cpuShare)),
    },
    probeLateP99Ms: {
      quiet: median(quiet.map((one) => percentile(one.lateMs, 0.99))),
      flooded: median(flooded.map((one) => percentile(one.lateMs, 0.99))),
    },
  };
  if (values.json) {
    console.log(JSON.stringify(result));
    return;
  }
  const ms = (value: number): string => value.toFixed(2).padStart(8);
  console.log(
    `${result.runtime}, workers ${result.workers}, signatures ${result.signatures}, ${rounds} x ${seconds} s each`,
  );
  console.log(
    `flood${values.unpaid ? ' of unpaid requests' : ''}: ${result.flood.sentPerSecond}/s from ${values.sources} addresses, answered ${JSON.stringify(statuses)},`,
  );
  console.log(`       p50 ${result.flood.p50Ms.toFixed(2)} ms, p99 ${result.flood.p99Ms.toFixed(2)} ms`);
  console.log('ms         quiet p50      p99   flood p50      p99   p99 ratio');
  for (const one of result.rows) {
    const cells = [one.quietP50Ms, one.quietP99Ms, one.floodP50Ms, one.floodP99Ms].map(ms);
    console.log(
      `${one.name.padEnd(10)} ${cells[0]} ${cells[1]}    ${cells[2]} ${cells[3]}   ${one.ratioP99.toFixed(2).padStart(9)}`,
    );
  }
  console.log(
    `honest payments: quiet ${JSON.stringify(result.honest.quiet)}, flood ${JSON.stringify(result.honest.flooded)}`,
  );
  if (result.webhooksFailed > 0) console.log(`webhooks that failed: ${result.webhooksFailed}`);
  const cpu = result.serverCpuShare;
  console.log(`server CPU: quiet ${cpu.quiet.toFixed(2)} cores, flood ${cpu.flooded.toFixed(2)} cores`);
  const late = result.probeLateP99Ms;
  console.log(`probes sent late, p99: quiet ${late.quiet.toFixed(2)} ms, flood ${late.flooded.toFixed(2)} ms`);
}

if (isMainThread) await main();
else runFlood(workerData as FloodData);
