/**
 * Keccak-256 as WebAssembly, from the package `hash-wasm`: a block takes a sixth of noble's time (`bench/signatures.ts`).
 */
import { createKeccak } from 'hash-wasm';
import type { Keccak256 } from '../../payment/signature/signature.ts';

/** Rejects when its module cannot be compiled. */
export async function loadWasmKeccak(): Promise<Keccak256> {
  const hash = await createKeccak(256);
  return (bytes) => hash.init().update(bytes).digest('binary');
}
