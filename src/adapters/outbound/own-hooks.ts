/**
 * Delivers requests to webhook addresses of this server inside the process (siblings §5), so that it works behind any proxy.
 * They go through the same handler and limits as requests from outside; each customer counts as a separate client network.
 */
import type { OutboundRequest } from '../../outbound/outbound.ts';
import { type ExchangeResult, sentHeadersOf } from './exchange.ts';
import { BodyTooLargeError, readBody } from './unpack.ts';

/** The app's own handler. `client.address` is no IP address. */
export type OwnFetch = (request: Request, client: { readonly address: string }) => Response | Promise<Response>;

/** Headers that identify a client only if a proxy wrote them. */
const FORWARDED = new Set(['x-forwarded-for', 'forwarded']);

async function* nothing(): AsyncGenerator<Uint8Array> {}

export class OwnHooks {
  readonly #fetch: OwnFetch;
  readonly #hook: URL;
  readonly #userAgent: string;

  /**
   * @param hookBaseUrl the public address; its path is the proxy's and is not part of what the handler sees
   * @param userAgent as for requests that leave the process
   */
  constructor(fetch: OwnFetch, hookBaseUrl: string, userAgent: string) {
    this.#fetch = fetch;
    this.#hook = new URL(hookBaseUrl);
    this.#userAgent = userAgent;
  }

  /** Never rejects. A delivery that the signal ended is `aborted`. */
  async deliver(request: OutboundRequest, onAnswer: () => void, signal: AbortSignal): Promise<ExchangeResult> {
    const ended = Promise.withResolvers<never>();
    const onAbort = (): void => ended.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([this.#answer(request, onAnswer, signal), ended.promise]);
    } catch (failure) {
      if (signal.aborted) return { kind: 'aborted', detail: 'the request was ended' };
      if (failure instanceof BodyTooLargeError) return { kind: 'too-large', detail: failure.message };
      return { kind: 'unreachable', detail: 'the webhook address of this server gave no answer' };
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #answer(request: OutboundRequest, onAnswer: () => void, signal: AbortSignal): Promise<ExchangeResult> {
    const { method, body, customer } = request;
    const headers = Object.entries(sentHeadersOf(request, this.#userAgent)).flatMap(([name, values]) =>
      FORWARDED.has(name.toLowerCase()) ? [] : values.map((value): [string, string] => [name, value]),
    );
    const own = new Request(this.#innerUrl(request.target.url), {
      method,
      headers,
      body: body?.slice() ?? null,
      signal,
    });
    const response = await this.#fetch(own, { address: `customer ${customer}` });
    onAnswer();
    const { bytes, isTruncated } = await readBody(response.body ?? nothing(), [], request);
    return { kind: 'answer', status: response.status, headers: [...response.headers], body: bytes, isTruncated };
  }

  #innerUrl({ pathname, search }: URL): string {
    const path = this.#hook.pathname.replace(/\/$/, '');
    return `${this.#hook.origin}${pathname.slice(path.length)}${search}`;
  }
}
