/** The query parameters of the operator's routes. */
import * as v from 'valibot';
import type { SaleCursor } from '../../payment/books.ts';
import { parsed, rule } from '../parameter-rules.ts';
import { parseCursor } from './sales-cursor.ts';

export const salesCursor = v.pipe(
  v.string(),
  parsed<SaleCursor>(parseCursor),
  rule({ rule: 'a `next_cursor` of this route', jsonSchema: { maxLength: 23 } }),
);
