/**
 * Whether the schema `paygrade` has what a process needs (needs.ts), when it starts and whenever a statement fails for want of
 * something: parts are missing while a dump is read in, and after a mistake of an operator. A newer release may take parts away
 * while the process runs. It then does without those, unless a statement fails for want of them.
 *
 * There is no look while no statement fails, so what no statement needs may come and go. Cost of a look: two statements, three
 * while something is missing, of which the one over the catalogue takes a few milliseconds.
 */
import { StateError } from '../state-error.ts';
import type { Watch } from './database.ts';
import { readVersions, type Versions } from './migrations.ts';
import { NEEDED, type Part } from './needs.ts';
import { TABLES } from './tables/tables.ts';
import type { Query } from './transaction.ts';

/** Most parts that a fault names of those that are missing, and of the rights. */
const NAMED_COUNT_MAX = 5;

/** Parts for want of which no statement fails with the code of one that wants something. */
const SILENT = /\tpart\t(?:CHECK|FOREIGN KEY|DEFAULT) /;

/**
 * SQL: the names of these columns in the order of the alphabet: any order serves. PostgreSQL's functions for whole definitions wait
 * for any lock of the table (`VACUUM FULL`), and show nothing of an index that `REINDEX CONCURRENTLY` has just replaced.
 */
const columnsOf = (relation: string, numbers: string): string => `(
  SELECT string_agg(a.attname, ', ' ORDER BY a.attname)
  FROM pg_attribute a WHERE a.attrelid = ${relation} AND a.attnum = ANY (${numbers}))`;

/** SQL: `part`, the parts that are there, and the rights of the role that asks. $1 the parts that are needed. */
export const PARTS = `
  WITH relation AS (
    SELECT c.oid, 'table ' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'paygrade' AND c.relkind IN ('r', 'p')
  ), function AS (
    SELECT p.oid, format('function %s(%s)', p.proname, oidvectortypes(p.proargtypes)) AS name
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'paygrade'
  ), named(name, kind, text) AS (
    SELECT name, 'object', '' FROM relation
    UNION ALL SELECT name, 'object', '' FROM function
    UNION ALL
    SELECT r.name, 'part', format(shape, a.attname)
    FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid, unnest(ARRAY['column %s', 'DEFAULT (%s)']) AS s(shape)
    WHERE a.attnum > 0 AND NOT a.attisdropped AND (shape LIKE 'column%' OR a.atthasdef OR a.attidentity <> '')
    UNION ALL
    -- By its columns, because an operator may replace an index by one of another name.
    SELECT r.name, 'part', concat('UNIQUE (', ${columnsOf('i.indrelid', 'i.indkey[0:i.indnkeyatts - 1]')}, ')',
      CASE WHEN i.indpred IS NOT NULL THEN ' for some rows' END)
    FROM relation r JOIN pg_index i ON i.indrelid = r.oid
    WHERE i.indisunique AND i.indimmediate AND i.indisvalid AND i.indexprs IS NULL
    UNION ALL
    SELECT r.name, 'part', concat(CASE c.contype WHEN 'c' THEN 'CHECK (' ELSE 'FOREIGN KEY (' END,
      ${columnsOf('c.conrelid', 'c.conkey')}, ')')
    FROM relation r JOIN pg_constraint c ON c.conrelid = r.oid WHERE c.contype IN ('c', 'f')
    UNION ALL
    SELECT r.name, 'right', u.name FROM relation r, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS u(name)
    WHERE has_table_privilege(r.oid, u.name) OR u.name <> 'DELETE' AND NOT EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = r.oid AND NOT has_column_privilege(r.oid, a.attnum, u.name)
      AND concat_ws(E'\\t', r.name, 'part', 'column ' || a.attname) = ANY ($1::text[]))
    UNION ALL SELECT name, 'right', 'EXECUTE' FROM function WHERE has_function_privilege(oid, 'EXECUTE')
    UNION ALL
    SELECT 'schema paygrade', 'right', 'USAGE' FROM pg_namespace
    WHERE nspname = 'paygrade' AND has_schema_privilege(oid, 'USAGE')
  ), part(text) AS (SELECT concat_ws(E'\\t', name, kind, text) FROM named)`;

