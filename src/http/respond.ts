/**
 * The only file that makes a response, in the form of the server's listener. It writes every error as the Error object of
 * callback.md with `no-store`, and adds the request id and the headers of the whole server (CORS) to every response, so no
 * route can omit them.
 */
import { type Answer, BodyPieces, type HeaderRecord, Reply } from './answers.ts';
import { type BodyReceiver, type BodyStreamPorts, BodyStreams } from './body-stream.ts';
import { Refusal } from './errors.ts';
import type { KeptJson } from './hot/kept-json.ts';
import { ResponseHeaders } from './hot/prepared-headers.ts';
import { RepeatedRefusal, refusalPieces, refusalText } from './hot/repeated-refusal.ts';
import { SharedBytes } from './hot/shared-bytes.ts';
import type { ResponseBody } from './plain-response.ts';
import type { MadeResponse, ResponseForm } from './response-form.ts';

/** Status and `cache-control` of a success. */
export interface SuccessTerms {
  readonly status: number;
  readonly cacheControl: string;
}

const SENT = new WeakMap<object, Promise<void>>();

/** Resolves when the body has been handed over or given up; undefined for a body that is not made while it is sent. */
export const bodySent = (response: object): Promise<void> | undefined => SENT.get(response);

export class Responder<R extends MadeResponse = Response> {
  readonly #form: ResponseForm<R>;
  readonly #headers: ResponseHeaders;
  readonly #streams: BodyStreams;
  readonly #sharedBytes = new SharedBytes();

  /**
   * @param everywhere headers that every response of this server carries, names in lower case
   * @param bodies for answers whose bodies are made while they are sent
   */
  constructor(everywhere: HeaderRecord, form: ResponseForm<R>, bodies: BodyStreamPorts) {
    this.#form = form;
    this.#headers = new ResponseHeaders(everywhere, form.copies);
    this.#streams = new BodyStreams(bodies);
  }

  respond(terms: SuccessTerms, outcome: Answer | Refusal, receiver: BodyReceiver): R {
    const { requestId } = receiver;
    if (outcome instanceof Refusal) return this.refusal(outcome, requestId);
    const { body, receipt } = outcome;
    const { status, cacheControl } = terms;
    if (!(body instanceof Reply)) {
      return this.#form.make(this.#written(body), status, this.#headers.json(cacheControl, receipt, requestId));
    }
    const replyStatus = body.status ?? status;
    const headers = this.#headers.other(cacheControl, requestId, body.headers, receipt);
    if (!(body.body instanceof BodyPieces)) return this.#form.make(body.body as ResponseBody, replyStatus, headers);
    const { promise, resolve } = Promise.withResolvers<void>();
    const response = this.#form.make(this.#streams.open(body.body, receiver, resolve), replyStatus, headers);
    SENT.set(response, promise);
    return response;
  }

  #written(body: string | KeptJson): string | Uint8Array<ArrayBuffer> {
    if (typeof body === 'string') return body;
    return this.#headers.copies ? body.bytes() : body.text;
  }

  refusal(refusal: Refusal, requestId: string): R {
    if (refusal instanceof RepeatedRefusal) {
      const response = refusal.response(requestId, this.#headers, this.#form);
      if (response !== undefined) return response;
    }
    const headers = this.#headers.json('no-store', refusal.extras.headers, requestId);
    return this.#form.make(this.#refused(refusal, requestId), refusal.status, headers);
  }

  #refused(refusal: Refusal, requestId: string): string | Uint8Array<ArrayBuffer> {
    const isLong = refusal.extras.members !== undefined;
    if (!isLong || !this.#headers.copies) return refusalText(refusal, requestId);
    return this.#sharedBytes.of(refusalPieces(refusal, requestId));
  }

  /** A 204 without a body: the answer to a CORS preflight. */
  empty(headers: HeaderRecord, requestId: string): R {
    return this.#form.make(null, 204, this.#headers.other('no-store', requestId, headers));
  }
}
