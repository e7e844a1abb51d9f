/** Chooses the Keccak-256 of a verification: WebAssembly where it passes its self-test at start, else noble's. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeHex } from '../../base/codec.ts';
import { firstLineOf } from '../../base/failure.ts';
import type { Keccak256 } from '../../payment/signature/signature.ts';
import { loadWasmKeccak } from './wasm-keccak.ts';

export interface ChosenKeccak {
  readonly keccak256: Keccak256;
  /** Why noble had to be chosen. */
  readonly notice: string | undefined;
}

/**
 * Lengths tested, bytes: empty, the inputs of a verification, and around the ends of a block of Keccak-256 (136 bytes).
 */
const TESTED_BYTES = [0, 64, 66, 135, 136, 137, 224, 272];

export const NOBLE_KECCAK: ChosenKeccak = { keccak256: keccak_256, notice: undefined };

const nobleBecause = (fault: string): ChosenKeccak => ({
  ...NOBLE_KECCAK,
  notice: `Keccak-256 is noble's, a slower one: hash-wasm ${fault}`,
});

/** What `candidate` gets wrong, or undefined. Hashes each input twice, because the module keeps state between calls. */
function selfTestFailure(candidate: Keccak256): string | undefined {
  for (const byteCount of [...TESTED_BYTES, ...TESTED_BYTES]) {
    const bytes = Uint8Array.from({ length: byteCount }, (_, i) => (i * 167) & 255);
    const [hash, right] = [candidate, keccak_256].map((one) => encodeHex(one(bytes)));
    if (hash !== right) return `${byteCount} bytes: ${hash}, where noble gives ${right}`;
  }
  return undefined;
}

/** Never rejects. @param load the library to try */
export async function chooseKeccak(load = loadWasmKeccak): Promise<ChosenKeccak> {
  try {
    const candidate = await load();
    const wrong = selfTestFailure(candidate);
    return wrong === undefined
      ? { keccak256: candidate, notice: undefined }
      : nobleBecause(`fails its self-test (${wrong})`);
  } catch (failure) {
    return nobleBecause(`cannot be loaded (${firstLineOf(failure)})`);
  }
}
