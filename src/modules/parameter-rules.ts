/** Rules of query parameters that several modules share. */
import * as v from 'valibot';
import type { ParameterRule } from '../http/query.ts';

export const rule = <T>(metadata: ParameterRule) => v.metadata<T, ParameterRule>(metadata);

export const boolean = v.pipe(v.boolean(), rule({ rule: '`true` or `false`' }));

export function integer(min: number, max: number) {
  return v.pipe(
    v.number(),
    v.integer(),
    v.minValue(min),
    v.maxValue(max),
    rule({ rule: `a whole number from ${min} to ${max}, written without sign, blank or leading zero` }),
  );
}
