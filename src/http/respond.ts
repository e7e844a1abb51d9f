/**
 * The only file that makes a `Response`. It writes every error as the Error object of callback.md with `no-store`, and adds the
 * request id and the headers of the whole server (CORS) to every response, so no route can omit them.
 */
import { type Answer, type HeaderRecord, Reply } from './answers.ts';
import { Refusal } from './errors.ts';
import { ResponseHeaders } from './hot/prepared-headers.ts';
import { RepeatedRefusal, refusalText } from './hot/repeated-refusal.ts';

/** Status and `cache-control` of a success. */
export interface SuccessTerms {
  readonly status: number;
  readonly cacheControl: string;
}

export class Responder {
  readonly #headers: ResponseHeaders;

  /**
   * @param everywhere headers that every response of this server carries, names in lower case
   * @param copies whether the runtime's Response copies Headers and bytes in its constructor
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

  /** A 204 without a body: the answer to a CORS preflight. */
  empty(headers: HeaderRecord, requestId: string): Response {
    return new Response(null, { status: 204, headers: this.#headers.other('no-store', requestId, headers) });
  }
}
