/**
 * A catalogue with history, built the way operators do: feeds from a seed are imported one by one, some of them late,
 * and the snapshot is built from the import's folder. Jobs open, change in every field, close, reopen, and change their
 * company's domain; native records state their own times and closings.
 *
 * The model's data is read from the folder's tables, not from the snapshot.
 */
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../../src/catalogue/job.ts';
import { shownCompanyOf } from '../../src/ingest/companies/resolve.ts';
import { greenhouseShape } from '../../src/ingest/shapes/greenhouse.ts';
import { leverShape } from '../../src/ingest/shapes/lever.ts';
import { nativeShape } from '../../src/ingest/shapes/native.ts';
import type { Shape } from '../../src/ingest/shapes/shape.ts';
import { buildDirectoryOf } from '../../src/storage/history/company-directory.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { HistoryImport } from '../../src/storage/history/import.ts';
import { run } from '../cli/captured-io.ts';
import type { SeededChance } from './generated-catalogue.ts';
import { minimalJob } from './minimal-job.ts';
import type { NaiveChange, NaiveEvent } from './naive-data-api.ts';
import { storedJobs } from './stored-jobs.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A snapshot built with this limit leaves out active jobs last observed more days ago. */
const MAX_AGE_DAYS = 6;

interface Board {
  readonly shape: Shape;
  readonly token: string;
  /** One of them is on each posting; null: the feed states no domain. */
  readonly companies: readonly { readonly name: string; readonly domain: string | null }[];
}

/** Equal names with and without a domain, a name that is another's domain, and names that differ as texts only. */
const BOARDS: readonly Board[] = [
  { shape: leverShape, token: 'acme', companies: [{ name: 'Acme', domain: 'acme.com' }] },
  { shape: leverShape, token: 'acmeworks', companies: [{ name: 'ACME', domain: null }] },
  {
    shape: greenhouseShape,
    token: 'globex',
    companies: [
      { name: 'Globex', domain: 'globex.io' },
      { name: 'GLOBEX Corp', domain: 'globex.io' },
      { name: 'Globex', domain: 'globex.com' },
    ],
  },
  { shape: greenhouseShape, token: 'strasse', companies: [{ name: 'Straße GmbH', domain: null }] },
  {
    shape: nativeShape,
    token: '',
    companies: [
      { name: 'Initech', domain: 'initech.dev' },
      { name: 'acme.com', domain: null },
      { name: 'STRASSE GMBH', domain: null },
      { name: 'n\u00a0b', domain: null },
    ],
  },
];
const TITLES = [
  'Engineer',
  'engineer',
  'Senior Engineer',
  'Köchin',
  'Ko\u0308chin',
  'Σοφός',
  '東京 Lead',
  'Nurse',
  'ﬁnance',
];
const PLACES = [null, 'Zürich', 'zurich', 'Berlin, Germany', '東京都', 'Remote'];
const DEPARTMENTS = [null, null, 'Engineering', 'ENGINEERING', 'Éngineering', 'Sales', 'ＳＡＬＥＳ', 'Straße'];
const SKILLS = ['Rust', 'rust', 'C++', 'Go', 'SQL', 'Node.js', '東京', '\uffe6', '\u{10400}', 'Site Reliability'];

async function* nothing(): AsyncGenerator<Uint8Array> {}
const DOCUMENT = { member: { name: 'm', fileName: null, bytes: nothing() }, fetchedAtMs: null };

/** What a model of the surface needs. */
export interface RecordedCatalogue {
  readonly jobs: readonly Job[];
  readonly events: readonly NaiveEvent[];
}

export class GeneratedHistory {
  readonly #chance: SeededChance;
  readonly #folder: string;
  readonly #postings = new Map<Board, Map<string, Job>>(BOARDS.map((board) => [board, new Map()]));
  /** Of the newest feed. */
  #atMs: number;
  #created = 0;

  /** @param folder of the import, made by the first one @param startMs time of the first feed */
  constructor(chance: SeededChance, folder: string, startMs: number) {
    this.#chance = chance;
    this.#folder = folder;
    this.#atMs = startMs;
    this.#rememberWords();
  }

  /** Time of the newest feed. */
  get newestMs(): number {
    return this.#atMs;
  }

  /** Imports `count` feeds, each in a separate import. */
  importFeeds(count: number): void {
    for (let i = 0; i < count; i++) this.#importFeed(this.#chance.oneOf(BOARDS));
  }

