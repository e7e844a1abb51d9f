/**
 * What the history stores about companies (decisions §8): hosts that postings name, counted by employer, and the
 * operator's words. A rebuild reads these, so it needs no feed.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';
import { type Employer, employerKeyOf, type HostCount } from '../../ingest/companies/employer.ts';
import { identityOf, type OperatorWord, OperatorWords } from '../../ingest/companies/operator-words.ts';
import type { HistoryDatabase } from './database.ts';
import { JOBS } from './stored-job.ts';

/** The operator's words, in the order of their keys. @throws HistoryError */
export function storedWords(history: HistoryDatabase): OperatorWord[] {
  return history.rows('SELECT * FROM word ORDER BY kind, key').map((row) => ({
    kind: row.kind as OperatorWord['kind'],
    key: row.key as string,
    name: row.company as string | null,
    domain: row.domain as CompanyDomain | null,
    url: row.url as string | null,
    aliases: JSON.parse(row.aliases as string) as CompanyDomain[],
  }));
}

/**
 * Stores words. A new word replaces only the fields that it has: a manifest with just the company's name leaves the
 * domain. The key keeps the spelling in which it was stored first.
 * @returns whether anything changed @throws HistoryError
 */
export function storeWords(history: HistoryDatabase, words: Iterable<OperatorWord>): boolean {
  const known = new Map(storedWords(history).map((word) => [identityOf(word), word] as const));
  let hasChanged = false;
  for (const word of words) {
    const earlier = known.get(identityOf(word));
    const next: OperatorWord = {
      ...word,
      key: earlier?.key ?? word.key,
      name: word.name ?? earlier?.name ?? null,
      domain: word.domain ?? earlier?.domain ?? null,
      url: word.url ?? earlier?.url ?? null,
      aliases: word.aliases.length > 0 ? word.aliases : (earlier?.aliases ?? []),
    };
    if (earlier !== undefined && JSON.stringify(earlier) === JSON.stringify(next)) continue;
    known.set(identityOf(next), next);
    hasChanged = true;
    history.run(
      'INSERT OR REPLACE INTO word (kind, key, company, domain, url, aliases) VALUES (?, ?, ?, ?, ?, ?)',
      ...[next.kind, next.key, next.name, next.domain, next.url, JSON.stringify(next.aliases)],
    );
  }
  return hasChanged;
}

/** The keys of words about boards that match no board, neither by its name nor by a file that contained it. */
export function unfittingKeys(history: HistoryDatabase, keys: Iterable<string>): string[] {
  return [...keys].filter((key) =>
    history.guarded(() => {
      const fits = history
        .prepared(
          `SELECT 1 FROM (SELECT shape, token FROM board UNION SELECT shape, token FROM watched)
           WHERE token = :key OR shape || ':' || token = :key COLLATE NOCASE
           OR substr(token, 1, instr(token, '/') - 1) = :key
           OR shape || ':' || substr(token, 1, instr(token, '/') - 1) = :key COLLATE NOCASE
           UNION ALL SELECT 1 FROM word_file WHERE key = :key LIMIT 1`,
        )
        .get({ key });
      return fits === undefined;
    }),
  );
}

/** The watched boards, also those that list no jobs or were not fetched yet; without the names of their companies. */
export const watchedBoardsIn = (history: HistoryDatabase): Pick<Employer, 'shape' | 'board' | 'names'>[] =>
  history
    .rows('SELECT shape, token FROM watched')
    .map(({ shape, token }) => ({ shape: shape as string, board: token as string, names: [] }));

/** The words, with the boards to which they apply by a file's name. @throws HistoryError */
export function operatorWordsIn(history: HistoryDatabase): OperatorWords {
  const files = new Map<string, string[]>();
  const rows = history.rows('SELECT key, shape, token FROM word_file, board WHERE board.serial = board ORDER BY key');
  for (const { key, shape, token } of rows) {
    const board = `${shape}:${token}`;
    const keys = files.get(board);
    if (keys === undefined) files.set(board, [key as string]);
    else keys.push(key as string);
  }
  return new OperatorWords(storedWords(history), files);
}

