/** Balances over virtual time, beside a model that keeps every grant of every month as a plain line. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Balance, type BalanceRecord, type OnboardingGrant, type Taken } from '../../src/accounts/balance.ts';
import { monthStartMs, nextMonthMs } from '../../src/accounts/month.ts';

const START_MS = Date.UTC(2027, 10, 28, 23, 59, 59, 999);

/** One line a grant; a subscription has one in each month. */
interface Line {
  readonly kind: 'subscription' | 'onboarding';
  readonly serial: number;
  amount: number;
  taken: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Says by looking at all lines what the rules of siblings §3 say. */
class Model {
  readonly lines: Line[] = [];
  #subscription = 0;
  #charges: { readonly atMs: number; readonly amount: number }[] = [];

  subscribe(amount: number, nowMs: number): void {
    this.#subscription = amount;
    this.#lineOfMonth(nowMs).amount = amount;
  }

  give({ serial, amount, expiresAtMs }: OnboardingGrant, nowMs: number): void {
    const untilMs = expiresAtMs ?? Number.POSITIVE_INFINITY;
    this.lines.push({ kind: 'onboarding', serial, amount, taken: 0, fromMs: nowMs, untilMs });
  }

  live(nowMs: number): Line[] {
    this.#lineOfMonth(nowMs);
    const rank = ({ kind, serial }: Line): number => (kind === 'subscription' ? -1 : serial);
    return this.lines
      .filter(({ fromMs, untilMs }) => fromMs <= nowMs && nowMs < untilMs)
      .sort((a, b) => (a.untilMs === b.untilMs ? rank(a) - rank(b) : a.untilMs < b.untilMs ? -1 : 1));
  }

  remaining(nowMs: number): number {
    return this.live(nowMs).reduce((sum, { amount, taken }) => sum + Math.max(0, amount - taken), 0);
  }

  charge(amount: number, nowMs: number): boolean {
    if (this.remaining(nowMs) < amount) return false;
    for (let one = 0; one < amount; one++) {
      const line = this.live(nowMs).find(({ amount: all, taken }) => taken < all);
      if (line === undefined) throw new Error('the model lost a credit');
      line.taken++;
    }
    this.#charges.push({ atMs: nowMs, amount });
    return true;
  }

  charged(nowMs: number): number {
    return this.#charges.reduce((sum, { atMs, amount }) => sum + (atMs >= monthStartMs(nowMs) ? amount : 0), 0);
  }

  /** The line of the subscription in this month; one without credits while there is no subscription. */
  #lineOfMonth(nowMs: number): Line {
    const fromMs = monthStartMs(nowMs);
    let line = this.lines.find((one) => one.kind === 'subscription' && one.fromMs === fromMs);
    if (line === undefined) {
      const untilMs = nextMonthMs(nowMs);
      line = { kind: 'subscription', serial: 0, amount: this.#subscription, taken: 0, fromMs, untilMs };
      this.lines.push(line);
    }
    return line;
  }
}

type Step =
  | { readonly kind: 'charge'; readonly amount: number }
  | { readonly kind: 'subscribe'; readonly amount: number }
  | { readonly kind: 'give'; readonly amount: number; readonly afterMs: number | null }
  | { readonly kind: 'pass'; readonly byMs: number }
  /** To the next boundary, `byMs` before or after it. */
  | { readonly kind: 'boundary'; readonly byMs: number }
  | { readonly kind: 'fail'; readonly amount: number };

const DAY_MS = 86_400_000;
const amount = fc.integer({ min: 1, max: 20 });
const span = fc.oneof(
  fc.constantFrom(1, 1000, DAY_MS, 28 * DAY_MS, 366 * DAY_MS),
  fc.integer({ min: 1, max: 90 * DAY_MS }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('charge' as const), amount }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('subscribe' as const), amount: fc.integer({ min: 0, max: 30 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('give' as const), amount, afterMs: fc.option(span) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), byMs: span }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('boundary' as const), byMs: fc.constantFrom(-1, 0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), amount }) },
);

/** What a store would have on record: the charges as they were taken, applied to plain numbers. */
function applied(record: BalanceRecord, { monthMs, amount: all, subscription, onboarding }: Taken): BalanceRecord {
  const isSameMonth = record.monthMs === monthMs;
  return {
    ...record,
    monthMs,
    charged: all + (isSameMonth ? record.charged : 0),
    subscriptionCharged: subscription + (isSameMonth ? record.subscriptionCharged : 0),
    onboarding: record.onboarding.map((grant) => {
      const part = onboarding.find(({ serial }) => serial === grant.serial);
      return part === undefined ? grant : { ...grant, remaining: grant.remaining - part.amount };
    }),
  };
}

