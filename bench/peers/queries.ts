/**
 * The engine beside DuckDB, node:sqlite and a plain filter over an array of objects: the same rows, the same questions, the
 * same answers (compared before anything is timed), in turn in one process.
 *
 *   node queries.ts --catalogue FILE --jsonl FILE [--rounds 7]      bun queries.ts ...
 *
 * The databases get every advantage that a table gives: texts in lower case beforehand, the searched fields joined, prepared
 * statements, DuckDB on one thread (less processor time than two) with all its rows in memory. Searches and company questions
 * look at every active job, signals at the cohort. DuckDB's rows are stored in the order of a search, which it preserves
 * without ORDER BY, so that it can stop at the 10,001st match, up to which both sides count; "ordered" has the ORDER BY and
 * cannot stop early. A company's rows are read once for all three lists. Prints one JSON line.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { type DuckDBConnection, DuckDBInstance, type DuckDBPreparedStatement } from '@duckdb/node-api';
import type { Job } from '../../src/catalogue/job.ts';
import { COHORT_ROWS_MAX } from '../../src/catalogue/limits.ts';
import type { CohortFilters } from '../../src/catalogue/questions/cohort-rows.ts';
import { companyActivity } from '../../src/catalogue/questions/company.ts';
import { observationPeriodEndingAt } from '../../src/catalogue/questions/period.ts';
import { type SearchAnswer, type SearchFilters, search } from '../../src/catalogue/questions/search.ts';
import { signals } from '../../src/catalogue/questions/signals.ts';
import { isBun, median, RUNTIME } from '../harness.ts';
import {
  companiesBySize,
  domainAt,
  MORE_SEARCH_QUESTIONS,
  NOW_MS,
  openCatalogue,
  SEARCH_QUESTIONS,
  SIGNAL_QUESTIONS,
} from '../synthetic-catalogue.ts';

const { values } = parseArgs({
  options: {
    catalogue: { type: 'string' },
    jsonl: { type: 'string' },
    rounds: { type: 'string', default: '7' },
  },
});
if (values.catalogue === undefined || values.jsonl === undefined) throw new Error('--catalogue and --jsonl are needed');
const roundCount = Number(values.rounds);

/** Additional questions: what people type, and what is most expensive for an index. */
const MORE_SIGNALS: Readonly<Record<string, CohortFilters>> = {
  'two letters': { role: 'er' },
  'three words': { role: 'senior software engineer' },
  'a place': { location: 'united states' },
  'a department and a role': { department: 'sales', role: 'manager' },
  'eight pieces of words': { role: 'se en da gi ta or io ne', location: 'er an' },
};
const catalogue = openCatalogue(values.catalogue);
const { snapshot } = catalogue;
const period = observationPeriodEndingAt(NOW_MS);
const cohort: Job[] = Array.from({ length: catalogue.cohort.rows.length }, (_, row) => snapshot.job(row));

// ---- DuckDB: the cohort, and all jobs ----

const COLUMNS = `rid INTEGER, id VARCHAR, title VARCHAR, company VARCHAR, domain VARCHAR, location VARCHAR,
  title_lower VARCHAR, location_lower VARCHAR, department_lower VARCHAR, words VARCHAR, company_key VARCHAR,
  remote VARCHAR, employment VARCHAR, url VARCHAR, first_observed BIGINT, last_observed BIGINT`;

const keyOf = (job: Job): string => job.companyDomain ?? job.company.toLowerCase();

function cellsOf(job: Job, row: number): (string | number | null)[] {
  const { title, company, department, location, skills } = job;
  return [
    row,
    job.id,
    title,
    company,
    job.companyDomain,
    location,
    title.toLowerCase(),
    location?.toLowerCase() ?? null,
    department?.toLowerCase() ?? null,
    [title, company, department ?? '', ...skills].join('\n').toLowerCase(),
    keyOf(job),
    job.remoteStatus,
    job.employmentType,
    job.sourceUrl,
    job.firstObservedMs,
    job.lastObservedMs,
  ];
}

