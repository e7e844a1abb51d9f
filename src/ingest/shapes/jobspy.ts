/**
 * JobSpy, the rows of its data frame as CSV or JSON: what a search of several job sites found. Columns come and go with its
 * versions; those of 2024 have no `id`.
 *
 * id                 `jobspy:<site>:<id>`; without one a hash of company, title, place and address
 * company_domain     the host of `company_url_direct`; `company_url` is the job site's page about the company
 * location           `location`
 * department         none: `job_function` classifies the job
 * remote_status      `is_remote` when true; JobSpy has false also where it does not know
 * employment_type    `job_type`
 * source_url         `job_url`, else `job_url_direct`
 * first, last        `date_posted`; `search_date` where a row has it, else the observation
 */
import { firstText, flagOf, htmlOf, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { defineShape } from './define-shape.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { companyDomainOfUrl } from './job-sites.ts';
import { hasAll, listedUnder } from './record-list.ts';

const NAME = 'jobspy';

export const jobspyShape = defineShape({
  name: NAME,
  summary: 'what JobSpy found, as CSV or JSON',
  marks: '"site" with "job_url", "title" and "company"',
  recordsOf: (document) => listedUnder(document, ['jobs', 'data'], 'a list of JobSpy'),
  recognises: (record) => hasAll(record, 'job_url', 'site', 'title', 'company'),
  draftOf(row) {
    const direct = urlOf(row.company_url_direct);
    return {
      board: textOf(row.site)?.toLowerCase() ?? 'unknown',
      sourceId: textOf(row.id),
      title: ['title', textOf(row.title)],
      company: ['company', firstText(row.company, row.company_name)],
      url: ['job_url', urlOf(row.job_url) ?? urlOf(row.job_url_direct)],
      applyUrl: urlOf(row.job_url_direct),
      domain: direct === null ? null : companyDomainOfUrl(direct),
      location: textOf(row.location),
      remoteStatus: flagOf(row.is_remote) === true ? 'remote' : 'unknown',
      employmentType: employmentTypeOf(textOf(row.job_type)),
      description: htmlOf(row.description),
      times: { publishedMs: timeOf(row.date_posted), lastSeenMs: timeOf(row.search_date) },
    };
  },
});
