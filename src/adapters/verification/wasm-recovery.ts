/** libsecp256k1 as WebAssembly: the module beside this file, which `npm run libsecp256k1` makes from the library's sources. */
import { readFile } from 'node:fs/promises';

/** libsecp256k1: returns the uncompressed key, or null when there is none. Throws for input that it cannot read. */
export type Libsecp256k1 = (digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1) => Uint8Array | null;

/** The addresses of inputs and output in the module's memory, and the recovery (`tools/libsecp256k1/module.c`). */
interface Secp256k1Exports {
  readonly memory: WebAssembly.Memory;
  readonly digest_input: WebAssembly.Global<'i32'>;
  readonly signature_input: WebAssembly.Global<'i32'>;
  readonly public_key_output: WebAssembly.Global<'i32'>;
  /** @returns 1, or 0 when there is no key */
  recover(recovery: number): number;
}

const DIGEST_BYTES = 32;
const SIGNATURE_BYTES = 64;
const PUBLIC_KEY_BYTES = 65;

const FILE = new URL('./libsecp256k1.wasm', import.meta.url);

/** Rejects when the module is missing or invalid. */
export async function loadWasmRecovery(): Promise<Libsecp256k1> {
  const { instance } = await WebAssembly.instantiate(await readFile(FILE));
  const { memory, recover, ...at } = instance.exports as unknown as Secp256k1Exports;
  const viewOf = ({ value }: WebAssembly.Global<'i32'>, byteCount: number): Uint8Array =>
    new Uint8Array(memory.buffer, value, byteCount);
  const digestInput = viewOf(at.digest_input, DIGEST_BYTES);
  const signatureInput = viewOf(at.signature_input, SIGNATURE_BYTES);
  const key = viewOf(at.public_key_output, PUBLIC_KEY_BYTES);
  return (digest, rs, recovery) => {
    digestInput.set(digest);
    signatureInput.set(rs);
    return recover(recovery) === 1 ? key.slice() : null;
  };
}
