/**
 * Payment identifiers and the room that their kept answers take. Decisions are made in memory; the journal stores the
 * sealed answers. An identifier is claimed with its reservation, returns its answer once the payment has settled, and is free
 * again when its purchase ends uncharged, or {@link KEPT_MS} after it has settled or ended as dead. Nothing is evicted:
 * without room, a purchase with an identifier is refused before it is paid for.
 */
import { MIB } from '../../base/sizes.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import { ANSWER_BYTES_CLAIMED, ANSWER_BYTES_MAX, KEPT_MS, type KnownIdentifier } from '../../payment/reservations.ts';

/** A purchase under an identifier. */
export interface KeptEntry extends IdentifierClaim {
  readonly serial: number;
  /** Bytes of room that it takes: {@link ANSWER_BYTES_CLAIMED} until the answer is known. */
  bytes: number;
  /** Of the settlement; '' while none is known. */
  transaction: string;
  /** Monotonic time of its removal; undefined until its purchase has ended. */
  dueMs: number | undefined;
}

export interface AnswerRoom {
  readonly countMax: number;
  readonly bytesMax: number;
}

/**
 * Most answers kept for payment identifiers, and most bytes. Without a state file they are held in the process itself.
 */
export const ANSWER_ROOM: AnswerRoom = { countMax: 100_000, bytesMax: 256 * MIB };

/** @throws Error for an answer too long to keep: a route with such answers has to raise the limit */
export function checkedAnswer(sealed: Uint8Array): Uint8Array {
  if (sealed.length > ANSWER_BYTES_MAX) throw new Error(`an answer of ${sealed.length} bytes is too long to be kept`);
  return sealed;
}

/**
 * Pairs each identifier with its answer, in the same order. @throws Error where one is missing, left over or too long
 */
export function answersFor<Claim>(claims: readonly Claim[], sealed: readonly Uint8Array[]) {
  if (claims.length !== sealed.length) throw new Error('an identifier and an answer belong together');
  return claims.map((claim, i) => ({ claim, sealed: checkedAnswer(sealed[i] as Uint8Array) }));
}

export class KeptAnswers {
  readonly #room: AnswerRoom;
  readonly #byDigest = new Map<string, KeptEntry>();
  /** Those whose purchase has ended, in the order of their removal. */
  readonly #due = new Set<KeptEntry>();
  #bytes = 0;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  /** What is known of an identifier's purchase; undefined = it is free. */
  find({ digest, fingerprint }: IdentifierClaim, place: number): KnownIdentifier | undefined {
    const entry = this.#byDigest.get(digest);
    if (entry === undefined) return undefined;
    if (entry.fingerprint !== fingerprint) return { kind: 'conflict', place };
    return entry.transaction === '' ? { kind: 'under-way' } : { kind: 'kept', place, kept: entry };
  }

  /** Whether `count` more answers fit. */
  hasRoom(count: number): boolean {
    const { countMax, bytesMax } = this.#room;
    return this.#byDigest.size + count <= countMax && this.#bytes + count * ANSWER_BYTES_CLAIMED <= bytesMax;
  }

  /** Claims a free identifier. The caller has asked {@link find} and {@link hasRoom}. */
  claim({ digest, fingerprint }: IdentifierClaim, serial: number): KeptEntry {
    const entry: KeptEntry = {
      digest,
      fingerprint,
      serial,
      bytes: ANSWER_BYTES_CLAIMED,
      transaction: '',
      dueMs: undefined,
    };
    this.#byDigest.set(digest, entry);
    this.#bytes += entry.bytes;
    return entry;
  }

  /** Takes over an identifier of an earlier process, room or not. */
  restore(claim: IdentifierClaim, serial: number, bytes: number): KeptEntry {
    const entry = this.claim(claim, serial);
    this.resize(entry, bytes);
    return entry;
  }

  /** The size of the answer is known now. */
  resize(entry: KeptEntry, bytes: number): void {
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  /** Notes that another answer replaced a settled one; does nothing if that has expired. */
  resizeSettled({ serial, digest }: Pick<KeptEntry, 'serial' | 'digest'>, bytes: number): void {
    const entry = this.#byDigest.get(digest);
    if (entry?.serial === serial) this.resize(entry, bytes);
  }

  /**
   * The purchase has ended: settled, so that the identifier returns its answer, or dead.
   * @param transaction of the settlement; '' = dead
   */
  end(entry: KeptEntry, transaction: string, nowMs: number, leftMs: number = KEPT_MS): void {
    entry.transaction = transaction;
    entry.dueMs = nowMs + leftMs;
    this.#due.add(entry);
  }

  /** Frees an identifier whose purchase ended uncharged or whose time is over. */
  free(entry: KeptEntry): void {
    if (this.#byDigest.get(entry.digest) !== entry) return;
    this.#byDigest.delete(entry.digest);
    this.#due.delete(entry);
    this.#bytes -= entry.bytes;
  }

  /** Frees and returns this identifier if its time is over; undefined = it is free already or still in use. */
  removeIfDue({ digest }: IdentifierClaim, nowMs: number): KeptEntry | undefined {
    const entry = this.#byDigest.get(digest);
    if (entry?.dueMs === undefined || entry.dueMs > nowMs) return undefined;
    this.free(entry);
    return entry;
  }

  /** Frees and returns the oldest identifier whose time is over; undefined = there is none. */
  removeDue(nowMs: number): KeptEntry | undefined {
    for (const entry of this.#due) {
      if (entry.dueMs === undefined || entry.dueMs > nowMs) return undefined;
      this.free(entry);
      return entry;
    }
    return undefined;
  }
}
