/** JSON from outside. */
import { expect, it } from 'vitest';
import { objectOf, parseJson } from '../../src/base/json-value.ts';

it.each(['', '{', 'undefined', "{'a':1}", '1 2'])('%j is no JSON text and has no value', (text) => {
  expect(parseJson(text)).toBeUndefined();
});

it('null, false and 0 are values', () => {
  expect(['null', 'false', '0'].map(parseJson)).toEqual([null, false, 0]);
});

it.each(['null', '[]', '"a"', '1', 'true'])('%s is no object', (text) => {
  expect(objectOf(parseJson(text))).toBeUndefined();
});

it('a key named `__proto__` is a member like others', () => {
  const found = objectOf(parseJson('{"__proto__":{"a":1}}'));
  expect(Object.keys(found!)).toEqual(['__proto__']);
  expect(found!.a).toBeUndefined();
});
