/**
 * The local checks accept exactly what the contract would accept: mutated payments against viem's recovery and the rules of
 * FiatTokenV2_2 written down a second time. Seeded; a failure names its seed and number.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { recoverTypedDataAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { Chance } from '../../support/chance.ts';
import { encodeHeader, type Hex, type Payment } from '../../support/wallet.ts';
import { partOf } from '../../support/whole.ts';
import { NOW_MS, NOW_SECONDS, PAYEE, payer, signedPayment, verdictOf } from '../fixture.ts';

const COUNT = partOf(2000, 100);
const SEED = 20_261_121;
const ORDER = secp256k1.Point.Fn.ORDER;
const FIELDS = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const;

type Draft = { signature: string; authorization: Record<(typeof FIELDS)[number], string> };

const pick = <T>(random: Chance, values: readonly T[]): T => values[random.below(values.length)] as T;

function flipHexDigit(random: Chance, hex: string): string {
  const at = 2 + random.below(hex.length - 2);
  return hex.slice(0, at) + pick(random, [...'0123456789abcdef']) + hex.slice(at + 1);
}

/** Changes one thing; about a third of the changes leave a good payment. */
function mutate(random: Chance, draft: Draft): void {
  const { authorization } = draft;
  const signature = draft.signature;
  switch (random.below(12)) {
    case 0:
      draft.signature = flipHexDigit(random, signature);
      return;
    case 1: {
      const twin = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
      draft.signature = signature.slice(0, 66) + twin + (signature.endsWith('1b') ? '1c' : '1b');
      return;
    }
    case 2:
      draft.signature = signature.slice(0, 130) + pick(random, ['00', '01', '1a', '1b', '1c', '1d', 'ff']);
      return;
    case 3: {
      const word = pick(random, [0n, 1n, ORDER - 1n, ORDER, ORDER / 2n, ORDER / 2n + 1n])
        .toString(16)
        .padStart(64, '0');
      draft.signature =
        random.below(2) === 0
          ? `0x${word}${signature.slice(66)}`
          : signature.slice(0, 66) + word + signature.slice(130);
      return;
    }
    case 4:
      authorization.from = pick(random, [payer(1).address, payer(0).address, authorization.from.toLowerCase(), PAYEE]);
      return;
    case 5:
      authorization.to = pick(random, [PAYEE, PAYEE.toLowerCase(), payer(1).address]);
      return;
    case 6:
      authorization.value = pick(random, ['20000', '19999', '20001', '0', String(2n ** 255n)]);
      return;
    case 7:
      authorization.validAfter = String(pick(random, [0, 1, NOW_SECONDS - 1, NOW_SECONDS, NOW_SECONDS + 1]));
      return;
    case 8:
      authorization.validBefore = String(NOW_SECONDS + pick(random, [-1, 0, 1, 119, 120, 121]));
      return;
    case 9:
      authorization.nonce =
        random.below(2) === 0
          ? flipHexDigit(random, authorization.nonce)
          : `0x${authorization.nonce.slice(2).toUpperCase()}`;
      return;
    default:
      return;
  }
}

const TYPES = {
  TransferWithAuthorization: FIELDS.map((name) => ({
    name,
    type: name === 'from' || name === 'to' ? 'address' : name === 'nonce' ? 'bytes32' : 'uint256',
  })),
};

/** Would `transferWithAuthorization` go through for this server now? Written from the contract's rules, not from ours. */
async function contractTakes({ signature, authorization }: Draft): Promise<boolean> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  if (to.toLowerCase() !== PAYEE.toLowerCase() || BigInt(value) !== 20_000n) return false;
  if (!(BigInt(NOW_SECONDS) > BigInt(validAfter) && BigInt(NOW_SECONDS) < BigInt(validBefore))) return false;
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const v = Number.parseInt(signature.slice(130), 16);
  if (signature.length !== 132 || s > 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n) return false;
  if (v !== 27 && v !== 28) return false;
  try {
    const signer = await recoverTypedDataAddress({
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: 8453,
        verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      },
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: from.toLowerCase(),
        to: to.toLowerCase(),
        value: BigInt(value),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
        nonce,
      },
      signature: signature as Hex,
    } as never);
    return signer.toLowerCase() === from.toLowerCase();
  } catch {
    return false;
  }
}

describe('the local checks', () => {
  it(`agree with the contract on ${COUNT} mutated payments`, { timeout: 180_000 }, async () => {
    const random = new Chance(SEED);
    const originals: Payment[] = [];
    for (let i = 0; i < 40; i++) originals.push(await signedPayment({}, payer(i % 4)));
    let takenCount = 0;
    for (let i = 0; i < COUNT; i++) {
      const original = pick(random, originals);
      const draft = structuredClone(original.payload) as Draft;
      for (let changes = random.below(3); changes > 0; changes--) mutate(random, draft);
      const isTaken = await contractTakes(draft);
      const hasRunway = Number(draft.authorization.validBefore) * 1000 - NOW_MS >= 6000;
      const verdict = verdictOf(encodeHeader({ ...original, payload: draft }));
      expect(verdict.ok, `seed ${SEED}, number ${i}: ${JSON.stringify(draft)}`).toBe(isTaken && hasRunway);
      if (verdict.ok) takenCount++;
    }
    expect(takenCount).toBeGreaterThan(COUNT / 5);
    expect(takenCount).toBeLessThan(COUNT * 0.8);
  });
});
