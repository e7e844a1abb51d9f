import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberOf, partsOf } from '../../../src/cli/callback/json-parts.ts';

describe('pieces of JSON text', () => {
  it.each([
    ['[]', []],
    ['{ }', []],
    ['[1]', ['1']],
    ['[ 12345678901234567890 , 1e400,-0 ]', ['12345678901234567890', '1e400', '-0']],
    ['["a,]\\"",{"b":[1,2]},[]]', ['"a,]\\""', '{"b":[1,2]}', '[]']],
    ['{"2":1,"1":[2,3]}', ['"2":1', '"1":[2,3]']],
  ])('of %s stand as they were', (json, parts) => {
    expect(partsOf(json)).toEqual(parts);
  });

  it.each([
    ['{"headers":{"x":",\\"body\\":1"},"body" : 1.0 ,"size_bytes":3}', 'body', '1.0'],
    ['{"a":{"body":1},"body":{"n":9007199254740993,"n":2}}', 'body', '{"n":9007199254740993,"n":2}'],
    ['{"bodyguard":1}', 'body', undefined],
    ['{}', 'body', undefined],
  ])('a member of %s is its own text: %s', (json, name, text) => {
    expect(memberOf(json, name)).toBe(text);
  });

  it('are all of any array and object', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 0, max: 2 }), (values, indent) => {
        const json = JSON.stringify(values, null, indent);
        expect(partsOf(json).map((part) => JSON.parse(part))).toEqual(JSON.parse(json));
        for (const [i, value] of values.entries()) {
          const text = memberOf(JSON.stringify({ other: values, [`k${i}`]: value }, null, indent), `k${i}`);
          expect(JSON.parse(text ?? '')).toEqual(JSON.parse(JSON.stringify(value)));
        }
      }),
      { numRuns: 100 },
    );
  });
});
