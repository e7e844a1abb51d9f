/** Questions to the Jobs Data API (siblings §4): its lists page by page, single answers, and the public routes. */
import { ROLES } from './requests.ts';

/** Path below which the surface always answers (siblings §1). */
export const DATA_PATH = '/data';

/**
 * `list`   a page, which costs a credit a record; the next request takes its `next_cursor`
 * `single` an answer that costs a fixed number of credits
 * `public` an answer without a key
 */
export type DataQuestionKind = 'list' | 'single' | 'public';

export interface DataQuestion {
  readonly kind: DataQuestionKind;
  /** With a query where it is a list. */
  readonly path: string;
}

/** Of the catalogue under load, which an answer named. */
export interface DataNames {
  readonly jobIds: readonly string[];
  readonly domains: readonly string[];
}

const PAGE = '25';

/** Every operation, mostly lists. */
export function dataQuestions({ domains, jobIds }: DataNames): readonly DataQuestion[] {
  const list = (path: string, filters: Readonly<Record<string, string>> = {}): DataQuestion => ({
    kind: 'list',
    path: `${DATA_PATH}${path}?${new URLSearchParams({ limit: PAGE, ...filters })}`,
  });
  const single = (path: string): DataQuestion => ({ kind: 'single', path: DATA_PATH + path });
  const open = (path: string): DataQuestion => ({ kind: 'public', path: DATA_PATH + path });
  const jobs = jobIds.map(encodeURIComponent);
  const companies = domains.map(encodeURIComponent);
  return [
    ...ROLES.map((role) => list('/v1/jobs/search', { keyword: role })),
    list('/v1/jobs'),
    list('/v1/jobs', { status: 'any' }),
    list('/v1/history'),
    list('/v1/history', { type: 'first_observed' }),
    list('/v1/skills'),
    ...companies.map((domain) => list(`/v1/companies/${domain}/jobs`)),
    ...jobs.flatMap((id) => [single(`/v1/jobs/${id}`), list(`/v1/jobs/${id}/history`)]),
    ...companies.flatMap((domain) => [single(`/v1/companies/${domain}`), single(`/v1/companies/${domain}/hiring`)]),
    single('/v1/metrics/overview'),
    single('/v1/metrics/hiring'),
    open('/v1/public/overview'),
    open(`/v1/public/search?${new URLSearchParams({ q: ROLES[0]! })}`),
  ];
}
