/**
 * Cursors (siblings §4): a position by order key and a code that binds it to its question, as base64url. The code is a keyed
 * digest (HMAC-SHA-256, RFC 2104, the first half), so a cursor of another route, of other filters, or one that was altered differs
 * from every one that this server gave out.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { defineErrors, type Refusal, refuse } from '../../http/errors.ts';
import { rule } from '../parameter-rules.ts';

export const { INVALID_CURSOR } = defineErrors({ INVALID_CURSOR: { status: 400 } });

const CODE_BYTES = 16;
/** Siblings §4. */
const CURSOR_LENGTH_MAX = 300;

/** The label under which the cursors' key comes from the state's. */
const PURPOSE = 'paygrade cursors';

export const cursor = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]+$/),
  v.maxLength(CURSOR_LENGTH_MAX),
  rule({ rule: '`next_cursor` of an earlier answer to the same question', code: INVALID_CURSOR }),
);

export const badCursor = (): Refusal<'INVALID_CURSOR'> =>
  refuse(INVALID_CURSOR, '`cursor` must be `next_cursor` of an earlier answer to the same question');

/** What a cursor is bound to: an operation with all of its filters, by one text. */
export type Question = string;

/** The text of a question. @param filters its filters as decoded, with the path's parameters, without cursor and limit */
export const questionOf = (operation: string, filters: Readonly<Record<string, unknown>>): Question =>
  JSON.stringify([operation, Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))]);

export class Cursors {
  readonly #key: Uint8Array;
  /** The last one that was read: a request's cursor is checked first and used later, in the same turn. */
  #last: { readonly question: Question; readonly text: string; readonly position: Uint8Array } | undefined;

  /** @param stateKey 32 secret bytes, the same after a restart */
  constructor(stateKey: Uint8Array) {
    this.#key = createHmac('sha256', stateKey).update(PURPOSE).digest();
  }

  textOf(question: Question, position: Uint8Array): string {
    return Buffer.concat([this.#codeOf(question, position), position]).toString('base64url');
  }

  /** The position in a cursor's text; undefined for one that this server did not give out for this question. */
  positionIn(question: Question, text: string): Uint8Array | undefined {
    if (this.#last?.text === text && this.#last.question === question) return this.#last.position;
    const position = this.#read(question, text);
    if (position !== undefined) this.#last = { question, text, position };
    return position;
  }

  #read(question: Question, text: string): Uint8Array | undefined {
    const bytes = Buffer.from(text, 'base64url');
    // Other texts decode to the same bytes: unused bits, left-out characters.
    if (bytes.length < CODE_BYTES || bytes.toString('base64url') !== text) return undefined;
    const position = new Uint8Array(bytes.subarray(CODE_BYTES));
    return timingSafeEqual(this.#codeOf(question, position), bytes.subarray(0, CODE_BYTES)) ? position : undefined;
  }

  #codeOf(question: Question, position: Uint8Array): Uint8Array {
    return createHmac('sha256', this.#key)
      .update(question)
      .update('\0')
      .update(position)
      .digest()
      .subarray(0, CODE_BYTES);
  }
}
