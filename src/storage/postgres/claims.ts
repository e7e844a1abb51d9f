/**
 * Claims of authorizations, in groups (tables/payments.ts). The unique key alone decides who gets an authorization. A
 * claim names its process and attempt, so that a repeat after a lost answer recognises its own claim.
 */
import type { ReservationKey } from '../../payment/protocol/order.ts';
import { RETENTION_SECONDS, type ReservationStatus } from '../../payment/reservations.ts';
import type { Row } from './connections.ts';
import type { Database } from './database.ts';
import { Group } from './groups.ts';
import type { Identity } from './identity.ts';
import { ownerIsDead } from './owners.ts';
import type { Retention } from './retention.ts';
import { DEAD, RESERVED } from './tables/payments.ts';

export const hexOfKey = (key: string): string => Buffer.from(key, 'latin1').toString('hex');

export interface ClaimItem {
  readonly key: ReservationKey;
  readonly validBeforeSeconds: number;
  readonly attempt: number;
}

/** A claim as read from the database. */
export interface FoundClaim {
  readonly serial: number;
  /** Number of its table. */
  readonly claims: number;
  readonly owner: string;
  readonly attempt: number;
  readonly state: number;
  readonly status: ReservationStatus;
  /** Its process died before recording an intent, so nothing was settled: it may be removed. */
  readonly isAbandoned: boolean;
  /** Its retention is over by the database's clock and by ours: it may be removed. */
  readonly isOver: boolean;
}

const CLAIM = `
  INSERT INTO paygrade.claims (key, owner, attempt, valid_before)
  SELECT decode(item.key, 'hex'), $1, item.attempt, item.valid_before
  FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS item(key, attempt, valid_before)
  ON CONFLICT (key) DO NOTHING
  RETURNING encode(key, 'hex') AS key, serial, tableoid::bigint AS claims`;

const isOver = (serial: string): string => `
  c.serial <= ${serial}::bigint AND c.valid_before + ${RETENTION_SECONDS} < paygrade.now_ms() / 1000`;

const FIND = `
  SELECT c.serial, c.owner, c.attempt, c.state, c.tableoid::bigint AS claims, c.transaction AS dead_transaction,
    k.serial AS case_serial, k.is_unknown, k.transaction AS case_transaction, s.transaction AS sale_transaction,
    c.state = ${RESERVED} AND ${ownerIsDead('c.owner')} AS is_abandoned,
    ${isOver('$2')} AND c.state <> ${RESERVED} AND k.serial IS NULL AS is_over
  FROM unnest($1::text[]) WITH ORDINALITY AS item(key, place)
  LEFT JOIN paygrade.claims c ON c.key = decode(item.key, 'hex')
  LEFT JOIN paygrade.cases k ON k.serial = c.serial
  LEFT JOIN paygrade.sales s ON s.serial = c.serial
  ORDER BY item.place`;

/** Removes a claim unless it has changed since it was read. */
const REMOVE = `
  DELETE FROM paygrade.claims c
  USING unnest($1::text[], $2::bigint[], $3::smallint[]) AS item(key, serial, state)
  WHERE c.key = decode(item.key, 'hex') AND c.serial = item.serial AND c.state = item.state`;

/** Gives back claims for which settlement never began. */
const RELEASE = `
  DELETE FROM paygrade.claims c
  USING unnest($2::text[], $3::bigint[]) AS item(key, attempt)
  WHERE c.key = decode(item.key, 'hex') AND c.owner = $1 AND c.attempt = item.attempt AND c.state = ${RESERVED}`;

/** Removes claims of this process that were carried out late, after their attempts had ended. */
const FREE_STRAYS = `
  DELETE FROM paygrade.claims c
  WHERE c.owner = $1 AND c.state = ${RESERVED} AND c.attempt <= $2::bigint AND NOT (c.attempt = ANY ($3::bigint[]))`;

const COUNT = `
  SELECT count(*) AS count FROM paygrade.claims c
  WHERE NOT (c.state = ${RESERVED} AND ${ownerIsDead('c.owner')})`;

/** Bounds the time of one removal. */
const PRUNED_COUNT_MAX = 2000;

const PRUNE = `
  DELETE FROM paygrade.claims WHERE serial IN (
    SELECT c.serial FROM paygrade.claims c
    WHERE ${isOver('$1')} AND (c.state <> ${RESERVED} OR ${ownerIsDead('c.owner')})
      AND NOT EXISTS (SELECT FROM paygrade.cases k WHERE k.serial = c.serial)
    ORDER BY c.serial LIMIT ${PRUNED_COUNT_MAX} FOR UPDATE SKIP LOCKED
  ) RETURNING serial`;

