/**
 * Payments as the official client makes them (x402-v2 §2.4, §2.5): a signed EIP-3009 authorization for an offer, as the text of
 * the `PAYMENT-SIGNATURE` header. The wallets are throwaway: this file draws their keys and stores them nowhere. Only a play
 * ledger gives them a balance, so no load test can spend real money.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { decodeBase64, decodeUtf8Latin1, encodeBase64, encodeHex, encodeUtf8 } from '../base/codec.ts';
import { objectOf, parseJson } from '../base/json-value.ts';
import type { Random } from '../base/random.ts';
import {
  type Address,
  checksummed,
  findNetwork,
  type Network,
  parseAddress,
  SCHEME,
  X402_VERSION,
} from '../payment/protocol/network.ts';
import { digestOf, structOf } from '../payment/protocol/typed-data.ts';

/** An offer: the price of a request, and what a payment for it echoes. */
export interface LoadOffer {
  /** JSON text of the members `resource`, `accepted` and, if the 402 has any, `extensions`. */
  readonly echoedMembers: string;
  readonly network: Network;
  readonly amountAtomic: bigint;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
}

/** A payment, to be sent once. */
export interface SignedPayment {
  /** Value of `PAYMENT-SIGNATURE`. */
  readonly header: string;
  readonly payer: string;
  /** CAIP-2. */
  readonly network: string;
  readonly validBeforeSeconds: number;
}

interface OfferWire {
  readonly x402Version?: unknown;
  readonly resource?: unknown;
  readonly accepts?: readonly Readonly<Record<string, unknown>>[];
  readonly extensions?: unknown;
}

/** The offer in a `PAYMENT-REQUIRED` header; undefined for one that a load test cannot pay. */
export function parseOffer(header: string): LoadOffer | undefined {
  const offer = objectOf(parseJson(decodeUtf8Latin1(decodeBase64(header) ?? '') ?? '')) as OfferWire | undefined;
  if (offer?.x402Version !== X402_VERSION) return undefined;
  if (!Array.isArray(offer.accepts)) return undefined;
  const accepted = (offer.accepts as NonNullable<OfferWire['accepts']>).find(
    (entry) =>
      entry?.scheme === SCHEME && findNetwork(String(entry.network))?.usdcLower === String(entry.asset).toLowerCase(),
  );
  const network = findNetwork(String(accepted?.network));
  if (accepted === undefined || network === undefined) return undefined;
  const { amount, payTo, maxTimeoutSeconds } = accepted;
  if (typeof amount !== 'string' || !/^[1-9][0-9]{0,17}$/.test(amount)) return undefined;
  if (typeof payTo !== 'string' || parseAddress(payTo) === undefined) return undefined;
  if (typeof maxTimeoutSeconds !== 'number' || !(maxTimeoutSeconds > 0)) return undefined;
  const extensions = offer.extensions === undefined ? '' : `,"extensions":${JSON.stringify(offer.extensions)}`;
  return {
    echoedMembers: `"resource":${JSON.stringify(offer.resource)},"accepted":${JSON.stringify(accepted)}${extensions}`,
    network,
    amountAtomic: BigInt(amount),
    payTo,
    maxTimeoutSeconds,
  };
}

interface Wallet {
  readonly key: Uint8Array;
  readonly address: Address;
  spentAtomic: bigint;
}

/** A wallet spends at most a dollar, a hundredth of the default LOCAL_BALANCE, so servers with a smaller balance work too. */
const WALLET_SPEND_ATOMIC_MAX = 1_000_000n;

/** Random bytes for a private key: half as many again as it has, so that every key is as likely as any other. */
const KEY_SEED_BYTES = 48;

/** Signs with a wallet until it has spent its dollar, then with a new one. */
export class Signer {
  readonly #random: Random;
  #wallet: Wallet | undefined;

  constructor(random: Random) {
    this.#random = random;
    // Precomputed tables make a signature several times faster; all signers of the thread share them.
    secp256k1.Point.BASE.precompute(8);
  }

  sign(offer: LoadOffer, nowMs: number): SignedPayment {
    const { amountAtomic, network, payTo, maxTimeoutSeconds, echoedMembers } = offer;
    const wallet = this.#walletFor(amountAtomic);
    const validBeforeSeconds = Math.floor(nowMs / 1000) + maxTimeoutSeconds;
    const nonce = encodeHex(this.#random.bytes(32));
    const message = {
      from: wallet.address,
      to: payTo,
      value: amountAtomic,
      validAfter: 0n,
      validBefore: BigInt(validBeforeSeconds),
      nonce,
    };
    const struct = structOf(message, network);
    const signed = secp256k1.sign(digestOf(struct), wallet.key, { prehash: false, lowS: true, format: 'recovered' });
    // noble puts the recovery bit first, the contract takes v last.
    const signature = `${encodeHex(signed.subarray(1))}${signed[0] === 0 ? '1b' : '1c'}`;
    const authorization =
      `{"from":"${wallet.address}","to":"${payTo}","value":"${amountAtomic}","validAfter":"0",` +
      `"validBefore":"${validBeforeSeconds}","nonce":"${nonce}"}`;
    const payload = `{"signature":"${signature}","authorization":${authorization}}`;
    const text = `{"x402Version":${X402_VERSION},"payload":${payload},${echoedMembers}}`;
    return { header: encodeBase64(encodeUtf8(text)), payer: wallet.address, network: network.id, validBeforeSeconds };
  }

  #walletFor(amountAtomic: bigint): Wallet {
    let wallet = this.#wallet;
    if (wallet === undefined || wallet.spentAtomic + amountAtomic > WALLET_SPEND_ATOMIC_MAX) {
      const key = secp256k1.utils.randomSecretKey(this.#random.bytes(KEY_SEED_BYTES));
      const point = secp256k1.getPublicKey(key, false);
      const lower = encodeHex(keccak_256(point.subarray(1)).subarray(12));
      wallet = { key, address: checksummed(lower), spentAtomic: 0n };
      this.#wallet = wallet;
    }
    wallet.spentAtomic += amountAtomic;
    return wallet;
  }
}
