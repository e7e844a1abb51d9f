/**
 * The proxy of `paygrade fleet`: gives requests to gates in turn, and only to those whose `/ready` said 200 at the last
 * look. While none is ready, because the database, the jobs services or the facilitator are away, requests go to every
 * gate that is not about to end: webhooks, reads and free routes need none of these. A request that reached no gate
 * goes to the next one; one that may have been read is never sent twice.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Pause between two looks at a gate. */
const LOOK_PAUSE_MS = 250;
const LOOK_TIMEOUT_MS = 1000;

/** Headers that belong to one connection (RFC 9110 §7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function endToEnd(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}

export interface RunningProxy {
  readonly port: number;
  /** Sets the ports of the gates on this machine; until then every request gets a 503. */
  take(ports: readonly number[]): Promise<void>;
  /** Whether a gate was ready for paid work at the last look. */
  isReady(port: number): boolean;
  close(): Promise<void>;
}

/**
 * A gate's state by its own answers: ready for paid work; not ready, but staying; about to end, or without an answer.
 */
type Standing = 'ready' | 'staying' | 'leaving';

class RoundRobin {
  #ports: readonly number[] = [];
  /** By port, as of the last look; absent = not looked at. */
  readonly #standings = new Map<number, Standing>();
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #timer: ReturnType<typeof setInterval>;
  #turn = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), LOOK_PAUSE_MS);
  }

  isReady(port: number): boolean {
    return this.#standings.get(port) === 'ready';
  }

  /** From now on requests go to these ports. Resolves after a first look at each. */
  take(ports: readonly number[]): Promise<void> {
    this.#ports = ports;
    return this.#look();
  }

  pass(request: IncomingMessage, response: ServerResponse): void {
    const ready = this.#all('ready');
    const ports = ready.length > 0 ? ready : this.#all('staying');
    const first = this.#turn++ % Math.max(1, ports.length);
    this.#send(request, response, [...ports.slice(first), ...ports.slice(0, first)]);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
  }

  async #look(): Promise<void> {
    await Promise.all(
      this.#ports.map(async (port) => {
        this.#standings.set(port, await standingAt(port));
      }),
    );
  }

  #all(standing: Standing): readonly number[] {
    return this.#ports.filter((port) => this.#standings.get(port) === standing);
  }

  #send(request: IncomingMessage, response: ServerResponse, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('no gate answers\n');
      return;
    }
    const { remoteAddress = '' } = request.socket;
    const headers = { ...endToEnd(request.headers), 'x-forwarded-for': remoteAddress };
    const options = { agent: this.#agent, host: '127.0.0.1', port, method: request.method, path: request.url, headers };
    const onward = http.request(options as http.RequestOptions, (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', (failure: NodeJS.ErrnoException) => {
      if (response.headersSent) response.destroy();
      else if (failure.code === 'ECONNREFUSED') {
        this.#standings.set(port, 'leaving');
        this.#send(request, response, others);
      } else response.writeHead(502, { 'content-type': 'text/plain' }).end('the gate was lost\n');
    });
    response.on('close', () => onward.destroy());
    // Not earlier, or the body would be lost if the gate is away.
    onward.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => request.pipe(onward));
      else request.pipe(onward);
    });
  }
}

/** Status of the answer to a look; undefined = none in time. */
function statusAt(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = http.get({ host: '127.0.0.1', port, path, timeout: LOOK_TIMEOUT_MS }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}

async function standingAt(port: number): Promise<Standing> {
  const status = await statusAt(port, '/ready');
  if (status === 200) return 'ready';
  return status !== undefined && (await statusAt(port, '/ready?only=process')) === 200 ? 'staying' : 'leaving';
}

/** @param port 0 = a free one. Rejects with the system's error */
export async function startProxy(port: number): Promise<RunningProxy> {
  const gates = new RoundRobin();
  const server = http.createServer((request, response) => gates.pass(request, response));
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
  } catch (failure) {
    gates.close();
    throw failure;
  }
  return {
    port: (server.address() as AddressInfo).port,
    take: (ports) => gates.take(ports),
    isReady: (one) => gates.isReady(one),
    close() {
      gates.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
