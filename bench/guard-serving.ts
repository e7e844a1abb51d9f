/**
 * Guards what a request costs the built server: processor time of all its threads, relative to a bare server of the same runtime
 * that repeats the same response (or sends a webhook back). Each is a separate process; requests come over HTTP, in slices in turn.
 *
 *   npm run -s build && node bench/guard-serving.ts [--runtime node]...
 *
 *   --show           prints the ratios without judging them
 *   --regress 1.5    as if each request cost 1.5 times as much: the server gets half as many requests more than are counted
 *
 * The exit code is 1 when the geometric mean of the ratios, or one of them, is above its ceiling twice: a regression shows up again,
 * a neighbour that took the caches does not. The mean catches requests that all cost 1.5 times as much. Reads /proc: Linux.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemRandom } from '../src/base/random.ts';
import { type Answer, Connection, headerOf, type Reply } from '../src/load/connection.ts';
import { parseOffer, Signer } from '../src/load/signing.ts';
import { parseTarget } from '../src/load/target.ts';
import { median } from './harness.ts';
import { processorName } from './processor.ts';
import { cpuMsOf, listening, PROJECT, RUNTIMES, type Runtime } from './server-process.ts';
import { SMALL_JOB_COUNT, writeSyntheticCatalogue } from './synthetic-catalogue.ts';

const MEAN = 'geometric mean';

/** The processors that the usual ratios were measured on, two cores of each: EPYCs, as `processorName` has them. */
const MEASURED: readonly string[] = ['AuthenticAMD 25 1', 'AuthenticAMD 26 2'];

/** Processor time of a request as a multiple of the bare server's, on each of these processors. */
const USUAL: Readonly<Record<string, Readonly<Record<Runtime, readonly number[]>>>> = {
  health: { node: [1.08, 1.13], bun: [1.09, 1.09] },
  'payment status': { node: [1.12, 1.16], bun: [1.29, 1.25] },
  offer: { node: [1.07, 1.18], bun: [1.1, 1.08] },
  'offer, new questions': { node: [1.2, 1.43], bun: [1.78, 1.47] },
  webhook: { node: [1.1, 1.54], bun: [3.05, 3.06] },
  'paid question': { node: [12.5, 15.5], bun: [26, 22.5] },
  'paid question, durable': { node: [19.5, 27.3], bun: [35.5, 35.3] },
  [MEAN]: { node: [2.36, 2.82], bun: [3.56, 3.39] },
};
/**
 * Ceilings as multiples of the usual: midway between 1 and 1.5 for the mean. A row alone scatters by a fifth between processes, so
 * its ceiling catches one that has doubled.
 */
const CEILINGS = { row: 1.45, mean: 1.2 };

const CONNECTIONS = 32;
const ROUNDS = 15;
/** Requests of the first, uncounted slices, as a multiple of a slice's: compilers need tens of thousands. */
const WARM_UP_SLICES = 12;
const EVENTS_A_CALLBACK = 10;

const SIGNALS = '/v1/jobs/signals?role=engineer&location=germany';
/** A short answer of a route with parameters. */
const STATUS = `/v1/payments/eip155:8453/0x${'5a'.repeat(20)}/0x${'3c'.repeat(32)}`;
const EVENT = JSON.stringify({ type: 'invoice.paid', note: 'x'.repeat(990) });

