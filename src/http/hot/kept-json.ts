/**
 * JSON texts of answers whose long beginning is kept between requests, such as a page of records, and whose end is written for
 * each: the credits that it cost, the time. On Bun, whose Response copies bytes, such an answer leaves as bytes: joining two
 * texts and encoding the whole would cost a third of a page (bench/data-api.ts).
 */
import { encodeUtf8 } from '../../base/codec.ts';

/** A text that many answers begin with, encoded once. */
export class KeptBeginning {
  readonly text: string;
  #bytes: Uint8Array | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get bytes(): Uint8Array {
    this.#bytes ??= encodeUtf8(this.text);
    return this.#bytes;
  }
}

const encoder = new TextEncoder();
/** At most 3 bytes a character of text. */
const UTF8_BYTES_MAX = 3;
/** Buffer for most answers; a longer one gets its own. */
const scratch = new Uint8Array(131_072);

export class KeptJson {
  readonly #beginning: KeptBeginning;
  readonly #end: string;

  constructor(beginning: KeptBeginning, end: string) {
    this.#beginning = beginning;
    this.#end = end;
  }

  get text(): string {
    return this.#beginning.text + this.#end;
  }

  /** {@link text} as UTF-8, in a buffer that the next call may overwrite. */
  bytes(): Uint8Array<ArrayBuffer> {
    const { bytes } = this.#beginning;
    const room = bytes.length + this.#end.length * UTF8_BYTES_MAX;
    const whole = room > scratch.length ? new Uint8Array(room) : scratch;
    whole.set(bytes);
    const { written } = encoder.encodeInto(this.#end, whole.subarray(bytes.length));
    return whole.subarray(0, bytes.length + written);
  }
}
