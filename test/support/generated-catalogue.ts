/**
 * Catalogues and questions from a seed, full of cases where an engine and a plain reading of the rules could disagree:
 * texts that change under NFKC or lower-casing, ties in time, closed jobs, companies known by name only in several
 * spellings, names that look like domains, times at the very ends of the period and after it.
 */
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../../src/catalogue/job.ts';
import type { CohortFilters } from '../../src/catalogue/questions/cohort-rows.ts';
import type { SearchFilters } from '../../src/catalogue/questions/search.ts';

/** The moment of the questions; a Wednesday. */
export const NOW_MS = Date.UTC(2026, 6, 15, 12);
const DAY_MS = 86_400_000;

/** Mulberry32: 32 bits of state, the same numbers on every runtime. */
export class SeededChance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  /** True `percent` times in a hundred. */
  is(percent: number): boolean {
    return this.below(100) < percent;
  }

  oneOf<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  shuffled<T>(from: readonly T[]): T[] {
    const mixed = [...from];
    for (let i = mixed.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [mixed[i], mixed[j]] = [mixed[j]!, mixed[i]!];
    }
    return mixed;
  }
}

const WORDS = [
  'senior',
  'Senior',
  'SENIOR',
  'engineer',
  'Engineering',
  'Rust',
  'C++',
  'C#',
  '.NET',
  'Go',
  'R',
  'data',
  'Data-Scientist',
  'QA/Test',
  'a',
  'aa',
  'aaa',
  'aaaa',
  'ab',
  'aba',
  'abab',
  '(m/f/d)',
  '—',
  '🦀',
  '👩‍💻',
  '𝔖enior',
  'ﬁnance',
  'ﬃ',
  '①',
  '㎏',
  'Ⅳ',
  'Straße',
  'STRASSE',
  'ẞ',
  'İstanbul',
  'ISTANBUL',
  'ıssız',
  'ΟΔΟΣ',
  'ὈΔΥΣΣΕΎΣ',
  'Σ',
  'ΣΑΣ',
  'エンジニア',
  'ｴﾝｼﾞﾆｱ',
  '東京',
  '工程师',
  'é',
  'e\u0301',
  'zero\u200bwidth',
  '\u00a8',
  'n\u00a0b',
  'K',
  'Å',
  '\u212b',
  '한국어',
  '\u1112\u1161\u11ab',
  'naïve',
  'I\u0307',
  '\ufb01',
  '\u1e9e',
  'ǆ',
  'ǅ',
  '\u0130',
  '\ue000',
  '\uffe6',
  '\u{10400}',
  '\u0000',
  '٣',
] as const;
const BLANKS = [' ', ' ', ' ', '  ', '\u00a0', '\u3000', '\t', '\u2009'] as const;
const PLACES = [
  null,
  null,
  '',
  'Berlin, Germany',
  'BERLIN',
  'München',
  'Mu\u0308nchen',
  'İzmir',
  '東京都',
  'New York, NY',
  'new\u00a0york',
  'Remote - US',
];
const DEPARTMENTS = [
  null,
  null,
  'Engineering',
  'engineering',
  'ENGINEERING',
  'Software  Engineering',
  'Sales',
  'ＳＡＬＥＳ',
  'Straße',
  'G&A',
  'Ｅｎｇｉｎｅｅｒｉｎｇ Ops',
  '',
];
const SKILLS = [
  'Rust',
  'rust',
  'C++',
  'C#',
  'Go',
  'R',
  'Node.js',
  'TypeScript',
  '🦀',
  '東京',
  '\uffe6',
  '\u{10400}',
  'SQL',
  'Excel',
  'ﬁgma',
];
const COMPANIES: readonly { name: string; domain: string | null }[] = [
  { name: 'Acme', domain: 'acme.com' },
  { name: 'ACME Inc.', domain: 'acme.com' },
  { name: 'Acme', domain: null },
  { name: 'ACME', domain: null },
  { name: 'ａｃｍｅ', domain: null },
  { name: 'acme.com', domain: null },
  { name: 'Straße GmbH', domain: null },
  { name: 'STRAẞE GmbH', domain: null },
  { name: 'STRASSE GMBH', domain: null },
  { name: 'Globex', domain: 'globex.io' },
  { name: 'Globex', domain: 'globex.com' },
  { name: 'Initech', domain: 'initech.dev' },
  { name: 'İ Co', domain: 'i-co.com.tr' },
  { name: '東京 株式会社', domain: 'tokyo.co.jp' },
  { name: '\u{10400} Labs', domain: null },
  { name: '\uffe6 Labs', domain: null },
  { name: 'n\u00a0b', domain: null },
  { name: 'n b', domain: null },
  { name: 'line\nfeed.com', domain: null },
];

function words(chance: SeededChance, most: number): string {
  let text: string = chance.oneOf(WORDS);
  for (let i = chance.below(most); i > 0; i--) text += chance.oneOf(BLANKS) + chance.oneOf(WORDS);
  return text;
}

/** Whole days for ties, the ends of the period and their neighbours, and times after the end. */
function observedAt(chance: SeededChance): number {
  const edges = [0, -1, 1, -7 * DAY_MS, -7 * DAY_MS - 1, -7 * DAY_MS + 1, DAY_MS];
  return NOW_MS + (chance.is(30) ? chance.oneOf(edges) : -chance.below(12) * DAY_MS);
}

