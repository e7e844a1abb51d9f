/**
 * Charges of credits, by all processes together. This process decides the waiting charges of an organization by its last known
 * credit state, and records them in one statement. That statement takes effect only if the state is still current: the version
 * is unchanged, and by one of both clocks nothing has lapsed or been renewed since. Otherwise the process reads the state and
 * decides again. So no lock is held between statements, and a process alone with an organization pays one round trip a group.
 *
 * Only a state that was just read may refuse a charge. Each group belongs to one organization, so one customer's failure never
 * fails another's. After a lost answer, the id of the group's entry shows whether the charge was made. A group that fails with
 * its charge in doubt is given back, unless it bought something: a repeat of that creation finds it.
 */
import type { Charge } from '../../../accounts/accounts.ts';
import { Balance, type OnboardingGrant, type Taken } from '../../../accounts/balance.ts';
import type { Clock } from '../../../base/clock.ts';
import { lruMap } from '../../../base/lru-map.ts';
import { OutageError } from '../../../base/outage.ts';
import type { Random } from '../../../base/random.ts';
import type { Row } from '../connections.ts';
import type { Database } from '../database.ts';
import { changedNothing, LackError } from '../failures.ts';
import { CHARGE, GIVE_BACK, READ } from './statements.ts';

/** Charges in one statement. */
const COUNT_MAX = 1000;
/** States remembered; any other is read again. */
const STATE_COUNT_MAX = 1000;
/** Most groups of charges that may wait for their refund; at this count nothing is charged until some are refunded. */
const FAILED_COUNT_MAX = 1000;
/** After losing to other processes this often, the charge is answered as unavailable: the organization is too busy. */
const TRIES_MAX = 100;

/** What one organization has, at a moment of the clock that is behind, the database's or this process's. */
interface CreditState {
  readonly balance: Balance;
  readonly version: number;
  readonly nowMs: number;
  /** When the passing of time alone next changes it. */
  readonly untilMs: number;
  /** Whether the entry named in the read is on record. */
  readonly isCharged: boolean;
}

/** What a charge buys. One statement records both or neither. */
export interface Purchase {
  readonly name: string;
  /** Of `chargeText`. A unique key that its parts violate refuses charge and purchase. */
  readonly text: string;
  /** Parameters from `PURCHASE_FIRST` on. */
  readonly values: readonly unknown[];
}

/** One group in flight. */
interface Attempt {
  /** Id of its entry. */
  readonly entry: string;
  /** The charge that may be on record: values of {@link GIVE_BACK}, from the month on. */
  inDoubt: readonly unknown[] | undefined;
}

interface Charged {
  readonly charge: Charge;
  /** What it took; undefined where it took nothing. */
  readonly taken: Taken | undefined;
}

interface Waiting {
  readonly amount: number;
  /** A charge that buys something forms a group alone. */
  readonly purchase: Purchase | undefined;
  readonly resolve: (charge: Charge) => void;
  readonly reject: (failure: unknown) => void;
}

function creditStateOf(rows: readonly Row[]): CreditState | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const onboarding = rows.flatMap(({ serial, amount, remaining, expires_ms }): OnboardingGrant[] =>
    serial === null
      ? []
      : [
          {
            serial: serial as number,
            amount: amount as number,
            remaining: remaining as number,
            expiresAtMs: expires_ms as number | null,
          },
        ],
  );
  const balance = new Balance({
    monthMs: first.month_ms as number,
    charged: first.charged as number,
    subscription: first.subscription as number,
    subscriptionCharged: first.subscription_charged as number,
    onboarding,
  });
  const nowMs = first.now_ms as number;
  const lapses = onboarding.flatMap(({ expiresAtMs }) => expiresAtMs ?? []);
  return {
    balance,
    version: first.version as number,
    nowMs,
    untilMs: Math.min(balance.usage(nowMs).endMs, ...lapses),
    isCharged: first.is_charged as boolean,
  };
}

/** What several charges took together; `serials` and `amounts` are those of the onboarding grants, one by one. */
function sumOf(taken: readonly Taken[]) {
  const parts = new Map<number, number>();
  let amount = 0;
  let subscription = 0;
  for (const one of taken) {
    amount += one.amount;
    subscription += one.subscription;
    for (const part of one.onboarding) parts.set(part.serial, (parts.get(part.serial) ?? 0) + part.amount);
  }
  const serials = [...parts.keys()];
  const amounts = [...parts.values()];
  return { monthMs: taken[0]?.monthMs ?? 0, amount, subscription, serials, amounts };
}

export class Charges {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #random: Random;
  /** By organization: the charges that wait while a statement for it is in flight. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** As the last statement of this process left them. */
  readonly #states = lruMap<string, CreditState>(STATE_COUNT_MAX);
  /** Values of {@link GIVE_BACK} for failed groups whose charge may be on record. */
  readonly #failed = new Set<readonly unknown[]>();

