/**
 * SmartRecruiters, the public posting API (api.smartrecruiters.com/v1/companies/<identifier>/postings): {offset, limit,
 * totalFound, content}, and the detail of one posting, which also has `jobAd` and `postingUrl`.
 *
 * id                 `smartrecruiters:<company.identifier>:<id>`
 * company, domain    command line, manifest, `company.name`; no domain
 * location           `location.fullLocation`, else city, region and country
 * department         `department.label`, else `function.label`
 * remote_status      `location.hybrid`, `location.remote`; neither is unknown, because both default to false
 * employment_type    `typeOfEmployment.label`
 * source_url         `postingUrl`, else jobs.smartrecruiters.com/<identifier>/<id>, where the list's postings are shown to
 *                    people: `ref` leads to the API
 * first, last        `releasedDate`, the observation
 * status             active; one that is not public is refused
 */
import { objectOf } from '../../base/json-value.ts';
import type { RemoteStatus } from '../../catalogue/job.ts';
import { flagOf, joinedHtml, type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { boardOf } from './board.ts';
import { type Drafted, defineShape, refusal, unlisted } from './define-shape.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { placeOf } from './places.ts';
import { hasAll, listedUnder } from './record-list.ts';
import type { ShapeContext } from './shape.ts';

const NAME = 'smartrecruiters';

function labelOf(value: unknown): string | null {
  return textOf(objectOf(value)?.label ?? value);
}

function remoteStatusOf(location: SourceRecord): RemoteStatus {
  if (flagOf(location.hybrid) === true) return 'hybrid';
  return flagOf(location.remote) === true ? 'remote' : 'unknown';
}

/** `jobAd.sections`: company description, job description, qualifications, additional information. */
function descriptionOf(jobAd: unknown): string | null {
  const sections = objectOf(objectOf(jobAd)?.sections) ?? {};
  const names = ['companyDescription', 'jobDescription', 'qualifications', 'additionalInformation'];
  return joinedHtml(...names.map((name) => objectOf(sections[name])?.text));
}

function draftOf(job: SourceRecord, context: ShapeContext): Drafted {
  const visibility = textOf(job.visibility);
  if (visibility !== null && visibility !== 'PUBLIC') {
    return unlisted('visibility', 'is not PUBLIC');
  }
  const id = textOf(job.id);
  if (id === null) return refusal('id', 'is missing');
  const company = objectOf(job.company) ?? {};
  const identifier = context.token ?? textOf(company.identifier);
  if (identifier === null) return refusal('company', 'has no identifier');
  const board = boardOf(identifier, context, { company: textOf(company.name) });
  const location = objectOf(job.location) ?? {};
  const shown = `https://jobs.smartrecruiters.com/${encodeURIComponent(identifier)}/${encodeURIComponent(id)}`;
  return {
    board: identifier,
    sourceId: id,
    title: ['name', textOf(job.name)],
    company: ['company', board.company],
    url: ['postingUrl', urlOf(job.postingUrl) ?? shown],
    domain: board.domain,
    location: textOf(location.fullLocation) ?? placeOf(location.city, location.region, location.country),
    department: labelOf(job.department) ?? labelOf(job.function),
    remoteStatus: remoteStatusOf(location),
    employmentType: employmentTypeOf(labelOf(job.typeOfEmployment)),
    description: descriptionOf(job.jobAd),
    times: { publishedMs: timeOf(job.releasedDate) },
  };
}

export const smartrecruitersShape = defineShape({
  name: NAME,
  summary: 'postings as SmartRecruiters publishes them',
  perBoard: true,
  marks: '"releasedDate" with "name" and "company"',
  recordsOf: (document) => listedUnder(document, ['content', 'postings', 'jobs'], 'a SmartRecruiters board'),
  recognises: (record) => hasAll(record, 'releasedDate', 'name') && objectOf(record.company) !== undefined,
  claims: (document) => Array.isArray(document.content) && document.totalFound !== undefined,
  draftOf,
});
