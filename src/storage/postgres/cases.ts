/**
 * Settlements whose outcome is not on record yet (tables/payments.ts): the intent opens a case; the outcome ends it and enters
 * the sale. Each method is one statement for a group, and can be repeated, because a serial belongs to one purchase only.
 */
import type { Clock } from '../../base/clock.ts';
import type { SaleFacts, SettlementKind } from '../../payment/books.ts';
import { orderOfText, orderTextOf, type PaymentOrder, type ReservationKey } from '../../payment/protocol/order.ts';
import { KEPT_MS } from '../../payment/reservations.ts';
import type { AnswerToKeep } from '../memory/reservation-journal.ts';
import { latestMs } from './both-clocks.ts';
import { hexOfKey } from './claims.ts';
import type { Row } from './connections.ts';
import type { Database } from './database.ts';
import { Group } from './groups.ts';
import { ownerIsStillDead } from './owners.ts';
import { DEAD, INTENDED, RESERVED } from './tables/payments.ts';

export interface IntentItem {
  readonly key: ReservationKey;
  readonly serial: number;
  readonly attempt: number;
  readonly order: PaymentOrder;
  readonly sale: SaleFacts;
  /** One for each identifier of the purchase. */
  readonly answers: readonly AnswerToKeep[];
}

export interface SettledItem {
  readonly key: ReservationKey;
  readonly serial: number;
  readonly order: PaymentOrder;
  readonly sale: SaleFacts;
  readonly transaction: string;
}

export interface EndItem {
  readonly serial: number;
  readonly transaction: string;
  readonly isRefused?: boolean;
}

/** `there`: the outcome is on record. `gone`: another process has taken the case over or ended it differently. */
export type Recorded = 'there' | 'gone';

/** A case whose process has ended. */
export interface FoundCase {
  readonly serial: number;
  readonly attempt: number;
  readonly order: PaymentOrder;
  readonly sale: SaleFacts;
  readonly transaction: string;
  readonly isRefused: boolean;
}

/** The claim and all identifiers must still belong to this attempt; a repeat finds its own case. */
const INTENT = `
  WITH item AS (
    SELECT * FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
      AS item(key, serial, attempt, terms, sale)
  ), name AS (
    SELECT * FROM unnest($8::bigint[], $9::text[], $10::text[]) AS name(serial, digest, sealed)
  ), held AS (
    SELECT name.serial, name.digest FROM name JOIN item ON item.serial = name.serial
    JOIN paygrade.identifiers n ON n.digest = decode(name.digest, 'hex')
    WHERE n.owner = $1 AND n.attempt = item.attempt AND n.sealed IS NULL FOR UPDATE OF n
  ), intended AS (
    UPDATE paygrade.claims c SET state = ${INTENDED} FROM item
    WHERE c.key = decode(item.key, 'hex') AND c.serial = item.serial AND c.owner = $1 AND c.attempt = item.attempt
      AND c.state = ${RESERVED}
      AND item.serial NOT IN (SELECT serial FROM name WHERE (serial, digest) NOT IN (SELECT serial, digest FROM held))
    RETURNING c.serial
  ), named AS (
    UPDATE paygrade.identifiers n SET serial = name.serial, sealed = decode(name.sealed, 'hex')
    FROM name JOIN intended ON intended.serial = name.serial WHERE n.digest = decode(name.digest, 'hex')
    RETURNING n.serial
  ), begun AS (
    INSERT INTO paygrade.cases (serial, owner, settlement, terms, sale)
    SELECT item.serial, $1, $2, item.terms, item.sale FROM item JOIN intended ON intended.serial = item.serial
    RETURNING serial
  )
  SELECT serial FROM begun
  UNION ALL SELECT k.serial FROM item JOIN paygrade.cases k ON k.serial = item.serial AND k.owner = $1`;

/**
 * Records the sale even if the case is gone: another process may have ended it as dead, and its claim may have been pruned since,
 * but the process that saw the money move knows better. So the serial alone decides; readers of a claim look for its sale first.
 */
const SETTLED = `
  WITH item AS (
    SELECT * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::text[], $8::text[], $9::text[], $10::text[])
      AS item(serial, key, transaction, operation, amount, network, payer, nonce, facts)
  ), ended AS (
    DELETE FROM paygrade.cases k USING item WHERE k.serial = item.serial
  ), sold AS (
    INSERT INTO paygrade.sales
      (serial, key, time_ms, operation, amount, network, payer, nonce, transaction, settlement, facts)
    SELECT item.serial, decode(item.key, 'hex'), paygrade.now_ms(), item.operation, item.amount, item.network, item.payer,
      item.nonce, item.transaction, $1, item.facts
    FROM item ON CONFLICT (serial) DO NOTHING RETURNING serial, transaction
  ), kept AS (
    UPDATE paygrade.identifiers n
    SET kept_until_ms = ${latestMs('$11')} + ${KEPT_MS}, transaction = sold.transaction
    FROM sold WHERE n.serial = sold.serial
  )
  SELECT serial FROM sold`;