/** $1 parts. Returns those that are missing. */
const MISSING = `${PARTS}
  SELECT current_user::text AS role, ARRAY(
    SELECT needed FROM unnest($1::text[]) WITH ORDINALITY AS n(needed, place)
    WHERE needed NOT IN (SELECT text FROM part) ORDER BY place) AS missing`;

export class Wholeness implements Watch {
  #versions: Versions = new Map(TABLES.map(({ name, migrations }) => [name, migrations.length]));
  /** What a newer release may have taken away: it was missing when that one was first seen, and not before. */
  readonly #spared = new Set<Part>();
  /** What the fault is about. */
  #missing: ReadonlySet<Part> = new Set();
  #fault: string | undefined;
  #lookCount = 0;
  /** Number of the look that decided last. */
  #decided = 0;

  /** Of a migrated schema. @throws StateError one line: what is missing */
  static async of(query: Query): Promise<Wholeness> {
    const wholeness = new Wholeness();
    await wholeness.look(query);
    if (wholeness.#fault !== undefined) throw new StateError(wholeness.#fault);
    return wholeness;
  }

  /** It stays the same while no more is missing than it says, so that a log has one line for the whole of a repair. */
  get fault(): string | undefined {
    return this.#fault;
  }

  async look(query: Query, hasBeenWhole = false): Promise<void> {
    const number = ++this.#lookCount;
    const versions = await this.#versionsNow(query);
    const [row] = await query({ name: 'schema-parts', text: MISSING, values: [NEEDED] });
    const { role, missing } = row as { role: string; missing: readonly Part[] };
    const isOlder = this.#isOlderThan(versions);
    // A migration in between leaves older versions with newer parts.
    if (!isOlder && missing.length > 0 && this.#isOlderThan(await this.#versionsNow(query))) {
      return this.look(query, hasBeenWhole);
    }
    // One that was sent earlier may be answered later.
    if (number < this.#decided) return;
    this.#decided = number;
    if (isOlder) {
      this.#versions = versions;
      for (const part of missing) if (!this.#missing.has(part)) this.#spared.add(part);
    }
    const isNamed = (part: Part): boolean => this.#missing.has(part);
    const wanted = missing.filter((part) => !this.#spared.has(part) || !SILENT.test(part));
    // Once it has been whole, a statement needs some of what was spared, until some of what is missing is back.
    const isUnchanged = wanted.length >= this.#missing.size && wanted.every(isNamed);
    const lacking = hasBeenWhole || isUnchanged ? wanted : wanted.filter((part) => !this.#spared.has(part));
    if (lacking.length > 0 && lacking.every(isNamed)) return;
    this.#missing = new Set(lacking);
    this.#fault = lacking.length > 0 ? faultOf(lacking, role) : undefined;
  }

  /** Where their table or a right to it is missing, no release has migrated anything. */
  #versionsNow(query: Query): Promise<Versions> {
    return readVersions(query).catch(() => this.#versions);
  }

  /** Whether a newer release has left the schema. */
  #isOlderThan(versions: Versions): boolean {
    return [...versions].some(([domain, version]) => version > (this.#versions.get(domain) ?? 0));
  }
}

const listOf = (all: readonly string[]): string => {
  const more = all.length - NAMED_COUNT_MAX;
  return `${all.slice(0, NAMED_COUNT_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

function faultOf(missing: readonly Part[], role: string): string {
  const parts = missing.map((part) => part.split('\t') as [string, string, string]);
  const gone = new Set(parts.flatMap(([name, kind]) => (kind === 'object' ? [name] : [])));
  // Nor are the parts of a table there that is gone, and rights to it.
  const others = parts.filter(([name]) => !gone.has(name));
  const lacks = [...gone, ...others.flatMap(([name, kind, text]) => (kind === 'part' ? [`${text} of ${name}`] : []))];
  const rights = others.flatMap(([name, kind, text]) => (kind === 'right' ? [`${text} on ${name}`] : []));
  return [
    ...(lacks.length > 0 ? [`the database lacks ${listOf(lacks)} in the schema paygrade`] : []),
    ...(rights.length > 0 ? [`the role ${role} lacks ${listOf(rights)} in the schema paygrade`] : []),
  ].join('; ');
}
