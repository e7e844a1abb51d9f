/** The cases that a store hands over now. */
import type { Reservations, UnsettledCase } from '../../src/payment/reservations.ts';

export async function unsettledOf(store: Reservations): Promise<readonly UnsettledCase[]> {
  const cases: UnsettledCase[] = [];
  await store.handOver((one) => cases.push(one));
  return cases;
}
