/**
 * How a flood of forged payments affects other clients of a real server, which runs in a separate process:
 *
 *   node bench/flood.ts [--rate 2000] [--sources 1] [--seconds 2] [--rounds 5] [--workers 1] [--signatures auto]
 *                       [--settle 20] [--server src/main.ts] [--json]
 *
 * `bun bench/flood.ts` runs server and load under Bun. Three kinds of spans take turns: quiet, under a flood of forged payments,
 * and under as many requests without a payment, which shows what that many requests cost alone in the server, the generator
 * and the kernel. In each the bench sends the same probes at fixed rates, independent of the answers: `/health`,
 * webhooks into paid callbacks (durable state on disk), and honest payments, each from another client address. Forged payments
 * are well formed, with fresh nonces and signatures of real points, so that each costs a whole recovery; `--sources N` spreads
 * a flood over N client addresses. Latency counts from sending. Before it times anything, the bench checks that a forged
 * payment gets 402 and an honest one 200.
 *
 * The load comes from threads of this process, so on two cores it takes CPU time from the server: the times of both are
 * printed. All requests of a flood are prepared before its span.
 */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { systemClock } from '../src/base/clock.ts';
import { systemRandom } from '../src/base/random.ts';
import { Pool } from '../src/load/pool.ts';
import { type LoadOffer, parseOffer, Signer } from '../src/load/signing.ts';
import { parseTarget } from '../src/load/target.ts';
import { MAIN, startServer } from '../test/support/server.ts';
import { cpuMicros, median, pause, RUNTIME, shareOf } from './harness.ts';
import { cpuMicrosOf } from './server-process.ts';

// ---- requests -----------------------------------------------------------------------------------------------------------

interface Answered {
  /** 0: no answer came. */
  readonly status: number;
  readonly body: string;
  readonly ms: number;
}

/** Connections are opened on demand; each has one request under way. */
class Client {
  readonly #pool: Pool;
  underWayCount = 0;

  constructor(port: number) {
    const endpoint = { target: parseTarget(`http://127.0.0.1:${port}`), address: '127.0.0.1' };
    this.#pool = new Pool({ endpoint, clock: systemClock, connectionCountMax: Infinity, timeoutMs: Infinity });
  }

  send(request: string, done: (answered: Answered) => void): void {
    const startMs = performance.now();
    this.underWayCount++;
    this.#pool.send(request, (reply) => {
      this.underWayCount--;
      const ms = performance.now() - startMs;
      if (reply.kind === 'answer') done({ status: reply.status, body: reply.body.toString(), ms });
      else done({ status: 0, body: '', ms });
    });
  }

  close(): void {
    this.#pool.close();
  }
}

function requestText(method: string, path: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === 'GET' ? '' : `content-length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: bench\r\n${lines.join('')}${length}\r\n${body}`;
}

// ---- payments -----------------------------------------------------------------------------------------------------------

const honest = (signer: Signer, offer: LoadOffer): string => signer.sign(offer, Date.now()).header;

/** A real signature under another nonce: looks valid until its key is recovered. */
function forger(signer: Signer, offer: LoadOffer): () => string {
  const payments = Array.from({ length: 32 }, () =>
    JSON.parse(Buffer.from(honest(signer, offer), 'base64').toString()),
  );
  let count = 0;
  return () => {
    const { payload, ...rest } = payments[count++ % payments.length];
    const authorization = {
      ...payload.authorization,
      validBefore: String(Math.floor(Date.now() / 1000) + 120),
      nonce: `0x${randomBytes(32).toString('hex')}`,
    };
    return Buffer.from(JSON.stringify({ ...rest, payload: { ...payload, authorization } })).toString('base64');
  };
}

// ---- the flood, on a worker thread -------------------------------------------------------------------------------------

const JOB = '/v1/jobs/search?keyword=engineer&limit=1';

const SPANS = ['quiet', 'unpaid', 'forged'] as const;
type SpanKind = (typeof SPANS)[number];
type FloodKind = Exclude<SpanKind, 'quiet'>;

interface FloodData {
  readonly port: number;
  readonly rate: number;
  readonly sourceCount: number;
  readonly offer: LoadOffer;
}

/** The flood receives a kind, prepares `count` requests, replies, and is then switched on and off. */
type FloodOrder = { readonly kind: FloodKind; readonly count: number } | 'on' | 'off' | 'end';

interface FloodReport {
  readonly sent: number;
  readonly seconds: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly durations: readonly number[];
}

