/**
 * Response headers that are prepared once and differ only in the request id. Their form depends on the runtime. Bun's Response
 * copies a Headers object and bytes faster than it reads a record and a string; each is a measurable part of an unpaid offer
 * (bench/offer.ts). On Node the adapter accepts records; it reads bytes so late that the next request may already have
 * overwritten them.
 */
import { memoizeRecent } from '../../base/memoize-recent.ts';
import type { HeaderRecord } from '../answers.ts';

/** Values of `cache-control`, all from declarations. */
const CACHE_CONTROL_COUNT_MAX = 16;
const CACHE_CONTROL_LENGTH_MAX = 100;

/** Distinct sets of header names that answers add; ways in and handlers have closed lists of them. */
const ADDED_NAMES_COUNT_MAX = 32;
const ADDED_NAMES_LENGTH_MAX = 200;

export type PreparedHeaders = Headers | HeaderRecord;

/** Returns the headers of one JSON response. On Bun the object is shared: the next call overwrites it. */
export type HeadersFor = (requestId: string) => PreparedHeaders;
type JsonHeadersFor = (more: HeaderRecord | undefined, requestId: string) => PreparedHeaders;

/** Makes the headers of every response of this server. */
export class ResponseHeaders {
  readonly #everywhere: HeaderRecord;
  /** Whether the runtime's Response copies Headers and bytes in its constructor, as Bun's does. */
  readonly copies: boolean;
  /** Headers of JSON by `cache-control`. */
  readonly #jsonHeaders: (cacheControl: string) => JsonHeadersFor;
  /** Headers of replies with shared frozen headers, by those and by `cache-control`. */
  readonly #shared = new WeakMap<HeaderRecord, Map<string, HeadersFor>>();

  /** @param everywhere headers that every response of this server carries, names in lower case */
  constructor(everywhere: HeaderRecord, copies: boolean) {
    this.#everywhere = everywhere;
    this.copies = copies;
    const headersOf = (cacheControl: string): JsonHeadersFor => this.#jsonHeadersFor(cacheControl);
    this.#jsonHeaders = memoizeRecent(headersOf, CACHE_CONTROL_COUNT_MAX, CACHE_CONTROL_LENGTH_MAX);
  }

  json(cacheControl: string, more: HeaderRecord | undefined, requestId: string): PreparedHeaders {
    return this.#jsonHeaders(cacheControl)(more, requestId);
  }

  /** Prepares headers of JSON responses that all have the same additions. */
  repeated(cacheControl: string, more: HeaderRecord | undefined): HeadersFor {
    return this.#preparedFrom(this.#jsonRecord(cacheControl, more));
  }

  #preparedFrom(record: HeaderRecord): HeadersFor {
    if (!this.copies) return (requestId) => ({ ...record, 'x-request-id': requestId });
    const headers = new Headers(record);
    return (requestId) => {
      headers.set('x-request-id', requestId);
      return headers;
    };
  }

  /** Headers of a body with its own media type, and of a receipt. Frozen `own` headers, which many replies share, are prepared. */
  other(cacheControl: string, requestId: string, own: HeaderRecord, receipt?: HeaderRecord): PreparedHeaders {
    if (receipt === undefined && Object.isFrozen(own)) return this.#sharedBy(own, cacheControl)(requestId);
    return { ...this.#recordOf(cacheControl, own), 'x-request-id': requestId, ...this.#joined(receipt) };
  }

  #sharedBy(own: HeaderRecord, cacheControl: string): HeadersFor {
    let byCacheControl = this.#shared.get(own);
    if (byCacheControl === undefined) {
      byCacheControl = new Map();
      this.#shared.set(own, byCacheControl);
    }
    let headersFor = byCacheControl.get(cacheControl);
    if (headersFor === undefined) {
      headersFor = this.#preparedFrom(this.#recordOf(cacheControl, own));
      byCacheControl.set(cacheControl, headersFor);
    }
    return headersFor;
  }

  #jsonHeadersFor(cacheControl: string): JsonHeadersFor {
    const alone = this.repeated(cacheControl, undefined);
    if (!this.copies) {
      return (more, requestId) =>
        more === undefined ? alone(requestId) : { ...this.#jsonRecord(cacheControl, more), 'x-request-id': requestId };
    }
    // One object for each list of names, so that each response overwrites everything that the previous one added.
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

  #jsonRecord(cacheControl: string, more: HeaderRecord | undefined): HeaderRecord {
    return { 'content-type': 'application/json', ...this.#recordOf(cacheControl, more) };
  }

  #recordOf(cacheControl: string, more: HeaderRecord | undefined): HeaderRecord {
    return { 'cache-control': cacheControl, ...this.#everywhere, ...this.#joined(more) };
  }

  /** Joins an answer's `vary` with that of the whole server, so that neither is lost. */
  #joined(own: HeaderRecord | undefined): HeaderRecord | undefined {
    const { vary } = this.#everywhere;
    return vary === undefined || own?.vary === undefined ? own : { ...own, vary: `${vary}, ${own.vary}` };
  }
}
