/** What the statements about payment identifiers and their kept answers mean (src/storage/postgres/identifiers.ts). */
import { ANSWER_BYTES_CLAIMED } from '../../../src/payment/reservations.ts';
import type { Row } from '../../../src/storage/postgres/connections.ts';
import type { Meanings, Processes } from './model.ts';

export interface IdentifierRow {
  /** This and what follows it: hexadecimal, as `hexOfKey` writes it. */
  readonly digest: string;
  readonly fingerprint: string;
  readonly owner: string;
  readonly attempt: number;
  serial: number | null;
  keptUntilMs: number | null;
  transaction: string;
  sealed: string | null;
}

/** A purchase's answer under one of its identifiers, as the intent brings it. */
export interface NamedAnswer {
  readonly serial: number;
  readonly digest: string;
  readonly sealed: string;
}

type Columns = readonly unknown[];

export class IdentifierTable {
  readonly rows = new Map<string, IdentifierRow>();
  readonly meanings: Meanings;
  readonly #nowMs: () => number;
  readonly #processes: Processes;

  constructor(nowMs: () => number, processes: Processes) {
    this.#nowMs = nowMs;
    this.#processes = processes;
    this.meanings = {
      'claim-identifier': (values, text) => this.#claim(values, text),
      'find-identifier': (values, text) => this.#find(values, text),
      'release-identifier': (values) => this.#release(values),
      'free-stray-identifiers': (values) => this.#freeStrays(values),
      'read-answer': (values, text) => this.#read(values, text),
      'replace-answer': (values, text) => this.#replace(values, text),
      'prune-identifiers': (values, text) => this.#prune(values, text),
      'count-identifiers': () => this.#count(),
    };
  }

  /** Whether an attempt holds an identifier whose answer is not on record. */
  isHeld(digest: string, owner: string, attempt: number): boolean {
    const row = this.rows.get(digest);
    return row !== undefined && row.owner === owner && row.attempt === attempt && row.sealed === null;
  }

  /** The intent is on record. */
  name({ serial, digest, sealed }: NamedAnswer): void {
    const row = this.rows.get(digest);
    if (row === undefined) return;
    row.serial = serial;
    row.sealed = sealed;
  }

  /**
   * The purchase has settled, or ended as dead.
   * @param keptUntilMs until when its identifiers are kept
   * @param transaction of the settlement
   */
  keep(serial: number, keptUntilMs: number, transaction?: string): void {
    for (const row of this.rows.values()) {
      if (row.serial !== serial) continue;
      row.keptUntilMs = keptUntilMs;
      row.transaction = transaction ?? row.transaction;
    }
  }

  /** The purchase has ended uncharged. */
  free(serial: number): void {
    for (const row of this.rows.values()) if (row.serial === serial) this.rows.delete(row.digest);
  }

  /** What both clocks agree has passed, where a text asks for it. */
  #passed(processMs: unknown, text: string): number {
    const nowMs = this.#nowMs();
    return text.includes('least(paygrade.now_ms()') ? Math.min(nowMs, processMs as number) : nowMs;
  }

  /** As `isFree`, where a text asks for it; some texts ask for less. */
  #isFree({ keptUntilMs, sealed, owner }: IdentifierRow, text: string, processMs: unknown): boolean {
    if (keptUntilMs !== null && keptUntilMs <= this.#passed(processMs, text)) return true;
    const asksForAnswer = text.includes('OR (n.sealed IS NULL AND CASE WHEN EXISTS');
    return (sealed === null || !asksForAnswer) && this.#processes.isDead(owner);
  }

  /** The unique key decides, if the text leaves anything to it. */
  #claim([digest, fingerprint, owner, attempt, processMs]: Columns, text: string): Row[] {
    const key = digest as string;
    const before = this.rows.get(key);
    if (before !== undefined && !text.includes('OR true')) {
      const asksForAnswer = text.includes('excluded.attempt AND n.sealed IS NULL');
      const isOurs = before.owner === owner && before.attempt === attempt && (before.sealed === null || !asksForAnswer);
      if (!isOurs && !this.#isFree(before, text, processMs)) return [];
    }
    this.rows.set(key, {
      digest: key,
      fingerprint: fingerprint as string,
      owner: owner as string,
      attempt: attempt as number,
      serial: null,
      keptUntilMs: null,
      transaction: '',
      sealed: null,
    });
    return [{ digest: Buffer.from(key, 'hex') }];
  }

  #find([digest, fingerprint, processMs]: Columns, text: string): Row[] {
    const row = this.rows.get(digest as string);
    if (row === undefined || this.#isFree(row, text, processMs)) return [];
    const { serial, transaction } = row;
    return [{ is_same: row.fingerprint === fingerprint, serial, transaction }];
  }

  #release([digests, owner, attempt]: Columns): Row[] {
    for (const digest of digests as readonly string[]) {
      if (this.isHeld(digest, owner as string, attempt as number)) this.rows.delete(digest);
    }
    return [];
  }

  #kept([serial, digest, processMs]: Columns, text: string): IdentifierRow | undefined {
    const row = this.rows.get(digest as string);
    const isKept = row?.serial === serial && (row?.keptUntilMs ?? 0) > this.#passed(processMs, text);
    return isKept ? row : undefined;
  }

  #read(values: Columns, text: string): Row[] {
    const row = this.#kept(values, text);
    return row === undefined ? [] : [{ sealed: Buffer.from(row.sealed ?? '', 'hex') }];
  }

  #replace(values: Columns, text: string): Row[] {
    const row = this.#kept(values, text);
    if (row !== undefined) row.sealed = values[3] as string;
    return [];
  }

  #freeStrays([owner, lastAttempt, live]: Columns): Row[] {
    for (const row of this.rows.values()) {
      const isStray = row.attempt <= (lastAttempt as number) && !(live as readonly number[]).includes(row.attempt);
      if (row.owner === owner && row.sealed === null && isStray) this.rows.delete(row.digest);
    }
    return [];
  }

  #prune([processMs]: Columns, text: string): Row[] {
    const free = [...this.rows.values()].filter((row) => this.#isFree(row, text, processMs));
    for (const { digest } of free) this.rows.delete(digest);
    return free.map(() => ({ '?column?': 1 }));
  }

  #count(): Row[] {
    let bytes = 0;
    for (const { sealed } of this.rows.values()) bytes += sealed === null ? ANSWER_BYTES_CLAIMED : sealed.length / 2;
    return [{ count: this.rows.size, bytes }];
  }
}
