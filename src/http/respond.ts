/**
 * The only place that makes a `Response`. Every error is the Error object of callback.md and `no-store`, every response
 * names its request, and headers of the whole server (CORS) are merged in here, so no route can be without them.
 */
import { type Answer, type HeaderRecord, Reply } from './answers.ts';
import { Refusal } from './errors.ts';
import { ResponseHeaders } from './hot/prepared-headers.ts';
import { RepeatedRefusal, refusalText } from './hot/repeated-refusal.ts';

/** Status and caching of a success. */
export interface SuccessTerms {
  readonly status: number;
  readonly cacheControl: string;
}

export class Responder {
  readonly #headers: ResponseHeaders;

  /**
   * @param everywhere headers that every response of this server carries, names in lower case
   * @param copies whether this runtime's Response copies Headers and bytes at once
   */
  constructor(everywhere: HeaderRecord, copies: boolean) {
    this.#headers = new ResponseHeaders(everywhere, copies);
  }

  respond(terms: SuccessTerms, outcome: Answer | Refusal, requestId: string): Response {
    if (outcome instanceof Refusal) return this.refusal(outcome, requestId);
    const { body, receipt } = outcome;
    const { status, cacheControl } = terms;
    if (!(body instanceof Reply)) {
      return new Response(body, { status, headers: this.#headers.json(cacheControl, receipt, requestId) });
    }
    return new Response(body.body as BodyInit, {
      status: body.status ?? status,
      headers: this.#headers.other(cacheControl, requestId, body.headers, receipt),
    });
  }

  refusal(refusal: Refusal, requestId: string): Response {
    if (refusal instanceof RepeatedRefusal) {
      const response = refusal.response(requestId, this.#headers);
      if (response !== undefined) return response;
    }
    const headers = this.#headers.json('no-store', refusal.extras.headers, requestId);
    return new Response(refusalText(refusal, requestId), { status: refusal.status, headers });
  }

  /** 204 with headers only: the answer to a CORS preflight. */
  empty(headers: HeaderRecord, requestId: string): Response {
    return new Response(null, { status: 204, headers: this.#headers.other('no-store', requestId, headers) });
  }
}
