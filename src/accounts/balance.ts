/**
 * The credits of one organization (siblings §3). At the start of each UTC calendar month the subscription is renewed to its
 * amount, and what was left of it lapses. Onboarding credits are given once and lapse at their expiry, if they have one. A
 * charge takes first from what lapses first; of what lapses at the same time, from the subscription before onboarding credits,
 * and from older grants before newer ones.
 *
 * Invariants: every number is whole and at least 0; a charge takes its whole amount or nothing; the month never goes back, so a
 * clock that is set back renews nothing twice. A grant whose expiry is `nowMs` has lapsed.
 */
import { monthStartMs, nextMonthMs } from './month.ts';

export interface OnboardingGrant {
  /** Distinct in its store, ascending in the order of granting. */
  readonly serial: number;
  readonly amount: number;
  readonly remaining: number;
  /** null: it does not lapse. */
  readonly expiresAtMs: number | null;
}

/** The durable part of a balance. */
export interface BalanceRecord {
  /** Start of the UTC month that `charged` and `subscriptionCharged` belong to; 0 before the first charge. */
  readonly monthMs: number;
  /** Taken from all grants together in that month. */
  readonly charged: number;
  /** Taken from the subscription in that month; may exceed its amount if that was lowered since. */
  readonly subscriptionCharged: number;
  /** 0: there is no subscription. */
  readonly subscription: number;
  readonly onboarding: readonly OnboardingGrant[];
}

export const EMPTY_BALANCE: BalanceRecord = {
  monthMs: 0,
  charged: 0,
  subscriptionCharged: 0,
  subscription: 0,
  onboarding: [],
};

/** What one charge took, and from where. */
export interface Taken {
  readonly monthMs: number;
  /** Taken from all grants together. */
  readonly amount: number;
  readonly subscription: number;
  readonly onboarding: readonly { readonly serial: number; readonly amount: number }[];
}

export const GRANT_KINDS = ['subscription', 'onboarding'] as const;
export type GrantKind = (typeof GRANT_KINDS)[number];

/** A grant that has not lapsed. */
export interface Grant {
  readonly kind: GrantKind;
  readonly amount: number;
  readonly remaining: number;
  /** Milliseconds since 1970; null for a subscription and for onboarding credits that do not lapse. */
  readonly expiresAtMs: number | null;
  /** The start of the next UTC month for a subscription, otherwise null. */
  readonly renewsAtMs: number | null;
}

/** The charges of the current UTC calendar month. */
export interface Usage {
  readonly startMs: number;
  /** The start of the next month. */
  readonly endMs: number;
  readonly charged: number;
  /** Credits left in all grants, now. */
  readonly remaining: number;
}

type Onboarding = { -readonly [K in keyof OnboardingGrant]: OnboardingGrant[K] };

const lapseOf = ({ expiresAtMs }: OnboardingGrant): number => expiresAtMs ?? Number.POSITIVE_INFINITY;

const byLapse = (a: OnboardingGrant, b: OnboardingGrant): number => {
  const [first, second] = [lapseOf(a), lapseOf(b)];
  return first === second ? a.serial - b.serial : first < second ? -1 : 1;
};

export class Balance {
  #monthMs: number;
  /** Start of the month after that; computed once a month, because every charge needs it. */
  #renewsAtMs: number;
  #charged: number;
  #subscription: number;
  #subscriptionCharged: number;
  /** Sorted by expiry, the first to lapse first. */
  readonly #onboarding: Onboarding[];

  constructor({ monthMs, charged, subscription, subscriptionCharged, onboarding }: BalanceRecord = EMPTY_BALANCE) {
    this.#monthMs = monthMs;
    this.#renewsAtMs = nextMonthMs(monthMs);
    this.#charged = charged;
    this.#subscription = subscription;
    this.#subscriptionCharged = subscriptionCharged;
    this.#onboarding = onboarding.map((grant) => ({ ...grant })).sort(byLapse);
  }