/** A hash or a refusal only makes the holder of the case more careful, so any process may add one and none removes one. */
const UNKNOWN = `
  UPDATE paygrade.cases k SET is_unknown = true, is_refused = k.is_refused OR item.is_refused,
    transaction = CASE item.transaction WHEN '' THEN k.transaction ELSE item.transaction END
  FROM unnest($1::bigint[], $2::text[], $3::boolean[]) AS item(serial, transaction, is_refused)
  WHERE k.serial = item.serial RETURNING k.serial`;

/**
 * A process knows only about its own attempts that no money moved. A process that took the case over may be moving
 * money now, so only the holder frees a case or ends it as dead. Any process may record that it settled.
 */
const RELEASED = `
  WITH item AS (SELECT * FROM unnest($2::bigint[]) AS item(serial)),
  ended AS (
    DELETE FROM paygrade.cases k USING item WHERE k.serial = item.serial AND k.owner = $1 RETURNING k.serial
  ), unnamed AS (
    DELETE FROM paygrade.identifiers n USING ended WHERE n.serial = ended.serial
  ), freed AS (
    DELETE FROM paygrade.claims c USING ended WHERE c.serial = ended.serial
  )
  SELECT serial FROM ended
  UNION ALL
  SELECT item.serial FROM item
  WHERE NOT EXISTS (SELECT FROM paygrade.cases k WHERE k.serial = item.serial)
    AND NOT EXISTS (SELECT FROM paygrade.claims c WHERE c.serial = item.serial)`;

/** Keeps the identifiers and their answers: another process may still know that the money moved, and enter the sale. */
const ENDED_DEAD = `
  WITH item AS (SELECT * FROM unnest($2::bigint[], $3::text[]) AS item(serial, transaction)),
  ended AS (
    DELETE FROM paygrade.cases k USING item WHERE k.serial = item.serial AND k.owner = $1 RETURNING k.serial
  ), kept AS (
    UPDATE paygrade.identifiers n SET kept_until_ms = ${latestMs('$4')} + ${KEPT_MS}
    FROM ended WHERE n.serial = ended.serial
  ), dead AS (
    UPDATE paygrade.claims c SET state = ${DEAD}, transaction = item.transaction
    FROM item JOIN ended ON ended.serial = item.serial WHERE c.serial = item.serial
  )
  SELECT serial FROM ended
  UNION ALL SELECT c.serial FROM item JOIN paygrade.claims c ON c.serial = item.serial AND c.state = ${DEAD}`;

/**
 * Takes over the cases of a dead process, and those that an earlier take-over of ours took without our getting the answer. It
 * leaves the cases that we know of: our work on them ends first, with a record or on learning that they are no longer ours.
 */
const TAKE_OVER = `
  WITH taken AS (
    UPDATE paygrade.cases k SET owner = $1, is_unknown = true
    WHERE k.settlement = $2 AND k.serial <> ALL ($3::bigint[]) AND (k.owner = $1 OR ${ownerIsStillDead('k.owner')})
    RETURNING k.serial, k.terms, k.sale, k.transaction, k.is_refused
  )
  SELECT taken.*, c.attempt
  FROM taken JOIN paygrade.claims c ON c.serial = taken.serial
  ORDER BY taken.serial`;

/** Writes the row: it waits for a take-over that is under way, or makes that judge the owner again. */
const HOLD = 'UPDATE paygrade.cases SET owner = owner WHERE serial = $1 AND owner = $2 RETURNING serial';

const byKey = ({ key }: { readonly key: string }): string => key;
const bySerial = ({ serial }: { readonly serial: number }): string => String(serial).padStart(16, '0');

type ValuesOfEnds = (items: readonly EndItem[]) => readonly unknown[];
const serialsOf = (items: readonly EndItem[]): readonly number[] => items.map(({ serial }) => serial);
const refusalsOf = (items: readonly EndItem[]): readonly boolean[] => items.map(({ isRefused = false }) => isRefused);
const transactionsOf = (items: readonly EndItem[]): readonly string[] => items.map(({ transaction }) => transaction);

const caseOf = (row: Row): FoundCase => ({
  serial: row.serial as number,
  attempt: row.attempt as number,
  order: orderOfText(row.terms as string),
  sale: JSON.parse(row.sale as string) as SaleFacts,
  transaction: row.transaction as string,
  isRefused: row.is_refused === true,
});

