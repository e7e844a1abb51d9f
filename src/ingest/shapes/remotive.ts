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

import { htmlOf, objectOf, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { hasAll, listedUnder, NOT_AN_OBJECT, type Shape, shapedOf } from './shape.ts';

export const remotiveShape: Shape = {
  name: 'remotive',
  summary: 'the API of Remotive',
  perBoard: false,
  observedBy: 'reader',
  marks: '"candidate_required_location" with "company_name"',
  recordsOf: (document) => listedUnder(document, ['jobs'], 'an answer of Remotive'),
  recognises: (record) => hasAll(record, 'candidate_required_location', 'company_name', 'url'),
  nativeOf(record, context) {
    const job = objectOf(record);
    if (!job) return NOT_AN_OBJECT;
    return shapedOf(
      {
        shape: 'remotive',
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
      },
      context,
    );
  },
};
