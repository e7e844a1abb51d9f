/** Connections by `node:http`. */
import type http from 'node:http';
import { errorCodeOf } from '../../base/failure.ts';
import { bareHostOf } from '../../base/ip-address.ts';
import { nodeHttp, nodeHttps } from '../process/late-modules.ts';
import {
  BodyCollector,
  type Connections,
  CUT,
  type Exchanged,
  headersWith,
  type PendingExchange,
  SWITCHED,
  statesTooMuch,
  TOO_LONG,
} from './exchange.ts';
import { CONNECTIONS_PER_SERVICE, IDLE_CONNECTION_MS, IDLE_CONNECTIONS_PER_SERVICE } from './limits.ts';

/** Never the message: it can hold an address. */
const lostBy = (failure: unknown): Exchanged => ({ kind: 'lost', detail: errorCodeOf(failure) ?? 'no code' });

export class HttpConnections implements Connections {
  readonly #send: typeof http.request;
  readonly #agent: http.Agent;
  readonly #options: http.RequestOptions;
  /** Path of the base address, without a trailing slash. */
  readonly #basePath: string;

  /** @param baseUrl http or https, no trailing slash @param token of the jobs services */
  constructor(baseUrl: string, token: string) {
    const { protocol, hostname, port, pathname } = new URL(baseUrl);
    const kind = protocol === 'https:' ? nodeHttps() : nodeHttp();
    this.#send = kind.request;
    this.#agent = new kind.Agent({
      keepAlive: true,
      maxSockets: CONNECTIONS_PER_SERVICE,
      maxFreeSockets: IDLE_CONNECTIONS_PER_SERVICE,
      timeout: IDLE_CONNECTION_MS,
      scheduling: 'lifo',
    });
    this.#basePath = pathname === '/' ? '' : pathname;
    this.#options = {
      agent: this.#agent,
      hostname: bareHostOf(hostname),
      ...(port === '' ? {} : { port }),
      headers: headersWith(token),
    };
  }

  get(target: string): PendingExchange {
    const { promise: done, resolve } = Promise.withResolvers<Exchanged>();
    let request: http.ClientRequest | undefined;
    let isAborted = false;
    const start = (mayRepeat: boolean): void => {
      let hasBegun = false;
      const sent = this.#send({ ...this.#options, path: this.#basePath + target }, (response) => {
        hasBegun = true;
        const body = new BodyCollector();
        const end = (): void => {
          resolve(TOO_LONG);
          sent.destroy();
        };
        if (statesTooMuch(response.headers['content-length'])) end();
        response.on('data', (chunk: Uint8Array) => {
          if (!body.add(chunk)) end();
        });
        response.on('end', () => resolve(response.complete ? body.exchanged(response.statusCode ?? 0) : CUT));
        response.on('error', () => resolve(CUT));
        response.on('aborted', () => resolve(CUT));
      });
      // Without a listener Node closes the connection and emits nothing.
      sent.on('upgrade', (_, socket) => {
        socket.destroy();
        resolve(SWITCHED);
      });
      sent.on('error', (failure) => {
        // Its answer has begun, so the response's own events report the failure.
        if (hasBegun) return;
        // A service may close an idle connection at the very moment at which a question takes it.
        if (mayRepeat && sent.reusedSocket && !isAborted) start(false);
        else resolve(lostBy(failure));
      });
      sent.end();
      request = sent;
    };
    start(true);
    return {
      done,
      abort() {
        isAborted = true;
        // A destroyed request emits nothing while it waits for a connection.
        resolve({ kind: 'lost', detail: 'aborted' });
        request?.destroy();
      },
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}
