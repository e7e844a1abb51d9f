/**
 * What a process needs of the schema `paygrade`, and what of it is missing later: tables, columns, unique keys, constraints,
 * functions, and its role's rights. They are missing while a dump is read in, and after a mistake of an operator. The process needs
 * what it finds at its start, unless a newer release has migrated the tables since: then it needs what that one left.
 *
 * There is no look while no statement fails, so what no statement needs may come and go. Cost of a look: one statement over the
 * catalogue, about a millisecond; its answer is one digest while nothing changes.
 */
import type { Watch } from './database.ts';
import { readVersions, type Versions } from './migrations.ts';
import type { Query } from './transaction.ts';

/** Most parts that a fault names of those that are gone, and of the rights. */
const NAMED_COUNT_MAX = 5;

/**
 * SQL: the names of these columns. PostgreSQL's functions for whole definitions wait for any lock of the table (`VACUUM FULL`), and
 * show nothing of an index that `REINDEX CONCURRENTLY` has just replaced.
 */
const columnsOf = (relation: string, numbers: string): string => `(
  SELECT string_agg(a.attname, ', ' ORDER BY n.place)
  FROM unnest(${numbers}) WITH ORDINALITY AS n(number, place)
  JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = n.number)`;

/** SQL: whether this object belongs to an extension, whose update may change or drop it. */
const isOfExtension = (catalogue: string, oid: string): string =>
  `EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogue}'::regclass AND d.objid = ${oid} AND d.deptype = 'e')`;

/**
 * $1 the digest that is known. `parts` is null where that has not changed; a part is `object TAB kind TAB text`. Names of our
 * schema are left out of definitions, which have them or not, depending on the search_path.
 */
const PARTS = `
  WITH relation AS (
    SELECT c.oid, CASE c.relkind WHEN 'S' THEN 'sequence ' ELSE 'table ' END || c.relname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'paygrade' AND c.relkind IN ('r', 'S') AND NOT ${isOfExtension('pg_class', 'c.oid')}
  ), function AS (
    SELECT p.oid, format('function %s(%s)', p.proname, oidvectortypes(p.proargtypes)) AS name
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = 'paygrade' AND NOT ${isOfExtension('pg_proc', 'p.oid')}
  ), part(name, kind, text) AS (
    SELECT name, 'object', '' FROM relation
    UNION ALL SELECT name, 'object', '' FROM function
    UNION ALL
    SELECT r.name, 'part', concat_ws(' ', 'column', a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attnotnull THEN 'NOT NULL' END, CASE WHEN a.atthasdef OR a.attidentity <> '' THEN 'with a default' END)
    FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid
    WHERE r.name LIKE 'table %' AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    -- By its columns, because an operator may replace an index by one of another name.
    SELECT r.name, 'part', concat('UNIQUE (', ${columnsOf('i.indrelid', 'i.indkey[0:i.indnkeyatts - 1]')}, ')',
      CASE WHEN i.indpred IS NOT NULL THEN ' for some rows' END)
    FROM relation r JOIN pg_index i ON i.indrelid = r.oid WHERE i.indisunique AND i.indisvalid
    UNION ALL
    SELECT r.name, 'part', CASE c.contype WHEN 'c' THEN format('CHECK of (%s)', ${columnsOf('c.conrelid', 'c.conkey')})
      ELSE replace(pg_get_constraintdef(c.oid), 'paygrade.', '') END
    FROM relation r JOIN pg_constraint c ON c.conrelid = r.oid WHERE c.contype IN ('c', 'f')
    UNION ALL
    SELECT r.name, 'right', u.name
    FROM relation r, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS u(name) WHERE has_table_privilege(r.oid, u.name)
    UNION ALL
    SELECT name, 'right', 'EXECUTE' FROM function WHERE has_function_privilege(oid, 'EXECUTE')
    UNION ALL
    SELECT 'schema paygrade', 'right', 'USAGE' FROM pg_namespace
    WHERE nspname = 'paygrade' AND has_schema_privilege(oid, 'USAGE')
  ), listed AS (
    SELECT coalesce(array_agg(concat_ws(E'\\t', name, kind, text) ORDER BY name, kind, text), '{}') AS parts FROM part
  )
  SELECT current_user::text AS role, digest, CASE WHEN digest <> $1 THEN parts END AS parts
  FROM listed, encode(sha256(convert_to(parts::text, 'UTF8')), 'hex') AS digest`;

