/** Which Keccak-256 is chosen: WebAssembly where it proves itself, noble wherever there is doubt. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseKeccak } from '../../../src/adapters/verification/keccak.ts';
import { loadWasmKeccak } from '../../../src/adapters/verification/wasm-keccak.ts';

const wasm = await loadWasmKeccak();

describe('the choice of a Keccak-256', () => {
  it('is WebAssembly here, which gives what noble gives', async () => {
    const { keccak256, notice } = await chooseKeccak();
    expect(notice).toBeUndefined();
    expect(keccak256).not.toBe(keccak_256);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(Buffer.from(keccak256(bytes)).equals(keccak_256(bytes))).toBe(true);
      }),
    );
  });

  it('gives bytes that the next call leaves alone', async () => {
    const one = wasm(Uint8Array.of(1));
    const before = Uint8Array.from(one);
    wasm(Uint8Array.of(2));
    expect(one).toEqual(before);
  });

  it('is noble with a notice where the package cannot be loaded', async () => {
    const { keccak256, notice } = await chooseKeccak(() => Promise.reject(new Error('no WebAssembly\nmore')));
    expect(keccak256).toBe(keccak_256);
    expect(notice).toBe("Keccak-256 is noble's, a slower one: hash-wasm cannot be loaded (no WebAssembly)");
  });

  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['is another hash', (bytes) => wasm(Uint8Array.of(...bytes, 1))],
    ['errs at the end of a block', (bytes) => wasm(bytes.length === 136 ? new Uint8Array(136) : bytes)],
    [
      'keeps what was hashed before',
      (
        (count) => (bytes: Uint8Array) =>
          wasm(count++ > 8 ? new Uint8Array(1) : bytes)
      )(0),
    ],
  ])('is noble with a notice where the other %s', async (_, wrong) => {
    const { keccak256, notice } = await chooseKeccak(async () => wrong);
    expect(keccak256).toBe(keccak_256);
    expect(notice).toMatch(/hash-wasm fails its self-test \(\d+ bytes: .+, where noble gives .+\)$/);
  });
});
