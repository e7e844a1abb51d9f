/** Pieces of JSON text against what a parser finds there. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elementTexts, memberText } from '../../src/base/json-member.ts';

describe('the text of a member', () => {
  it('is the value that a parser finds at the path, whatever stands around it', () => {
    const name = fc.constantFrom('a', 'b', 'a"', 'é', '');
    const value = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(
        fc.dictionary(name, fc.dictionary(name, value)),
        name,
        name,
        fc.constantFrom(0, 2),
        (object, x, y, indent) => {
          const found = memberText(JSON.stringify(object, null, indent), [x, y]);
          const wanted = Object.hasOwn(object, x) && Object.hasOwn(object[x]!, y) ? object[x]![y] : undefined;
          if (wanted === undefined) expect(found).toBeUndefined();
          else expect(JSON.parse(found!)).toEqual(JSON.parse(JSON.stringify(wanted)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([
    ['{"a":{"b": 1.50 }}', '1.50'],
    ['{ "a" : { "b" : "x\\"}" , "c":1} }', '"x\\"}"'],
    ['{"a":{"b":1,"b":{"c":[1, 2]}}}', '{"c":[1, 2]}'],
    ['{"a":{"b":1},"a":{"c":2}}', undefined],
    ['{"\\u0061":{"b":-0.0e1}}', '-0.0e1'],
    ['{"a":[{"b":1}]}', undefined],
    ['[1]', undefined],
  ])('of %s at a.b is %s: as it was written, the last of repeated names', (text, expected) => {
    expect(memberText(text, ['a', 'b'])).toBe(expected);
  });
});

describe('the texts of elements', () => {
  it('are those of any array', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 0, max: 2 }), (values, indent) => {
        const json = JSON.stringify(values, null, indent);
        expect(elementTexts(json).map((text) => JSON.parse(text))).toEqual(JSON.parse(json));
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['[]', []],
    [' [ ] ', []],
    ['[1]', ['1']],
    ['[ 12345678901234567890 , 1e400,-0 ]', ['12345678901234567890', '1e400', '-0']],
    ['["a,]\\"",{"b":[1,2]},[]]', ['"a,]\\""', '{"b":[1,2]}', '[]']],
    ['{"a":1}', []],
    ['7', []],
  ])('of %s stand as they were', (json, elements) => {
    expect(elementTexts(json)).toEqual(elements);
  });
});
