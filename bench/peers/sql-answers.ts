/**
 * Answers of the Jobs Data API (siblings §4) from PostgreSQL: prepared statements over one connection, and the same
 * JSON text made from their rows. The server's other work (key, rate, credits, encoding cursors) is left out here.
 */
import { Client, types } from 'pg';
import { isoTime, isoTimeOrNull } from '../../src/base/iso-time.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../../src/catalogue/job.ts';
import { LIMITATIONS } from '../../src/modules/limitations.ts';

const DAY_MS = 86_400_000;
const PERIOD_MS = 7 * DAY_MS;
const INT8 = 20;
types.setTypeParser(INT8, Number);

/** Connects once the server answers. */
export async function connected(host: string): Promise<Client> {
  for (let attempt = 0; ; attempt++) {
    const client = new Client({ host, user: 'bench', database: 'postgres' });
    try {
      await client.connect();
      return client;
    } catch (failure) {
      if (attempt === 100) throw failure;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

interface JobRow {
  readonly id: string;
  readonly hash: Buffer;
  readonly title: string;
  readonly company: string;
  readonly domain: string | null;
  readonly location: string | null;
  readonly remote: string;
  readonly employment: string;
  readonly url: string;
  readonly last_observed: number;
  readonly department: string | null;
  readonly skills: string[];
  readonly first_observed: number;
  readonly active: boolean;
}

interface DetailRow extends JobRow {
  readonly description: string | null;
  readonly truncated: boolean;
  readonly closed_at: number | null;
}

interface EventRow {
  readonly serial: number;
  readonly id: string;
  readonly kind: string;
  readonly observed: number;
  readonly title: string;
  readonly company: string;
  readonly domain: string | null;
  readonly changes: object[] | null;
}

const RECORD = `id, hash, title, company, domain, location, remote, employment, url, last_observed, department, skills,
  first_observed, active`;
const ORDER = 'ORDER BY order_time, hash, id LIMIT $1 + 1';
const AFTER = (first: number): string => `(order_time, hash, id) > ($${first}, $${first + 1}, $${first + 2})`;
/** A position before every job. */
const START: readonly unknown[] = [-8.64e15, Buffer.alloc(0), ''];

const recordOf = (row: JobRow) => ({
  id: row.id,
  title: row.title,
  company: row.company,
  company_domain: row.domain,
  location: row.location,
  remote_status: row.remote,
  employment_type: row.employment,
  source_url: row.url,
  last_observed_at: isoTime(row.last_observed),
  department: row.department,
  skills: row.skills,
  first_observed_at: isoTime(row.first_observed),
  status: row.active ? 'active' : 'closed',
});

const eventOf = (row: EventRow) => ({
  id: `ev_${row.serial}`,
  job_id: row.id,
  type: row.kind,
  observed_at: isoTime(row.observed),
  title: row.title,
  company: { name: row.company, domain: row.domain },
  changes: row.changes ?? [],
});

const contains = (term: string): string => `%${term.replace(/[\\%_]/g, '\\$&')}%`;

/** The newest job of each department names it. @param scope condition, with a table's alias `jobs` */
const departmentsSql = (scope: string): string =>
  `WITH counted AS (SELECT department_compared AS compared, count(*) AS n FROM jobs
     WHERE active AND department_compared IS NOT NULL AND ${scope} GROUP BY 1 ORDER BY n DESC LIMIT 20)
   SELECT (SELECT department FROM jobs WHERE active AND department_compared = counted.compared AND ${scope}
       ORDER BY order_time, hash, id LIMIT 1) AS shown, n
   FROM counted ORDER BY n DESC, shown LIMIT 10`;

interface Paged {
  readonly limit: number;
  readonly cursor: string | undefined;
}

export class SqlAnswers {
  readonly #client: Client;
  readonly #requestId = 'req_00000000-0000-4000-8000-000000000000';
  /** Of all active jobs: part of each `meta`, so it is not asked for each time. */
  readonly #freshness: string;
  readonly #names = new Map<string, string>();

  private constructor(client: Client, newestMs: number) {
    this.#client = client;
    this.#freshness = isoTime(newestMs);
  }

  static async open(host: string): Promise<SqlAnswers> {
    const client = await connected(host);
    // Text filters differ so much that no generic plan fits all of them.
    await client.query('SET plan_cache_mode = force_custom_plan');
    const { rows } = await client.query('SELECT max(last_observed) AS newest FROM jobs WHERE active');
    return new SqlAnswers(client, rows[0].newest as number);
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  async #rows<R>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `q${this.#names.size}`;
      this.#names.set(text, name);
    }
    return (await this.#client.query({ name, text, values: [...values] })).rows as R[];
  }

  #answer(data: object, cost: number): string {
    return JSON.stringify({
      data,
      meta: {
        generated_at: isoTime(Date.now()),
        request_id: this.#requestId,
        freshness: { last_observed_at: this.#freshness },
        credits: { charged: cost, remaining: 1_000_000 },
        limitations: LIMITATIONS,
      },
    });
  }

  #page<T>(limit: number, rows: readonly T[], keyOf: (row: T) => readonly unknown[]) {
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    const next = last === undefined ? null : Buffer.from(JSON.stringify(keyOf(last))).toString('base64url');
    return { shown, members: { limit, next_cursor: next } };
  }

  /** @param conditions on jobs, with values from $5 on */
  async #jobs({ cursor, limit }: Paged, conditions: string, values: readonly unknown[], beside: object = {}) {
    const [time, hash, id] = cursor === undefined ? START : keyIn(cursor);
    const after = [time, typeof hash === 'string' ? Buffer.from(hash, 'hex') : hash, id];
    const sql = `SELECT ${RECORD} FROM jobs WHERE active AND ${AFTER(2)} ${conditions} ${ORDER}`;
    const rows = await this.#rows<JobRow>(sql, [limit, ...after, ...values]);
    const keyOf = (row: JobRow) => [-row.last_observed, row.hash.toString('hex'), row.id];
    const { shown, members } = this.#page(limit, rows, keyOf);
    const jobs = shown.map(recordOf);
    return this.#answer({ ...beside, jobs, returned_jobs: jobs.length, ...members }, jobs.length);
  }

  list(paged: Paged): Promise<string> {
    return this.#jobs(paged, '', []);
  }

  listSince(paged: Paged, sinceMs: number): Promise<string> {
    return this.#jobs(paged, 'AND order_time <= $5', [-sinceMs]);
  }

  search(paged: Paged, terms: readonly string[], places: readonly string[]): Promise<string> {
    const words = terms.map((_, i) => `AND words LIKE $${5 + i}`);
    const located = places.map((_, i) => `AND location_compared LIKE $${5 + terms.length + i}`);
    return this.#jobs(paged, [...words, ...located].join(' '), [...terms, ...places].map(contains));
  }

  companyJobs(paged: Paged, domain: string, name: string): Promise<string> {
    return this.#jobs(paged, 'AND domain = $5', [domain], { company: { name, domain } });
  }

  async job(id: string): Promise<string> {
    const sql = `SELECT ${RECORD}, description, truncated, closed_at FROM jobs WHERE id = $1`;
    const [row] = await this.#rows<DetailRow>(sql, [id]);
    const { description, truncated, closed_at } = row!;
    const closed = isoTimeOrNull(closed_at);
    const job = { ...recordOf(row!), description, description_truncated: truncated, closed_at: closed };
    return this.#answer({ job }, 1);
  }

  async feed({ cursor, limit }: Paged, domain?: string): Promise<string> {
    const [after] = cursor === undefined ? [0] : keyIn(cursor);
    const rows = await this.#rows<EventRow>(
      `SELECT serial, jobs.id, kind, observed, coalesce(events.title, jobs.title) AS title, company, jobs.domain, changes
       FROM events JOIN jobs ON jobs.n = events.job
       WHERE serial > $2 ${domain === undefined ? '' : 'AND events.domain = $3'} ORDER BY serial LIMIT $1 + 1`,
      domain === undefined ? [limit, after] : [limit, after, domain],
    );
    const { shown, members } = this.#page(limit, rows, ({ serial }) => [serial]);
    const events = shown.map(eventOf);
    return this.#answer({ events, returned_events: events.length, ...members }, events.length);
  }

  async company(domain: string): Promise<string> {
    const [counts] = await this.#rows<Record<string, number>>(
      `SELECT count(*) FILTER (WHERE active) AS active, count(*) FILTER (WHERE NOT active) AS closed,
         min(first_observed) AS first, max(last_observed) AS last FROM jobs WHERE domain = $1`,
      [domain],
    );
    const [newest] = await this.#rows<JobRow>(
      'SELECT company FROM jobs WHERE active AND domain = $1 ORDER BY order_time, hash, id LIMIT 1',
      [domain],
    );
    const departments = await this.#departments('domain = $1', [domain]);
    const { active, closed, first, last } = counts!;
    return this.#answer(
      {
        company: { name: newest!.company, domain },
        active_job_count: active,
        closed_job_count: closed,
        departments,
        first_observed_at: isoTime(first!),
        last_observed_at: isoTime(last!),
      },
      2,
    );
  }

  async #departments(scope: string, values: readonly unknown[]) {
    const rows = await this.#rows<{ shown: string; n: number }>(departmentsSql(scope), values);
    return rows.map(({ n, shown }) => ({ department: shown, active_job_count: n }));
  }

  async overview(): Promise<string> {
    const kinds = await this.#rows<{ remote: string; employment: string; n: number }>(
      'SELECT remote, employment, count(*) AS n FROM jobs WHERE active GROUP BY 1, 2',
    );
    const [totals] = await this.#rows<Record<string, number>>(
      'SELECT count(*) AS jobs, min(first_observed) AS first, max(last_observed) AS last FROM jobs',
    );
    const [companies] = await this.#rows<{ n: number }>(
      'SELECT count(*) AS n FROM (SELECT DISTINCT company_key FROM jobs WHERE active) AS companies',
    );
    let active = 0;
    const remote = new Map<string, number>();
    const employment = new Map<string, number>();
    for (const kind of kinds) {
      active += kind.n;
      remote.set(kind.remote, (remote.get(kind.remote) ?? 0) + kind.n);
      employment.set(kind.employment, (employment.get(kind.employment) ?? 0) + kind.n);
    }
    const { first, jobs, last } = totals!;
    return this.#answer(
      {
        active_jobs: active,
        closed_jobs: jobs! - active,
        companies: companies!.n,
        by_remote_status: REMOTE_STATUSES.map((each) => ({
          remote_status: each,
          active_job_count: remote.get(each) ?? 0,
        })),
        by_employment_type: EMPLOYMENT_TYPES.map((each) => ({
          employment_type: each,
          active_job_count: employment.get(each) ?? 0,
        })),
        first_observed_at: isoTime(first!),
        last_observed_at: isoTime(last!),
      },
      2,
    );
  }

  async hiring(endMs: number): Promise<string> {
    const startMs = endMs - PERIOD_MS;
    const byDay = async (column: string) => {
      const rows = await this.#rows<{ day: number; n: number }>(
        `SELECT ${column} / ${DAY_MS} AS day, count(*) AS n FROM jobs WHERE ${column} BETWEEN $1 AND $2 GROUP BY 1`,
        [startMs, endMs],
      );
      return new Map(rows.map(({ day, n }) => [day, n]));
    };
    const [opened, closed] = [await byDay('first_observed'), await byDay('closed_at')];
    const sum = (counts: ReadonlyMap<number, number>): number => [...counts.values()].reduce((a, b) => a + b, 0);
    const companies = await this.#rows<{ active: number; opened: number; company: string; domain: string | null }>(
      `WITH top AS (SELECT company_key, count(*) FILTER (WHERE active) AS active,
           count(*) FILTER (WHERE first_observed BETWEEN $1 AND $2) AS opened FROM jobs GROUP BY company_key
           ORDER BY active DESC, opened DESC, company_key LIMIT 10)
       SELECT active, opened, company, domain FROM top CROSS JOIN LATERAL
         (SELECT company, domain FROM jobs WHERE jobs.company_key = top.company_key LIMIT 1) AS shown
       ORDER BY active DESC, opened DESC, top.company_key`,
      [startMs, endMs],
    );
    const skills = await this.#rows<{ skill: string; n: number }>(
      `SELECT skill, count(*) AS n FROM jobs, unnest(skills) AS skill WHERE active GROUP BY skill
       ORDER BY n DESC, skill LIMIT 10`,
    );
    const days: object[] = [];
    for (let day = Math.floor(startMs / DAY_MS); day <= Math.floor(endMs / DAY_MS); day++) {
      const [first_observed_jobs, no_longer_observed_jobs] = [opened.get(day) ?? 0, closed.get(day) ?? 0];
      days.push({ date: isoTime(day * DAY_MS).slice(0, 10), first_observed_jobs, no_longer_observed_jobs });
    }
    return this.#answer(
      {
        observation_period: { start: isoTime(startMs), end: isoTime(endMs), days: 7 },
        first_observed_jobs: sum(opened),
        no_longer_observed_jobs: sum(closed),
        net_change: sum(opened) - sum(closed),
        by_day: days,
        top_companies: companies.map(({ active, company, domain, opened: first }) => ({
          company: { name: company, domain },
          active_job_count: active,
          first_observed_jobs: first,
        })),
        top_departments: await this.#departments('true', []),
        top_skills: skills.map(({ n, skill }) => ({ skill, active_job_count: n })),
      },
      5,
    );
  }
}

const keyIn = (cursor: string): unknown[] => JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
