/** The query parameters of the operator's routes. */
import * as v from 'valibot';
import { parseDateTime } from '../../base/date-time.ts';
import type { SaleCursor } from '../../payment/books.ts';
import { rule } from '../parameter-rules.ts';
import { parseCursor } from './sales-cursor.ts';

/** Text that a parser accepts. */
export const parsed = <T>(parse: (text: string) => T | undefined) =>
  v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
    const value = parse(dataset.value);
    if (value !== undefined) return value;
    addIssue();
    return NEVER;
  });

/** A time as milliseconds since 1970. */
export const since = v.pipe(
  v.string(),
  parsed(parseDateTime),
  rule({ rule: 'an RFC 3339 date-time, or a date (its midnight UTC)', jsonSchema: { minLength: 10 } }),
);

export const salesCursor = v.pipe(
  v.string(),
  parsed<SaleCursor>(parseCursor),
  rule({ rule: 'a `next_cursor` of this route', jsonSchema: { maxLength: 23 } }),
);
