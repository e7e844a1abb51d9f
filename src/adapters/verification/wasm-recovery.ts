/**
 * libsecp256k1 as WebAssembly, from the package `tiny-secp256k1`, called without the package's own JavaScript: its `recover` first
 * asks whether r is the x of a point, which takes a second square root and a tenth of the time. The library answers that itself.
 */
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** libsecp256k1: the uncompressed key, or null when there is none. Throws for what it cannot read. */
export type Libsecp256k1 = (digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1) => Uint8Array | null;

/** What we use of the module: where its inputs and outputs lie in its memory, and the recovery. */
interface Secp256k1Exports {
  readonly memory: WebAssembly.Memory;
  readonly HASH_INPUT: WebAssembly.Global<'i32'>;
  readonly SIGNATURE_INPUT: WebAssembly.Global<'i32'>;
  readonly PUBLIC_KEY_INPUT: WebAssembly.Global<'i32'>;
  /** Writes the key over PUBLIC_KEY_INPUT. @returns 1, or another number when there is no key */
  recover(outputLength: number, recovery: number): number;
}

const HASH_BYTES = 32;
const SIGNATURE_BYTES = 64;
const PUBLIC_KEY_BYTES = 65;

const IMPORTS = {
  './rand.js': { generateInt32: () => randomInt(2 ** 32) | 0 },
  './validate_error.js': {
    throwError(code: number): never {
      throw new TypeError(`libsecp256k1 refuses its input: ${code}`);
    },
  },
};

/** Rejects when the package or its module is not there. */
export async function loadWasmRecovery(): Promise<Libsecp256k1> {
  const file = new URL('secp256k1.wasm', import.meta.resolve('tiny-secp256k1'));
  const { instance } = await WebAssembly.instantiate(await readFile(file), IMPORTS);
  const { memory, recover, ...at } = instance.exports as unknown as Secp256k1Exports;
  const viewOf = ({ value }: WebAssembly.Global<'i32'>, byteCount: number): Uint8Array =>
    new Uint8Array(memory.buffer, value, byteCount);
  const digestInput = viewOf(at.HASH_INPUT, HASH_BYTES);
  const signatureInput = viewOf(at.SIGNATURE_INPUT, SIGNATURE_BYTES);
  const key = viewOf(at.PUBLIC_KEY_INPUT, PUBLIC_KEY_BYTES);
  return (digest, rs, recovery) => {
    digestInput.set(digest);
    signatureInput.set(rs);
    return recover(PUBLIC_KEY_BYTES, recovery) === 1 ? key.slice() : null;
  };
}