  constructor(database: Database, clock: Clock, random: Random) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
  }

  /** @throws Error when the organization does not exist */
  charge(organization: string, amount: number, purchase?: Purchase): Promise<Charge> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { amount, purchase, resolve, reject };
      const waiting = this.#waiting.get(organization);
      if (waiting !== undefined) {
        waiting.push(one);
        return;
      }
      this.#waiting.set(organization, [one]);
      void this.#chargeAll(organization);
    });
  }

  /** @param entry id of a group's entry; the state says whether it is on record */
  async read(organization: string, entry = ''): Promise<CreditState | undefined> {
    return creditStateOf(await this.#database.run({ ...READ, values: [organization, entry, this.#clock.nowMs()] }));
  }

  /** Gives back failed charges that may be on record. May be repeated. */
  async giveBack(): Promise<void> {
    for (const values of this.#failed) {
      await this.#database.run({ ...GIVE_BACK, values });
      this.#failed.delete(values);
    }
  }

  async #chargeAll(organization: string): Promise<void> {
    // Lets the other charges of this turn join the group.
    await undefined;
    const waiting = this.#waiting.get(organization) as Waiting[];
    while (waiting.length > 0) {
      const group = waiting.splice(0, groupLengthOf(waiting));
      try {
        const charges = await this.#chargeGroup(organization, group);
        for (const [index, one] of group.entries()) one.resolve(charges[index] as Charge);
      } catch (failure) {
        const ended = endedBy(failure);
        for (const one of group) ended === undefined ? one.reject(failure) : one.resolve(ended);
        // What waited for it has waited as long: one after the other would fail later and later. But a want of something fails at
        // once, and perhaps only what buys something.
        if (ended !== undefined && !(failure instanceof LackError))
          for (const one of waiting.splice(0)) one.resolve(ended);
      }
    }
    this.#waiting.delete(organization);
  }

  async #chargeGroup(organization: string, group: readonly Waiting[]): Promise<Charge[]> {
    const attempt: Attempt = { entry: this.#random.uuid(), inDoubt: undefined };
    const amounts = group.map(({ amount }) => amount);
    const purchase = group[0]?.purchase;
    try {
      if (this.#failed.size >= FAILED_COUNT_MAX) throw new OutageError('too many charges are still to be given back');
      const charged = await this.#decide(organization, amounts, attempt, purchase);
      return charged.map(({ charge }) => charge);
    } catch (failure) {
      if (failure instanceof UnknownOrganizationError) throw failure;
      if (attempt.inDoubt !== undefined && purchase === undefined) {
        this.#failed.add([organization, attempt.entry, ...attempt.inDoubt]);
      }
      throw failure;
    }
  }

  async #decide(
    organization: string,
    amounts: readonly number[],
    attempt: Attempt,
    purchase: Purchase | undefined,
  ): Promise<Charged[]> {
    const remembered = this.#states.get(organization);
    // The state is unknown from here until the charge is on record.
    this.#states.delete(organization);
    let judged: Charged[] = [];
    if (remembered !== undefined) {
      judged = judgedAll(remembered, amounts);
      // A refusal needs a state that was read for it, and so does a group that takes nothing, as no statement would check it.
      const isWhole =
        judged.every(({ charge }) => charge.kind === 'charged') && judged.some(({ taken }) => taken !== undefined);
      if (isWhole && (await this.#record(organization, remembered, judged, attempt, purchase))) return judged;
    }
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const state = await this.read(organization, attempt.entry);
      if (state === undefined) throw new UnknownOrganizationError();
      // The statement before is on record, though its answer was lost.
      if (state.isCharged) return judged;
      judged = judgedAll(state, amounts);
      if (judged.every(({ taken }) => taken === undefined)) {
        this.#states.set(organization, state);
        return judged;
      }
      if (await this.#record(organization, state, judged, attempt, purchase)) return judged;
    }
    throw new OutageError('other processes charge this organization all the time');
  }

  /** @returns false when the state is outdated, by others or by an earlier try whose answer was lost */
  async #record(
    organization: string,
    state: CreditState,
    judged: readonly Charged[],
    attempt: Attempt,
    purchase: Purchase | undefined,
  ): Promise<boolean> {
    const sum = sumOf(judged.flatMap(({ taken }) => taken ?? []));
    const { name, text } = purchase ?? CHARGE;
    const values: unknown[] = [
      ...[organization, state.version, state.untilMs, sum.monthMs, sum.amount, sum.subscription],
      ...[sum.serials, sum.amounts, attempt.entry, this.#clock.nowMs(), ...(purchase?.values ?? [])],
    ];
    attempt.inDoubt = [sum.monthMs, sum.amount, sum.subscription, sum.serials, sum.amounts];
    const [row] = await this.#database.run({ name, text, values }).catch((failure: unknown) => {
      if (changedNothing(failure)) attempt.inDoubt = undefined;
      throw failure;
    });
    if (row?.is_charged !== true) return false;
    this.#states.set(organization, { ...state, version: state.version + 1 });
    return true;
  }
}

/** How many of the waiting charges share the next statement. */
function groupLengthOf(waiting: readonly Waiting[]): number {
  const first = waiting.findIndex(({ purchase }) => purchase !== undefined);
  return first === -1 ? Math.min(waiting.length, COUNT_MAX) : Math.min(Math.max(first, 1), COUNT_MAX);
}

/** undefined = a bug. */
const endedBy = (failure: unknown): Charge | undefined =>
  failure instanceof OutageError ? { kind: 'unavailable', detail: failure.message } : undefined;

class UnknownOrganizationError extends Error {
  constructor() {
    super('a charge of an unknown organization');
  }
}

const judgedAll = ({ balance, nowMs }: CreditState, amounts: readonly number[]): Charged[] =>
  amounts.map((amount) => judge(balance, amount, nowMs));

function judge(balance: Balance, amount: number, nowMs: number): Charged {
  if (amount === 0) return { charge: { kind: 'charged', remaining: balance.remaining(nowMs) }, taken: undefined };
  const taken = balance.charge(amount, nowMs);
  const remaining = balance.remaining(nowMs);
  return { charge: { kind: taken === undefined ? 'insufficient' : 'charged', remaining }, taken };
}
