/** The token in an Authorization header (decisions §5; reliability 186, 187). */
import { expect, it } from 'vitest';
import { bearerToken } from '../../src/access/bearer-token.ts';

it.each([
  [null, 'MISSING_AUTHORIZATION'],
  ['', 'INVALID_AUTHORIZATION'],
  ['Basic eA==', 'INVALID_AUTHORIZATION'],
  ['Bearerx', 'INVALID_AUTHORIZATION'],
  ['Bearer\tx', 'INVALID_AUTHORIZATION'],
  ['Bearer x, Bearer x', 'INVALID_AUTHORIZATION'],
  ['Bearer x,', 'INVALID_AUTHORIZATION'],
  ['x', 'INVALID_AUTHORIZATION'],
  [' Bearer x', 'INVALID_AUTHORIZATION'],
])('Authorization %j is %s (reliability 186, 187)', (header, code) => {
  expect(bearerToken(header)).toMatchObject({ code });
});

it.each([
  ['Bearer', ''],
  ['Bearer ', ''],
  ['Bearer x', 'x'],
  ['bearer x', 'x'],
  ['BEARER   x', 'x'],
  ['Bearer x y', 'x y'],
])('Authorization %j carries the token %j (reliability 186)', (header, token) => {
  expect(bearerToken(header)).toBe(token);
});