  /** The operator's word gives one board a domain and aliases; one alias is another company's domain. */
  #rememberWords(): void {
    this.#importing((merging) => {
      const aliases = ['strasse.jobs', 'globex.com', 'shared.example'] as CompanyDomain[];
      const domain = 'strasse.example' as CompanyDomain;
      merging.rememberWords([
        { kind: 'board', key: 'strasse', name: null, domain, url: null, aliases },
        {
          kind: 'board',
          key: 'acme',
          name: null,
          domain: 'acme.com' as CompanyDomain,
          url: null,
          aliases: [aliases[2]!],
        },
      ]);
    });
  }

  #importFeed(board: Board): void {
    const chance = this.#chance;
    const isLate = chance.is(20);
    if (!isLate) this.#atMs += chance.oneOf([0, 1, HOUR_MS, 7 * HOUR_MS, DAY_MS]);
    const atMs = isLate ? this.#atMs - chance.below(6 * 24) * HOUR_MS : this.#atMs;
    const listed = this.#listed(board, isLate);
    this.#importing((merging) => {
      merging.begin(atMs);
      for (const job of listed) {
        merging.add(board.shape === nativeShape ? this.#timed(job, atMs) : job, {
          shape: board.shape,
          board: board.token,
          description: job.description,
          descriptionText: job.description,
          hasOwnSkills: true,
          document: DOCUMENT,
        });
      }
      merging.merge(chance.is(80), true, () => {});
    });
  }

  #importing(act: (merging: HistoryImport) => void): void {
    const history = HistoryDatabase.openForImport(this.#folder);
    try {
      const merging = new HistoryImport(history, { mayHaveDays: false, skillsVersion: 'v' });
      act(merging);
      merging.commit();
    } finally {
      history.close();
    }
  }

  /** The postings of a feed. A late feed shows some of them in a different form. */
  #listed(board: Board, isLate: boolean): Job[] {
    const chance = this.#chance;
    const postings = this.#postings.get(board)!;
    for (let i = chance.below(postings.size === 0 ? 12 : 4); i > 0; i--) {
      const job = this.#newPosting(board);
      postings.set(job.id, job);
    }
    for (const job of [...postings.values()]) if (chance.is(15)) postings.set(job.id, this.#changed(job, board));
    return [...postings.values()]
      .filter(() => chance.is(isLate ? 60 : 85))
      .map((job) => (isLate && chance.is(20) ? this.#changed(job, board) : job));
  }

  #newPosting(board: Board): Job {
    const chance = this.#chance;
    const number = this.#created++;
    const company = chance.oneOf(board.companies);
    return minimalJob({
      id: `${chance.oneOf(['', 'a', 'é/', '\uffe6', '\u{10400}', '%2F'])}${(number * 7919) % 1009}-${number}`,
      title: chance.oneOf(TITLES),
      company: company.name,
      companyDomain: company.domain as CompanyDomain | null,
      location: chance.oneOf(PLACES),
      department: chance.oneOf(DEPARTMENTS),
      remoteStatus: chance.oneOf(REMOTE_STATUSES),
      employmentType: chance.oneOf(EMPLOYMENT_TYPES),
      sourceUrl: `https://jobs.lever.co/${board.token}/${number}`,
      skills: this.#skills(),
      description: chance.oneOf([null, 'Equal for many', `Only here: ${number}.\n\nAnd more.`]),
    });
  }

  #skills(): string[] {
    return [...new Set(Array.from({ length: this.#chance.below(4) }, () => this.#chance.oneOf(SKILLS)))];
  }

  #changed(job: Job, board: Board): Job {
    const chance = this.#chance;
    const company = chance.oneOf(board.companies);
    const changes: readonly (() => Partial<Job>)[] = [
      () => ({ title: chance.oneOf(TITLES) }),
      () => ({ company: company.name, companyDomain: company.domain as CompanyDomain | null }),
      () => ({ location: chance.oneOf(PLACES), remoteStatus: chance.oneOf(REMOTE_STATUSES) }),
      () => ({ department: chance.oneOf(DEPARTMENTS), employmentType: chance.oneOf(EMPLOYMENT_TYPES) }),
      () => ({ sourceUrl: `${job.sourceUrl}.` }),
      () => ({ description: `Rewritten ${chance.below(99)}` }),
      () => ({ skills: this.#skills() }),
    ];
    let changed = job;
    for (let i = 1 + chance.below(3); i > 0; i--) changed = { ...changed, ...chance.oneOf(changes)() };
    return changed;
  }

  /** A native record with its own times, which may state that the job is closed. */
  #timed(job: Job, atMs: number): Job {
    const chance = this.#chance;
    const lastObservedMs = atMs - chance.oneOf([0, 0, HOUR_MS, DAY_MS]);
    const firstObservedMs = lastObservedMs - chance.oneOf([0, HOUR_MS, 9 * DAY_MS]);
    const times = { firstObservedMs, lastObservedMs };
    if (!chance.is(25)) return { ...job, ...times };
    return { ...job, ...times, status: 'closed', closedAtMs: lastObservedMs + chance.oneOf([0, HOUR_MS]) };
  }

  /** Builds the snapshot. @param leavesOut old jobs, whose events stay @returns what it must hold */
  async build(out: string, nowMs: number, leavesOut = false): Promise<RecordedCatalogue> {
    const words = leavesOut ? ['--max-age-days', String(MAX_AGE_DAYS)] : [];
    const { exitCode, stderr } = await run(['snapshot', 'build', '--catalogue', this.#folder, '--out', out, ...words], {
      nowMs,
    });
    if (exitCode !== 0) throw new Error(`snapshot build: ${stderr}`);
    const history = HistoryDatabase.openForReading(this.#folder);
    try {
      const all = jobsOf(history);
      const oldestMs = leavesOut ? nowMs - MAX_AGE_DAYS * DAY_MS : Number.NEGATIVE_INFINITY;
      const jobs = [...all.values()].filter((job) => job.status === 'closed' || job.lastObservedMs >= oldestMs);
      return { jobs, events: eventsOf(history, all) };
    } finally {
      history.close();
    }
  }
}

/** Every job of the folder with the company that the directory gives it, by id. */
function jobsOf(history: HistoryDatabase): Map<string, Job> {
  const directory = buildDirectoryOf(history);
  const jobs = new Map<string, Job>();
  for (const { board, job } of storedJobs(history)) {
    const identity = directory.identityOf(board, job.company);
    const shown = shownCompanyOf(job, identity);
    const companyAliases = shown.companyDomain === identity.domain ? identity.aliases : [];
    jobs.set(job.id, { ...job, ...shown, companyAliases });
  }
  return jobs;
}

interface EventRow {
  readonly serial: number;
  readonly at_ms: number;
  readonly kind: 'opened' | 'changed' | 'closed' | 'reopened';
  readonly id: string;
  readonly field: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

const isSameObservation = (a: EventRow, b: EventRow | undefined): boolean =>
  b !== undefined && a.kind === 'changed' && b.kind === 'changed' && a.id === b.id && a.at_ms === b.at_ms;

function shownChange({ field, before, after }: EventRow): NaiveChange {
  const textOf = (value: string | null): string | null => {
    if (field === 'description' || value === null) return null;
    return field === 'skills' ? (JSON.parse(value) as string[]).join(', ') : value;
  };
  return { field: field!, previous: textOf(before), current: textOf(after) };
}

/** The events in the order of their serials; what changed at one observation is one event. */
function eventsOf(history: HistoryDatabase, jobs: ReadonlyMap<string, Job>): NaiveEvent[] {
  const rows = history.rows(
    'SELECT event.serial, at_ms, kind, id, field, before, after FROM event JOIN job ON job.serial = event.job',
  ) as unknown as EventRow[];
  rows.sort((a, b) => a.serial - b.serial);
  const groups: EventRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (isSameObservation(row, last?.[0])) last!.push(row);
    else groups.push([row]);
  }
  return groups.map((group): NaiveEvent => {
    const { at_ms: observedMs, id: jobId, kind, serial } = group[0]!;
    const job = jobs.get(jobId)!;
    return {
      name: `event ${serial}`,
      place: [serial],
      jobId,
      type: kind === 'opened' ? 'first_observed' : kind,
      observedMs,
      title: titleAsOf(group.at(-1)!, rows, jobs),
      changes: kind === 'changed' ? group.map(shownChange) : [],
      company: { name: job.company, domain: job.companyDomain },
    };
  });
}

/**
 * The title as of an event is the one before the first later change of title (observed later or recorded later, because
 * a published event does not change); without such a change it is the present title.
 */
function titleAsOf(event: EventRow, rows: readonly EventRow[], jobs: ReadonlyMap<string, Job>): string {
  const changes = rows.filter(({ id, field }) => id === event.id && field === 'title');
  const next = changes.find(({ at_ms, serial }) => at_ms > event.at_ms || serial > event.serial);
  return next === undefined ? jobs.get(event.id)!.title : next.before!;
}
