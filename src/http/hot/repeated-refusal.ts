/**
 * Refusals that the server sends often, such as the offer for a question that many clients ask. It prepares the response at
 * the second use; most questions come once, so the first use costs nothing extra (bench/offer.ts).
 */
import { encodeUtf8 } from '../../base/codec.ts';
import { Refusal } from '../errors.ts';
import type { MadeResponse, ResponseForm } from '../response-form.ts';
import type { ResponseHeaders } from './prepared-headers.ts';

export class RepeatedRefusal<C extends string = string> extends Refusal<C> {
  /** In the server's one response form. */
  #prepared: ((requestId: string) => unknown) | undefined;
  #wasUsed = false;

  /** The prepared response, or undefined at the first use. */
  response<R extends MadeResponse>(
    requestId: string,
    responseHeaders: ResponseHeaders,
    form: ResponseForm<R>,
  ): R | undefined {
    if (this.#prepared === undefined && this.#wasUsed) this.#prepared = this.#prepare(responseHeaders, form);
    this.#wasUsed = true;
    return this.#prepared?.(requestId) as R | undefined;
  }

  #prepare<R extends MadeResponse>(responseHeaders: ResponseHeaders, form: ResponseForm<R>): (requestId: string) => R {
    const { status } = this;
    const headers = responseHeaders.repeated('no-store', this.extras.headers);
    const body = responseHeaders.copies ? bytesFor(this) : (requestId: string) => refusalText(this, requestId);
    return (requestId) => form.make(body(requestId), status, headers(requestId));
  }
}

/** The body of a refusal: the Error object and the members that the refusal adds beside it. */
export function refusalText(refusal: Refusal, requestId: string): string {
  let text = '';
  for (const piece of refusalPieces(refusal, requestId)) text += piece;
  return text;
}

/** The same in pieces. */
export const refusalPieces = ({ head, extras }: Refusal, requestId: string): readonly string[] => [
  head,
  requestId,
  '"}',
  ...(extras.members ?? []),
  '}',
];

const encoder = new TextEncoder();

/** The body as one array of bytes, in which each call overwrites the request id. */
function bytesFor(refusal: Refusal): (requestId: string) => Uint8Array<ArrayBuffer> {
  let bytes = new Uint8Array(0);
  let slot = bytes;
  return (requestId) => {
    if (slot.length !== requestId.length) {
      bytes = encodeUtf8(refusalText(refusal, requestId));
      const at = encodeUtf8(refusal.head).length;
      slot = bytes.subarray(at, at + requestId.length);
    }
    encoder.encodeInto(requestId, slot);
    return bytes;
  };
}
