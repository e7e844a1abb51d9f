/**
 * A facilitator on loopback that follows a test's script down to the bytes: a plain TCP server that reads whole HTTP
 * requests, so that it can answer in ways no HTTP library would. Runs on Node and Bun alike.
 */
import { createServer, type Server, type Socket } from 'node:net';

export interface FacilitatorCall {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What happens to one call. */
export type Step =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Text sent unchanged as the body, whatever length is declared. */
  | { readonly status: number; readonly raw: string; readonly headers?: Readonly<Record<string, string>> }
  /** The connection is reset, or closed, once the request has arrived. */
  | 'reset'
  | 'close'
  /** Never answered. */
  | 'hang'
  /** A good status, and then a blank every 20 ms. */
  | 'drip'
  /** A good status, and then blanks without end as fast as they are taken. */
  | 'flood';

export type Scripts = Readonly<Record<string, readonly Step[] | ((call: FacilitatorCall) => Step | Promise<Step>)>>;

const text = (step: { body?: unknown; raw?: string }): string => {
  if (step.raw !== undefined) return step.raw;
  return typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? {});
};

const HEAD_OF_ENDLESS = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
const chunk = (blanks: number): string => `${blanks.toString(16)}\r\n${' '.repeat(blanks)}\r\n`;

export class FakeFacilitator {
  readonly calls: FacilitatorCall[] = [];
  /** Bytes sent as bodies without end. */
  floodedBytes = 0;
  scripts: Scripts;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #counts = new Map<string, number>();
  #port = 0;

  /** @param scripts path -> steps, one for each call, the last for all further calls; a path without a script is 404 */
  constructor(scripts: Scripts) {
    this.scripts = scripts;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  callsOf(path: string): FacilitatorCall[] {
    return this.calls.filter((call) => call.path === path);
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => resolve());
    });
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      received += String(data);
      for (;;) {
        const headEnd = received.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        const [line, ...lines] = received.slice(0, headEnd).split('\r\n');
        const headers = Object.fromEntries(
          lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 1).trim()]),
        );
        const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
        if (received.length < end) return;
        const [method = '', path = ''] = (line ?? '').split(' ');
        const call = { method, path, headers, body: received.slice(headEnd + 4, end) };
        received = received.slice(end);
        this.calls.push(call);
        void this.#answer(socket, call);
      }
    });
  }

  async #answer(socket: Socket, call: FacilitatorCall): Promise<void> {
    const script = this.scripts[call.path];
    const count = this.#counts.get(call.path) ?? 0;
    this.#counts.set(call.path, count + 1);
    const step: Step =
      typeof script === 'function'
        ? await script(call)
        : (script?.[Math.min(count, script.length - 1)] ?? { status: 404, body: { error: 'no such path' } });
    if (typeof step === 'object') {
      const body = text(step);
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        ...step.headers,
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${step.status} Scripted\r\n${lines.join('')}\r\n${body}`);
      return;
    }
    switch (step) {
      case 'reset':
        socket.resetAndDestroy();
        return;
      case 'close':
        socket.end();
        return;
      case 'hang':
        return;
      case 'drip': {
        socket.write(HEAD_OF_ENDLESS);
        const timer = setInterval(() => socket.write(chunk(1)), 20);
        socket.on('close', () => clearInterval(timer));
        return;
      }
      case 'flood': {
        socket.write(HEAD_OF_ENDLESS);
        const piece = chunk(16_384);
        const pour = (): void => {
          while (!socket.destroyed) {
            this.floodedBytes += 16_384;
            if (!socket.write(piece)) return;
          }
        };
        socket.on('drain', pour);
        pour();
        return;
      }
      default:
        step satisfies never;
    }
  }
}
