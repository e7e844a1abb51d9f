/**
 * A model of the database that processes share: what each statement of `src/storage/postgres` means, over plain maps, one
 * statement at a time. It knows statements by their names, and `model.process.test.ts` holds it against a real PostgreSQL:
 * the statements of a run, carried out there in the same order, give the same rows.
 *
 * Tables that no run of this simulator fills (accounts, resolves) are empty.
 */
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import { TABLES } from '../../../src/storage/postgres/tables/tables.ts';
import { CallbackTables } from './model-callbacks.ts';
import { IdentifierTable } from './model-identifiers.ts';
import { MODEL_CLAIMS, PaymentTables } from './model-payments.ts';
import { RetryTables } from './model-retries.ts';

/** Carries out a statement. @param values its parameters */
export type Meaning = (values: readonly never[], text: string) => Row[];

export type Meanings = Readonly<Record<string, Meaning>>;

interface Process {
  readonly startedMs: number;
  leaseUntilMs: number;
}

/** Who may be alive. */
export class Processes {
  readonly rows = new Map<string, Process>();

  /** As `ownerIsDead` and `ownerIsStillDead`. */
  isDead(id: string): boolean {
    return !this.rows.has(id);
  }
}

const NOTHING: Meaning = () => [];

/** Statements over tables that are empty here. */
const OF_EMPTY_TABLES: Meanings = {
  'take-resolves-of-the-dead': NOTHING,
  'expire-resolves': NOTHING,
  'forget-resolves': NOTHING,
  'count-resolves': () => [{ live: 0, expired: 0, bytes: 0 }],
};

/** What identifies the tables. */
export const MODEL_TABLES = 'tables';

export class ModelDatabase {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** How far its clock is off. */
  clockOffMs = 0;
  clockOffUntilMs = 0;
  readonly processes: Processes;
  readonly identifiers: IdentifierTable;
  readonly payments: PaymentTables;
  readonly callbacks: CallbackTables;
  readonly retries: RetryTables;
  /** Called with each statement that was carried out, and what it gave. */
  onExecuted: (statement: Statement, rows: readonly Row[]) => void = () => {};
  readonly #secrets = new Map<string, Uint8Array>();
  readonly #rateSums = new Map<string, { process: string; serial: number; atMs: number; sums: unknown }>();
  readonly #meanings: Meanings;

  /** @param rightMs the time of a clock that is right */
  constructor(rightMs: () => number) {
    const nowMs = (): number => rightMs() + this.clockOffMs;
    this.nowMs = nowMs;
    this.processes = new Processes();
    this.identifiers = new IdentifierTable(nowMs, this.processes);
    this.payments = new PaymentTables(nowMs, this.processes, this.identifiers);
    this.callbacks = new CallbackTables(nowMs);
    this.retries = new RetryTables(nowMs, this.processes);
    this.#meanings = {
      ...OF_EMPTY_TABLES,
      ...this.identifiers.meanings,
      ...this.payments.meanings,
      ...this.callbacks.meanings,
      ...this.retries.meanings,
      // Nothing is ever missing.
      'schema-parts': () => [{ role: 'model', missing: [] }],
      'renew-lease': ([id, leaseMs]) => this.#renew(id as unknown as string, leaseMs as unknown as number),
      'remove-dead-processes': (values) => this.#removeDead(values),
      'share-rates': (values) => this.#shareRates(values),
      'forget-rates': () => this.#forgetRates(),
    };
  }

  /**
   * @param by the process, for the invariants
   * @throws Error for a statement that it does not know: it needs a meaning here
   */
  execute(statement: Statement, by: string): Row[] {
    this.payments.actor = by;
    const values = (statement.values ?? []) as readonly never[];
    const meaning = statement.name === undefined ? this.#unnamed(statement.text) : this.#meanings[statement.name];
    if (meaning === undefined) throw new Error(`the model does not know ${statement.name ?? statement.text}`);
    const rows = meaning(values, statement.text);
    this.onExecuted(statement, rows);
    return rows;
  }

  #unnamed(text: string): Meaning | undefined {
    if (/^(BEGIN|COMMIT|ROLLBACK|SET |LISTEN |SELECT (set_config|current_setting)\('paygrade\.session')/.test(text))
      return NOTHING;
    if (text.includes('clock_timestamp()) * 1000)::bigint AS now_ms')) return () => [{ now_ms: this.nowMs() }];
    if (text.includes("to_regclass('paygrade.versions')"))
      return () => [{ is_there: true, is_used: true, encoding: 'UTF8' }];
    if (text === 'SELECT domain, version FROM paygrade.versions') {
      return () => TABLES.map(({ name, migrations }) => ({ domain: name, version: migrations.length }));
    }
    if (text.includes('paygrade.organizations) AS has_any')) return () => [{ has_any: true }];
    if (text.includes('INTO paygrade.secrets')) {
      return ([name, hex]) => this.#keptSecret(name as unknown as string, hex as unknown as string);
    }
    if (text.includes('INTO paygrade.identity')) return NOTHING;
    if (text.includes('FROM paygrade.identity')) {
      return () => [{ tables: MODEL_TABLES, used_before_seconds: 0, claims: MODEL_CLAIMS }];
    }
    if (text.startsWith('DELETE FROM paygrade.processes WHERE id')) {
      return ([id]) => {
        this.processes.rows.delete(id as unknown as string);
        return [];
      };
    }
    return this.payments.unnamed(text);
  }

  #keptSecret(name: string, hex: string): Row[] {
    const bytes = this.#secrets.get(name) ?? Buffer.from(hex, 'hex');
    this.#secrets.set(name, bytes);
    return [{ bytes }];
  }

  #renew(id: string, leaseMs: number): Row[] {
    const nowMs = this.nowMs();
    const row = this.processes.rows.get(id);
    if (row === undefined) this.processes.rows.set(id, { startedMs: nowMs, leaseUntilMs: nowMs + leaseMs });
    else row.leaseUntilMs = Math.max(row.leaseUntilMs + 1, nowMs + leaseMs);
    return [{ now_ms: nowMs, tables: MODEL_TABLES }];
  }

  #removeDead([by, dead, renewals]: readonly unknown[]): Row[] {
    const { rows } = this.processes;
    for (const [i, id] of (dead as readonly string[]).entries()) {
      if (rows.get(id)?.leaseUntilMs === (renewals as readonly number[])[i]) rows.delete(id);
    }
    return [...rows].flatMap(([id, { leaseUntilMs }]) => (id === by ? [] : [{ id, renewal: leaseUntilMs }]));
  }

  #shareRates([process, serial, sums, sinceMs]: readonly unknown[]): Row[] {
    const nowMs = this.nowMs();
    const heard = [...this.#rateSums.values()]
      .filter((one) => one.atMs > (sinceMs as number) && one.process !== process)
      .sort((a, b) => a.atMs - b.atMs)
      .map((one) => [one.process, one.serial, one.atMs, one.sums]);
    const key = `${process} ${serial}`;
    if (sums !== null && !this.#rateSums.has(key)) {
      const said = { process: process as string, serial: serial as number, atMs: nowMs };
      this.#rateSums.set(key, { ...said, sums: JSON.parse(sums as string) });
    }
    return [{ now_ms: nowMs, processes: this.processes.rows.size, heard }];
  }

  #forgetRates(): Row[] {
    const beforeMs = this.nowMs() - 90_000;
    for (const [key, { atMs }] of this.#rateSums) if (atMs < beforeMs) this.#rateSums.delete(key);
    return [];
  }
}
