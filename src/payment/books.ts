/**
 * The books: one entry for every sale, written in the same commit as its settlement (decisions §4). A sale records who paid
 * how much for which operation, and whether the answer went out. It never records targets, headers or bodies, and query
 * parameters only where the operator asks for them.
 *
 * What every implementation promises: a settled payment is in the books from the moment its settlement is on record; a sale
 * never turns from delivered to undelivered; an entry is retained for as long as the operator set; reads are paged, so a long
 * history delays no payment.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Address, NetworkId } from './protocol/network.ts';
import type { ReservationKey } from './protocol/order.ts';

/** How a sale moved its money. Sales of different settlements or networks are never added up together. */
export const SETTLEMENT_KINDS = ['local', 'facilitator'] as const;
export type SettlementKind = (typeof SETTLEMENT_KINDS)[number];

/** What the books record about the paid request. */
export interface SaleFacts {
  /** Operation id, as in metrics and the log. */
  readonly operation: string;
  /** `req_` and a UUID: joins the sale with the log line and the answer's `X-Request-Id`. */
  readonly requestId: string;
  /** {@link Books.digestOf} of the question: joins repeated questions without stating any. */
  readonly question: string;
  /** The query text; null unless the operator keeps the parameters of jobs questions. */
  readonly parameters: string | null;
}

export interface Sale extends SaleFacts {
  /** Serial of the reservation that became this sale. */
  readonly serial: number;
  /** When the settlement was recorded: wall clock, milliseconds since 1970. */
  readonly timeMs: number;
  readonly amountAtomic: bigint;
  /** CAIP-2 id of the chain. */
  readonly network: NetworkId;
  readonly payer: Address;
  /** `0x` and 64 lower-case hex digits. */
  readonly nonce: string;
  /** `0x` and 64 lower-case hex digits. */
  readonly transaction: string;
  readonly settlement: SettlementKind;
  /** The answer was handed whole to a connection that was still there. */
  readonly isDelivered: boolean;
}

/** Position after a sale in the order of the books: time, then serial. */
export interface SaleCursor {
  readonly timeMs: number;
  readonly serial: number;
}

/** Asks for a page of sales, oldest first. */
export interface SalesQuery {
  /** Milliseconds since 1970; earlier sales are left out. */
  readonly sinceMs: number;
  /** Only sales whose answer did not go out. */
  readonly isUndeliveredOnly: boolean;
  /** Sales after this one; undefined = from the first. */
  readonly after: SaleCursor | undefined;
  /** At most {@link PAGE_COUNT_MAX}. */
  readonly limit: number;
}

/** The sales of one operation on one day (UTC). */
export interface SalesDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly settlement: SettlementKind;
  readonly network: NetworkId;
  readonly operation: string;
  readonly saleCount: number;
  readonly amountAtomic: bigint;
  readonly undeliveredCount: number;
}

/** Sales of one page: small enough that reading one takes a few milliseconds. */
export const PAGE_COUNT_MAX = 500;

/** `list`, `find` and `days` reject with an `OutageError` while the books cannot be read. */
export interface Books {
  /**
   * A keyed digest, 32 lower-case hex digits. The key lives in the state, so that without the state no question can be
   * tried against it.
   */
  digestOf(question: string): string;
  /** A page, oldest first. */
  list(query: SalesQuery): Promise<readonly Sale[]>;
  /** The sale of an authorization; undefined = the books hold none, or no longer. */
  find(key: ReservationKey): MaybePromise<Sale | undefined>;
  /** The days since `day` (`YYYY-MM-DD`, included), oldest first. */
  days(day: string): Promise<readonly SalesDay[]>;
  /** Notes that the answer of a sale went out; a later commit makes it durable. Repeating is harmless. */
  markDelivered(serial: number): void;
  readonly counts: ShownSaleCounts;
}

/** Counts that metrics show without reading the books. */
export interface ShownSaleCounts {
  /** Sales since the start of the process. */
  readonly byOperation: ReadonlyMap<string, number>;
  /** Sales in the books whose answer did not go out, as of a few seconds ago. */
  readonly undeliveredCount: number;
}
