/** CRC-32: the runtimes agree, and a sum goes on where another ended. */
import { crc32 as crc32OfZlib } from 'node:zlib';
import { expect, it } from 'vitest';
import { crc32 } from '../../src/base/crc32.ts';

it('has the check value of its definition', () => {
  expect(crc32('123456789')).toBe(0xcbf4_3926);
});

it.each(['', 'abc', 'é€😀', '\ud800', new Uint8Array([0, 255, 128]), new Uint8Array(70_000).fill(7)])(
  'is that of zlib, from nothing and after other bytes (%#)',
  (data) => {
    expect(crc32(data)).toBe(crc32OfZlib(data));
    expect(crc32(data, 12_345)).toBe(crc32OfZlib(data, 12_345));
  },
);

it('goes on where another sum ended', () => {
  expect(crc32('456789', crc32('123'))).toBe(crc32('123456789'));
});