  /** Number of onboarding grants, including lapsed ones. */
  get onboardingCount(): number {
    return this.#onboarding.length;
  }

  remaining(nowMs: number): number {
    this.#renew(nowMs);
    let remaining = this.#subscriptionRemaining();
    for (const grant of this.#onboarding) if (lapseOf(grant) > nowMs) remaining += grant.remaining;
    return remaining;
  }

  /** Takes a whole amount. @returns undefined when less remains: then nothing is taken */
  charge(amount: number, nowMs: number): Taken | undefined {
    if (this.remaining(nowMs) < amount) return undefined;
    let owed = amount;
    let subscription = 0;
    let isSubscriptionTaken = false;
    const takeSubscription = (): void => {
      isSubscriptionTaken = true;
      subscription = Math.min(owed, this.#subscriptionRemaining());
      owed -= subscription;
    };
    const onboarding: { serial: number; amount: number }[] = [];
    for (const grant of this.#onboarding) {
      if (lapseOf(grant) <= nowMs || grant.remaining === 0) continue;
      if (!isSubscriptionTaken && this.#renewsAtMs <= lapseOf(grant)) takeSubscription();
      const taken = Math.min(owed, grant.remaining);
      if (taken === 0) break;
      grant.remaining -= taken;
      owed -= taken;
      onboarding.push({ serial: grant.serial, amount: taken });
    }
    if (!isSubscriptionTaken) takeSubscription();
    this.#subscriptionCharged += subscription;
    this.#charged += amount;
    return { monthMs: this.#monthMs, amount, subscription, onboarding };
  }

  /** Undoes a charge that could not be recorded. Credits that lapsed meanwhile stay lapsed. */
  giveBack({ monthMs, amount, subscription, onboarding }: Taken): void {
    if (monthMs === this.#monthMs) {
      this.#charged -= amount;
      this.#subscriptionCharged -= subscription;
    }
    for (const part of onboarding) {
      const grant = this.#onboarding.find(({ serial }) => serial === part.serial);
      if (grant !== undefined) grant.remaining += part.amount;
    }
  }

  /** Sets the amount of the subscription, less what was charged to it this month. 0 ends it. */
  setSubscription(amount: number): void {
    this.#subscription = amount;
  }

  addOnboarding(grant: OnboardingGrant): void {
    this.#onboarding.push({ ...grant });
    this.#onboarding.sort(byLapse);
  }

  /** Grants that have not lapsed, in the order in which charges take from them. */
  grants(nowMs: number): readonly Grant[] {
    this.#renew(nowMs);
    const renewsAtMs = this.#renewsAtMs;
    const grants: Grant[] = this.#onboarding
      .filter((grant) => lapseOf(grant) > nowMs)
      .map(({ amount, remaining, expiresAtMs }) => ({
        kind: 'onboarding',
        amount,
        remaining,
        expiresAtMs,
        renewsAtMs: null,
      }));
    if (this.#subscription === 0) return grants;
    const later = grants.findIndex(({ expiresAtMs }) => expiresAtMs === null || renewsAtMs <= expiresAtMs);
    grants.splice(later < 0 ? grants.length : later, 0, {
      kind: 'subscription',
      amount: this.#subscription,
      remaining: this.#subscriptionRemaining(),
      expiresAtMs: null,
      renewsAtMs,
    });
    return grants;
  }

  usage(nowMs: number): Usage {
    const remaining = this.remaining(nowMs);
    return { startMs: this.#monthMs, endMs: this.#renewsAtMs, charged: this.#charged, remaining };
  }

  #subscriptionRemaining(): number {
    return Math.max(0, this.#subscription - this.#subscriptionCharged);
  }

  /** Begins the month of `nowMs` if it is a later one. */
  #renew(nowMs: number): void {
    if (nowMs < this.#renewsAtMs) return;
    this.#monthMs = monthStartMs(nowMs);
    this.#renewsAtMs = nextMonthMs(nowMs);
    this.#charged = 0;
    this.#subscriptionCharged = 0;
  }
}