/** Every employer of the catalogue with its evidence, by the key that `employerOf` looks up. */
export class StoredEmployers {
  readonly all: Employer[] = [];
  readonly #places = new Map<string, number>();
  readonly #shapes = new Map<number, string>();

  /**
   * One pass over the jobs.
   * @param isForIdentities reads only what identities depend on: no active jobs, and any of its names as `name`. An
   * index holds that, so the pass takes a twentieth of the time
   * @throws HistoryError
   */
  constructor(history: HistoryDatabase, isForIdentities = false) {
    const boards = history.rows('SELECT serial, shape, token FROM board');
    const tokens = new Map<number, string>();
    for (const { serial, shape, token } of boards) {
      this.#shapes.set(serial as number, shape as string);
      tokens.set(serial as number, token as string);
    }
    const sites = hostsByEmployer(history, 'site');
    const links = hostsByEmployer(history, 'link');
    for (const [key, { board, ...drafted }] of draftsOf(
      history,
      isForIdentities,
      (serial) => this.#shapes.get(serial)!,
    )) {
      this.#places.set(key, this.all.length);
      this.all.push({
        shape: this.#shapes.get(board)!,
        board: tokens.get(board)!,
        name: drafted.name,
        names: [...drafted.names],
        jobs: drafted.jobs,
        activeJobs: drafted.activeJobs,
        stated: [...drafted.stated].map(([host, rows]) => ({ host, rows })),
        sites: sites.get(key) ?? [],
        links: links.get(key) ?? [],
      });
    }
  }

  /** The index in `all` of a job's employer. */
  placeOf(board: number, company: string): number {
    return this.#places.get(`${board}\n${employerKeyOf(this.#shapes.get(board)!, company)}`)!;
  }
}

interface EmployerDraft {
  readonly board: number;
  name: string;
  /** Active before closed, then newest. */
  nameRank: number;
  readonly names: Set<string>;
  readonly stated: Map<CompanyDomain, number>;
  jobs: number;
  activeJobs: number;
}

const COUNTED = `SELECT board, company, company_domain, count(*) AS jobs, sum(closed_ms IS NULL) AS active,
  max(max(last_observed_ms, coalesce(repeated_ms, 0))) AS newest FROM (${JOBS}) GROUP BY board, company, company_domain`;
const FOR_IDENTITIES = `SELECT board, company, company_domain, count(*) AS jobs, 0 AS active, 0 AS newest FROM job
  GROUP BY board, company, company_domain`;

/** By board and key of the employer, in the order of the boards. */
function draftsOf(
  history: HistoryDatabase,
  isForIdentities: boolean,
  shapeOf: (board: number) => string,
): Map<string, EmployerDraft> {
  const drafts = new Map<string, EmployerDraft>();
  const rows = history.rows(isForIdentities ? FOR_IDENTITIES : COUNTED);
  for (const row of rows) {
    const board = row.board as number;
    const name = row.company as string;
    const key = `${board}\n${employerKeyOf(shapeOf(board), name)}`;
    let draft = drafts.get(key);
    if (draft === undefined) {
      draft = { board, name, nameRank: -1, names: new Set(), stated: new Map(), jobs: 0, activeJobs: 0 };
      drafts.set(key, draft);
    }
    draft.names.add(comparedText(name));
    draft.jobs += row.jobs as number;
    draft.activeJobs += row.active as number;
    const domain = row.company_domain as CompanyDomain | null;
    if (domain !== null) draft.stated.set(domain, (draft.stated.get(domain) ?? 0) + (row.jobs as number));
    const rank = (row.newest as number) + ((row.active as number) > 0 ? 2 ** 50 : 0);
    if (rank > draft.nameRank) {
      draft.name = name;
      draft.nameRank = rank;
    }
  }
  return drafts;
}

function hostsByEmployer(history: HistoryDatabase, kind: 'site' | 'link'): Map<string, HostCount[]> {
  const found = new Map<string, HostCount[]>();
  const rows = history.rows('SELECT board, company, host, rows FROM host WHERE kind = ?', kind);
  for (const { board, company, host, rows: count } of rows) {
    const key = `${board}\n${company}`;
    const hosts = found.get(key) ?? [];
    found.set(key, hosts);
    hosts.push({ host: host as CompanyDomain, rows: count as number });
  }
  return found;
}
