/**
 * Responses, made in one place: every error is the Error object of callback.md and `no-store`, every answer names its
 * request. Headers of the whole server (CORS) are merged here once, so no route can be without them.
 *
 * Two responses of a kind differ in their request id, and what does not differ is prepared once. How depends on the runtime:
 * Bun's Response copies a Headers object and bytes faster than it reads a record and a string (a tenth and a tenth of an
 * unpaid offer); the adapter on Node wants records, and would send bytes later than it is given them.
 */
import { encodeUtf8 } from '../base/codec.ts';
import { memoizeRecent } from '../base/memoize-recent.ts';
import { KeptRefusal, type Refusal } from './errors.ts';
import type { Reply } from './route.ts';

export type HeaderRecord = Readonly<Record<string, string>>;

const JSON_TYPE = 'application/json';
/** Values of `cache-control`, all from declarations. */
const CACHE_CONTROL_COUNT_MAX = 16;
const CACHE_CONTROL_LENGTH_MAX = 100;

/** Sets of names that are added to those of JSON: closed lists in the gates. */
const ADDED_NAMES_COUNT_MAX = 32;
const ADDED_NAMES_LENGTH_MAX = 200;

type HeadersFor = (requestId: string) => Headers | HeaderRecord;
type JsonHeadersFor = (more: HeaderRecord | undefined, requestId: string) => Headers | HeaderRecord;

const encoder = new TextEncoder();

export class Responder {
  readonly #everywhere: HeaderRecord;
  readonly #copies: boolean;
  /** Headers of JSON by `cache-control`. */
  readonly #jsonHeaders: (cacheControl: string) => JsonHeadersFor;

  /**
   * @param everywhere headers that every response of this server carries, names in lower case
   * @param copies whether this runtime's Response copies Headers and bytes at once
   */
  constructor(everywhere: HeaderRecord, copies: boolean) {
    this.#everywhere = everywhere;
    this.#copies = copies;
    const headersOf = (cacheControl: string): JsonHeadersFor => this.#jsonHeadersFor(cacheControl);
    this.#jsonHeaders = memoizeRecent(headersOf, CACHE_CONTROL_COUNT_MAX, CACHE_CONTROL_LENGTH_MAX);
  }

  json(
    status: number,
    body: string,
    cacheControl: string,
    more: HeaderRecord | undefined,
    requestId: string,
  ): Response {
    return new Response(body, { status, headers: this.#jsonHeaders(cacheControl)(more, requestId) });
  }

  reply(
    status: number,
    reply: Reply,
    cacheControl: string,
    more: HeaderRecord | undefined,
    requestId: string,
  ): Response {
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
    const { status, extras } = refusal;
    if (refusal instanceof KeptRefusal) {
      if (refusal.prepared !== undefined) return refusal.prepared(requestId);
      // Most questions are asked once.
      if (refusal.wasUsed) refusal.prepared = this.#prepared(refusal);
      refusal.wasUsed = true;
    }
    return this.json(status, bodyOf(refusal, requestId), 'no-store', extras.headers, requestId);
  }

  /** 204 with headers only: the answer to a CORS preflight. */
  empty(headers: HeaderRecord, requestId: string): Response {
    return new Response(null, {
      status: 204,
      headers: { 'cache-control': 'no-store', 'x-request-id': requestId, ...this.#everywhere, ...headers },
    });
  }

  #prepared(refusal: Refusal): (requestId: string) => Response {
    const { status } = refusal;
    const headers = this.#headersFor('no-store', refusal.extras.headers);
    const body = this.#copies ? bytesFor(refusal) : (requestId: string) => bodyOf(refusal, requestId);
    return (requestId) => new Response(body(requestId), { status, headers: headers(requestId) });
  }

  #jsonHeadersFor(cacheControl: string): JsonHeadersFor {
    const alone = this.#headersFor(cacheControl, undefined);
    if (!this.#copies) {
      return (more, requestId) =>
        more === undefined ? alone(requestId) : { ...this.#jsonRecord(cacheControl, more), 'x-request-id': requestId };
    }
    // One for each list of names, so that every response writes over all that the last one added.
    const headersWith = memoizeRecent(
      () => new Headers(this.#jsonRecord(cacheControl, undefined)),
      ADDED_NAMES_COUNT_MAX,
      ADDED_NAMES_LENGTH_MAX,
    );
    return (more, requestId) => {
      if (more === undefined) return alone(requestId);
      const names = Object.keys(more);
      const headers = headersWith(names.join());
      const joined = this.#joined(more) as HeaderRecord;
      for (const name of names) headers.set(name, joined[name]!);
      headers.set('x-request-id', requestId);
      return headers;
    };
  }

  #headersFor(cacheControl: string, more: HeaderRecord | undefined): HeadersFor {
    const record = this.#jsonRecord(cacheControl, more);
    if (!this.#copies) return (requestId) => ({ ...record, 'x-request-id': requestId });
    const headers = new Headers(record);
    return (requestId) => {
      headers.set('x-request-id', requestId);
      return headers;
    };
  }

  #jsonRecord(cacheControl: string, more: HeaderRecord | undefined): HeaderRecord {
    return {
      'content-type': JSON_TYPE,
      'cache-control': cacheControl,
      ...this.#everywhere,
      ...this.#joined(more),
    };
  }

  /** An answer's own `vary` never hides what the whole server varies by. */
  #joined(own: HeaderRecord | undefined): HeaderRecord | undefined {
    const { vary } = this.#everywhere;
    return vary === undefined || own?.vary === undefined ? own : { ...own, vary: `${vary}, ${own.vary}` };
  }
}

function bodyOf({ head, extras }: Refusal, requestId: string): string {
  return `${head}${requestId}"}${extras.members ?? ''}}`;
}

/** The body as bytes that are kept, with the request id written over the last one's. */
function bytesFor(refusal: Refusal): (requestId: string) => Uint8Array<ArrayBuffer> {
  let bytes = new Uint8Array(0);
  let slot = bytes;
  return (requestId) => {
    if (slot.length !== requestId.length) {
      bytes = encodeUtf8(bodyOf(refusal, requestId));
      const at = encodeUtf8(refusal.head).length;
      slot = bytes.subarray(at, at + requestId.length);
    }
    encoder.encodeInto(requestId, slot);
    return bytes;
  };
}
