/**
 * The journal of the reservations in memory (a port): it records what must outlive the process and returns it at the
 * next start.
 */
import type { Sale, SaleFacts } from '../../payment/books.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import type { PaymentOrder } from '../../payment/protocol/order.ts';
import type { UsedAuthorization } from './used-authorizations.ts';

/**
 * Each reservation has a `serial`, which is never used twice; records of one serial take effect in the order of the
 * calls. Its methods resolve and reject like the recording methods of `Reservations`.
 */
export interface ReservationJournal {
  /** Why nothing can be written now; undefined = it can. */
  fault(): string | undefined;
  recordIntent(serial: number, order: PaymentOrder, sale: SaleFacts, answers: readonly AnswerToKeep[]): Promise<void>;
  recordUnknown(serial: number, transaction: string, isRefused: boolean): Promise<void>;
  /**
   * Records the outcome; from then on the journal holds only the key and its outcome.
   * @param sale the entry of the books for a settled payment, written in the same commit; undefined for a dead one
   * @param claims its identifiers, which are kept for ten minutes more
   */
  recordEnd(
    serial: number,
    end: UsedAuthorization,
    sale: Sale | undefined,
    claims: readonly IdentifierClaim[],
  ): Promise<void>;
  /** Drops the answers of its identifiers too. */
  recordReleased(serial: number): Promise<void>;
  /** The sealed answer of a payment for one of its identifiers; undefined = it has none. */
  readAnswer(serial: number, digest: string): Promise<Uint8Array | undefined>;
  replaceAnswer(serial: number, digest: string, sealed: Uint8Array): Promise<void>;
  /** Permits the journal to remove the kept answers of a payment: their time is over. */
  forgetAnswers(serial: number): void;
  /** Permits the journal to remove the record of a used authorization whose retention is over. */
  forget(serial: number): void;
}

/** The answer that comes with an intent, for an identifier. */
export interface AnswerToKeep {
  readonly claim: IdentifierClaim;
  readonly sealed: Uint8Array;
}

/** A kept answer from before a restart, without its text. */
export interface LoadedAnswer {
  readonly claim: IdentifierClaim;
  readonly serial: number;
  readonly byteCount: number;
  /** '' while its payment has not settled. */
  readonly transaction: string;
  /** Milliseconds since 1970; undefined while its payment has no outcome. */
  readonly keptUntilMs: number | undefined;
}

/** A settlement from before a restart without a recorded outcome. */
export interface RecordedCase {
  readonly serial: number;
  readonly order: PaymentOrder;
  readonly sale: SaleFacts;
  /** Transaction hash; '' when none is known. */
  readonly transaction: string;
  /** As `Reservation.isRefused`. */
  readonly isRefused: boolean;
  /** False: another kind of settlement began it, so this process does not repeat it and its outcome stays unknown. */
  readonly isRepeatable: boolean;
}

/** The reservations of earlier processes. */
export interface LoadedReservations {
  readonly ends: Iterable<UsedAuthorization & { readonly serial: number }>;
  readonly cases: readonly RecordedCase[];
  /** In the order in which they expire. */
  readonly answers: readonly LoadedAnswer[];
  /**
   * Seconds since 1970. The state was lost, so authorizations with an earlier `validBefore` may have been used without a
   * record. 0 = no state was lost.
   */
  readonly usedBeforeSeconds: number;
  /** The highest serial so far, in the books too. */
  readonly lastSerial: number;
}

/** For a process without a journal. */
export const NOTHING_LOADED: LoadedReservations = {
  ends: [],
  cases: [],
  answers: [],
  usedBeforeSeconds: 0,
  lastSerial: 0,
};
