/**
 * Payment identifiers and how much room their kept answers take. It decides in memory; the sealed answers themselves lie with
 * the journal. An identifier is claimed with its reservation, answers from its settlement on, and is free again after
 * {@link KEPT_MS} or when its purchase ends uncharged. Nothing is evicted: without room, a purchase with an identifier is
 * refused before it is paid for.
 */
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import { ANSWER_BYTES_CLAIMED, ANSWER_BYTES_MAX, KEPT_MS, type KnownIdentifier } from '../../payment/reservations.ts';

/** A purchase under an identifier. */
export interface KeptEntry extends IdentifierClaim {
  readonly serial: number;
  /** What it takes of the room, bytes: {@link ANSWER_BYTES_CLAIMED} until the answer is known. */
  bytes: number;
  /** Of the settlement; '' while there is none. */
  transaction: string;
  /** Monotonic time of its removal; undefined until it has settled. */
  dueMs: number | undefined;
}

export interface AnswerRoom {
  readonly countMax: number;
  readonly bytesMax: number;
}

/** Answers that are kept for payment identifiers, and their bytes. In memory only, they lie in the process itself. */
export const ANSWER_ROOM: AnswerRoom = { countMax: 100_000, bytesMax: 268_435_456 };

/** @throws Error for an answer that is too long to be kept: a route whose answers are has to raise the limit */
export function checkedAnswer(sealed: Uint8Array): Uint8Array {
  if (sealed.length > ANSWER_BYTES_MAX) throw new Error(`an answer of ${sealed.length} bytes is too long to be kept`);
  return sealed;
}

/** The answers of identifiers, each with its own, in the same order. @throws Error where one is missing, left over or too long */
export function answersFor<Claim>(claims: readonly Claim[], sealed: readonly Uint8Array[]) {
  if (claims.length !== sealed.length) throw new Error('an identifier and an answer belong together');
  return claims.map((claim, i) => ({ claim, sealed: checkedAnswer(sealed[i] as Uint8Array) }));
}

export class KeptAnswers {
  readonly #room: AnswerRoom;
  readonly #byDigest = new Map<string, KeptEntry>();
  /** Settled ones, in the order of their removal. */
  readonly #due = new Set<KeptEntry>();
  #bytes = 0;

  constructor(room: AnswerRoom) {
    this.#room = room;
  }

  /** What an identifier says about a purchase; undefined = it is free. */
  find({ digest, fingerprint }: IdentifierClaim, place: number): KnownIdentifier | undefined {
    const entry = this.#byDigest.get(digest);
    if (entry === undefined) return undefined;
    if (entry.fingerprint !== fingerprint) return { kind: 'conflict', place };
    return entry.dueMs === undefined ? { kind: 'under-way' } : { kind: 'kept', place, kept: entry };
  }

  /** For so many more. */
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

  /** Another answer took the place of a settled one; nothing for one whose time is over. */
  resizeSettled({ serial, digest }: Pick<KeptEntry, 'serial' | 'digest'>, bytes: number): void {
    const entry = this.#byDigest.get(digest);
    if (entry?.serial === serial) this.resize(entry, bytes);
  }

  /** From now on the identifier answers. */
  settle(entry: KeptEntry, transaction: string, nowMs: number, leftMs: number = KEPT_MS): void {
    entry.transaction = transaction;
    entry.dueMs = nowMs + leftMs;
    this.#due.add(entry);
  }

  /** The purchase ended uncharged, or its time is over: the identifier is free. */
  free(entry: KeptEntry): void {
    if (this.#byDigest.get(entry.digest) !== entry) return;
    this.#byDigest.delete(entry.digest);
    this.#due.delete(entry);
    this.#bytes -= entry.bytes;
  }

  /** Frees and returns an identifier whose time is over, out of turn; undefined = it is free or its time goes on. */
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
