/**
 * Arbeitnow, its job-board API (arbeitnow.com/api/job-board-api): {"data": [...], "links", "meta"}; also its rows in CSV,
 * where lists are written as Python writes them.
 *
 * id                 `arbeitnow:arbeitnow.com:<slug>`
 * remote_status      remote when `remote` is true; a false one may be on site or hybrid
 * employment_type    `job_types`, which names seniority as well, in German or English
 * department         none: `tags` classify the job
 * first, last        `created_at` (epoch seconds), the observation
 */
import { flagOf, htmlOf, listOf, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { defineShape } from './define-shape.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { hasAll, listedUnder } from './record-list.ts';

export const arbeitnowShape = defineShape({
  name: 'arbeitnow',
  summary: 'the API of Arbeitnow, also its rows in CSV',
  marks: '"slug" with "company_name", "job_types" and "created_at"',
  recordsOf: (document) => listedUnder(document, ['data', 'jobs'], 'an answer of Arbeitnow'),
  recognises: (record) => hasAll(record, 'slug', 'company_name', 'created_at', 'remote'),
  draftOf(job) {
    return {
      board: 'arbeitnow.com',
      sourceId: textOf(job.slug),
      title: ['title', textOf(job.title)],
      company: ['company_name', textOf(job.company_name)],
      url: ['url', urlOf(job.url)],
      location: textOf(job.location),
      remoteStatus: flagOf(job.remote) === true ? 'remote' : 'unknown',
      employmentType: employmentTypeOf(...listOf(job.job_types).map(textOf)),
      description: htmlOf(job.description),
      times: { publishedMs: timeOf(job.created_at) },
    };
  },
});
