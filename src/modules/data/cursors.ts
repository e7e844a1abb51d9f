/**
 * Cursors (siblings §4): a position by order key and a code that binds it to its question, as base64url. The code is a keyed
 * digest (HMAC-SHA-256, RFC 2104, the first half), so a cursor of another route or of other filters, and an altered one, never
 * passes.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { Hmac } from '../../base/digest.ts';
import { POSITION_BYTES_MAX } from '../../catalogue/limits.ts';
import { defineErrors, type Refusal, refuse } from '../../http/errors.ts';
import { rule } from '../parameter-rules.ts';

export const { INVALID_CURSOR } = defineErrors({ INVALID_CURSOR: { status: 400 } });

const CODE_BYTES = 16;
/** Siblings §4. */
const CURSOR_LENGTH_MAX = 300;

/** The label under which the cursors' key is derived from the state key. */
const PURPOSE = 'paygrade cursors';

export const cursor = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]+$/),
  v.maxLength(CURSOR_LENGTH_MAX),
  rule({ rule: '`next_cursor` of an earlier answer to the same question', code: INVALID_CURSOR }),
);

export const badCursor = (): Refusal<'INVALID_CURSOR'> =>
  refuse(INVALID_CURSOR, '`cursor` must be `next_cursor` of an earlier answer to the same question');

/** The text that a cursor is bound to: an operation with all of its filters. */
export type Question = string;

/** Parameters that are not part of the question. */
const OF_THE_PAGE: readonly string[] = ['cursor', 'limit'];

/**
 * The text of a question.
 * @param input its query as decoded
 * @param params of its path
 */
export function questionOf(operation: string, input: object, params: Readonly<Record<string, string>>): Question {
  const filters = [...Object.entries(input), ...Object.entries(params)].filter(([name]) => !OF_THE_PAGE.includes(name));
  if (filters.length > 1) filters.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([operation, filters]);
}

export class Cursors {
  readonly #stateKey: Uint8Array;
  /** Made at the first use. */
  #hmac: Hmac | undefined;
  /** Scratch: code and position of the cursor being written. */
  readonly #bytes = Buffer.alloc(CODE_BYTES + POSITION_BYTES_MAX);
  /** The last cursor that was read: a request's cursor is checked first and used later, in the same turn. */
  #last: { readonly question: Question; readonly text: string; readonly position: Uint8Array } | undefined;

  /** @param stateKey 32 secret bytes, the same after a restart */
  constructor(stateKey: Uint8Array) {
    this.#stateKey = stateKey;
  }

  /** @param position at most POSITION_BYTES_MAX long */
  textOf(question: Question, position: Uint8Array): string {
    const bytes = this.#bytes;
    bytes.write(this.#codeOf(question, position), 0, CODE_BYTES, 'latin1');
    bytes.set(position, CODE_BYTES);
    return bytes.toString('base64url', 0, CODE_BYTES + position.length);
  }

  /** The position in a cursor's text; undefined for one that this server did not issue for this question. */
  positionIn(question: Question, text: string): Uint8Array | undefined {
    if (this.#last?.text === text && this.#last.question === question) return this.#last.position;
    const position = this.#read(question, text);
    if (position !== undefined) this.#last = { question, text, position };
    return position;
  }

  #read(question: Question, text: string): Uint8Array | undefined {
    const bytes = Buffer.from(text, 'base64url');
    // Several texts decode to the same bytes (unused bits, ignored characters); only the one that we write passes.
    if (bytes.length < CODE_BYTES || bytes.toString('base64url') !== text) return undefined;
    const position = new Uint8Array(bytes.subarray(CODE_BYTES));
    const code = Buffer.from(this.#codeOf(question, position), 'latin1');
    return timingSafeEqual(code.subarray(0, CODE_BYTES), bytes.subarray(0, CODE_BYTES)) ? position : undefined;
  }

  /** The whole digest, which begins with the code. */
  #codeOf(question: Question, position: Uint8Array): string {
    this.#hmac ??= new Hmac(createHmac('sha256', this.#stateKey).update(PURPOSE).digest());
    return this.#hmac.of(`${question}\0`, position);
  }
}
