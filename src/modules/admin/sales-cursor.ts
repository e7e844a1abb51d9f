/** The cursor of a page of sales as text: time and serial in base 36, with a hyphen between them. */
import * as v from 'valibot';
import type { SaleCursor } from '../../payment/books.ts';
import { parsed, rule } from '../parameter-rules.ts';

const CURSOR = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})$/;
const BASE = 36;

export const cursorText = ({ timeMs, serial }: SaleCursor): string =>
  `${timeMs.toString(BASE)}-${serial.toString(BASE)}`;

/** @returns undefined for a text that {@link cursorText} does not write */
export function parseCursor(text: string): SaleCursor | undefined {
  const [, time = '', serial = ''] = CURSOR.exec(text) ?? [];
  const cursor = { timeMs: Number.parseInt(time, BASE), serial: Number.parseInt(serial, BASE) };
  const isSafe = Number.isSafeInteger(cursor.timeMs) && Number.isSafeInteger(cursor.serial);
  return isSafe && cursorText(cursor) === text ? cursor : undefined;
}

/** The query parameter. */
export const salesCursor = v.pipe(
  v.string(),
  parsed<SaleCursor>(parseCursor),
  rule({ rule: 'a `next_cursor` of this route', jsonSchema: { maxLength: 23 } }),
);
