/**
 * Remotive, the remote-jobs API (remotive.com/api/remote-jobs): {"jobs": [...]}. The board lists remote jobs only, which is
 * what its `candidate_required_location` is about, so each is remote.
 *
 * id                 `remotive:remotive.com:<id>`
 * location           `candidate_required_location`
 * department         none: `category` classifies the job
 * employment_type    `job_type`
 * first, last        `publication_date` (no offset: UTC), the observation
 */
import { htmlOf, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { defineShape } from './define-shape.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { hasAll, listedUnder } from './record-list.ts';

export const remotiveShape = defineShape({
  name: 'remotive',
  summary: 'the API of Remotive',
  marks: '"candidate_required_location" with "company_name"',
  recordsOf: (document) => listedUnder(document, ['jobs'], 'an answer of Remotive'),
  recognises: (record) => hasAll(record, 'candidate_required_location', 'company_name', 'url'),
  draftOf(job) {
    return {
      board: 'remotive.com',
      sourceId: textOf(job.id),
      title: ['title', textOf(job.title)],
      company: ['company_name', textOf(job.company_name)],
      url: ['url', urlOf(job.url)],
      location: textOf(job.candidate_required_location),
      remoteStatus: 'remote',
      employmentType: employmentTypeOf(textOf(job.job_type)),
      description: htmlOf(job.description),
      times: { publishedMs: timeOf(job.publication_date) },
    };
  },
});
