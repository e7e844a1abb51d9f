/** Recovery of public keys by noble, which runs everywhere and decides where libraries differ. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { checkedRecovery, type PublicKeyRecovery, type Recover, SCALAR_BYTES } from './signature.ts';

function scalarOf(bytes: Uint8Array, from: number): bigint {
  return secp256k1.Point.Fn.fromBytes(bytes.subarray(from, from + SCALAR_BYTES));
}

/** Returns undefined where noble throws: r is not the x of a point, or the key would be the point at infinity. */
export const noblePublicKey: PublicKeyRecovery = (digest, signature, recovery) => {
  try {
    const rs = new secp256k1.Signature(scalarOf(signature, 0), scalarOf(signature, SCALAR_BYTES), recovery);
    return rs.recoverPublicKey(digest).toBytes(false); // noble takes the digest as it is and does not hash it again
  } catch {
    return undefined;
  }
};

export const recoverWithNoble: Recover = checkedRecovery(noblePublicKey);