const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const duck: DuckDBConnection = await instance.connect();
await duck.run(`CREATE TABLE cohort (${COLUMNS})`);
const appender = await duck.createAppender('cohort');
for (const [row, job] of cohort.entries()) {
  for (const cell of cellsOf(job, row)) {
    if (cell === null) appender.appendNull();
    else if (typeof cell === 'string') appender.appendVarchar(cell);
    else if (cell === row) appender.appendInteger(cell);
    else appender.appendBigInt(BigInt(cell));
  }
  appender.endRow();
}
appender.closeSync();
await duck.run(
  `CREATE TABLE jobs AS SELECT row_number() OVER () AS rid, id, title, company, company_domain AS domain, location,
     remote_status AS remote, employment_type AS employment, source_url AS url, department, skills,
     strip_accents(lower(location)) AS location_lower,
     strip_accents(lower(concat_ws(chr(10), title, company, department, array_to_string(skills, chr(10))))) AS words,
     epoch_ms(last_observed_at::TIMESTAMP) AS last_observed, status
   FROM read_json('${values.jsonl}', format = 'newline_delimited', columns = {id: 'VARCHAR', title: 'VARCHAR',
     company: 'VARCHAR', company_domain: 'VARCHAR', location: 'VARCHAR', remote_status: 'VARCHAR',
     employment_type: 'VARCHAR', source_url: 'VARCHAR', department: 'VARCHAR', skills: 'VARCHAR[]',
     last_observed_at: 'VARCHAR', status: 'VARCHAR'})`,
);

await duck.run(`CREATE TABLE active AS SELECT * FROM jobs WHERE status = 'active'`);

// ---- node:sqlite: the cohort ----

const sqlite = new DatabaseSync(':memory:');
sqlite.exec(`CREATE TABLE cohort (${COLUMNS})`);
const insert = sqlite.prepare(`INSERT INTO cohort VALUES (${Array.from({ length: 16 }, () => '?').join(',')})`);
sqlite.exec('BEGIN');
for (const [row, job] of cohort.entries()) insert.run(...cellsOf(job, row));
sqlite.exec('COMMIT');

// ---- the questions as SQL ----

const termsOf = (text: string | undefined): string[] => text?.toLowerCase().split(' ') ?? [];

interface Dialect {
  contains(column: string, term: string): string;
}
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const duckSql: Dialect = { contains: (column, term) => `contains(${column}, ${quoted(term)})` };
const sqliteSql: Dialect = { contains: (column, term) => `instr(${column}, ${quoted(term)}) > 0` };

function signalsSql({ role, location, department }: CohortFilters, { contains }: Dialect): string {
  const wanted = [
    ...termsOf(role).map((term) => contains('title_lower', term)),
    ...termsOf(location).map((term) => contains('location_lower', term)),
    ...(department === undefined ? [] : [`department_lower = ${quoted(department)}`]),
  ];
  const recent = `CAST(sum(last_observed BETWEEN ${period.startMs} AND ${period.endMs}) AS DOUBLE)`.replace(
    /sum\((.*)\) AS/,
    'sum(CASE WHEN $1 THEN 1 ELSE 0 END) AS',
  );
  return `SELECT company_key, count(*) AS observed, ${recent} AS recent,
      sum(CASE WHEN first_observed BETWEEN ${period.startMs} AND ${period.endMs} THEN 1 ELSE 0 END) AS first_seen,
      max(last_observed) AS newest
    FROM cohort ${wanted.length === 0 ? '' : `WHERE ${wanted.join(' AND ')}`} GROUP BY company_key
    ORDER BY recent DESC, round(10000.0 * recent / observed) DESC, newest DESC, company_key LIMIT 5`;
}

/** The first ten matches, each with how many there are, 10,001 at most. */
function searchSql(
  { company, employmentType, keyword, location, remote }: SearchFilters,
  order: '' | 'ORDER BY rid' = '',
): string {
  const { contains } = duckSql;
  const wanted = [
    ...(company === undefined ? [] : [`domain = ${quoted(company)}`]),
    ...(remote === undefined ? [] : [`remote = ${quoted(remote ? 'remote' : 'on_site')}`]),
    ...(employmentType === undefined ? [] : [`employment = ${quoted(employmentType)}`]),
    ...termsOf(keyword).map((term) => contains('words', term)),
    ...termsOf(location).map((term) => contains('location_lower', term)),
  ];
  return `WITH found AS MATERIALIZED (SELECT rid FROM active
      ${wanted.length === 0 ? '' : `WHERE ${wanted.join(' AND ')}`} ${order} LIMIT ${COHORT_ROWS_MAX + 1})
    SELECT id, title, company, domain, location, remote, employment, url, last_observed,
      (SELECT count(*) FROM found) AS matches
    FROM active WHERE rid IN (SELECT rid FROM found ORDER BY rid LIMIT 10) ORDER BY rid`;
}

