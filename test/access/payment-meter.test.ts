/** Payments are counted by what became of them, and the gate that is counted decides as before. */
import { describe, expect, it } from 'vitest';
import { PAYMENT_OUTCOMES, PaymentTally, talliedGate } from '../../src/access/payment-tally.ts';
import type { Gate, Pass, Visit } from '../../src/http/access.ts';
import { type ErrorCode, refuse } from '../../src/http/errors.ts';

const VISIT = {} as Visit;
const counted = (tally: PaymentTally): Record<string, number> =>
  Object.fromEntries(Object.entries(tally.counts).filter(([, count]) => count > 0));
const pass = (settle: Pass['settle']): Pass => ({ settle, release: () => {} });

describe('a tally', () => {
  it.each([
    ['PAYMENT_REQUIRED', 'offered'],
    ['PAYMENT_INVALID', 'invalid'],
    ['PAYMENT_ALREADY_USED', 'repeated'],
    ['SETTLEMENT_UNAVAILABLE', 'unavailable'],
    ['INTERNAL_ERROR', 'failed'],
  ] as const)('counts a refusal with %s as %s, at once and later', async (code, outcome) => {
    for (const how of ['now', 'later'] as const) {
      const tally = new PaymentTally('ask');
      const refusal = refuse<ErrorCode>(code, 'no');
      const gate = talliedGate({ admit: () => (how === 'now' ? refusal : Promise.resolve(refusal)) }, tally);
      const admitted = gate.admit(VISIT, { offer: undefined });
      expect(admitted instanceof Promise).toBe(how === 'later');
      expect(await admitted).toBe(refusal);
      expect(counted(tally)).toEqual({ [outcome]: 1 });
    }
  });

  it.each([
    ['headers', async () => ({ 'payment-response': 'x' }), 'settled'],
    ['a refusal', async () => refuse('PAYMENT_NOT_SETTLED', 'no'), 'refused'],
    ['an unknown outcome', async () => refuse('SETTLEMENT_PENDING', 'wait'), 'unknown'],
    ['no settlement', async () => refuse('SETTLEMENT_UNAVAILABLE', 'no'), 'unavailable'],
    ['a bug', () => Promise.reject(new Error('bug')), 'failed'],
  ] as const)(
    'counts a settlement that ends in %s once, and while it is under way as in flight',
    async (_, settle, outcome) => {
      const tally = new PaymentTally('ask');
      const admitted = (await talliedGate({ admit: () => pass(settle) }, tally).admit(VISIT, {
        offer: undefined,
      })) as Pass;
      expect(counted(tally)).toEqual({});
      const settling = admitted.settle();
      expect(tally.inFlightCount).toBe(1);
      await settling.catch(() => {});
      expect([tally.inFlightCount, counted(tally)]).toEqual([0, { [outcome]: 1 }]);
    },
  );

  it('counts what is given back, and passes it on', () => {
    const tally = new PaymentTally('ask');
    let released = 0;
    const gate: Gate = { admit: () => ({ settle: async () => ({}), release: () => released++ }) };
    (talliedGate(gate, tally).admit(VISIT, { offer: undefined }) as Pass).release();
    expect([released, counted(tally)]).toEqual([1, { released: 1 }]);
  });

  it('starts with every outcome at zero', () => {
    expect(Object.keys(new PaymentTally('ask').counts)).toEqual([...PAYMENT_OUTCOMES]);
  });
});
