/** Rules of query parameters that several modules share. */
import * as v from 'valibot';
import { DATE_TIME_PATTERN, parseDateTime } from '../base/date-time.ts';
import type { ParameterRule } from '../http/query.ts';
import { wholeNumber } from './answer-values.ts';

export const rule = <T>(metadata: ParameterRule) => v.metadata<T, ParameterRule>(metadata);

export const boolean = v.pipe(v.boolean(), rule({ rule: '`true` or `false`' }));

/** One of the listed words. */
export const oneOf = <const T extends readonly string[]>(words: T) =>
  v.pipe(v.picklist(words), rule({ rule: `one of ${words.join(', ')}` }));

/** The pattern for published schemas of an address to call. */
export const ADDRESS_PATTERN = '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]';

/** A whole number in a body. */
export const whole = (min: number, max: number) =>
  v.pipe(wholeNumber(min, max), rule({ rule: `a whole number from ${min} to ${max}` }));

/** A whole number in a query. */
export const integer = (min: number, max: number) =>
  v.pipe(
    wholeNumber(min, max),
    rule({ rule: `a whole number from ${min} to ${max}, written without sign, blank or leading zero` }),
  );

/** Text that a parser accepts. */
export const parsed = <T>(parse: (text: string) => T | undefined) =>
  v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
    const value = parse(dataset.value);
    if (value !== undefined) return value;
    addIssue();
    return NEVER;
  });

/** A time as milliseconds since 1970. */
export const moment = v.pipe(
  v.string(),
  parsed(parseDateTime),
  rule({
    rule: 'an RFC 3339 date-time, the + of an offset written as %2B, or a date (its midnight UTC)',
    jsonSchema: { pattern: DATE_TIME_PATTERN },
  }),
);
