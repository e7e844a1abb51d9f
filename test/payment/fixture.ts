/** Payments for the tests of this folder: one offer, one moment, signatures of an independent implementation (viem). */
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  type Authorization,
  authorizationStruct,
  checkPayment,
  signerFault,
} from '../../src/payment/protocol/authorization.ts';
import { decodePayment, type PaymentFault } from '../../src/payment/protocol/envelope.ts';
import { type Address, BASE, type Network, parseAddress } from '../../src/payment/protocol/network.ts';
import { type PaymentOrder, paymentOrder } from '../../src/payment/protocol/order.ts';
import { type Offer, prepareOffer } from '../../src/payment/protocol/requirements.ts';
import { digestOf } from '../../src/payment/protocol/typed-data.ts';
import { recoverWithNoble } from '../../src/payment/signature/noble-recovery.ts';
import {
  type Changes,
  decodeHeader,
  encodeHeader,
  type Hex,
  type Payment,
  type PaymentRequired,
  paymentFor,
} from '../support/wallet.ts';

/** The moment at which all payments here are made; half a second past the full one. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0) + 500;
export const NOW_SECONDS = Math.floor(NOW_MS / 1000);

export const PAYEE = parseAddress('0x209693Bc6afc0C5328bA36FaF03C514EF312287C') as Address;

const payers: PrivateKeyAccount[] = [];

/** Public test keys: number `index` is 32 bytes that say `index` + 1. Kept, since an address costs a multiplication. */
export function payer(index = 0): PrivateKeyAccount {
  const known = payers[index];
  if (known !== undefined) return known;
  const account = privateKeyToAccount(`0x${(index + 1).toString(16).padStart(64, '0')}` as Hex);
  payers[index] = account;
  return account;
}

export const searchOffer: Offer = prepareOffer({
  baseUrl: 'https://api.example.com',
  path: '/v1/jobs/search',
  description: 'Search up to 10 observed jobs',
  priceUsdc: '0.02',
  network: BASE,
  payTo: PAYEE,
  bazaar: { info: { input: { type: 'http', method: 'GET' } }, schema: { type: 'object' } },
  serviceName: 'paygrade',
});

let nonceCount = 0;

/** A nonce that no other call gets. */
export const freshNonce = (): Hex => `0x${(++nonceCount).toString(16).padStart(64, '0')}`;

export const challengeOf = (offer: Offer, search = ''): PaymentRequired => decodeHeader(offer.challenge(search).header);

/** A payment as the official client makes it; `changes` are signed. */
export function signedPayment(
  changes: Changes = {},
  account: PrivateKeyAccount = payer(),
  offer: Offer = searchOffer,
): Promise<Payment> {
  return paymentFor(challengeOf(offer), account, {
    ...changes,
    authorization: { validBefore: String(NOW_SECONDS + 120), nonce: freshNonce(), ...changes.authorization },
  });
}

/** What the payer signs, 32 bytes. */
export const authorizationDigest = (authorization: Authorization, network: Network = BASE): Uint8Array =>
  digestOf(authorizationStruct(authorization, network));

export type Verdict = { readonly ok: true; readonly authorization: Authorization } | PaymentFault;

/** All checks of a header but those that need a store or the outside. */
export function verdictOf(header: string, offer: Offer = searchOffer, nowMs: number = NOW_MS): Verdict {
  const decoded = decodePayment(header, offer.network.id);
  if (!decoded.ok) return decoded;
  const checked = checkPayment(decoded.payment, offer, nowMs);
  if (!checked.ok) return checked;
  const { authorization, signature } = checked;
  const recovered = recoverWithNoble(authorizationDigest(authorization, offer.network), signature);
  return signerFault(authorization, recovered) ?? { ok: true, authorization };
}

/** An order that passed no signature check: for what comes after one. */
export function orderFor(
  fields: Partial<Authorization> = {},
  offer: Offer = searchOffer,
  isListed = false,
): PaymentOrder {
  const authorization: Authorization = {
    from: payer().address.toLowerCase(),
    to: PAYEE.toLowerCase(),
    valueAtomic: offer.amountAtomic,
    validAfterSeconds: 0,
    validBeforeSeconds: NOW_SECONDS + 120,
    nonce: freshNonce(),
    ...fields,
  };
  return paymentOrder(offer, authorization, new Uint8Array(65).fill(7), isListed);
}

/** A copy of a payment with one field changed after signing: `edited(payment, 'accepted.amount', '1')`. */
export function edited(payment: unknown, path: string, value: unknown): string {
  const copy = structuredClone(payment) as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() as string;
  let parent = copy;
  for (const key of keys) {
    parent[key] ??= {};
    parent = parent[key] as Record<string, unknown>;
  }
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return encodeHeader(copy);
}
