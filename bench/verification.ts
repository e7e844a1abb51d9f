/**
 * A payment header, from its text to the verdict. Cheaply detected faults must be refused long before the signature is
 * recovered. viem signs the payments; the bench checks each verdict before it times it.
 *
 * Measured before: decoding a header of 1.1 KB takes 8 µs on Node 26 and 5 µs on Bun 1.4, `checkPayment` 2 to 4 µs.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { checkPayment, signerFault } from '../src/payment/protocol/authorization.ts';
import { decodePayment } from '../src/payment/protocol/envelope.ts';
import { BASE } from '../src/payment/protocol/network.ts';
import { recoverWithNoble } from '../src/payment/signature/noble-recovery.ts';
import {
  authorizationDigest,
  NOW_MS,
  NOW_SECONDS,
  searchOffer,
  signedPayment,
  verdictOf,
} from '../test/payment/fixture.ts';
import { type Changes, encodeHeader, type Hex } from '../test/support/wallet.ts';
import { type Context, type Figure, timed } from './harness.ts';

export async function measure({ size }: Context): Promise<Figure[]> {
  const header = encodeHeader(await signedPayment());
  const verdict = verdictOf(header);
  if (!verdict.ok) throw new Error(verdict.message);
  const decoded = decodePayment(header, BASE.id);
  if (!decoded.ok) throw new Error(decoded.message);
  const checked = checkPayment(decoded.payment, searchOffer, NOW_MS);
  if (!checked.ok) throw new Error(checked.message);
  const digest = authorizationDigest(checked.authorization);
  const { signature } = checked;
  const parsed = secp256k1.Signature.fromBytes(signature.subarray(0, 64)).addRecoveryBit(signature[64]! - 27);

  const figures = [
    await timed('the whole header', size, () => verdictOf(header)),
    await timed('the signature alone, with its digest', size, () =>
      signerFault(checked.authorization, recoverWithNoble(authorizationDigest(checked.authorization), signature)),
    ),
    await timed('recovery by noble alone', size, () => parsed.recoverPublicKey(digest)),
    await timed('the digest', size, () => authorizationDigest(checked.authorization)),
    await timed('decoded and compared, without the signature', size, () => {
      const again = decodePayment(header, BASE.id);
      return again.ok && checkPayment(again.payment, searchOffer, NOW_MS);
    }),
  ];
  const wrong: Readonly<Record<string, Changes>> = {
    recipient: { authorization: { to: `0x${'11'.repeat(20)}` as Hex } },
    amount: { authorization: { value: '1' } },
    'window, over': { authorization: { validBefore: String(NOW_SECONDS - 1) } },
    'window, too long': { authorization: { validBefore: String(NOW_SECONDS + 10_000) } },
  };
  for (const [title, changes] of Object.entries(wrong)) {
    const refused = encodeHeader(await signedPayment(changes));
    deepStrictEqual(verdictOf(refused).ok, false);
    figures.push(await timed(`refused: ${title}`, size, () => verdictOf(refused)));
  }
  const garbage = 'A'.repeat(2000);
  deepStrictEqual(verdictOf(garbage).ok, false);
  figures.push(await timed('refused: no payment at all', size, () => verdictOf(garbage)));
  return figures;
}
