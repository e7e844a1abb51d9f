/**
 * The play ledger of all processes (tables/play-ledger.ts): the database judges window, nonce and balance and moves the
 * amount in one statement. While a case is open, a transfer of it that already exists counts as done, so that a repeat
 * after a lost answer, or by a process that took the case over, learns that it succeeded.
 */
import { messageOf } from '../../base/failure.ts';
import type { PaymentOrder } from '../../payment/protocol/order.ts';
import { localTransactionOf, type PlayLedger, refusedTransfer } from '../../payment/settlement/play-ledger.ts';
import type { SettleOutcome } from '../../payment/settlement/settlement.ts';
import { hexOfKey } from './claims.ts';
import type { Database } from './database.ts';
import { DatabaseAwayError, InDoubtError, isUniqueViolation, StatementError } from './failures.ts';
import { Group } from './groups.ts';

/** How long a transfer stays on record after its window, in seconds: longer than the reconciler watches a case. */
const KEPT_SECONDS = 3600;
const PRUNED_COUNT_MAX = 2000;

const payerOf = ({ authorization }: PaymentOrder): string => authorization.from.toLowerCase();

type Verdict = 'moved' | 'early' | 'late' | 'used' | 'short';
/** `failure`: the transfer's own statement failed, after the group's had been carried out. */
type Judged = Verdict | { readonly failure: unknown };

/** Moves all of a payer's transfers in the statement, or none when the balance does not cover them all. */
const TRANSFER = `
  WITH item AS (
    SELECT decode(i.key, 'hex') AS key, i.payer, i.amount, i.valid_after, i.valid_before, i.place
    FROM unnest($2::text[], $3::text[], $4::numeric[], $5::bigint[], $6::bigint[])
      WITH ORDINALITY AS i(key, payer, amount, valid_after, valid_before, place)
  ), judged AS (
    SELECT item.*, CASE
      WHEN t.key IS NOT NULL AND k.serial IS NOT NULL THEN 'moved'
      WHEN paygrade.now_ms() / 1000 <= item.valid_after THEN 'early'
      WHEN paygrade.now_ms() / 1000 >= item.valid_before THEN 'late'
      WHEN t.key IS NOT NULL THEN 'used'
    END AS verdict
    FROM item
    LEFT JOIN paygrade.play_transfers t ON t.key = item.key
    LEFT JOIN paygrade.claims c ON c.key = item.key
    LEFT JOIN paygrade.cases k ON k.serial = c.serial
  ), debited AS (
    INSERT INTO paygrade.play_spent AS p (payer, atomic)
    SELECT payer, sum(amount) FROM judged WHERE verdict IS NULL
    GROUP BY payer HAVING sum(amount) <= $1::numeric ORDER BY payer
    ON CONFLICT (payer) DO UPDATE SET atomic = p.atomic + excluded.atomic
    WHERE p.atomic + excluded.atomic <= $1::numeric
    RETURNING payer
  ), noted AS (
    INSERT INTO paygrade.play_transfers (key, valid_before)
    SELECT judged.key, judged.valid_before FROM judged JOIN debited ON debited.payer = judged.payer
    WHERE judged.verdict IS NULL
  )
  SELECT coalesce(judged.verdict, CASE WHEN debited.payer IS NULL THEN 'short' ELSE 'moved' END) AS verdict
  FROM judged LEFT JOIN debited ON debited.payer = judged.payer
  ORDER BY judged.place`;

/**
 * The database's clock may be ahead, and a repeat would move an amount again whose transfer is gone. So one stays as long as the
 * claim of its authorization, which no clock alone removes (claims.ts), and which has an open case for as long as any. The
 * column stands alone, so that each look reads from the index only what is due, and not every transfer of the last hour.
 */
export const PRUNE = `
  DELETE FROM paygrade.play_transfers WHERE key IN (
    SELECT t.key FROM paygrade.play_transfers t WHERE t.valid_before < paygrade.now_ms() / 1000 - ${KEPT_SECONDS}
      AND NOT EXISTS (SELECT FROM paygrade.claims c WHERE c.key = t.key)
    ORDER BY t.valid_before LIMIT ${PRUNED_COUNT_MAX} FOR UPDATE SKIP LOCKED
  ) RETURNING key`;