/** Repeats the responses of the file that it is given, by method and path; sends the body of another POST back. */
const BARE = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const responses = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const echoed = { 'content-type': 'application/json' };
if (process.versions.bun) {
  const { port } = Bun.serve({ hostname: '127.0.0.1', port: 0, async fetch(request) {
    if (request.method === 'POST') return new Response(await request.arrayBuffer(), { headers: echoed });
    const url = request.url;
    const query = url.indexOf('?');
    const { status, headers, body } = responses[url.slice(url.indexOf('/', 8), query < 0 ? undefined : query)];
    return new Response(body, { status, headers });
  } });
  console.log('listening on http://127.0.0.1:' + port);
} else {
  const server = createServer((incoming, outgoing) => {
    if (incoming.method === 'POST') {
      const parts = [];
      incoming.on('data', (part) => parts.push(part)).on('end', () => {
        const body = Buffer.concat(parts);
        outgoing.writeHead(200, { ...echoed, 'content-length': body.length }).end(body);
      });
      return;
    }
    const query = incoming.url.indexOf('?');
    const { status, headers, body } = responses[query < 0 ? incoming.url : incoming.url.slice(0, query)];
    outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }).listen(0, '127.0.0.1', () => console.log('listening on http://127.0.0.1:' + server.address().port));
}
`;

const requestText = (method: string, path: string, headers = '', body = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: bench\r\n${headers}${body === '' ? '' : `content-length: ${body.length}\r\n`}\r\n${body}`;
const repeated = (request: string, count: number): string[] => new Array<string>(count).fill(request);
const get = (path: string): string => requestText('GET', path);
const paidGet = (path: string, payment: string): string =>
  requestText('GET', path, `payment-signature: ${payment}\r\n`);

/** Servers that run. */
const started: Served[] = [];

/** A server in a process of its own, and the connections to it. */
class Served {
  url = '';
  readonly #child: ChildProcess;
  #connections: Connection[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(program: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
    const child = spawn(program, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
    const served = new Served(child);
    started.push(served);
    served.url = await listening(child);
    return served;
  }