function statusOf(row: Row): ReservationStatus {
  if (row.state === RESERVED) return { kind: 'reserved' };
  if (row.sale_transaction !== null) return { kind: 'settled', transaction: row.sale_transaction as string };
  if (row.state === DEAD) return { kind: 'dead', transaction: row.dead_transaction as string };
  if (row.case_serial !== null && row.is_unknown === false) return { kind: 'settling' };
  return { kind: 'unknown', transaction: (row.case_transaction as string | null) ?? '' };
}

const foundOf = (row: Row): FoundClaim | undefined =>
  row.serial === null
    ? undefined
    : {
        serial: row.serial as number,
        claims: row.claims as number,
        owner: row.owner as string,
        attempt: row.attempt as number,
        state: row.state as number,
        status: statusOf(row),
        isAbandoned: row.is_abandoned === true,
        isOver: row.is_over === true,
      };

export interface ClaimsPorts {
  /** Of the tables that this process has entered. */
  readonly identity: Pick<Identity, 'sawClaims'>;
  readonly retention: Pick<Retention, 'removableSerial'>;
  /** Called when a claim may be carried out late. */
  onDoubt(): void;
}

export class Claims {
  readonly #database: Database;
  readonly #owner: string;
  readonly #ports: ClaimsPorts;
  readonly #claim: Group<ClaimItem, number | undefined>;
  readonly #find: Group<string, FoundClaim | undefined>;
  readonly #release: Group<Pick<ClaimItem, 'key' | 'attempt'>, true>;

  constructor(database: Database, owner: string, ports: ClaimsPorts) {
    this.#database = database;
    this.#owner = owner;
    this.#ports = ports;
    this.#claim = new Group((items) => this.#claimAll(items), { keyOf: ({ key }) => key });
    this.#find = new Group((keys) => this.#findAll(keys, ports.retention.removableSerial()), {
      keyOf: (key) => key,
      takesRepeatedKeys: true,
    });
    this.#release = new Group((items) => this.#releaseAll(items), { keyOf: ({ key }) => key });
  }

  /** The serial of the claim, if this attempt won the key; undefined = the key is taken, or an earlier try of ours won it. */
  claim(item: ClaimItem): Promise<number | undefined> {
    return this.#claim.add(item);
  }

  find(key: ReservationKey): Promise<FoundClaim | undefined> {
    return this.#find.add(hexOfKey(key));
  }

  /** Removes a claim that {@link find} returned as over or abandoned. */
  async remove(key: ReservationKey, { serial, state }: FoundClaim): Promise<void> {
    await this.#database.run({ name: 'remove-claim', text: REMOVE, values: [[hexOfKey(key)], [serial], [state]] });
  }

  /** Has no effect when the claim belongs to another attempt or has an intent. */
  async release(item: Pick<ClaimItem, 'key' | 'attempt'>): Promise<void> {
    await this.#release.add(item);
  }

  /** Frees this process's claims of attempts up to `lastAttempt`, except the `live` ones. */
  async freeStrays(lastAttempt: number, live: readonly number[]): Promise<void> {
    await this.#database.run({
      name: 'free-stray-claims',
      text: FREE_STRAYS,
      values: [this.#owner, lastAttempt, live],
    });
  }

  async count(): Promise<number> {
    const [row] = await this.#database.run({ text: COUNT });
    return row?.count as number;
  }

  /** @returns true when there may be more to remove */
  async prune(removableSerial: number): Promise<boolean> {
    const rows = await this.#database.run({ name: 'prune-claims', text: PRUNE, values: [removableSerial] });
    return rows.length >= PRUNED_COUNT_MAX;
  }

  async #claimAll(items: readonly ClaimItem[]): Promise<(number | undefined)[]> {
    const keys = items.map(({ key }) => hexOfKey(key));
    const values = [
      this.#owner,
      keys,
      items.map(({ attempt }) => attempt),
      items.map(({ validBeforeSeconds }) => validBeforeSeconds),
    ];
    const { identity, onDoubt } = this.#ports;
    const rows = await this.#database.run({ name: 'claim', text: CLAIM, values }, { onDoubt });
    for (const { claims } of rows) identity.sawClaims(claims as number);
    const serials = new Map(rows.map(({ key, serial }) => [key as string, serial as number]));
    return keys.map((key) => serials.get(key));
  }

  async #findAll(keys: readonly string[], removableSerial: number): Promise<(FoundClaim | undefined)[]> {
    const rows = await this.#database.run({ name: 'find-claim', text: FIND, values: [keys, removableSerial] });
    return rows.map(foundOf);
  }

  async #releaseAll(items: readonly Pick<ClaimItem, 'key' | 'attempt'>[]): Promise<true[]> {
    const values = [this.#owner, items.map(({ key }) => hexOfKey(key)), items.map(({ attempt }) => attempt)];
    await this.#database.run({ name: 'release-claim', text: RELEASE, values });
    return items.map(() => true);
  }
}
