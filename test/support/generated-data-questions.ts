/**
 * Questions to the Jobs Data API from a seed, all of them well-formed: their texts, times, ids and domains are mostly
 * from the catalogue, sometimes altered so that only a comparison by the rules finds them, sometimes unknown.
 */
import { EMPLOYMENT_TYPES, type Job } from '../../src/catalogue/job.ts';
import { generatedSearch, NOW_MS, type SeededChance } from './generated-catalogue.ts';
import type { RecordedCatalogue } from './generated-history.ts';
import { asCompared } from './naive-catalogue.ts';
import type { DataQuestion, DataRoute } from './naive-data-api.ts';

const UNKNOWN_DOMAINS = ['unknown.example.com', 'zz.io'];
const UNKNOWN_COMPANIES = [
  ...UNKNOWN_DOMAINS,
  'acme',
  'not a domain',
  '-a.com',
  'acme.com.',
  '%61cme.com',
  'ä.com',
  '1.2.3.4',
];
const HISTORY_TYPES = ['first_observed', 'changed', 'closed', 'reopened'];

/** How many questions of a hundred go to each route. */
const SHARES: readonly (readonly [DataRoute, number])[] = [
  ['/v1/jobs/search', 30],
  ['/v1/jobs', 9],
  ['/v1/jobs/{id}', 8],
  ['/v1/jobs/{id}/history', 8],
  ['/v1/history', 10],
  ['/v1/companies/{domain}', 5],
  ['/v1/companies/{domain}/jobs', 8],
  ['/v1/companies/{domain}/hiring', 5],
  ['/v1/skills', 9],
  ['/v1/metrics/overview', 1],
  ['/v1/metrics/hiring', 1],
  ['/v1/public/overview', 1],
  ['/v1/public/search', 5],
];
const DRAWN: readonly DataRoute[] = SHARES.flatMap(([route, share]) => Array<DataRoute>(share).fill(route));

/** Whether the paid routes' rules accept the text: code points after trimming, terms after folding (decisions §3), no U+0000. */
function isAcceptable(text: string, most: number): boolean {
  if (text.includes('\0')) return false;
  const length = [...text.trim()].length;
  const terms = asCompared(text).split(' ').filter(Boolean).length;
  return length >= 2 && length <= most && terms >= 1 && terms <= 8;
}

/** A text that compares as equal to the given one. */
function bent(chance: SeededChance, text: string): string {
  const others = [text.toUpperCase(), text.toLowerCase(), text.normalize('NFKD'), text.replaceAll(' ', '\u3000'), text];
  return chance.oneOf(others.filter((other) => asCompared(other) === asCompared(text)));
}

export class DataQuestions {
  readonly #chance: SeededChance;
  readonly #jobs: readonly Job[];
  readonly #events: RecordedCatalogue['events'];

  constructor(chance: SeededChance, { jobs, events }: RecordedCatalogue) {
    this.#chance = chance;
    this.#jobs = jobs;
    this.#events = events;
  }