function runFlood({ port, rate, sourceCount, offer }: FloodData): void {
  const client = new Client(port);
  const forge = forger(new Signer(systemRandom), offer);
  let requests: string[] = [];
  let statuses: Record<string, number> = {};
  let durations: number[] = [];
  let isOn = false;
  let sent = 0;
  let startMs = 0;
  const requestOf = (kind: FloodKind, i: number): string => {
    const source = i % sourceCount;
    const payment = kind === 'unpaid' ? {} : { 'payment-signature': forge() };
    return requestText('GET', JOB, { ...payment, 'x-forwarded-for': `10.1.${source >> 8}.${source & 255}` });
  };
  const send = (): void => {
    const request = requests[sent++];
    if (request === undefined) throw new Error('the flood has no more requests');
    client.send(request, (answered) => {
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
  parentPort?.on('message', (order: FloodOrder) => {
    if (typeof order === 'object') {
      requests = Array.from({ length: order.count }, (_, i) => requestOf(order.kind, i));
      statuses = {};
      durations = [];
      sent = 0;
      parentPort?.postMessage('ready');
    } else if (order === 'on') {
      isOn = true;
      startMs = performance.now();
      tick();
    } else if (order === 'off') {
      isOn = false;
      const seconds = (performance.now() - startMs) / 1000;
      parentPort?.postMessage({ sent, seconds, statuses, durations } satisfies FloodReport);
    } else {
      client.close();
      parentPort?.close();
    }
  });
}

// ---- the measurement ----------------------------------------------------------------------------------------------------

const HEALTH_RATE = 400;
const WEBHOOK_RATE = 100;
const EVENTS_MAX = 10;
/** The flood runs this long before its span begins and, at most, after it has ended. */
const AROUND_SECONDS = 2;

/** Of a process, or of one of its threads; NaN where the system does not tell. */
function cpuMs(pid: number, thread?: number): number {
  try {
    return cpuMicrosOf(pid, thread) / 1000;
  } catch {
    return Number.NaN;
  }
}

const PROBES = ['health', 'webhook', 'paid'] as const;

interface Span {
  readonly health: number[];
  readonly webhook: number[];
  readonly paid: number[];
  /** Answers to honest payments, by status. */
  readonly paidStatuses: Record<string, number>;
  webhookFailedCount: number;
  /** Processor time over time: the whole server, its main thread, the generator. */
  cores: { readonly server: number; readonly main: number; readonly generator: number };
  /** How late the probes were sent: the gap between intended and real sending. */
  readonly lateMs: number[];
}

interface Probed {
  readonly client: Client;
  readonly pid: number;
  readonly seconds: number;
  readonly nextWebhook: () => string;
  /** Requests with an honest payment each. */
  readonly payments: string[];
}

/** One span of probes. */
async function span({ client, pid, seconds, nextWebhook, payments }: Probed): Promise<Span> {
  const one: Span = {
    health: [],
    webhook: [],
    paid: [],
    paidStatuses: {},
    webhookFailedCount: 0,
    cores: { server: 0, main: 0, generator: 0 },
    lateMs: [],
  };
  const paymentRate = payments.length / seconds;
  const sendHealth = (): void => client.send(requestText('GET', '/health'), ({ ms }) => one.health.push(ms));
  const sendWebhook = (): void =>
    client.send(nextWebhook(), ({ ms, status }) => {
      if (status === 200) one.webhook.push(ms);
      else one.webhookFailedCount++;
    });
  const sendPayment = (): void => {
    const payment = payments.pop();
    if (payment === undefined) return;
    client.send(payment, ({ ms, status }) => {
      one.paidStatuses[status] = (one.paidStatuses[status] ?? 0) + 1;
      if (status === 200) one.paid.push(ms);
    });
  };
  const startMs = performance.now();
  const startCpu = [cpuMs(pid), cpuMs(pid, pid), cpuMicros() / 1000] as const;
  const plans = [
    { everyMs: 1000 / HEALTH_RATE, send: sendHealth },
    { everyMs: 1000 / WEBHOOK_RATE, send: sendWebhook },
    { everyMs: 1000 / paymentRate, send: sendPayment },
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
  const spentMs = performance.now() - startMs;
  one.cores = {
    server: (cpuMs(pid) - startCpu[0]) / spentMs,
    main: (cpuMs(pid, pid) - startCpu[1]) / spentMs,
    generator: (cpuMicros() / 1000 - startCpu[2]) / spentMs,
  };
  for (let waited = 0; client.underWayCount > 0 && waited < 5000; waited += 50) await pause(50);
  return one;
}

const countsOf = (all: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const statuses of all)
    for (const [status, count] of Object.entries(statuses)) sums[status] = (sums[status] ?? 0) + count;
  return sums;
};

type BySpan<Value> = Readonly<Record<SpanKind, Value>>;

const bySpan = <Value>(of: (kind: SpanKind) => Value): BySpan<Value> => ({
  quiet: of('quiet'),
  unpaid: of('unpaid'),
  forged: of('forged'),
});

/** Medians of the rounds; a ratio is the median of the rounds' ratios, so what changes from round to round counts less. */
function figuresOf(spans: BySpan<readonly Span[]>) {
  const rows = PROBES.map((name) => {
    const p99s = bySpan((kind) => spans[kind].map((one) => shareOf(one[name], 0.99)));
    const ratio = (of: SpanKind, to: SpanKind): number => median(p99s[of].map((p99, i) => p99 / p99s[to][i]!));
    return {
      name,
      p50Ms: bySpan((kind) => median(spans[kind].map((one) => shareOf(one[name], 0.5)))),
      p99Ms: bySpan((kind) => median(p99s[kind])),
      p99MsByRound: p99s,
      ratios: {
        'unpaid:quiet': ratio('unpaid', 'quiet'),
        'forged:unpaid': ratio('forged', 'unpaid'),
        'forged:quiet': ratio('forged', 'quiet'),
      },
    };
  });
  return {
    rows,
    honest: bySpan((kind) => countsOf(spans[kind].map(({ paidStatuses }) => paidStatuses))),
    webhooksFailed: SPANS.flatMap((kind) => spans[kind]).reduce((all, one) => all + one.webhookFailedCount, 0),
    cores: bySpan((kind) => {
      const of = (part: keyof Span['cores']): number => median(spans[kind].map(({ cores }) => cores[part]));
      return { server: of('server'), main: of('main'), generator: of('generator') };
    }),
    probeLateP99Ms: bySpan((kind) => median(spans[kind].map((one) => shareOf(one.lateMs, 0.99)))),
  };
}

function print(
  title: string,
  reports: Readonly<Record<FloodKind, FloodReport>>,
  figures: ReturnType<typeof figuresOf>,
) {
  const cell = (value: number): string => value.toFixed(2).padStart(9);
  const line = (name: string, values: readonly number[]): void =>
    console.log(name.padEnd(26) + values.map(cell).join(''));
  console.log(title);
  for (const kind of ['unpaid', 'forged'] as const) {
    const { sent, seconds, statuses, durations } = reports[kind];
    console.log(
      `${kind}: ${Math.round(sent / seconds)}/s, answered ${JSON.stringify(statuses)}, p50 ${shareOf(durations, 0.5).toFixed(2)} ms, p99 ${shareOf(durations, 0.99).toFixed(2)} ms`,
    );
  }
  const names = Object.keys(figures.rows[0]!.ratios);
  console.log(' '.repeat(26) + [...SPANS, ...names.map((name) => ` ${name}`)].map((name) => name.padStart(9)).join(''));
  for (const { name, p50Ms, p99Ms, ratios } of figures.rows) {
    line(`${name}, p50, ms`, Object.values(p50Ms));
    console.log(
      `${name}, p99, ms`.padEnd(26) +
        Object.values(p99Ms).map(cell).join('') +
        Object.values(ratios)
          .map((ratio, i) => cell(ratio).padStart(Math.max(9, names[i]!.length + 1)))
          .join(''),
    );
  }
  const { cores, probeLateP99Ms, honest } = figures;
  for (const part of ['server', 'main', 'generator'] as const)
    line(
      `cores, ${part === 'main' ? "server's main thread" : part}`,
      SPANS.map((kind) => cores[kind][part]),
    );
  line('probes late, p99, ms', Object.values(probeLateP99Ms));
  console.log(`honest payments: ${SPANS.map((kind) => `${kind} ${JSON.stringify(honest[kind])}`).join(', ')}`);
  if (figures.webhooksFailed > 0) console.log(`webhooks that failed: ${figures.webhooksFailed}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rate: { type: 'string', default: '2000' },
      sources: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '5' },
      workers: { type: 'string' },
      signatures: { type: 'string' },
      settle: { type: 'string', default: '20' },
      server: { type: 'string', default: MAIN },
      json: { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.seconds);
  const rounds = Number(values.rounds);
  const rate = Number(values.rate);

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
  const signer = new Signer(systemRandom);
  const offerOf = async (path: string, method: string): Promise<LoadOffer> => {
    const response = await fetch(server.url + path, { method });
    await response.arrayBuffer();
    const offer = parseOffer(response.headers.get('payment-required') ?? '');
    if (offer === undefined) throw new Error(`no offer from ${path}: ${response.status}`);
    return offer;
  };
  const searchOffer = await offerOf(JOB, 'GET');
  const callbackOffer = await offerOf('/v1/callbacks', 'POST');

  const client = new Client(port);
  const ask = (request: string): Promise<Answered> => new Promise((resolve) => client.send(request, resolve));
  const paidRequest = (path: string, method: string, payment: string, from: number): string =>
    requestText(method, path, { 'payment-signature': payment, 'x-forwarded-for': `192.0.2.${from % 250}` });

  // Check the answers before timing them.
  const forged = await ask(paidRequest(JOB, 'GET', forger(signer, searchOffer)(), 251));
  if (forged.status !== 402) throw new Error(`a forged payment got ${forged.status}`);
  const bought = await ask(paidRequest(JOB, 'GET', honest(signer, searchOffer), 252));
  if (bought.status !== 200) throw new Error(`an honest payment got ${bought.status}: ${bought.body}`);

  const webhookCount = Math.ceil(WEBHOOK_RATE * (seconds + 1) * SPANS.length * (rounds + 1));
  const hooks: string[] = [];
  while (hooks.length * EVENTS_MAX < webhookCount) {
    const made = await ask(paidRequest('/v1/callbacks', 'POST', honest(signer, callbackOffer), hooks.length));
    if (made.status !== 201) throw new Error(`the creation of a callback got ${made.status}: ${made.body}`);
    hooks.push(new URL((JSON.parse(made.body) as { callback_url: string }).callback_url).pathname);
  }
  let webhooksSent = 0;
  const nextWebhook = (): string => {
    const path = hooks[Math.floor(webhooksSent++ / EVENTS_MAX)] as string;
    return requestText('POST', path, { 'content-type': 'application/json' }, '{"order":4711,"state":"paid"}');
  };

  const flood = new Worker(new URL(import.meta.url), {
    workerData: { port, rate, sourceCount: Number(values.sources), offer: searchOffer } satisfies FloodData,
  });
  const order = (one: FloodOrder): void => flood.postMessage(one);
  const replyTo = <T>(one: FloodOrder): Promise<T> =>
    new Promise((resolve) => {
      flood.once('message', resolve);
      order(one);
    });

  const spanOf = async (kind: SpanKind): Promise<{ readonly span: Span; readonly report?: FloodReport }> => {
    const payments = Array.from({ length: Math.ceil(Number(values.settle) * seconds) }, (_, i) =>
      paidRequest(JOB, 'GET', honest(signer, searchOffer), i),
    );
    const probed = { client, pid: server.child.pid as number, seconds, nextWebhook, payments };
    if (kind === 'quiet') return { span: await span(probed) };
    await replyTo({ kind, count: Math.ceil(rate * (seconds + 2 * AROUND_SECONDS + 5)) });
    order('on');
    await pause(300);
    const one = await span(probed);
    const report = await replyTo<FloodReport>('off');
    await pause(1200);
    return { span: one, report };
  };

  const spans = { quiet: [] as Span[], unpaid: [] as Span[], forged: [] as Span[] };
  const reports = { unpaid: [] as FloodReport[], forged: [] as FloodReport[] };
  for (let round = -1; round < rounds; round++) {
    for (let i = 0; i < SPANS.length; i++) {
      const kind = SPANS[(i + round + 1) % SPANS.length] as SpanKind; // each kind comes first, second and last in turn
      const { span: one, report } = await spanOf(kind);
      if (round < 0) continue; // the first round warms
      spans[kind].push(one);
      if (kind !== 'quiet' && report !== undefined) reports[kind].push(report);
    }
  }
  order('end');
  client.close();
  await server.stop();

  const together = (all: readonly FloodReport[]): FloodReport => ({
    sent: all.reduce((sum, one) => sum + one.sent, 0),
    seconds: all.reduce((sum, one) => sum + one.seconds, 0),
    statuses: countsOf(all.map(({ statuses }) => statuses)),
    durations: all.flatMap(({ durations }) => durations),
  });
  const floods = { unpaid: together(reports.unpaid), forged: together(reports.forged) };
  const figures = figuresOf(spans);
  const setting = { workers: values.workers ?? 'default', signatures: values.signatures ?? 'default' };
  if (values.json) {
    const answered = { unpaid: floods.unpaid.statuses, forged: floods.forged.statuses };
    console.log(
      JSON.stringify({ runtime: RUNTIME, ...setting, rate, sources: Number(values.sources), answered, ...figures }),
    );
    return;
  }
  print(
    `${RUNTIME}, workers ${setting.workers}, signatures ${setting.signatures}, ${rounds} x ${seconds} s each, floods from ${values.sources} addresses`,
    floods,
    figures,
  );
}

if (isMainThread) await main();
else runFlood(workerData as FloodData);
