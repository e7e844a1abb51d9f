import { describe, expect, it } from 'vitest';
import {
  RECOVERED_COUNT_MAX,
  RecentRecoveries,
  recoveryKeyOf,
} from '../../../src/payment/signature/recent-recoveries.ts';
import type { Recovered } from '../../../src/payment/signature/signature.ts';

const keyOf = (number: number): string => recoveryKeyOf(new Uint8Array(new Uint32Array([number]).buffer));
const signedBy = (byte: number): Recovered => ({ ok: true, address: new Uint8Array(20).fill(byte) });

describe('the recent recoveries', () => {
  it.each<Recovered>([
    signedBy(0),
    signedBy(255),
    ...(['length', 'v', 'r-range', 's-range', 'no-key'] as const).map((reason) => ({ ok: false, reason }) as const),
  ])('give the outcome back: %j', (recovered) => {
    const recent = new RecentRecoveries();
    recent.add(keyOf(1), signedBy(7));
    recent.add(keyOf(2), recovered);
    recent.add(keyOf(3), signedBy(9));
    expect(recent.find(keyOf(2))).toEqual(recovered);
    expect(recent.find(keyOf(3))).toEqual(signedBy(9));
    expect(recent.find(keyOf(4))).toBeUndefined();
  });

  it('forget the oldest one when there are too many, whatever comes twice', () => {
    const recent = new RecentRecoveries();
    for (let i = 0; i < RECOVERED_COUNT_MAX; i++) recent.add(keyOf(i), signedBy(i % 256));
    expect(recent.find(keyOf(0))).toEqual(signedBy(0));
    recent.add(keyOf(5), signedBy(5));
    expect(recent.find(keyOf(0))).toBeUndefined();
    expect(recent.find(keyOf(1))).toEqual(signedBy(1));
    for (let i = 0; i < 6; i++) recent.add(keyOf(RECOVERED_COUNT_MAX + i), signedBy(1));
    expect(recent.find(keyOf(4))).toBeUndefined();
    expect(recent.find(keyOf(5))).toEqual(signedBy(5));
  });
});
