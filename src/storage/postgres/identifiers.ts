/**
 * Payment identifiers and their kept answers (decisions §4, tables/payments.ts). Identifiers are claimed before the
 * authorization and given back if the authorization turns out to be used, so a purchase has all of them or none. The intent
 * stores an answer, the settlement or a dead end sets its expiry, and it is deleted when the purchase ends uncharged
 * (cases.ts).
 *
 * Every look counts the room that answers take (kept-answers.ts); this process adds its own claims in between. So the
 * total may exceed the limit by what other processes claim between two looks.
 */
import type { Clock } from '../../base/clock.ts';
import type { IdentifierClaim } from '../../payment/protocol/identifier.ts';
import { ANSWER_BYTES_CLAIMED, type KeptAnswer, type KnownIdentifier } from '../../payment/reservations.ts';
import { ANSWER_ROOM, type AnswerRoom } from '../memory/kept-answers.ts';
import { passedMs } from './both-clocks.ts';
import { hexOfKey } from './claims.ts';
import type { Row } from './connections.ts';
import type { Database } from './database.ts';
import { ownerIsStillDead } from './owners.ts';

/**
 * Expired, or its process died before the intent. NULL while its purchase is under way. Without its kept answer a purchase that
 * is asked for again would be charged again. @param processMs as of {@link passedMs}
 */
const isFree = (processMs: string): string =>
  `(n.kept_until_ms <= ${passedMs(processMs)} OR (n.sealed IS NULL AND ${ownerIsStillDead('n.owner')}))`;

/** A try of an attempt that is carried out after its intent must leave the answer. */
const CLAIM = `
  INSERT INTO paygrade.identifiers AS n (digest, fingerprint, owner, attempt)
  VALUES (decode($1, 'hex'), decode($2, 'hex'), $3, $4)
  ON CONFLICT (digest) DO UPDATE
  SET fingerprint = excluded.fingerprint, owner = excluded.owner, attempt = excluded.attempt, serial = NULL,
    kept_until_ms = NULL, transaction = '', sealed = NULL
  WHERE ${isFree('$5')} OR (n.owner = excluded.owner AND n.attempt = excluded.attempt AND n.sealed IS NULL)
  RETURNING digest`;

const FIND = `
  SELECT n.fingerprint = decode($2, 'hex') AS is_same, n.serial, n.transaction
  FROM paygrade.identifiers n WHERE n.digest = decode($1, 'hex') AND ${isFree('$3')} IS NOT TRUE`;

const RELEASE = `
  DELETE FROM paygrade.identifiers n USING unnest($1::text[]) AS item(digest)
  WHERE n.digest = decode(item.digest, 'hex') AND n.owner = $2 AND n.attempt = $3 AND n.sealed IS NULL`;

/** Finds the answer of a sale for one of its identifiers. */
const IS_KEPT = `serial = $1 AND digest = decode($2, 'hex') AND kept_until_ms > ${passedMs('$3')}`;

/** As that of claims. */
const FREE_STRAYS = `
  DELETE FROM paygrade.identifiers
  WHERE owner = $1 AND sealed IS NULL AND attempt <= $2::bigint AND NOT (attempt = ANY ($3::bigint[]))`;

/** Rows of one statement, so that no transaction is long. */
const PRUNED_COUNT_MAX = 2000;

const PRUNE = `
  DELETE FROM paygrade.identifiers WHERE digest IN (
    SELECT n.digest FROM paygrade.identifiers n WHERE ${isFree('$1')}
    LIMIT ${PRUNED_COUNT_MAX} FOR UPDATE SKIP LOCKED
  ) RETURNING 1`;

/** An answer not known yet counts with the bytes that its claim takes. */
const COUNT = `
  SELECT count(*) AS count, coalesce(sum(coalesce(octet_length(n.sealed), ${ANSWER_BYTES_CLAIMED})), 0)::bigint AS bytes
  FROM paygrade.identifiers n`;

/** Number of identifiers and bytes of their answers. */
interface Kept {
  readonly count: number;
  readonly bytes: number;
}

function knownOf(row: Row, digest: string, place: number): KnownIdentifier {
  if (row.is_same !== true) return { kind: 'conflict', place };
  const transaction = row.transaction as string;
  if (transaction === '') return { kind: 'under-way' };
  return { kind: 'kept', place, kept: { serial: row.serial as number, digest, transaction } };
}

export class Identifiers {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #onDoubt: () => void;
  readonly #room: AnswerRoom;
  /** As last counted. */
  #kept: Kept = { count: 0, bytes: 0 };
  /** What this process has added since. */
  #added: Kept = { count: 0, bytes: 0 };

