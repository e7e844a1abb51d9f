/** Payments that threads sign ahead, and what becomes of a run whose thread ends. */
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { hintsOn } from '../../src/load/hints.ts';
import { PaymentSupply } from '../../src/load/payments.ts';
import { type LoadOffer, parseOffer } from '../../src/load/signing.ts';
import { encodeHeader } from '../support/wallet.ts';
import { FULL } from './load-result.ts';

const ACCEPTED = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '90000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x1111111111111111111111111111111111111111',
  maxTimeoutSeconds: 120,
};

let supply: PaymentSupply | undefined;
afterEach(() => supply?.close());

const filled = async (offer: LoadOffer): Promise<PaymentSupply> => {
  const options = { signerCount: 1, stockCount: 2, plannedCount: Number.POSITIVE_INFINITY, clock: systemClock };
  supply = new PaymentSupply({ offers: [offer], ...options });
  await supply.fill(
    () => {},
    () => false,
  );
  return supply;
};

describe('a supply of payments', () => {
  it('says why its thread ended during the run, which the result then shows, and nothing of its own end', async () => {
    const offer = parseOffer(encodeHeader({ x402Version: 2, accepts: [ACCEPTED] }))!; // a good one
    const payments = await filled(offer);
    expect([payments.signedCount, payments.failure]).toEqual([2, undefined]);
    Object.assign(offer, { payTo: 'nobody' }); // what is ordered from now on no thread can sign
    expect(payments.take(0)).toBeDefined();
    await expect.poll(() => payments.failure).toMatch(/^a signing thread failed: \S/);
    const failure = payments.failure!; // just seen
    const hints = hintsOn({ ...FULL, payments: { signed: 2, sent: 1, expired: 0, failure } }, false);
    expect(hints).toContain(`${failure}: the payments ordered from it were never signed`);
    await expect(filled(offer)).rejects.toThrow('a signing thread failed: ');
  });

  it('does not take its close for a failure', async () => {
    const payments = await filled(parseOffer(encodeHeader({ x402Version: 2, accepts: [ACCEPTED] }))!);
    await payments.close();
    expect(payments.failure).toBeUndefined();
  });
});