export class Cases {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #settlement: SettlementKind;
  readonly intend: Group<IntentItem, Recorded>;
  /** True: this process has entered the sale. */
  readonly settle: Group<SettledItem, boolean>;
  readonly markUnknown: Group<EndItem, Recorded>;
  readonly release: Group<EndItem, Recorded>;
  readonly end: Group<EndItem, Recorded>;

  constructor(database: Database, clock: Clock, owner: string, settlement: SettlementKind) {
    this.#database = database;
    this.#clock = clock;
    this.#owner = owner;
    this.#settlement = settlement;
    this.intend = new Group((items: readonly IntentItem[]) => this.#intend(items), { keyOf: byKey });
    this.settle = new Group((items: readonly SettledItem[]) => this.#settle(items), { keyOf: bySerial });
    const ends = (name: string, text: string, valuesOf: ValuesOfEnds): Group<EndItem, Recorded> =>
      new Group((items: readonly EndItem[]) => this.#record(name, text, items, valuesOf(items)), { keyOf: bySerial });
    const unknowns: ValuesOfEnds = (items) => [serialsOf(items), transactionsOf(items), refusalsOf(items)];
    this.markUnknown = ends('mark-unknown', UNKNOWN, unknowns);
    this.release = ends('release-case', RELEASED, (items) => [owner, serialsOf(items)]);
    this.end = ends('end-dead', ENDED_DEAD, (items) => {
      return [owner, serialsOf(items), transactionsOf(items), clock.nowMs()];
    });
  }

  /** @param live serials of the cases that this process works on */
  async takeOver(live: readonly number[]): Promise<readonly FoundCase[]> {
    const values = [this.#owner, this.#settlement, live];
    return (await this.#database.run({ text: TAKE_OVER, values })).map(caseOf);
  }

  /** Whether a case is open and still held by this process. */
  async isHeld(serial: number): Promise<boolean> {
    const rows = await this.#database.run({ name: 'hold-case', text: HOLD, values: [serial, this.#owner] });
    return rows.length > 0;
  }

  #intend(items: readonly IntentItem[]): Promise<Recorded[]> {
    const names = items.flatMap(({ serial, answers }) => answers.map((answer) => ({ serial, ...answer })));
    return this.#record('record-intent', INTENT, items, [
      this.#owner,
      this.#settlement,
      items.map(({ key }) => hexOfKey(key)),
      items.map(({ serial }) => serial),
      items.map(({ attempt }) => attempt),
      items.map(({ order }) => orderTextOf(order)),
      items.map(({ sale }) => JSON.stringify(sale)),
      names.map(({ serial }) => serial),
      names.map(({ claim }) => hexOfKey(claim.digest)),
      names.map(({ sealed }) => Buffer.from(sealed).toString('hex')),
    ]);
  }

  async #settle(items: readonly SettledItem[]): Promise<boolean[]> {
    const authorizations = items.map(({ order }) => order.authorization);
    const values = [
      this.#settlement,
      items.map(({ serial }) => serial),
      items.map(({ key }) => hexOfKey(key)),
      items.map(({ transaction }) => transaction),
      items.map(({ sale }) => sale.operation),
      authorizations.map(({ valueAtomic }) => String(valueAtomic)),
      items.map(({ order }) => order.offer.requirements.network),
      items.map(({ order }) => order.payer),
      authorizations.map(({ nonce }) => nonce),
      // JSON, because a query may hold U+0000, which PostgreSQL text cannot.
      items.map(({ sale }) => JSON.stringify(sale)),
      this.#clock.nowMs(),
    ];
    // A repeat finds what a try of ours has entered.
    let isInDoubt = false;
    const onDoubt = (): void => {
      isInDoubt = true;
    };
    const statement = { name: 'record-settled', text: SETTLED, values };
    const rows = await this.#database.run(statement, { isPatient: true, onDoubt });
    const sold = new Set(rows.map(({ serial }) => serial as number));
    return items.map(({ serial }) => isInDoubt || sold.has(serial));
  }

  /** Outcomes wait while the database is away; an intent does not, because without it no money moves. */
  async #record(
    name: string,
    text: string,
    items: readonly { readonly serial: number }[],
    values: readonly unknown[],
  ): Promise<Recorded[]> {
    const rows = await this.#database.run({ name, text, values }, { isPatient: text !== INTENT });
    const there = new Set(rows.map(({ serial }) => serial as number));
    return items.map(({ serial }) => (there.has(serial) ? 'there' : 'gone'));
  }
}
