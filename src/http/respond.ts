/**
 * Responses, made in one place: every error is the Error object of callback.md and `no-store`, every answer names its
 * request. Headers of the whole server (CORS) are merged here once, so no route can be without them.
 */
import type { Refusal } from './errors.ts';
import type { Reply } from './route.ts';

export type Headers = Readonly<Record<string, string>>;

const JSON_TYPE = 'application/json';

export class Responder {
  readonly #everywhere: Headers;

  /** @param everywhere headers that every response of this server carries, names in lower case */
  constructor(everywhere: Headers) {
    this.#everywhere = everywhere;
  }

  json(status: number, body: string, cacheControl: string, more: Headers | undefined, requestId: string): Response {
    return new Response(body, {
      status,
      headers: {
        'content-type': JSON_TYPE,
        'cache-control': cacheControl,
        'x-request-id': requestId,
        ...this.#everywhere,
        ...this.#joined(more),
      },
    });
  }

  reply(status: number, reply: Reply, cacheControl: string, more: Headers | undefined, requestId: string): Response {
    return new Response(reply.body as BodyInit, {
      status: reply.status ?? status,
      headers: {
        'cache-control': cacheControl,
        'x-request-id': requestId,
        ...this.#everywhere,
        ...this.#joined(reply.headers),
        ...more,
      },
    });
  }

  refusal(refusal: Refusal, requestId: string): Response {
    const { code, message, extras } = refusal;
    const body = `{"error":{"code":"${code}","message":${JSON.stringify(message)},"request_id":"${requestId}"}${extras.members ?? ''}}`;
    return this.json(refusal.status, body, 'no-store', extras.headers, requestId);
  }

  /** 204 with headers only: the answer to a CORS preflight. */
  empty(headers: Headers, requestId: string): Response {
    return new Response(null, {
      status: 204,
      headers: { 'cache-control': 'no-store', 'x-request-id': requestId, ...this.#everywhere, ...headers },
    });
  }

  /** An answer's own `vary` never hides what the whole server varies by. */
  #joined(own: Headers | undefined): Headers | undefined {
    const { vary } = this.#everywhere;
    return vary === undefined || own?.vary === undefined ? own : { ...own, vary: `${vary}, ${own.vary}` };
  }
}
