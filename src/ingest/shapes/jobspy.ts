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
 * first, last        `date_posted`; `search_date` where somebody added it, else the observation
 */

import { firstText, flagOf, htmlOf, objectOf, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { companyDomainOfPosting } from './job-sites.ts';
import { hasAll, listedUnder, NOT_AN_OBJECT, type Shape, shapedOf } from './shape.ts';

const NAME = 'jobspy';

export const jobspyShape: Shape = {
  name: NAME,
  summary: 'what JobSpy found, as CSV or JSON',
  perBoard: false,
  observedBy: 'reader',
  marks: '"site" with "job_url", "title" and "company"',
  recordsOf: (document) => listedUnder(document, ['jobs', 'data'], 'a list of JobSpy'),
  recognises: (record) => hasAll(record, 'job_url', 'site', 'title', 'company'),
  nativeOf(record, context) {
    const row = objectOf(record);
    if (!row) return NOT_AN_OBJECT;
    const direct = urlOf(row.company_url_direct);
    return shapedOf(
      {
        shape: NAME,
        board: textOf(row.site)?.toLowerCase() ?? 'unknown',
        sourceId: textOf(row.id),
        title: ['title', textOf(row.title)],
        company: ['company', firstText(row.company, row.company_name)],
        url: ['job_url', urlOf(row.job_url) ?? urlOf(row.job_url_direct)],
        domain: direct === null ? null : companyDomainOfPosting(direct),
        location: textOf(row.location),
        remoteStatus: flagOf(row.is_remote) === true ? 'remote' : 'unknown',
        employmentType: employmentTypeOf(textOf(row.job_type)),
        description: htmlOf(row.description),
        times: { publishedMs: timeOf(row.date_posted), lastSeenMs: timeOf(row.search_date) },
      },
      context,
    );
  },
};
