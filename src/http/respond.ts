/**
 * The only file that makes a `Response`. It writes every error as the Error object of callback.md with `no-store`, and adds the
 * request id and the headers of the whole server (CORS) to every response, so no route can omit them.
 */
import { type Answer, BodyPieces, type HeaderRecord, Reply } from './answers.ts';
import { type BodyReceiver, type BodyStreamPorts, BodyStreams } from './body-stream.ts';
import { Refusal } from './errors.ts';
import type { KeptJson } from './hot/kept-json.ts';
import { ResponseHeaders } from './hot/prepared-headers.ts';
import { RepeatedRefusal, refusalText } from './hot/repeated-refusal.ts';

/** Status and `cache-control` of a success. */
export interface SuccessTerms {
  readonly status: number;
  readonly cacheControl: string;
}

const SENT = new WeakMap<Response, Promise<void>>();

/** Resolves when the body has been handed over or given up; undefined for one that is not made while it leaves. */
export const bodySent = (response: Response): Promise<void> | undefined => SENT.get(response);

export class Responder {
  readonly #headers: ResponseHeaders;
  readonly #streams: BodyStreams;

  /**
   * @param everywhere headers that every response of this server carries, names in lower case
   * @param copies whether the runtime's Response copies Headers and bytes in its constructor
   * @param bodies for answers whose bodies are made while they leave
   */
  constructor(everywhere: HeaderRecord, copies: boolean, bodies: BodyStreamPorts) {
    this.#headers = new ResponseHeaders(everywhere, copies);
    this.#streams = new BodyStreams(bodies);
  }

  respond(terms: SuccessTerms, outcome: Answer | Refusal, receiver: BodyReceiver): Response {
    const { requestId } = receiver;
    if (outcome instanceof Refusal) return this.refusal(outcome, requestId);
    const { body, receipt } = outcome;
    const { status, cacheControl } = terms;
    if (!(body instanceof Reply)) {
      return new Response(this.#written(body), {
        status,
        headers: this.#headers.json(cacheControl, receipt, requestId),
      });
    }
    const init = {
      status: body.status ?? status,
      headers: this.#headers.other(cacheControl, requestId, body.headers, receipt),
    };
    if (!(body.body instanceof BodyPieces)) return new Response(body.body as BodyInit | null, init);
    let onEnd = (): void => {};
    const sent = new Promise<void>((resolve) => {
      onEnd = resolve;
    });
    const response = new Response(this.#streams.open(body.body, receiver, onEnd), init);
    SENT.set(response, sent);
    return response;
  }

  #written(body: string | KeptJson): string | Uint8Array<ArrayBuffer> {
    if (typeof body === 'string') return body;
    return this.#headers.copies ? body.bytes() : body.text;
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
