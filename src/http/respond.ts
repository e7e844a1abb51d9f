/**
 * Responses, made in one place: every error is the Error object of callback.md and `no-store`, every answer names its
 * request. Headers of the whole server (CORS) are merged here once, so no route can be without them.
 */
import type { Refusal } from './errors.ts';
import type { Reply } from './route.ts';

export type Headers = Readonly<Record<string, string>>;

const JSON_TYPE = 'application/json';

/** A header of one answer never hides what the whole server varies by. */
const varyOf = (everywhere: Headers, own: Headers | undefined): Headers =>
  everywhere.vary === undefined || own?.vary === undefined ? {} : { vary: `${everywhere.vary}, ${own.vary}` };

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
        ...more,
        ...varyOf(this.#everywhere, more),
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
        ...reply.headers,
        ...more,
        ...varyOf(this.#everywhere, reply.headers),
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
}
