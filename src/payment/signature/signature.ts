/**
 * Recovers the signer of a digest: ECDSA over secp256k1 with public key recovery, as the token contract does it
 * (x402-v2 §4.3): 65 bytes r, s, v; s in the lower half of the order, v exactly 27 or 28. Recovery alone is malleable: it
 * accepts the high-s twin that the contract refuses. The ranges are therefore checked here, whatever library recovers.
 *
 * Cost: most of a paid request (`bench/signatures.ts`); a forged signature costs the same as a good one.
 * `adapters/verification/recovery.ts` chooses the library. This file loads none, because a start with threads needs none here.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';

export const SIGNATURE_BYTES = 65;
export const SCALAR_BYTES = 32;

export type RecoveryFault = 'length' | 'v' | 'r-range' | 's-range' | 'no-key';

/** The signer's `address` (20 bytes), or why there is none. */
export type Recovered =
  | { readonly ok: true; readonly address: Uint8Array }
  | { readonly ok: false; readonly reason: RecoveryFault };

/** @param digest 32 bytes; @param signature r, s, v. Never throws. */
export type Recover = (digest: Uint8Array, signature: Uint8Array) => Recovered;

/**
 * The uncompressed public key (65 bytes, first byte 4) that signed `digest`, or undefined when there is none.
 * @param signature at least 64 bytes: r and s, both in range; @param recovery 0 or 1, the parity of the point's y
 */
export type PublicKeyRecovery = (digest: Uint8Array, signature: Uint8Array, recovery: 0 | 1) => Uint8Array | undefined;

/** Keccak-256 of any bytes: 32 bytes that belong to the caller. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array;

function bigEndian(value: bigint): Uint8Array {
  const bytes = new Uint8Array(SCALAR_BYTES);
  for (let i = SCALAR_BYTES - 1, rest = value; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 255n);
  return bytes;
}

/** Order of the curve's group: `n` of secp256k1. */
const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;
const ORDER_BYTES = bigEndian(ORDER);
/** The largest s that the contract accepts: floor(n / 2). */
const HALF_ORDER_BYTES = bigEndian(ORDER >> 1n);

/** Compares 32 big-endian bytes at `from` with `other`: negative, zero or positive. */
function compareScalar(bytes: Uint8Array, from: number, other: Uint8Array): number {
  for (let i = 0; i < SCALAR_BYTES; i++) {
    const difference = bytes[from + i]! - other[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

function isZeroScalar(bytes: Uint8Array, from: number): boolean {
  for (let i = 0; i < SCALAR_BYTES; i++) if (bytes[from + i] !== 0) return false;
  return true;
}

/** Why the contract refuses the signature by its form alone; undefined when the form is right. Costs next to nothing. */
export function formFault(signature: Uint8Array): RecoveryFault | undefined {
  if (signature.length !== SIGNATURE_BYTES) return 'length';
  const v = signature[64]!;
  if (v !== 27 && v !== 28) return 'v';
  if (isZeroScalar(signature, 0) || compareScalar(signature, 0, ORDER_BYTES) >= 0) return 'r-range';
  if (isZeroScalar(signature, 32) || compareScalar(signature, 32, HALF_ORDER_BYTES) > 0) return 's-range';
  return undefined;
}

/** Wraps a library's recovery in the contract's rules. @param keccak256 noble's unless given */
export function checkedRecovery(publicKeyOf: PublicKeyRecovery, keccak256: Keccak256 = keccak_256): Recover {
  return (digest, signature) => {
    const reason = formFault(signature);
    if (reason !== undefined) return { ok: false, reason };
    const key = publicKeyOf(digest, signature, signature[64] === 27 ? 0 : 1);
    if (key === undefined) return { ok: false, reason: 'no-key' };
    return { ok: true, address: keccak256(key.subarray(1)).subarray(12) };
  };
}
