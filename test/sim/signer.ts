/**
 * Payers and their signatures. Most runs use marks instead of signatures: a mark carries the signer's address and a checksum
 * over the digest, and `recoverMark` reads it in a microsecond, where recovering a public key takes a millisecond. What a
 * mark does not try is elliptic curves; those are tried by a share of the runs, with keys and `recoverWithNoble`.
 */
import { crc32 } from 'node:zlib';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeHex } from '../../src/base/codec.ts';
import type { Authorization } from '../../src/payment/protocol/authorization.ts';
import { recoverWithNoble } from '../../src/payment/signature/noble-recovery.ts';
import { type Recover, SIGNATURE_BYTES } from '../../src/payment/signature/signature.ts';
import { authorizationDigest } from '../payment/fixture.ts';
import type { Chance } from '../support/chance.ts';

export interface Payer {
  /** Lower case. */
  readonly address: string;
  sign(authorization: Authorization): Uint8Array;
}

export interface Signing {
  newPayer(): Payer;
  readonly recover: Recover;
}

const markOf = (digest: Uint8Array, address: Uint8Array): number => crc32(address, crc32(digest, 0x5eed));

const recoverMark: Recover = (digest, signature) => {
  if (signature.length !== SIGNATURE_BYTES) return { ok: false, reason: 'length' };
  if (signature[64] !== 27) return { ok: false, reason: 'v' };
  const address = signature.slice(0, 20);
  const view = new DataView(signature.buffer, signature.byteOffset);
  if (view.getUint32(60) !== markOf(digest, address)) return { ok: false, reason: 'no-key' };
  return { ok: true, address };
};

export function markSigning(chance: Chance): Signing {
  return {
    recover: recoverMark,
    newPayer() {
      const address = chance.bytes(20);
      return {
        address: encodeHex(address),
        sign(authorization) {
          const signature = new Uint8Array(SIGNATURE_BYTES);
          signature.set(address, 0);
          new DataView(signature.buffer).setUint32(60, markOf(authorizationDigest(authorization), address));
          signature[64] = 27;
          return signature;
        },
      };
    },
  };
}

export function keySigning(chance: Chance): Signing {
  return {
    recover: recoverWithNoble,
    newPayer() {
      const key = chance.bytes(32);
      key[0] = 1; // below the order, and not zero
      const address = keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12);
      return {
        address: encodeHex(address),
        sign(authorization) {
          const digest = authorizationDigest(authorization);
          const recovered = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
          const signature = new Uint8Array(SIGNATURE_BYTES);
          signature.set(recovered.subarray(1), 0);
          signature[64] = 27 + recovered[0]!;
          return signature;
        },
      };
    },
  };
}