/** Counts, departments (kind 1) and skills (kind 2) of the company's cohort, which is read once. */
const companySql = (domain: string): string =>
  `WITH cohort AS MATERIALIZED (SELECT department, skills, last_observed FROM jobs
     WHERE domain = ${quoted(domain)} AND status = 'active' ORDER BY rid LIMIT ${COHORT_ROWS_MAX})
   SELECT 0 AS kind, NULL AS name, count(*) AS n,
     sum(CASE WHEN contains(lower(department), 'engineering') THEN 1 ELSE 0 END) AS engineering,
     max(last_observed) AS newest, min(last_observed) AS oldest FROM cohort
   UNION ALL (SELECT 1, department, count(*) AS n, NULL, NULL, NULL FROM cohort WHERE department IS NOT NULL
     GROUP BY department ORDER BY n DESC, department LIMIT 10)
   UNION ALL (SELECT 2, skill, count(*) AS n, NULL, NULL, NULL FROM (SELECT unnest(skills) AS skill FROM cohort)
     GROUP BY skill ORDER BY n DESC, skill LIMIT 10)`;

// ---- the plain filter: an array of lower-cased objects, a scan over it, a Map for the groups ----

const hasAll = (text: string | null, terms: readonly string[]): boolean => {
  if (terms.length === 0) return true;
  if (text === null) return false;
  const lower = text.toLowerCase();
  return terms.every((term) => lower.includes(term));
};

function plainSignals({ role, location, department }: CohortFilters): unknown[] {
  const [roleTerms, locationTerms] = [termsOf(role), termsOf(location)];
  const groups = new Map<string, { observed: number; recent: number; first: number; newest: number }>();
  for (const job of cohort) {
    if (!hasAll(job.title, roleTerms) || !hasAll(job.location, locationTerms)) continue;
    if (department !== undefined && job.department?.toLowerCase() !== department) continue;
    const key = keyOf(job);
    const group = groups.get(key) ?? { observed: 0, recent: 0, first: 0, newest: 0 };
    group.observed++;
    if (job.lastObservedMs >= period.startMs && job.lastObservedMs <= period.endMs) group.recent++;
    if (job.firstObservedMs >= period.startMs && job.firstObservedMs <= period.endMs) group.first++;
    if (job.lastObservedMs > group.newest) group.newest = job.lastObservedMs;
    groups.set(key, group);
  }
  return [...groups]
    .sort(
      ([aKey, a], [bKey, b]) =>
        b.recent - a.recent ||
        Math.round((10_000 * b.recent) / b.observed) - Math.round((10_000 * a.recent) / a.observed) ||
        b.newest - a.newest ||
        (aKey < bKey ? -1 : 1),
    )
    .slice(0, 5)
    .map(([key, { observed, recent, first, newest }]) => [key, observed, recent, first, newest]);
}

// ---- measuring ----

type Contender = () => unknown;

interface Row {
  readonly question: string;
  /** Medians, µs of processor time. */
  readonly micros: Record<string, number>;
  /** Median of the rounds' ratios to the engine's time. */
  readonly ratios: Record<string, number>;
}

const plain = (cells: readonly unknown[]): unknown[] =>
  cells.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell));

const signalCells = (filters: CohortFilters): unknown[] =>
  signals(catalogue, filters, 5, period).companies.map(
    ({ company, observedSampleJobs, recentlyObservedJobs, firstObservedJobs, lastObservedMs }) => [
      company.domain ?? company.name.toLowerCase(),
      observedSampleJobs,
      recentlyObservedJobs,
      firstObservedJobs,
      lastObservedMs,
    ],
  );

/** Processor time of this process a call, all threads together, µs: on a shared machine the wall clock says little. */
async function oneRound(run: Contender, minMs: number): Promise<number> {
  let calls = 0;
  /** Calls between two looks at the clock, doubled until a look costs next to nothing. */
  let batch = 1;
  const before = process.cpuUsage();
  let micros = 0;
  do {
    for (let i = 0; i < batch; i++) {
      const answer = run();
      if (answer instanceof Promise) await answer;
    }
    calls += batch;
    const { user, system } = process.cpuUsage(before);
    if (user + system - micros < 200) batch *= 2;
    micros = user + system;
  } while (micros < minMs * 1000);
  return micros / calls;
}

const WARM_UP_ROUNDS = 2;
const ROUND_CPU_MS = 30;

async function compared(question: string, contenders: Record<string, Contender>): Promise<Row> {
  const rounds: Record<string, number[]> = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < WARM_UP_ROUNDS + roundCount; round++) {
    for (const [name, run] of Object.entries(contenders)) {
      const micros = await oneRound(run, ROUND_CPU_MS);
      if (round >= WARM_UP_ROUNDS) rounds[name]!.push(micros);
    }
  }
  const own = rounds.engine!;
  return {
    question,
    micros: Object.fromEntries(Object.entries(rounds).map(([name, each]) => [name, median(each)])),
    ratios: Object.fromEntries(
      Object.entries(rounds).map(([name, each]) => [name, median(each.map((micros, i) => micros / own[i]!))]),
    ),
  };
}

