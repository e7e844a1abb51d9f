/** Where the reservations in memory write what must outlive the process (a port), and what a journal gives back at start. */
import type { PaymentOrder } from '../../payment/protocol/order.ts';
import type { UsedAuthorization } from './used-authorizations.ts';

/**
 * Records are numbered by `serial`, which is never used twice; those of one serial take effect in the order of the calls.
 * Methods resolve and reject as the recording methods of `Reservations` do.
 */
export interface ReservationJournal {
  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined;
  recordIntent(serial: number, order: PaymentOrder): Promise<void>;
  recordUnknown(serial: number, transaction: string): Promise<void>;
  /** From now on the journal keeps only the key and its outcome. */
  recordEnd(serial: number, end: UsedAuthorization): Promise<void>;
  recordReleased(serial: number): Promise<void>;
  /** The retention of a settled or dead one is over: the journal may remove its record when that is convenient. */
  forget(serial: number): void;
}

/** A settlement that began before a restart and whose outcome is not on record. */
export interface RecordedCase {
  readonly serial: number;
  readonly order: PaymentOrder;
  /** '' when no hash is known. */
  readonly transaction: string;
  /** False: another kind of settlement began it, so it stays used and this process does not repeat it. */
  readonly isRepeatable: boolean;
}

/** What a journal kept of an earlier process. */
export interface LoadedReservations {
  readonly ends: Iterable<UsedAuthorization & { readonly serial: number }>;
  readonly cases: readonly RecordedCase[];
  /**
   * Authorizations that end before this, in seconds since 1970, may have been used without a record of it, because the
   * state was lost. 0 = none.
   */
  readonly usedBeforeSeconds: number;
  /** The highest serial so far: new ones come after it. */
  readonly lastSerial: number;
}

/** Of a process without a journal. */
export const NOTHING_LOADED: LoadedReservations = { ends: [], cases: [], usedBeforeSeconds: 0, lastSerial: 0 };

/** Nothing outlives the process. */
export const NO_JOURNAL: ReservationJournal = {
  fault: () => undefined,
  recordIntent: async () => {},
  recordUnknown: async () => {},
  recordEnd: async () => {},
  recordReleased: async () => {},
  forget: () => {},
};
