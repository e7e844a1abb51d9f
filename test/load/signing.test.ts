/** Payments of the load generator against an independent implementation (viem), and the receipts that it accepts. */
import { verifyTypedData } from 'viem';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { receiptFaultOf } from '../../src/load/receipt.ts';
import { type LoadOffer, parseOffer, type SignedPayment, Signer } from '../../src/load/signing.ts';
import { decodeHeader, encodeHeader, type Hex, type Payment, TRANSFER } from '../support/wallet.ts';

const ACCEPTED = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '90000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x1111111111111111111111111111111111111111',
  maxTimeoutSeconds: 120,
  extra: { name: 'USD Coin', version: '2' },
};
const OFFER = {
  x402Version: 2,
  error: 'x',
  resource: { url: 'http://a/b?c=d' },
  accepts: [ACCEPTED],
  extensions: { e: 1 },
};
const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0, 999);

const offerOf = (changes: object = {}): LoadOffer => {
  const offer = parseOffer(encodeHeader({ ...OFFER, accepts: [{ ...ACCEPTED, ...changes }] }));
  if (offer === undefined) throw new Error('no offer');
  return offer;
};

const paymentIn = ({ header }: SignedPayment): Payment => decodeHeader<Payment>(header);

describe('a payment signed ahead', () => {
  it('has its wallet and nonce from the randomness that was passed in', () => {
    const signedWith = (seed: number) => new Signer(new SeededRandom(seed)).sign(offerOf(), NOW_MS);
    expect(signedWith(1)).toEqual(signedWith(1));
    expect(signedWith(1).payer).not.toBe(signedWith(2).payer);
  });

  it('is what the official client would send: signed by its payer, the offer echoed whole', async () => {
    const signed = new Signer(systemRandom).sign(offerOf(), NOW_MS);
    const { payload, ...echoed } = paymentIn(signed);
    const { authorization, signature } = payload;
    expect(echoed).toEqual({
      x402Version: 2,
      resource: OFFER.resource,
      accepted: ACCEPTED,
      extensions: OFFER.extensions,
    });
    expect(authorization).toEqual({
      from: signed.payer,
      to: ACCEPTED.payTo,
      value: '90000',
      validAfter: '0',
      validBefore: String(Math.floor(NOW_MS / 1000) + 120),
      nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(signed.validBeforeSeconds).toBe(Number(authorization.validBefore));
    const typed = {
      address: signed.payer as Hex,
      domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: ACCEPTED.asset as Hex },
      types: TRANSFER,
      primaryType: 'TransferWithAuthorization',
      signature,
    } as const;
    const message = {
      ...authorization,
      value: 90_000n,
      validAfter: 0n,
      validBefore: BigInt(authorization.validBefore),
    };
    expect(await verifyTypedData({ ...typed, message })).toBe(true);
    expect(await verifyTypedData({ ...typed, message: { ...message, value: 90_001n } })).toBe(false);
  });

  it('comes from a new wallet once the one before has spent a dollar, and never twice with one nonce', () => {
    const signer = new Signer(systemRandom);
    const payments = Array.from({ length: 25 }, () => signer.sign(offerOf(), NOW_MS));
    const spent = new Map<string, number>();
    for (const { payer } of payments) spent.set(payer, (spent.get(payer) ?? 0) + 90_000);
    expect([...spent.values()]).toEqual([990_000, 990_000, 270_000]);
    expect(new Set(payments.map((signed) => paymentIn(signed).payload.authorization.nonce)).size).toBe(25);
  });

  it.each([
    ['another network', { network: 'eip155:1' }],
    ['another token', { asset: '0x2222222222222222222222222222222222222222' }],
    ['another scheme', { scheme: 'upto' }],
    ['no amount', { amount: '0' }],
    ['an amount that is no text', { amount: 1 }],
    ['no recipient', { payTo: '0x12' }],
    ['no time', { maxTimeoutSeconds: 0 }],
  ])('is not made for %s', (_, changes) => {
    expect(parseOffer(encodeHeader({ ...OFFER, accepts: [{ ...ACCEPTED, ...changes }] }))).toBeUndefined();
  });

  it.each(['', '!', encodeHeader(null), encodeHeader({ ...OFFER, x402Version: 1 }), encodeHeader({ x402Version: 2 })])(
    'is not made for %j',
    (header) => {
      expect(parseOffer(header)).toBeUndefined();
    },
  );
});

describe('a receipt', () => {
  const payer = '0xAbCdef0000000000000000000000000000000001';
  const right = { success: true, transaction: `0x${'1a'.repeat(32)}`, network: 'eip155:8453', payer };
  const faultOf = (header: string | undefined) =>
    receiptFaultOf(
      {
        kind: 'answer',
        status: 200,
        head: `HTTP/1.1 200 OK\r\na: b${header === undefined ? '' : `\r\nPayment-Response: ${header}`}`,
        body: Buffer.alloc(0),
      },
      payer,
      right.network,
    );

  it('is right with success, a transaction, the network and the payer, in any case', () => {
    expect(faultOf(encodeHeader(right))).toBeUndefined();
    expect(faultOf(encodeHeader({ ...right, payer: payer.toLowerCase() }))).toBeUndefined();
  });

  it.each([
    [undefined, 'NO_RECEIPT'],
    ['x', 'UNREADABLE_RECEIPT'],
    [encodeHeader(null), 'RECEIPT_WITHOUT_SUCCESS'],
    [encodeHeader({ ...right, success: false }), 'RECEIPT_WITHOUT_SUCCESS'],
    [encodeHeader({ ...right, transaction: '' }), 'RECEIPT_WITHOUT_SUCCESS'],
    [encodeHeader({ ...right, network: 'eip155:1' }), 'RECEIPT_OF_ANOTHER'],
    [encodeHeader({ ...right, payer: ACCEPTED.payTo }), 'RECEIPT_OF_ANOTHER'],
  ])('of %j is %s', (header, fault) => {
    expect(faultOf(header)).toBe(fault);
  });
});
