/**
 * What is durable in a run: the tables themselves over a database in memory, so that every domain is in it, and beside them
 * an account of the payments that is kept by hand, which the invariants ask at every step. At each start both must agree.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../src/base/clock.ts';
import { orderOfText, type ReservationKey } from '../../src/payment/protocol/order.ts';
import { START_RETENTION_SECONDS } from '../../src/payment/reservations.ts';
import type { UsedAuthorization } from '../../src/storage/memory/used-authorizations.ts';
import { StateDatabase } from '../../src/storage/sqlite/database.ts';
import {
  type Intent,
  loadCases,
  loadEnds,
  loadSpent,
  PAYMENTS,
  type PaymentOperation,
} from '../../src/storage/sqlite/tables/payments.ts';
import { RETRIES, type RetryOperation } from '../../src/storage/sqlite/tables/retries.ts';
import type { Operation } from '../../src/storage/sqlite/tables/table.ts';
import type { RefusedOperation } from '../../src/storage/sqlite/writer-messages.ts';

export const isPayment = (operation: Operation): operation is PaymentOperation => operation.table === PAYMENTS;

/** A draft that has its job already is created again: the store finds the job when the record is refused. */
export const isRefusable = (operation: Operation | undefined): boolean =>
  operation?.table === RETRIES && (operation as RetryOperation).kind === 'create';

interface PendingRow {
  readonly intent: Intent;
  readonly key: ReservationKey;
  transaction: string;
}

export class Records {
  readonly database = new StateDatabase({ path: ':memory:', sync: 'normal' });
  readonly pending = new Map<number, PendingRow>();
  readonly used = new Map<number, UsedAuthorization>();
  readonly pendingKeys = new Map<ReservationKey, number>();
  readonly usedKeys = new Map<ReservationKey, number>();
  readonly spent = new Map<string, bigint>();

  /**
   * Makes a batch durable. @returns what was refused of it, as `isRefusable` permits
   * @throws Error with what is wrong with it: the server asked for something that cannot be
   */
  apply(operations: readonly Operation[]): readonly RefusedOperation[] {
    const result = this.database.apply(operations);
    if (result.kind !== 'done') throw new Error(result.detail);
    const wrong = result.refused.filter(({ index }) => !isRefusable(operations[index]));
    if (wrong.length > 0) throw new Error(wrong.map(({ detail }) => detail).join('; '));
    for (const operation of operations) if (isPayment(operation)) this.#account(operation);
    return result.refused;
  }

  /**
   * What a start removes has been removed from the tables; removes it here too.
   * @returns in what the tables differ from this account, if they do
   */
  takeOver(clock: Clock): string | undefined {
    const { connection } = this.database;
    const fromSeconds = Math.floor(clock.nowMs() / 1000) - START_RETENTION_SECONDS;
    for (const [serial, end] of this.used) if (end.validBeforeSeconds < fromSeconds) this.#forget(serial);
    const tables = {
      ends: loadEnds(connection, fromSeconds),
      cases: loadCases(connection).map(({ serial, order, transaction }) => [serial, order.key, transaction]),
      spent: loadSpent(connection).sort(([one], [other]) => (one < other ? -1 : 1)),
    };
    const account = {
      ends: [...this.used].map(([serial, end]) => ({ serial, ...end })).sort((one, other) => one.serial - other.serial),
      cases: [...this.pending]
        .sort(([one], [other]) => one - other)
        .map(([serial, { key, transaction }]) => [serial, key, transaction]),
      spent: [...this.spent].sort(([one], [other]) => (one < other ? -1 : 1)),
    };
    return isDeepStrictEqual(tables, account) ? undefined : `tables ${textOf(tables)} but account ${textOf(account)}`;
  }

  rowCount(table: 'callback' | 'event' | 'retry' | 'resolve'): number {
    return this.database.connection.all(`SELECT count(*) AS count FROM ${table}`)[0]?.count as number;
  }

  close(): void {
    this.database.close();
  }

  #account(operation: PaymentOperation): void {
    switch (operation.kind) {
      case 'intent': {
        const { key } = orderOfText(operation.order);
        this.pending.set(operation.serial, { intent: operation, key, transaction: '' });
        this.pendingKeys.set(key, operation.serial);
        return;
      }
      case 'unknown':
        this.#pendingOf(operation.serial).transaction = operation.transaction;
        return;
      case 'end': {
        const { payer, valueAtomic, isPlay } = this.#pendingOf(operation.serial).intent;
        if (operation.end.kind === 'settled' && isPlay) {
          this.spent.set(payer, (this.spent.get(payer) ?? 0n) + valueAtomic);
        }
        this.#endPending(operation.serial);
        this.used.set(operation.serial, operation.end);
        this.usedKeys.set(operation.end.key, operation.serial);
        return;
      }
      case 'release':
        this.#endPending(operation.serial);
        return;
      case 'forget':
        for (const serial of operation.serials) this.#forget(serial);
        return;
      default:
        operation satisfies never;
    }
  }

  #pendingOf(serial: number): PendingRow {
    const row = this.pending.get(serial);
    if (row === undefined) throw new Error(`${serial} is not pending, and the tables took it`);
    return row;
  }

  #endPending(serial: number): void {
    const { key } = this.#pendingOf(serial);
    this.pending.delete(serial);
    this.pendingKeys.delete(key);
  }

  #forget(serial: number): void {
    const end = this.used.get(serial);
    this.used.delete(serial);
    if (end !== undefined) this.usedKeys.delete(end.key);
  }
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
