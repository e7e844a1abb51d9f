/**
 * Payments of honest customers and of attackers, signed as `paygrade load` signs them (fast, and not by the code under test).
 * The fake facilitator knows the wallets without money by their nonces, see {@link EMPTY_WALLET_MARK}.
 */
import { systemRandom } from '../../src/base/random.ts';
import { type LoadOffer, parseOffer, Signer } from '../../src/load/signing.ts';
import { ask, nameOf } from './ask.ts';
import type { Target } from './attack.ts';

export interface Operation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

export const SEARCH: Operation = { method: 'GET', path: '/v1/jobs/search?limit=1' };
export const CREATION: Operation = { method: 'POST', path: '/v1/callbacks' };

/** First bytes of the nonces of wallets that can sign and have no money. */
export const EMPTY_WALLET_MARK = 'eeeeeeeeeeee';
const MARK_BYTES = Buffer.from(EMPTY_WALLET_MARK, 'hex');

interface PaymentText {
  payload: { signature: string; authorization: { nonce: string } };
}

const changed = (header: string, change: (payment: PaymentText) => void): string => {
  const payment = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as PaymentText;
  change(payment);
  return Buffer.from(JSON.stringify(payment)).toString('base64');
};

/** The payment with the nonce of another one: right in every respect but its signature. */
export const forged = (header: string, index: number): string =>
  changed(header, ({ payload }) => {
    const { nonce } = payload.authorization;
    payload.authorization.nonce = nonce.slice(0, -8) + index.toString(16).padStart(8, '0');
  });

/** What the fake facilitator does with a contract wallet's signature, by the first byte of the signature. */
export const CONTRACT_FATES = { 'is answered 503': 'fa', hangs: 'ff' } as const;
export type ContractFate = keyof typeof CONTRACT_FATES;

/** The payment as a wallet that is a contract signs it (EIP-1271): not 65 bytes, for the facilitator alone to judge. */
export const contractSigned = (header: string, fate: ContractFate, index: number): string =>
  changed(header, ({ payload }) => {
    payload.signature = `0x${CONTRACT_FATES[fate]}${index.toString(16).padStart(8, '0').repeat(24)}`;
  });

export class Purse {
  readonly #target: Target;
  readonly #from: string;
  readonly #signer: Signer;
  readonly #offers = new Map<string, LoadOffer>();

  /** @param isEmpty its wallets have no money, as a facilitator sees them */
  constructor(target: Target, from: string, isEmpty = false) {
    this.#target = target;
    this.#from = from;
    const marked = (count: number): Uint8Array => {
      const bytes = systemRandom.bytes(count);
      bytes.set(MARK_BYTES);
      return bytes;
    };
    this.#signer = new Signer(isEmpty ? { bytes: marked, uuid: () => systemRandom.uuid() } : systemRandom);
  }

  /** A new payment. Asks for the offer at the first one; the price of an operation does not change. @throws Error */
  async sign(operation: Operation): Promise<string> {
    return this.signOffer(this.#offers.get(operation.path) ?? (await this.#ask(operation)));
  }

  signOffer(offer: LoadOffer): string {
    return this.#signer.sign(offer, Date.now()).header;
  }

  async #ask(operation: Operation): Promise<LoadOffer> {
    const reply = await ask(this.#target, { ...operation, from: this.#from });
    const offer = parseOffer(String(reply.headers['payment-required'] ?? ''));
    if (offer === undefined) throw new Error(`no offer for ${operation.path}: ${nameOf(reply)}`);
    this.#offers.set(operation.path, offer);
    return offer;
  }
}

export interface Callback {
  readonly id: string;
  readonly read_token: string;
}

export const bearer = ({ read_token }: Callback): Record<string, string> => ({ authorization: `Bearer ${read_token}` });

/** Buys a callback. @throws Error with the answer when there is none */
export async function buyCallback(target: Target, purse: Purse, from: string): Promise<Callback> {
  const header = await purse.sign(CREATION);
  const reply = await ask(target, { ...CREATION, from, headers: { 'payment-signature': header } });
  if (reply.status !== 201) throw new Error(`no callback: ${nameOf(reply)}`);
  return JSON.parse(reply.text) as Callback;
}