  /** @param onDoubt called when a claim may be carried out late */
  constructor(database: Database, clock: Clock, owner: string, onDoubt: () => void, room: AnswerRoom = ANSWER_ROOM) {
    this.#database = database;
    this.#clock = clock;
    this.#owner = owner;
    this.#onDoubt = onDoubt;
    this.#room = room;
  }

  /** Whether `count` more answers may be kept. */
  hasRoom(count: number): boolean {
    const { countMax, bytesMax } = this.#room;
    if (this.#kept.count + this.#added.count + count > countMax) return false;
    return this.#kept.bytes + this.#added.bytes + count * ANSWER_BYTES_CLAIMED <= bytesMax;
  }

  /** The answer of a claim is on record. @param bytes of the sealed answer */
  noteAnswer(bytes: number): void {
    this.#add({ count: 0, bytes: bytes - ANSWER_BYTES_CLAIMED });
  }

  #add({ count, bytes }: Kept): void {
    this.#added = { count: this.#added.count + count, bytes: this.#added.bytes + bytes };
  }

  /** True if this attempt now has all the identifiers; otherwise it has none. */
  async claim(claims: readonly IdentifierClaim[], attempt: number): Promise<boolean> {
    for (const claim of claims) {
      if (await this.#claim(claim, attempt)) continue;
      await this.release(claims, attempt);
      return false;
    }
    return true;
  }

  async #claim({ digest, fingerprint }: IdentifierClaim, attempt: number): Promise<boolean> {
    const values = [hexOfKey(digest), hexOfKey(fingerprint), this.#owner, attempt, this.#clock.nowMs()];
    const statement = { name: 'claim-identifier', text: CLAIM, values };
    const isClaimed = (await this.#database.run(statement, { onDoubt: this.#onDoubt })).length === 1;
    if (isClaimed) this.#add({ count: 1, bytes: ANSWER_BYTES_CLAIMED });
    return isClaimed;
  }

  /** The first claim whose identifier is not free; undefined = all are free. */
  async find(claims: readonly IdentifierClaim[]): Promise<KnownIdentifier | undefined> {
    for (const [place, { digest, fingerprint }] of claims.entries()) {
      const values = [hexOfKey(digest), hexOfKey(fingerprint), this.#clock.nowMs()];
      const [row] = await this.#database.run({ name: 'find-identifier', text: FIND, values });
      if (row !== undefined) return knownOf(row, digest, place);
    }
    return undefined;
  }

  /** Has no effect on identifiers of another attempt, or with an answer on record. */
  async release(claims: readonly IdentifierClaim[], attempt: number): Promise<void> {
    const values = [claims.map(({ digest }) => hexOfKey(digest)), this.#owner, attempt];
    await this.#database.run({ name: 'release-identifier', text: RELEASE, values });
  }

  /** As that of claims. */
  async freeStrays(lastAttempt: number, live: readonly number[]): Promise<void> {
    const values = [this.#owner, lastAttempt, live];
    await this.#database.run({ name: 'free-stray-identifiers', text: FREE_STRAYS, values });
  }

  async read({ serial, digest }: KeptAnswer): Promise<Uint8Array | undefined> {
    const [row] = await this.#database.run({
      name: 'read-answer',
      text: `SELECT sealed FROM paygrade.identifiers WHERE ${IS_KEPT}`,
      values: [serial, hexOfKey(digest), this.#clock.nowMs()],
    });
    return row === undefined ? undefined : new Uint8Array(row.sealed as Uint8Array);
  }

  async replace({ serial, digest }: Omit<KeptAnswer, 'transaction'>, sealed: Uint8Array): Promise<void> {
    await this.#database.run({
      name: 'replace-answer',
      text: `UPDATE paygrade.identifiers SET sealed = decode($4, 'hex') WHERE ${IS_KEPT}`,
      values: [serial, hexOfKey(digest), this.#clock.nowMs(), Buffer.from(sealed).toString('hex')],
    });
  }

  /** Removes free identifiers and counts the others. */
  async prune(): Promise<void> {
    const prune = { name: 'prune-identifiers', text: PRUNE, values: [this.#clock.nowMs()] };
    while ((await this.#database.run(prune)).length === PRUNED_COUNT_MAX);
    const { count, bytes } = this.#added;
    const [row] = await this.#database.run({ name: 'count-identifiers', text: COUNT });
    this.#kept = { count: Number(row?.count), bytes: Number(row?.bytes) };
    this.#add({ count: -count, bytes: -bytes });
  }
}