export interface CatalogueShape {
  readonly jobCount: number;
  /** Companies in addition to the hand-picked ones; the first gets most of their jobs. */
  readonly moreCompanies?: number;
  /** Per hundred jobs. */
  readonly closedPercent?: number;
  /** All jobs were observed at the same time, so that ties alone decide their order. */
  readonly oneDay?: boolean;
}

function closingOf(
  chance: SeededChance,
  shape: CatalogueShape,
  lastObservedMs: number,
): Pick<Job, 'status' | 'closedAtMs'> {
  if (!chance.is(shape.closedPercent ?? 10)) return { status: 'active', closedAtMs: null };
  return { status: 'closed', closedAtMs: lastObservedMs + chance.oneOf([0, 0, 1, DAY_MS, 7 * DAY_MS]) };
}

/** No description, one that many jobs share, or a unique one, some of them longer than a block. */
function generatedDescription(chance: SeededChance): Pick<Job, 'description' | 'descriptionTruncated'> {
  const kind = chance.below(10);
  if (kind < 3) return { description: null, descriptionTruncated: false };
  const description =
    kind < 5
      ? chance.oneOf(['Equal for many', '𝄞'.repeat(400), '<b>as it stands</b>'])
      : `${words(chance, 8)}.\n\n- ${`${words(chance, 3)} `.repeat(chance.is(2) ? 900 : chance.below(40))}.`.trim();
  return { description, descriptionTruncated: chance.is(10) };
}

export function generatedJobs(chance: SeededChance, shape: CatalogueShape): Job[] {
  const more = Array.from({ length: shape.moreCompanies ?? 0 }, (_, i) => ({
    name: `Company ${i % 7}`,
    domain: chance.is(80) ? `company-${i}.example.com` : null,
  }));
  const companies = [...COMPANIES, ...more];
  return Array.from({ length: shape.jobCount }, (_, i): Job => {
    const company = more.length > 0 && chance.is(50) ? more[0]! : chance.oneOf(companies);
    const lastObservedMs = shape.oneDay === true ? NOW_MS : observedAt(chance);
    return {
      // Ids that code points and code units put in different orders.
      id: `${chance.oneOf(['', 'a', '\uffe6', '\u{10400}', '\ufeff'])}${(i * 7919) % shape.jobCount}-${i}`,
      title: words(chance, 5),
      company: company.name,
      companyDomain: company.domain as CompanyDomain | null,
      location: chance.oneOf(PLACES),
      department: chance.oneOf(DEPARTMENTS),
      remoteStatus: chance.oneOf(REMOTE_STATUSES),
      employmentType: chance.oneOf(EMPLOYMENT_TYPES),
      sourceUrl: `https://jobs.example.com/${i}?q=${chance.is(10) ? 'é' : 'e'}`,
      skills: [...new Set(Array.from({ length: chance.below(5) }, () => chance.oneOf(SKILLS)))],
      firstObservedMs: lastObservedMs - chance.oneOf([0, 0, 1, DAY_MS, 3 * DAY_MS, 7 * DAY_MS, 30 * DAY_MS]),
      lastObservedMs,
      ...closingOf(chance, shape, lastObservedMs),
      ...generatedDescription(chance),
    };
  });
}

/** A filter of one to four terms, mostly cut out of real values, sometimes repeated, sometimes without a match. */
function terms(chance: SeededChance, values: () => string): string {
  const cut: string[] = [];
  for (let i = 1 + (chance.is(40) ? chance.below(4) : 0); i > 0; i--) {
    if (chance.is(8)) cut.push(chance.oneOf(['zzz', 'é', 'x', '\u0001', 'engineer engineer']));
    else {
      const value = [...values()];
      const start = chance.below(value.length);
      cut.push(value.slice(start, start + 1 + chance.below(chance.is(30) ? 1 : 6)).join(''));
    }
  }
  if (chance.is(10)) cut.push(cut[0]!);
  // A cut may contain blanks, and so several terms.
  const text = cut.join(chance.oneOf(BLANKS)).split(/\s+/u).slice(0, 5).join(' ');
  return chance.is(20) ? text.toUpperCase() : text;
}

export function generatedSearch(chance: SeededChance, jobs: readonly Job[]): SearchFilters {
  const filters: SearchFilters = {};
  const some = (): Job => chance.oneOf(jobs);
  if (jobs.length === 0) return chance.is(50) ? { keyword: 'a' } : { company: 'acme.com' as CompanyDomain };
  if (chance.is(60)) {
    filters.keyword = terms(chance, () => {
      const job = some();
      return chance.oneOf([job.title, job.title, job.company, job.department ?? 'sales', job.skills[0] ?? 'go']);
    });
  }
  if (chance.is(30)) filters.location = terms(chance, () => some().location || 'berlin');
  if (chance.is(40)) filters.company = some().companyDomain ?? ('unknown.example.com' as CompanyDomain);
  if (chance.is(20)) filters.remote = chance.is(50);
  if (chance.is(20)) filters.employmentType = chance.oneOf(EMPLOYMENT_TYPES);
  return filters;
}

export function generatedCohort(chance: SeededChance, jobs: readonly Job[]): CohortFilters {
  const filters: CohortFilters = {};
  const some = (): Job => chance.oneOf(jobs);
  if (jobs.length === 0) return chance.is(50) ? { role: 'a' } : {};
  if (chance.is(60)) filters.role = terms(chance, () => some().title);
  if (chance.is(30)) filters.location = terms(chance, () => some().location || 'york');
  if (chance.is(30)) {
    const department = some().department ?? 'nowhere at all';
    filters.department = chance.is(30) ? department.toUpperCase() : department;
  }
  return filters;
}