export class PostgresPlayLedger implements PlayLedger {
  readonly #database: Database;
  readonly #openingAtomic: bigint;
  readonly #transfers: Group<PaymentOrder, Judged>;

  /** @param openingAtomic opening balance of every payer, atomic units */
  constructor(database: Database, openingAtomic: bigint) {
    this.#database = database;
    this.#openingAtomic = openingAtomic;
    this.#transfers = new Group((orders) => this.#transferAll(orders), {
      keyOf: payerOf,
      takesRepeatedKeys: true,
    });
  }

  isFull(): boolean {
    return false;
  }

  async transfer(order: PaymentOrder): Promise<SettleOutcome> {
    for (;;) {
      try {
        const judged = await this.#transfers.add(order);
        if (typeof judged === 'object') throw judged.failure;
        return outcomeOf(judged, order);
      } catch (failure) {
        // Another process moved the same authorization meanwhile; the next judgement sees that.
        if (isUniqueViolation(failure)) continue;
        const detail = messageOf(failure);
        if (failure instanceof InDoubtError) return { kind: 'unknown', transaction: '', detail };
        if (failure instanceof DatabaseAwayError) return { kind: 'unavailable', detail };
        if (failure instanceof StatementError) return { kind: 'unavailable', detail, bug: failure };
        throw failure;
      }
    }
  }

  /** Removes transfers whose window closed long ago and whose authorization is forgotten. */
  async prune(): Promise<void> {
    while ((await this.#database.run({ name: 'prune-transfers', text: PRUNE })).length === PRUNED_COUNT_MAX);
  }

  /**
   * Transfers that one statement cannot judge together are judged one by one: repeated authorizations, and balances
   * that run out.
   */
  async #transferAll(orders: readonly PaymentOrder[]): Promise<Judged[]> {
    const verdicts = new Map<PaymentOrder, Verdict>();
    const together = [...new Map(orders.map((order) => [order.key, order])).values()];
    const counts = new Map<string, number>();
    for (const order of together) counts.set(payerOf(order), (counts.get(payerOf(order)) ?? 0) + 1);
    for (const [at, verdict] of (await this.#transferTogether(together)).entries()) {
      const order = together[at] as PaymentOrder;
      if (verdict !== 'short' || counts.get(payerOf(order)) === 1) verdicts.set(order, verdict);
    }
    const ends: Judged[] = [];
    for (const order of orders) {
      const verdict = verdicts.get(order);
      // The same order may come twice: only the first use takes this verdict.
      verdicts.delete(order);
      ends.push(verdict ?? (await this.#transferAlone(order)));
    }
    return ends;
  }

  /** Returns a failure instead of throwing it: the money of the other transfers may have moved by now. */
  async #transferAlone(order: PaymentOrder): Promise<Judged> {
    try {
      return (await this.#transferTogether([order]))[0] as Verdict;
    } catch (failure) {
      return { failure };
    }
  }

  async #transferTogether(orders: readonly PaymentOrder[]): Promise<Verdict[]> {
    const authorizations = orders.map(({ authorization }) => authorization);
    const rows = await this.#database.run({
      name: 'transfer',
      text: TRANSFER,
      values: [
        String(this.#openingAtomic),
        orders.map(({ key }) => hexOfKey(key)),
        orders.map(payerOf),
        authorizations.map(({ valueAtomic }) => String(valueAtomic)),
        authorizations.map(({ validAfterSeconds }) => validAfterSeconds),
        authorizations.map(({ validBeforeSeconds }) => validBeforeSeconds),
      ],
    });
    return rows.map(({ verdict }) => verdict as Verdict);
  }
}

function outcomeOf(verdict: Verdict, order: PaymentOrder): SettleOutcome {
  switch (verdict) {
    case 'moved':
      return { kind: 'settled', transaction: localTransactionOf(order) };
    case 'early':
      return refusedTransfer('invalid_exact_evm_payload_authorization_valid_after');
    case 'late':
      return refusedTransfer('invalid_exact_evm_payload_authorization_valid_before');
    case 'used':
      return refusedTransfer('invalid_exact_evm_nonce_already_used');
    case 'short':
      return refusedTransfer('insufficient_funds');
    default:
      return verdict satisfies never;
  }
}
