/**
 * Ashby, the public posting API: one document a board, {"jobs": [...], "apiVersion": "1"}. An empty board is fine. Which
 * board it is stands only in the postings' own addresses, jobs.ashbyhq.com/<board>/<id>.
 *
 * id                 `ashby:<board>:<id>`: an id occurs on two boards when a company has moved from one to the other
 * company, domain    the command line, else the manifest (by board, then by file name), else the board's name, no domain
 * location           `location`, then `secondaryLocations[].location`
 * department         `department`, else `team`
 * remote_status      `workplaceType`, else `isRemote` when true; a false one may be on site or hybrid, so it is unknown
 * first, last        `publishedAt` (when missing, the observation), the observation
 * status             active: a board holds what is open. A posting that is not listed is refused, since it is not public
 */
import * as v from 'valibot';
import type { EmploymentType, RemoteStatus } from '../catalogue/job.ts';
import type { Board } from './board-manifest.ts';
import { dateTimeOf, parseDateTime } from './date-time.ts';
import { joinedPlaces, type Shape, type ShapeContext, type Shaped } from './shape.ts';

const EMPLOYMENT: ReadonlyMap<string, EmploymentType> = new Map([
  ['FullTime', 'full_time'],
  ['PartTime', 'part_time'],
  ['Contract', 'contract'],
  ['Temporary', 'temporary'],
  ['Intern', 'internship'],
]);

const WORKPLACE: ReadonlyMap<string, RemoteStatus> = new Map([
  ['Remote', 'remote'],
  ['Hybrid', 'hybrid'],
  ['OnSite', 'on_site'],
]);

const text = v.string('must be a string');
const optionalText = v.nullish(text);
const optionalFlag = v.nullish(v.boolean('must be true or false'));

const posting = v.object(
  {
    id: v.pipe(text, v.nonEmpty('is empty')),
    title: text,
    department: optionalText,
    team: optionalText,
    employmentType: optionalText,
    location: optionalText,
    secondaryLocations: v.nullish(
      v.array(v.object({ location: optionalText }, 'must be an array of places'), 'must be an array of places'),
    ),
    publishedAt: optionalText,
    isListed: optionalFlag,
    isRemote: optionalFlag,
    workplaceType: optionalText,
    jobUrl: text,
    descriptionHtml: optionalText,
    descriptionPlain: optionalText,
  },
  (issue) => (issue.expected === 'Object' ? 'must be a JSON object' : 'is missing'),
);

const BOARD_HOST = 'jobs.ashbyhq.com';

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** File name without its endings, as a board would be called. */
function stemOf(fileName: string): string {
  return decoded(fileName.replace(/\.gz$/i, '').replace(/\.json$/i, ''));
}

/** The board's token, decoded; a board on a company's own host is known by its file only. */
function boardToken(jobUrl: string, fileName: string | null): string | undefined {
  if (URL.canParse(jobUrl)) {
    const url = new URL(jobUrl);
    const token = decoded(url.pathname.split('/')[1] ?? '').trim();
    if (url.hostname === BOARD_HOST && token !== '') return token;
  }
  return fileName === null ? undefined : stemOf(fileName) || undefined;
}

function boardOf(token: string, { board, manifest, fileName }: ShapeContext): Board {
  const listed =
    manifest.get(token) ?? (fileName === null ? undefined : (manifest.get(fileName) ?? manifest.get(stemOf(fileName))));
  return { company: board.company ?? listed?.company ?? token, domain: board.domain ?? listed?.domain ?? null };
}

function remoteStatusOf(workplaceType: string | null | undefined, isRemote: boolean | null | undefined): RemoteStatus {
  return WORKPLACE.get(workplaceType ?? '') ?? (isRemote === true ? 'remote' : 'unknown');
}

function nativeOf(record: unknown, context: ShapeContext): Shaped {
  const parsed = v.safeParse(posting, record, { abortEarly: true });
  if (!parsed.success) {
    const issue = parsed.issues[0];
    return { ok: false, field: v.getDotPath(issue)?.split('.')[0] ?? '', reason: issue.message };
  }
  const job = parsed.output;
  if (job.isListed === false) return { ok: false, field: 'isListed', reason: 'is false: the posting is not public' };
  const token = boardToken(job.jobUrl, context.fileName);
  if (token === undefined) return { ok: false, field: 'jobUrl', reason: 'does not name its board' };

  const firstMs = job.publishedAt ? parseDateTime(job.publishedAt) : context.observedAtMs;
  if (firstMs === undefined) return { ok: false, field: 'publishedAt', reason: 'must be an RFC 3339 date-time' };
  if (firstMs > context.observedAtMs) {
    return { ok: false, field: 'publishedAt', reason: 'is later than the observation (--observed-at)' };
  }
  const board = boardOf(token, context);
  const secondary = (job.secondaryLocations ?? []).map((place) => place.location);
  return {
    ok: true,
    record: {
      id: `ashby:${token}:${job.id}`,
      title: job.title,
      company: board.company ?? token,
      company_domain: board.domain,
      location: joinedPlaces([job.location, ...secondary]),
      department: job.department?.trim() || job.team?.trim() || null,
      remote_status: remoteStatusOf(job.workplaceType, job.isRemote),
      employment_type: EMPLOYMENT.get(job.employmentType ?? '') ?? 'unknown',
      source_url: job.jobUrl,
      description: job.descriptionHtml ?? job.descriptionPlain ?? null,
      first_observed_at: dateTimeOf(firstMs),
      last_observed_at: dateTimeOf(context.observedAtMs),
      status: 'active',
    },
  };
}

export const ashbyShape: Shape = {
  name: 'ashby',
  summary: 'a job board as Ashby publishes it, one JSON file a board',
  perBoard: true,
  recordsOf(document) {
    const jobs = typeof document === 'object' && document !== null && 'jobs' in document ? document.jobs : undefined;
    if (!Array.isArray(jobs)) return { ok: false, reason: 'is not an Ashby board: it has no array "jobs"' };
    return { ok: true, records: jobs };
  },
  nativeOf,
};
