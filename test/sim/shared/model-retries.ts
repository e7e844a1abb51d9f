/** What the statements about retry jobs of payers and their idempotency keys mean (src/storage/postgres/retries). */

import { SKEW_MS_MAX } from '../../../src/storage/postgres/clock-skew.ts';
import type { Row } from '../../../src/storage/postgres/connections.ts';
import type { Meanings, Processes } from './model.ts';

interface RetryRow {
  readonly id: string;
  readonly customer: string;
  readonly keyDigest: string | null;
  nextMs: number;
  state: string;
  secrets: Uint8Array | null;
  resultBody: Uint8Array | null;
  holder: string | null;
  hold: string | null;
  version: number;
  changeId: string;
  isAbandoned: boolean;
}

/** No request holds an idempotency key longer than this. */
const KEY_CLAIM_MS = 120_000;

type Columns = readonly unknown[];

const bytesOf = (value: unknown): Uint8Array | null => value as Uint8Array | null;

const shown = (row: RetryRow): Row => ({
  id: row.id,
  customer: row.customer,
  key_digest: row.keyDigest,
  next_ms: row.nextMs,
  state: row.state,
  secrets: row.secrets,
  result_body: row.resultBody,
  holder: row.holder,
  hold: row.hold,
  version: row.version,
  change_id: row.changeId,
});

export class RetryTables {
  readonly rows = new Map<string, RetryRow>();
  readonly meanings: Meanings;
  readonly #claims = new Map<string, { readonly owner: string; readonly untilMs: number }>();
  readonly #nowMs: () => number;
  readonly #processes: Processes;

  constructor(nowMs: () => number, processes: Processes) {
    this.#nowMs = nowMs;
    this.#processes = processes;
    this.meanings = {
      'create-retry': (values) => this.#create(values),
      'find-retry': ([id]) => [this.rows.get(id as unknown as string)].flatMap((row) => (row ? [shown(row)] : [])),
      'find-retry-by-key': ([key]) => [this.#byKey(key)].flatMap((row) => (row ? [shown(row)] : [])),
      'change-retry': (values) => this.#change(values),
      'take-retries': (values) => this.#take(values),
      'free-stray-retries': ([holder, known]) =>
        this.#free((row) => row.holder === holder && !(known as unknown as string[]).includes(row.id)),
      'free-retries-of-the-dead': () => this.#free(({ holder }) => holder !== null && this.#processes.isDead(holder)),
      'release-retry': ([id, hold]) => {
        this.#free((row) => row.id === id && row.hold === hold);
        const row = this.rows.get(id as unknown as string);
        return row === undefined ? [] : [{ next_ms: row.nextMs }];
      },
      'remove-retry': ([id]) => {
        this.rows.delete(id as unknown as string);
        return [];
      },
      'claim-retry-key': (values) => this.#claimKey(values),
      'free-retry-keys-of-the-dead': () => {
        for (const [key, { owner }] of this.#claims) {
          if (this.#processes.isDead(owner.split(' ')[0] as string)) this.#claims.delete(key);
        }
        return [];
      },
      'release-retry-key': ([key, owner]) => {
        if (this.#claims.get(key as unknown as string)?.owner === owner) this.#claims.delete(key as unknown as string);
        return [];
      },
    };
  }

  #byKey(key: unknown): RetryRow | undefined {
    if (key === null) return undefined;
    for (const row of this.rows.values()) if (row.keyDigest === key) return row;
    return undefined;
  }

  #create([id, customer, key, next, state, secrets]: Columns): Row[] {
    if (this.rows.has(id as string) || this.#byKey(key) !== undefined) return [{ is_made: false }];
    this.rows.set(id as string, {
      id: id as string,
      customer: customer as string,
      keyDigest: key as string | null,
      nextMs: next as number,
      state: state as string,
      secrets: bytesOf(secrets),
      resultBody: null,
      holder: null,
      hold: null,
      version: 0,
      changeId: '',
      isAbandoned: false,
    });
    return [{ is_made: true }];
  }

  #change(columns: Columns): Row[] {
    const [id, version, hold, changeId, next, state, hasSecrets, secrets, hasBody, body, isEnded] = columns;
    const row = this.rows.get(id as string);
    if (row === undefined) return [{ is_changed: false }];
    const isRepeat = row.changeId === changeId;
    if (row.version !== version || (hold !== null && row.hold !== hold)) return [{ is_changed: isRepeat }];
    row.version++;
    row.changeId = changeId as string;
    row.nextMs = next as number;
    row.state = state as string;
    if (hasSecrets === true) row.secrets = bytesOf(secrets);
    if (hasBody === true) row.resultBody = bytesOf(body);
    row.isAbandoned ||= isEnded === true && row.holder !== null;
    return [{ is_changed: true }];
  }

  #take([now, countMax, bytesMax, without, holder, hold]: Columns): Row[] {
    const nowMs = now as number;
    const dueMs = Math.min(nowMs, this.#nowMs() + SKEW_MS_MAX);
    const rows = [...this.rows.values()];
    const free = rows.filter((row) => row.holder === null);
    const due = free
      .filter(({ nextMs, customer }) => nextMs <= dueMs && !(without as string[]).includes(customer))
      .sort((a, b) => a.nextMs - b.nextMs || (a.id < b.id ? -1 : 1))
      .slice(0, countMax as number);
    const held = rows.filter((row) => row.holder === holder && row.hold === hold);
    const abandoned = rows.filter((row) => row.holder === holder && row.isAbandoned).map(({ id }) => id);
    const later = free.map(({ nextMs }) => nextMs).filter((nextMs) => nextMs > nowMs);
    let total = 0;
    const taken = due.filter(({ secrets, resultBody }, i) => {
      total += (secrets?.length ?? 0) + (resultBody?.length ?? 0);
      return i === 0 || total <= (bytesMax as number);
    });
    const end = {
      is_full: due.length >= (countMax as number) || due.length > taken.length,
      after_ms: later.length === 0 ? null : Math.min(...later),
      abandoned,
    };
    for (const row of taken) {
      row.holder = holder as string;
      row.hold = hold as string;
      row.isAbandoned = false;
    }
    const jobs = [...taken, ...held].map(({ id, customer, nextMs, secrets }) => {
      const job = { id, customer, next_ms: nextMs, byte_count: secrets?.length ?? 0 };
      return { ...job, is_full: false, after_ms: null, abandoned: null };
    });
    return [...jobs, { id: null, customer: null, next_ms: null, byte_count: null, ...end }];
  }

  #free(isMeant: (row: RetryRow) => boolean): Row[] {
    for (const row of this.rows.values()) {
      if (!isMeant(row)) continue;
      row.holder = null;
      row.hold = null;
    }
    return [];
  }

  #claimKey([key, owner, processMs]: Columns): Row[] {
    const before = this.#claims.get(key as string);
    const times = [this.#nowMs(), processMs as number];
    const isFree = before === undefined || before.owner === owner || before.untilMs <= Math.min(...times);
    if (!isFree) return [];
    this.#claims.set(key as string, { owner: owner as string, untilMs: Math.max(...times) + KEY_CLAIM_MS });
    return [{ owner: owner as string }];
  }
}