  get cpuMs(): number {
    return cpuMsOf(this.#child.pid ?? 0);
  }

  stop(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill('SIGKILL');
  }

  async ask(request: string): Promise<Answer> {
    const [answer] = await this.askAll([request]);
    return answer!; // one for each
  }

  /** The answers in no order. On each connection one request is sent after the other. @throws Error when one has no answer */
  async askAll(requests: readonly string[]): Promise<readonly Answer[]> {
    this.#connect();
    const replies: Reply[] = [];
    let next = 0;
    const run = (connection: Connection): Promise<void> =>
      new Promise((resolve) => {
        const send = (): void => {
          const request = requests[next++];
          if (request === undefined) resolve();
          else {
            connection.send(request, 0, (reply) => {
              replies.push(reply);
              send();
            });
          }
        };
        send();
      });
    await Promise.all(this.#connections.map(run));
    return replies.map((reply) => {
      if (reply.kind === 'answer') return reply;
      throw new Error(`${requests[0]?.slice(0, 80)}: ${reply.code}`);
    });
  }

  /** Servers close connections that were idle for long. */
  #connect(): void {
    const endpoint = { target: parseTarget(this.url), address: '127.0.0.1' };
    const onGone = (gone: Connection): void => {
      this.#connections = this.#connections.filter((one) => one !== gone);
    };
    while (this.#connections.length < CONNECTIONS) {
      this.#connections.push(new Connection(endpoint, { onFree() {}, onGone }));
    }
  }
}

/** @throws Error for an answer of another status */
function expectStatus(answers: readonly Answer[], status: number): void {
  const odd = answers.find((answer) => answer.status !== status);
  if (odd !== undefined) throw new Error(`${odd.status} instead of ${status}: ${odd.body.toString().slice(0, 200)}`);
}

/** What the guard measures. */
interface Row {
  readonly title: string;
  readonly server: 'memory' | 'folder';
  /** The status of every answer, the bare server's too. */
  readonly status: number;
  /** Requests of a slice of ours. */
  readonly count: number;
  /** Requests that our server has not had yet, as far as that matters. */
  requests(server: Served, count: number): Promise<readonly string[]>;
  /** The bare server's slice, of as much processor time or more. */
  readonly bare: readonly string[];
}

const signer = new Signer(systemRandom);

/** Payments for an answer of the server, one for each request. */
async function paymentsFor(server: Served, unpaid: string, count: number): Promise<string[]> {
  const { head } = await server.ask(unpaid);
  const offer = parseOffer(headerOf(head, 'payment-required') ?? '');
  if (offer === undefined) throw new Error(`no offer: ${head}`);
  return Array.from({ length: count }, () => signer.sign(offer, Date.now()).header);
}

const webhookTo = (path: string): string => requestText('POST', path, 'content-type: application/json\r\n', EVENT);

async function webhooksFor(server: Served, count: number): Promise<string[]> {
  const path = '/v1/callbacks';
  const payments = await paymentsFor(server, requestText('POST', path), Math.ceil(count / EVENTS_A_CALLBACK));
  const made = await server.askAll(
    payments.map((payment) => requestText('POST', path, `payment-signature: ${payment}\r\n`)),
  );
  expectStatus(made, 201);
  const hooks = made.map(({ body }) => `/hooks/${(JSON.parse(body.toString()) as { id: string }).id}`);
  return hooks.flatMap((hook) => repeated(webhookTo(hook), EVENTS_A_CALLBACK)).slice(0, count);
}

const always = (request: string) => async (_: Served, count: number) => repeated(request, count);

let questionCount = 0;
const newQuestions = async (_: Served, count: number): Promise<string[]> =>
  Array.from({ length: count }, () => get(`${SIGNALS}+${questionCount++}`));

const paidQuestions = async (server: Served, count: number): Promise<string[]> =>
  (await paymentsFor(server, get(SIGNALS), count)).map((payment) => paidGet(SIGNALS, payment));

const [HEALTH, UNKNOWN, OFFER, ANSWER] = [get('/health'), get(STATUS), get(SIGNALS), get('/answer')];

const ROWS: readonly Row[] = [
  {
    title: 'health',
    server: 'memory',
    status: 200,
    count: 1000,
    requests: always(HEALTH),
    bare: repeated(HEALTH, 1000),
  },
  {
    title: 'payment status',
    server: 'memory',
    status: 404,
    count: 1000,
    requests: always(UNKNOWN),
    bare: repeated(UNKNOWN, 1000),
  },
  { title: 'offer', server: 'memory', status: 402, count: 1000, requests: always(OFFER), bare: repeated(OFFER, 1000) },
  {
    title: 'offer, new questions',
    server: 'memory',
    status: 402,
    count: 1000,
    requests: newQuestions,
    bare: repeated(OFFER, 1000),
  },
  {
    title: 'webhook',
    server: 'memory',
    status: 200,
    count: 500,
    requests: webhooksFor,
    bare: repeated(webhookTo('/echo'), 1000),
  },
  {
    title: 'paid question',
    server: 'memory',
    status: 200,
    count: 100,
    requests: paidQuestions,
    bare: repeated(ANSWER, 1000),
  },
  {
    title: 'paid question, durable',
    server: 'folder',
    status: 200,
    count: 100,
    requests: paidQuestions,
    bare: repeated(ANSWER, 1000),
  },
];

/** What the bare server repeats: our own answers, without the headers that its runtime adds. */
async function responsesOf(server: Served): Promise<object> {
  const [payment = ''] = await paidQuestions(server, 1);
  const asked = { '/health': HEALTH, [STATUS]: UNKNOWN, '/v1/jobs/signals': OFFER, '/answer': payment };
  const responses: Record<string, object> = {};
  for (const [path, request] of Object.entries(asked)) {
    const { status, head, body } = await server.ask(request);
    const lines = head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(/: (.*)/s, 2));
    const kept = lines.filter(([name = '']) => !/^(?:connection|keep-alive|date|content-length)$/i.test(name));
    responses[path] = { status, headers: Object.fromEntries(kept), body: body.toString() };
  }
  return responses;
}

/** Processor time of a request that counts, ms. @param regression how many times as many are sent */
async function msOf(server: Served, requests: readonly string[], status: number, regression = 1): Promise<number> {
  const before = server.cpuMs;
  const answers = await server.askAll(requests);
  const spent = server.cpuMs - before;
  expectStatus(answers, status);
  return (spent / requests.length) * regression;
}

