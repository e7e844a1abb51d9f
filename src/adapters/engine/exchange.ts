/**
 * One GET over a connection that is kept open between questions, by `node:http` on both runtimes: it follows no redirect, takes
 * no proxy from the environment, and tells a connection that was refused or lost from an answer (bench/split.ts compares it
 * with `fetch`). Time is the caller's: it aborts.
 */
import http from 'node:http';
import https from 'node:https';
import { errorCodeOf } from '../../base/failure.ts';
import {
  ANSWER_BYTES_MAX,
  CONNECTIONS_PER_SERVICE,
  IDLE_CONNECTION_MS,
  IDLE_CONNECTIONS_PER_SERVICE,
} from './limits.ts';

export type Exchanged =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** A body above the bound, or one that is not UTF-8. */
  | { readonly kind: 'unusable'; readonly detail: string }
  /** The connection was not made, or ended before the answer was whole. */
  | { readonly kind: 'lost'; readonly detail: string };

/** One that is under way. */
export interface Exchange {
  readonly done: Promise<Exchanged>;
  /** Ends it; `done` then resolves as lost. */
  abort(): void;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(chunks: readonly Uint8Array[]): Exchanged | string {
  try {
    return strictUtf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  } catch {
    return { kind: 'unusable', detail: 'the body is not UTF-8' };
  }
}

/** The connections to one service. */
export class Connections {
  readonly #send: typeof http.request;
  readonly #agent: http.Agent;
  readonly #options: http.RequestOptions;
  /** Path of the base address, without a trailing slash. */
  readonly #basePath: string;

  /** @param baseUrl http or https, no trailing slash @param token of the jobs services */
  constructor(baseUrl: string, token: string) {
    const { protocol, hostname, port, pathname } = new URL(baseUrl);
    const kind = protocol === 'https:' ? https : http;
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
      hostname: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port }),
      headers: { accept: 'application/json', 'accept-encoding': 'identity', authorization: `Bearer ${token}` },
    };
  }

  /** @param target path and query below the base address */
  get(target: string): Exchange {
    let request: http.ClientRequest;
    let isAborted = false;
    const once = (): Promise<Exchanged & { readonly mayRepeat?: boolean }> =>
      new Promise((resolve) => {
        const lost = (detail: string): void =>
          resolve({ kind: 'lost', detail, mayRepeat: request.reusedSocket && !isAborted });
        request = this.#send({ ...this.#options, path: this.#basePath + target }, (response) => {
          const chunks: Uint8Array[] = [];
          let byteCount = 0;
          response.on('data', (chunk: Uint8Array) => {
            byteCount += chunk.length;
            if (byteCount <= ANSWER_BYTES_MAX) chunks.push(chunk);
            else {
              resolve({ kind: 'unusable', detail: `the body has more than ${ANSWER_BYTES_MAX} bytes` });
              request.destroy();
            }
          });
          response.on('end', () => {
            if (!response.complete) return lost('connection lost within the answer');
            const text = textOf(chunks);
            resolve(typeof text === 'string' ? { kind: 'answer', status: response.statusCode ?? 0, text } : text);
          });
          response.on('error', (failure) => resolve({ kind: 'lost', detail: codeOf(failure) }));
          response.on('aborted', () => resolve({ kind: 'lost', detail: 'connection lost within the answer' }));
        });
        request.on('error', (failure) => lost(codeOf(failure)));
        request.end();
      });
    // A service may close a connection that was unused at the very moment at which a question takes it.
    const done = once().then((first) => (first.kind === 'lost' && first.mayRepeat === true ? once() : first));
    return {
      done,
      abort() {
        isAborted = true;
        request.destroy();
      },
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Never the message: it can hold an address. */
const codeOf = (failure: unknown): string => errorCodeOf(failure) ?? 'no code';