const prepared = (sql: string): Promise<DuckDBPreparedStatement> => duck.prepare(sql);
const duckRows = async (statement: DuckDBPreparedStatement): Promise<unknown[][]> =>
  (await statement.runAndReadAll()).getRows() as unknown[][];
const sqliteRows = (statement: StatementSync): unknown[][] =>
  (statement.all() as Record<string, unknown>[]).map((row) => Object.values(row));

const signalQuestions = Object.entries({ ...SIGNAL_QUESTIONS, ...MORE_SIGNALS, 'no filter': {} });
const searches = Object.entries({ ...SEARCH_QUESTIONS, ...MORE_SEARCH_QUESTIONS });
// Warms up, so that the runtime has compiled before the first question is measured.
for (let i = 0; i < 500; i++) {
  for (const [, filters] of signalQuestions) signals(catalogue, filters, 5, period);
  for (const [, filters] of searches) search(catalogue, filters, 10);
}

const rows: Row[] = [];
for (const [title, filters] of signalQuestions) {
  const inDuck = await prepared(signalsSql(filters, duckSql));
  const inSqlite = sqlite.prepare(signalsSql(filters, sqliteSql));
  const own = signalCells(filters);
  deepStrictEqual((await duckRows(inDuck)).map(plain), own);
  deepStrictEqual(sqliteRows(inSqlite).map(plain), own);
  deepStrictEqual(plainSignals(filters), own);
  rows.push(
    await compared(`signals, ${title}`, {
      engine: () => signals(catalogue, filters, 5, period),
      duckdb: () => duckRows(inDuck),
      sqlite: () => sqliteRows(inSqlite),
      'plain filter': () => plainSignals(filters),
    }),
  );
}
const cellsOfFound = ({ coverage, jobs }: SearchAnswer): unknown[][] =>
  jobs.map((job) => [
    job.id,
    job.title,
    job.company,
    job.companyDomain,
    job.location,
    job.remoteStatus,
    job.employmentType,
    job.sourceUrl,
    job.lastObservedMs,
    coverage.sampled ? COHORT_ROWS_MAX + 1 : coverage.candidateJobs,
  ]);

async function compareSearch(title: string, filters: SearchFilters): Promise<void> {
  const inDuck = await prepared(searchSql(filters));
  const orderedInDuck = await prepared(searchSql(filters, 'ORDER BY rid'));
  const cells = cellsOfFound(search(catalogue, filters, 10));
  deepStrictEqual((await duckRows(inDuck)).map(plain), cells, title);
  deepStrictEqual((await duckRows(orderedInDuck)).map(plain), cells, title);
  rows.push(
    await compared(title, {
      engine: () => search(catalogue, filters, 10),
      duckdb: () => duckRows(inDuck),
      'duckdb, ordered': () => duckRows(orderedInDuck),
    }),
  );
}
for (const [title, filters] of searches) await compareSearch(`search, ${title}`, filters);
const bySize = companiesBySize(snapshot);
for (const [title, place] of [
  ['largest', 0],
  ['200th', Math.min(199, bySize.length - 1)],
  ['median', bySize.length >> 1],
] as const) {
  const domain = domainAt(snapshot, bySize[place]!);
  const inDuck = await prepared(companySql(domain));
  const own = companyActivity(catalogue, domain)!;
  const found = (await duckRows(inDuck)).map(plain);
  const ofKind = (kind: number): unknown[][] => found.filter(([each]) => each === kind).map((cells) => cells.slice(1));
  deepStrictEqual(ofKind(0), [
    [
      null,
      own.observedSampleJobs,
      own.engineeringJobsInSample,
      own.cohort.newestObservedMs,
      own.cohort.oldestObservedMs,
    ],
  ]);
  deepStrictEqual(
    ofKind(1).map((cells) => cells.slice(0, 2)),
    own.topDepartments.map(({ department, jobCount }) => [department, jobCount]),
  );
  deepStrictEqual(
    ofKind(2).map((cells) => cells.slice(0, 2)),
    own.topSkills.map(({ skill, jobCount }) => [skill, jobCount]),
  );
  rows.push(
    await compared(`company, ${title} (${own.observedSampleJobs} rows)`, {
      engine: () => companyActivity(catalogue, domain),
      duckdb: () => duckRows(inDuck),
    }),
  );
  await compareSearch(`search in the ${title} company`, { company: domain, keyword: 'engineer' });
  await compareSearch(`search in the ${title} company, nothing found`, { company: domain, keyword: 'engineer zzqx' });
}
console.log(JSON.stringify({ runtime: RUNTIME, isBun, jobs: snapshot.rowCount, rows }));
process.exit(0);