type Servers = Readonly<Record<Row['server'] | 'bare', Served>>;

/** The median ratio of our slices to the bare server's right after each. */
async function ratioOf(
  { server, status, count, requests, bare }: Row,
  servers: Servers,
  regression: number,
): Promise<number> {
  const ours = servers[server];
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const slices = round === 0 ? WARM_UP_SLICES : 1;
    const sent = Math.round(count * slices * regression);
    const oursMs = await msOf(ours, await requests(ours, sent), status, regression);
    const bareMs = await msOf(servers.bare, slices === 1 ? bare : new Array(slices).fill(bare).flat(), status);
    if (round > 0) ratios.push(oursMs / bareMs);
  }
  return median(ratios);
}

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', multiple: true, default: Object.keys(RUNTIMES) },
    show: { type: 'boolean', default: false },
    regress: { type: 'string', default: '1' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'paygrade-guard-'));

async function startServers(runtime: Runtime, catalogue: string): Promise<Servers> {
  const program = RUNTIMES[runtime];
  const serve = (stateDir: string): Promise<Served> =>
    Served.start(program, [join(PROJECT, 'dist/main.js'), 'serve'], {
      PORT: '0',
      SNAPSHOT: catalogue,
      STATE_DIR: stateDir,
      SIGNATURES: 'wasm',
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      CALLBACK_BYTES: String(2 ** 40),
      LOG_LEVEL: 'error',
    });
  const memory = await serve(':memory:');
  const bare = join(folder, 'bare.mjs');
  const responses = join(folder, 'responses.json');
  writeFileSync(bare, BARE);
  writeFileSync(responses, JSON.stringify(await responsesOf(memory)));
  return {
    memory,
    folder: await serve(mkdtempSync(join(folder, 'state-'))),
    bare: await Served.start(program, [bare, responses]),
  };
}

/** Ratios by row, and their mean. */
async function measured(runtime: Runtime, catalogue: string): Promise<Readonly<Record<string, number>>> {
  try {
    const servers = await startServers(runtime, catalogue);
    const ratios: Record<string, number> = {};
    for (const row of ROWS) ratios[row.title] = await ratioOf(row, servers, Number(values.regress));
    const logs = Object.values(ratios).map(Math.log);
    return { ...ratios, [MEAN]: Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length) };
  } finally {
    for (const server of started.splice(0)) server.stop();
  }
}

/** On a processor that was not measured, the highest. */
function usualOf(title: string, runtime: Runtime): number {
  const ratios = USUAL[title]?.[runtime] ?? [];
  const here = MEASURED.indexOf(processorName());
  return ratios[here] ?? Math.max(...ratios);
}

const ceilingOf = (title: string, runtime: Runtime): number =>
  usualOf(title, runtime) * (title === MEAN ? CEILINGS.mean : CEILINGS.row);

async function guard(runtime: Runtime, catalogue: string): Promise<void> {
  const first = await measured(runtime, catalogue);
  const isAbove = ([title, ratio]: [string, number]): boolean => ratio > ceilingOf(title, runtime);
  const isRepeated = !values.show && Object.entries(first).some(isAbove);
  const second = isRepeated ? await measured(runtime, catalogue) : first;
  for (const title of Object.keys(first)) {
    const ratio = Math.min(first[title]!, second[title]!);
    const word = values.show ? 'shown' : isAbove([title, ratio]) ? 'above' : 'ok   ';
    const ceiling = ceilingOf(title, runtime).toPrecision(3);
    console.log(
      `${word} ${runtime}: ${title.padEnd(24)} ${ratio.toPrecision(3)} times the bare server, ceiling ${ceiling}`,
    );
    if (word === 'above') process.exitCode = 1;
  }
}

try {
  const catalogue = join(folder, 'catalogue');
  await writeSyntheticCatalogue(catalogue, SMALL_JOB_COUNT);
  for (const runtime of Object.keys(RUNTIMES) as Runtime[]) {
    if (values.runtime.includes(runtime)) await guard(runtime, catalogue);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