const readParts = async (query: Query, digest: string) => {
  const [row] = await query({ name: 'schema-parts', text: PARTS, values: [digest] });
  return row as { role: string; digest: string; parts: readonly string[] | null };
};

export class Wholeness implements Watch {
  #needed: ReadonlySet<string>;
  #versions: Versions;
  /** Of parts among which none is missing. */
  #digest: string;
  /** What the fault is about. */
  #missing: ReadonlySet<string> = new Set();
  #fault: string | undefined;
  #lookCount = 0;
  /** Number of the look that decided last. */
  #decided = 0;

  /** The schema as it is now is what the process needs. */
  static async of(query: Query): Promise<Wholeness> {
    // A migration in between leaves older versions with newer parts, and the next look finds the newer versions.
    const versions = await readVersions(query);
    const { parts, digest } = await readParts(query, '');
    return new Wholeness(new Set(parts), versions, digest);
  }

  private constructor(needed: ReadonlySet<string>, versions: Versions, digest: string) {
    this.#needed = needed;
    this.#versions = versions;
    this.#digest = digest;
  }

  /** It stays the same while no more is missing than it says, so that a log has one line for the whole of a repair. */
  get fault(): string | undefined {
    return this.#fault;
  }

  async look(query: Query): Promise<void> {
    const number = ++this.#lookCount;
    const { role, parts, digest } = await readParts(query, this.#digest);
    const found = new Set(parts);
    const missing = parts === null ? [] : [...this.#needed].filter((part) => !found.has(part));
    const latest = digest === this.#digest ? undefined : await this.#latest(query);
    // One that was sent earlier may be answered later.
    if (number < this.#decided) return;
    this.#decided = number;
    if (missing.length === 0) {
      this.#digest = digest;
      // A release that took nothing away must not account for what goes missing after it.
      if (latest !== undefined && latest.#digest === digest) this.#versions = latest.#versions;
    } else if (latest !== undefined && this.#isOlderThan(latest)) {
      this.#needed = latest.#needed;
      this.#versions = latest.#versions;
      this.#digest = latest.#digest;
    } else {
      if (missing.every((part) => this.#missing.has(part))) return;
      this.#missing = new Set(missing);
      this.#fault = faultOf(missing, role);
      return;
    }
    this.#missing = new Set();
    this.#fault = undefined;
  }

  /** The schema as it is now, if it tells its versions. */
  #latest(query: Query): Promise<Wholeness | undefined> {
    // Where their table or a right to it is missing, no release has migrated anything.
    return Wholeness.of(query).catch(() => undefined);
  }

  /** Whether a newer release has left the schema as it is in `latest`. */
  #isOlderThan(latest: Wholeness): boolean {
    return [...latest.#versions].some(([domain, version]) => version > (this.#versions.get(domain) ?? 0));
  }
}

const listOf = (all: readonly string[]): string => {
  const more = all.length - NAMED_COUNT_MAX;
  return `${all.slice(0, NAMED_COUNT_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

function faultOf(missing: readonly string[], role: string): string {
  const parts = missing.map((part) => part.split('\t') as [string, string, string]);
  const gone = new Set(parts.flatMap(([name, kind]) => (kind === 'object' ? [name] : [])));
  // Nor are the parts of a table there that is gone, and rights to it.
  const others = parts.filter(([name]) => !gone.has(name));
  const lacks = [...gone, ...others.flatMap(([name, kind, text]) => (kind === 'part' ? [`${text} of ${name}`] : []))];
  const rights = others.flatMap(([name, kind, text]) => (kind === 'right' ? [`${text} on ${name}`] : []));
  return [
    ...(lacks.length > 0 ? [`the database lacks ${listOf(lacks)} in the schema paygrade`] : []),
    ...(rights.length > 0 ? [`the role ${role} has lost ${listOf(rights)} in the schema paygrade`] : []),
  ].join('; ');
}
