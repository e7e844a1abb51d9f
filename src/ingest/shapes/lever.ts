/**
 * Lever, the public postings API (api.lever.co/v0/postings/<site>?mode=json, and api.eu.lever.co): an array of postings.
 * Only the postings' addresses name the site, jobs.lever.co/<site>/<id>.
 *
 * id                 `lever:<site>:<id>`
 * company, domain    command line, manifest, else the site's name and no domain
 * location           `categories.location`, then the others of `categories.allLocations`
 * department         `categories.department`, else `categories.team`
 * remote_status      `workplaceType`: remote, hybrid, onsite (on-site); unspecified is unknown
 * employment_type    `categories.commitment`, free text in the employer's language, by the table of employment-terms.ts
 * description        `description` (with `opening`), `lists[]`, `additional`
 * first, last        `createdAt` (epoch milliseconds), the observation
 */
import { objectOf } from '../../base/json-value.ts';
import { joinedHtml, listOf, type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { boardOf, boardOfFileName } from './board.ts';
import { type Drafted, defineShape, refusal } from './define-shape.ts';
import { employmentTypeOf, workplaceOf } from './employment-terms.ts';
import { slugOf } from './job-id.ts';
import { joinedPlaces } from './places.ts';
import { hasAll, listedUnder } from './record-list.ts';
import type { ShapeContext } from './shape.ts';

const NAME = 'lever';
const HOST = /^jobs(?:\.[a-z]+)?\.lever\.co$/;

function siteOfUrl(text: string | null): string | null {
  const url = URL.parse(text ?? '');
  return url !== null && HOST.test(url.hostname) ? url.pathname.split('/')[1]?.toLowerCase() || null : null;
}

function descriptionOf(job: SourceRecord): string | null {
  const lists = listOf(job.lists).map((item) => {
    const list = objectOf(item);
    return joinedHtml(textOf(list?.text), list?.content);
  });
  return joinedHtml(job.description || job.descriptionPlain, ...lists, job.additional || job.additionalPlain);
}

function draftOf(job: SourceRecord, context: ShapeContext): Drafted {
  const id = textOf(job.id);
  if (id === null) return refusal('id', 'is missing');
  const url = urlOf(job.hostedUrl ?? job.applyUrl);
  const envelope = context.envelope;
  const site =
    context.token ??
    siteOfUrl(url) ??
    envelope?.board ??
    (envelope?.company ? slugOf(envelope.company) : null) ??
    boardOfFileName(context.fileName, NAME);
  if (site === null) return refusal('hostedUrl', 'does not name its board');
  const board = boardOf(site, context, { company: envelope?.company ?? null });
  const categories = objectOf(job.categories) ?? {};
  const all = listOf(categories.allLocations).map(textOf);
  return {
    board: site,
    sourceId: id,
    title: ['text', textOf(job.text)],
    company: ['hostedUrl', board.company],
    url: ['hostedUrl', url],
    applyUrl: urlOf(job.applyUrl),
    domain: board.domain,
    location: joinedPlaces([textOf(categories.location), ...all]),
    department: textOf(categories.department) ?? textOf(categories.team),
    remoteStatus: workplaceOf(textOf(job.workplaceType)),
    employmentType: employmentTypeOf(textOf(categories.commitment)),
    description: descriptionOf(job),
    times: { publishedMs: timeOf(job.createdAt) },
  };
}

export const leverShape = defineShape({
  name: NAME,
  summary: 'a job board as Lever publishes it, a JSON array of postings',
  perBoard: true,
  marks: '"hostedUrl" with "text" and "categories"',
  recordsOf: (document) => listedUnder(document, ['postings', 'jobs', 'data'], 'a Lever board'),
  recognises: (record) =>
    hasAll(record, 'text', 'categories') && (record.hostedUrl !== undefined || record.applyUrl !== undefined),
  draftOf,
});
