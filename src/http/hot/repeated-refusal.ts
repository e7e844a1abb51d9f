/**
 * Refusals that go out again and again: the offer for a question that many clients ask. From the second time on their
 * response is prepared; most questions are asked once, so the first time costs nothing extra. bench/offer.ts measures it.
 */
import { encodeUtf8 } from '../../base/codec.ts';
import { Refusal } from '../errors.ts';
import type { ResponseHeaders } from './prepared-headers.ts';

export class RepeatedRefusal<C extends string = string> extends Refusal<C> {
  #prepared: ((requestId: string) => Response) | undefined;
  #wasUsed = false;

  /** The response, or undefined for one that was not sent before. */
  response(requestId: string, responseHeaders: ResponseHeaders): Response | undefined {
    if (this.#prepared === undefined && this.#wasUsed) this.#prepared = this.#prepare(responseHeaders);
    this.#wasUsed = true;
    return this.#prepared?.(requestId);
  }

  #prepare(responseHeaders: ResponseHeaders): (requestId: string) => Response {
    const { status } = this;
    const headers = responseHeaders.repeated('no-store', this.extras.headers);
    const body = responseHeaders.copies ? bytesFor(this) : (requestId: string) => refusalText(this, requestId);
    return (requestId) => new Response(body(requestId), { status, headers: headers(requestId) });
  }
}

/** The body of a refusal: the Error object and what the refusal adds beside it. */
export function refusalText({ head, extras }: Refusal, requestId: string): string {
  return `${head}${requestId}"}${extras.members ?? ''}}`;
}

const encoder = new TextEncoder();

/** The body as bytes that are kept; each request id is written over the last one. */
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
