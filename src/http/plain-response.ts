/** A response as data, for a listener that writes to the connection itself: a Fetch `Response` in between would cost more. */
import type { HeaderRecord } from './answers.ts';

/** What a response may carry; a stream is read once, a piece at a time. */
export type ResponseBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;

export class PlainResponse {
  readonly body: ResponseBody;
  readonly status: number;
  readonly headers: HeaderRecord;

  constructor(body: ResponseBody, status: number, headers: HeaderRecord) {
    this.body = body;
    this.status = status;
    this.headers = headers;
  }
}