  next(): DataQuestion {
    return this.of(this.#chance.oneOf(DRAWN));
  }

  of(route: DataRoute): DataQuestion {
    switch (route) {
      case '/v1/jobs/search':
        return { route, query: this.#searchQuery() };
      case '/v1/jobs':
        return { route, query: { ...this.#some('company', 40, () => this.#company()), ...this.#jobsQuery() } };
      case '/v1/jobs/{id}':
      case '/v1/jobs/{id}/history':
        return { route, of: this.#id(), query: {} };
      case '/v1/history':
        return { route, query: this.#historyQuery() };
      case '/v1/companies/{domain}':
        return { route, of: this.#pathDomain(), query: {} };
      case '/v1/companies/{domain}/jobs':
        return { route, of: this.#pathDomain(), query: this.#jobsQuery() };
      case '/v1/companies/{domain}/hiring':
        return { route, of: this.#pathDomain(), query: this.#some('period', 30, () => '7d') };
      case '/v1/skills':
        return { route, query: this.#skillsQuery() };
      case '/v1/metrics/hiring':
        return { route, query: this.#some('period', 30, () => '7d') };
      case '/v1/public/search':
        return { route, query: { q: this.#text('keyword', 120) ?? 'engineer' } };
      default:
        return { route, query: {} };
    }
  }

  /** 25 in half of all cases, otherwise any other number. */
  limit(): number | undefined {
    if (this.#chance.is(30)) return undefined;
    return this.#chance.oneOf([1, 2, 3, 5, 7, 10, 24, 25, 26, 99, 100, 1 + this.#chance.below(100)]);
  }

  #some(name: string, percent: number, value: () => string | undefined): Record<string, string> {
    if (!this.#chance.is(percent)) return {};
    const given = value();
    return given === undefined ? {} : { [name]: given };
  }

  #searchQuery(): Record<string, string> {
    const chance = this.#chance;
    return {
      ...this.#some('keyword', 45, () => this.#text('keyword', 120)),
      ...this.#some('location', 20, () => this.#text('location', 80)),
      ...this.#some('company', 25, () => this.#company()),
      ...this.#some('remote', 12, () => chance.oneOf(['true', 'false'])),
      ...this.#some('employment_type', 12, () => chance.oneOf(EMPLOYMENT_TYPES)),
      ...this.#some('department', 20, () => this.#department()),
      ...this.#some('skill', 20, () => this.#skill()),
      ...this.#jobsQuery(),
    };
  }

  #jobsQuery(): Record<string, string> {
    return {
      ...this.#some('status', 50, () => this.#chance.oneOf(['active', 'closed', 'any', 'any'])),
      ...this.#some('observed_since', 25, () => this.#time(this.#job()?.lastObservedMs)),
    };
  }

  #historyQuery(): Record<string, string> {
    return {
      ...this.#some('since', 35, () => this.#time(this.#event()?.observedMs)),
      ...this.#some('until', 50, () => this.#time(this.#event()?.observedMs)),
      ...this.#some('type', 40, () => this.#chance.oneOf(HISTORY_TYPES)),
      ...this.#some('company', 35, () => this.#event()?.company.domain ?? this.#company()),
    };
  }

  #skillsQuery(): Record<string, string> {
    const cut = (): string | undefined => {
      const skill = [...(this.#skill() ?? 'Go')];
      const cutOut = skill.slice(this.#chance.below(skill.length - 1)).join('');
      // Reorders terms sometimes, because each term is searched separately.
      const text = this.#chance.is(50) ? cutOut.split(' ').reverse().join(' ') : cutOut;
      return isAcceptable(text, 80) ? text : undefined;
    };
    return {
      ...this.#some('q', 40, cut),
      ...this.#some('company', 35, () => this.#company()),
      ...this.#some('department', 35, () => this.#department()),
    };
  }

  #job(): Job | undefined {
    return this.#jobs.length === 0 ? undefined : this.#chance.oneOf(this.#jobs);
  }

  #event(): RecordedCatalogue['events'][number] | undefined {
    return this.#events.length === 0 ? undefined : this.#chance.oneOf(this.#events);
  }

  #text(of: 'keyword' | 'location', most: number): string | undefined {
    for (let i = 0; i < 20; i++) {
      const text = generatedSearch(this.#chance, this.#jobs)[of];
      if (text !== undefined && isAcceptable(text, most)) return text;
    }
    return undefined;
  }

  #department(): string | undefined {
    const text = bent(this.#chance, this.#job()?.department ?? 'nowhere at all');
    return isAcceptable(text, 80) ? text : undefined;
  }

  #skill(): string | undefined {
    const text = bent(this.#chance, this.#chance.is(5) ? 'No skill' : (this.#job()?.skills[0] ?? 'Go'));
    return isAcceptable(text, 80) ? text : undefined;
  }

  #company(): string {
    const chance = this.#chance;
    const job = this.#job();
    const names = [job?.companyDomain, ...(job?.companyAliases ?? [])].filter((name) => typeof name === 'string');
    const domain = names.length > 0 && !chance.is(8) ? chance.oneOf(names) : chance.oneOf(UNKNOWN_DOMAINS);
    return chance.is(10) ? domain.toUpperCase() : domain;
  }

  /** A path may hold anything: a text that is no domain is no company. */
  #pathDomain(): string {
    return this.#chance.is(10) ? this.#chance.oneOf(UNKNOWN_COMPANIES) : this.#company();
  }

  #id(): string {
    const id = this.#job()?.id ?? 'none';
    return this.#chance.is(10)
      ? this.#chance.oneOf(['none', `${id} `, `${id}/history`, `%${id}`, [...id].slice(1).join('') || 'x'])
      : id;
  }

  /** RFC 3339 in several spellings: a moment near the given one, or a bare date. */
  #time(nearMs: number = NOW_MS): string {
    const chance = this.#chance;
    const text = new Date(nearMs + chance.oneOf([0, 0, 1, -1, 86_400_000, -86_400_000])).toISOString();
    switch (chance.below(5)) {
      case 0:
        return text.slice(0, 10);
      case 1:
        return text.replace('Z', '+00:00');
      case 2:
        return `${new Date(Date.parse(text) + 5_400_000).toISOString().slice(0, -1)}+01:30`;
      default:
        return text;
    }
  }
}