describe('a balance', () => {
  it('is what the model says after any steps, also when it is loaded again from what was recorded', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const model = new Model();
        const balance = new Balance();
        let record: BalanceRecord = { monthMs: 0, charged: 0, subscriptionCharged: 0, subscription: 0, onboarding: [] };
        let nowMs = START_MS;
        let serial = 0;
        for (const one of steps) {
          switch (one.kind) {
            case 'charge': {
              const taken = balance.charge(one.amount, nowMs);
              expect(taken !== undefined).toBe(model.charge(one.amount, nowMs));
              if (taken !== undefined) record = applied(record, taken);
              break;
            }
            case 'fail': {
              const taken = balance.charge(one.amount, nowMs);
              if (taken !== undefined) balance.giveBack(taken);
              break;
            }
            case 'subscribe':
              balance.setSubscription(one.amount);
              model.subscribe(one.amount, nowMs);
              record = { ...record, subscription: one.amount };
              break;
            case 'give': {
              const expiresAtMs = one.afterMs === null ? null : nowMs + one.afterMs;
              const grant = { serial: ++serial, amount: one.amount, remaining: one.amount, expiresAtMs };
              balance.addOnboarding(grant);
              model.give(grant, nowMs);
              record = { ...record, onboarding: [...record.onboarding, grant] };
              break;
            }
            case 'pass':
              nowMs += one.byMs;
              break;
            case 'boundary': {
              const ends = model.live(nowMs).map(({ untilMs }) => untilMs);
              nowMs = Math.max(nowMs, Math.min(...ends) + one.byMs);
              break;
            }
            default:
              one satisfies never;
          }
          // A store may give the grants in any order.
          const stored = { ...record, onboarding: record.onboarding.toReversed() };
          for (const each of [balance, new Balance(stored)]) {
            expect(each.remaining(nowMs)).toBe(model.remaining(nowMs));
            expect(each.usage(nowMs)).toEqual({
              startMs: monthStartMs(nowMs),
              endMs: nextMonthMs(nowMs),
              charged: model.charged(nowMs),
              remaining: model.remaining(nowMs),
            });
            const listed = model.live(nowMs).filter(({ kind, amount: all }) => kind === 'onboarding' || all > 0);
            expect(each.grants(nowMs)).toEqual(
              listed.map(({ kind, amount: all, taken, untilMs }) => ({
                kind,
                amount: all,
                remaining: Math.max(0, all - taken),
                expiresAtMs: kind === 'onboarding' && untilMs !== Number.POSITIVE_INFINITY ? untilMs : null,
                renewsAtMs: kind === 'subscription' ? untilMs : null,
              })),
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['2027-01-31T23:59:59.999Z', '2027-02-01T00:00:00.000Z'],
    ['2027-02-28T23:59:59.999Z', '2027-03-01T00:00:00.000Z'],
    ['2028-02-28T23:59:59.999Z', '2028-03-01T00:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['2027-12-31T23:59:59.999Z', '2028-01-01T00:00:00.000Z'],
    ['2000-02-29T12:00:00.000Z', '2000-03-01T00:00:00.000Z'],
    ['2100-02-28T12:00:00.000Z', '2100-03-01T00:00:00.000Z'],
  ])('of %s is renewed at %s and not a millisecond before', (now, renewed) => {
    const renewsAtMs = Date.parse(renewed);
    const balance = new Balance();
    balance.setSubscription(10);
    expect(balance.charge(10, Date.parse(now))).toBeDefined();
    expect(balance.grants(Date.parse(now))[0]?.renewsAtMs).toBe(renewsAtMs);
    expect(balance.remaining(renewsAtMs - 1)).toBe(0);
    expect(balance.grants(renewsAtMs)[0]?.remaining).toBe(10);
    expect(balance.remaining(renewsAtMs)).toBe(10);
  });

  it('takes the subscription before onboarding credits that lapse at the same moment', () => {
    const monthMs = Date.UTC(2027, 5, 1);
    const balance = new Balance();
    balance.addOnboarding({ serial: 1, amount: 10, remaining: 10, expiresAtMs: monthMs });
    balance.addOnboarding({ serial: 2, amount: 10, remaining: 10, expiresAtMs: monthMs - 1 });
    balance.setSubscription(10);
    expect(balance.charge(15, monthMs - 2)).toMatchObject({ subscription: 5, onboarding: [{ serial: 2, amount: 10 }] });
    expect(balance.grants(monthMs - 2).map(({ remaining }) => remaining)).toEqual([0, 5, 10]);
  });

  it('renews nothing twice for a clock that is set back', () => {
    const monthMs = Date.UTC(2027, 5, 1);
    const balance = new Balance();
    balance.setSubscription(10);
    expect(balance.charge(10, monthMs)).toBeDefined();
    expect(balance.remaining(monthMs - 1)).toBe(0);
    expect(balance.charge(1, monthMs - 1)).toBeUndefined();
    expect(balance.remaining(monthMs)).toBe(0);
  });

  it('gives back to this month only what this month was charged', () => {
    const monthMs = Date.UTC(2027, 5, 1);
    const balance = new Balance();
    balance.setSubscription(10);
    const taken = balance.charge(10, monthMs - 1);
    expect(balance.remaining(monthMs)).toBe(10);
    if (taken !== undefined) balance.giveBack(taken);
    expect(balance.usage(monthMs)).toMatchObject({ charged: 0, remaining: 10 });
  });
});
