/**
 * Ashby, the public posting API: one document a board, {"jobs": [...], "apiVersion": "1"}. An empty board is valid. Only the
 * postings' own addresses name the board, jobs.ashbyhq.com/<board>/<id>.
 *
 * id                 `ashby:<board>:<id>`: an id occurs on two boards when a company has moved from one to the other
 * company, domain    the command line, else the manifest (by board, then by file name), else the board's name, no domain
 * location           `location`, then `secondaryLocations[].location`
 * department         `department`, else `team`
 * remote_status      `workplaceType`, else `isRemote` when true; a false one may be on site or hybrid, so it is unknown
 * first, last        `publishedAt` (when missing or later, the observation), the observation
 * status             active: a board lists open postings. An unlisted posting is refused, since it is not public
 */
import { decodePercent } from '../../base/codec.ts';
import { objectOf } from '../../base/json-value.ts';
import type { EmploymentType, RemoteStatus } from '../../catalogue/job.ts';
import { firstText, flagOf, htmlOf, listOf, type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { boardOf } from './board.ts';
import { type Drafted, defineShape, refusal, unlisted } from './define-shape.ts';
import { joinedPlaces } from './places.ts';
import { hasAll, listedUnder } from './record-list.ts';
import type { ShapeContext } from './shape.ts';

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

const BOARD_HOST = 'jobs.ashbyhq.com';

const decoded = (text: string): string => decodePercent(text) ?? text;

/** File name without its endings, as a board would be called. */
function stemOf(fileName: string): string {
  return decoded(fileName.replace(/\.gz$/i, '').replace(/\.json$/i, ''));
}

/** The board's token, decoded; for a board on a company's own host only the file names it. */
function boardToken(jobUrl: string, fileName: string | null): string | undefined {
  const url = URL.parse(jobUrl);
  if (url?.hostname === BOARD_HOST) {
    const token = decoded(url.pathname.split('/')[1] ?? '').trim();
    if (token !== '') return token;
  }
  return fileName === null ? undefined : stemOf(fileName) || undefined;
}

/** A place is an object, or plain text in copies of a board. */
function placeNameOf(place: unknown): string | null {
  return textOf(objectOf(place)?.location ?? place);
}

function draftOf(job: SourceRecord, context: ShapeContext): Drafted {
  if (flagOf(job.isListed) === false) {
    return unlisted('isListed', 'is false: the posting is not public');
  }
  const id = textOf(job.id);
  if (id === null) return refusal('id', 'is missing or blank');
  const url = urlOf(job.jobUrl);
  if (url === null) return refusal('jobUrl', 'is missing or blank');
  const token = context.token ?? boardToken(url, context.fileName);
  if (token === undefined) return refusal('jobUrl', 'does not name its board');

  const board = boardOf(token, context, { company: context.envelope?.company ?? null });
  return {
    board: token,
    sourceId: id,
    title: ['title', textOf(job.title)],
    company: ['jobUrl', board.company],
    url: ['jobUrl', url],
    applyUrl: urlOf(job.applyUrl),
    domain: board.domain,
    location: joinedPlaces([placeNameOf(job.location), ...listOf(job.secondaryLocations).map(placeNameOf)]),
    department: firstText(job.department, job.team),
    remoteStatus:
      WORKPLACE.get(textOf(job.workplaceType) ?? '') ?? (flagOf(job.isRemote) === true ? 'remote' : 'unknown'),
    employmentType: EMPLOYMENT.get(textOf(job.employmentType) ?? '') ?? 'unknown',
    description: htmlOf(job.descriptionHtml) ?? htmlOf(job.descriptionPlain),
    times: { publishedMs: timeOf(job.publishedAt) },
  };
}

export const ashbyShape = defineShape({
  name: 'ashby',
  summary: 'a job board as Ashby publishes it, one JSON file a board',
  perBoard: true,
  marks: '"jobUrl" with "title" and "isListed" or "publishedAt"',
  recordsOf(document) {
    // A bare list of rows is accepted, but not an empty one: Ashby does not represent an empty board that way.
    if (Array.isArray(document) && document.length === 0) {
      return { ok: false, reason: 'is not an Ashby board: it is an empty array' };
    }
    return listedUnder(document, ['jobs'], 'an Ashby board');
  },
  recognises: (record) =>
    hasAll(record, 'jobUrl', 'title') &&
    (record.isListed ?? record.employmentType ?? record.publishedAt ?? record.descriptionHtml) !== undefined,
  claims: (document) => Array.isArray(document.jobs) && document.apiVersion !== undefined,
  draftOf,
});
