/**
 * LinkedIn postings in CSV, as public data sets keep them: the `postings.csv` with `job_id` and `job_posting_url`, its older
 * form with `company_id` only (a row of that has no company, and is refused), and the lists with `job_link`.
 *
 * id                 `linkedin:jobs:<job_id>`, the number in `job_link`, else a hash
 * source_url         `job_posting_url` or `job_link`, else linkedin.com/jobs/view/<job_id>, where a posting of that id is shown
 * remote_status      `remote_allowed` when true (its absence says nothing), `job_type` of the lists (Onsite, Remote, Hybrid)
 * employment_type    `formatted_work_type`, else `work_type`
 * first, last        `original_listed_time`, else `listed_time` (epoch milliseconds, also in float form), `first_seen`;
 *                    `last_processed_time`, else the observation
 * status             closed once `closed_time` or `expiry` is past, in the time of the observation
 */
import type { RemoteStatus } from '../../catalogue/job.ts';
import {
  firstText,
  flagOf,
  htmlOf,
  joinedHtml,
  type SourceRecord,
  textOf,
  timeOf,
  urlOf,
} from '../input/source-field.ts';
import { defineShape } from './define-shape.ts';
import { employmentTypeOf, workplaceOf } from './employment-terms.ts';
import { hasAll, listedUnder } from './record-list.ts';

const NAME = 'linkedin';

function remoteStatusOf(row: SourceRecord): RemoteStatus {
  if (flagOf(row.remote_allowed) === true) return 'remote';
  return row.job_link === undefined ? 'unknown' : workplaceOf(textOf(row.job_type));
}

export const linkedinShape = defineShape({
  name: NAME,
  summary: 'LinkedIn postings in CSV, as public data sets have them',
  marks: '"job_id" with "title" and "formatted_work_type" or "job_posting_url", or "job_link" with "job_title"',
  recordsOf: (document) => listedUnder(document, ['jobs', 'data'], 'a list of LinkedIn postings'),
  recognises: (record) =>
    hasAll(record, 'job_link', 'job_title') ||
    (hasAll(record, 'job_id', 'title') &&
      (record.job_posting_url !== undefined ||
        record.formatted_work_type !== undefined ||
        record.formatted_experience_level !== undefined)),
  draftOf(row) {
    const link = urlOf(row.job_posting_url) ?? urlOf(row.job_link);
    const id = textOf(row.job_id) ?? /(?<!\d)(\d{6,})\/?(?:[?#].*)?$/s.exec(link ?? '')?.[1] ?? null;
    const shown = id === null ? null : `https://www.linkedin.com/jobs/view/${encodeURIComponent(id)}/`;
    return {
      board: 'jobs',
      sourceId: id,
      title: ['title', firstText(row.title, row.job_title)],
      company: ['company_name', firstText(row.company_name, row.company)],
      url: ['job_posting_url', link ?? shown],
      applyUrl: urlOf(row.application_url),
      location: firstText(row.location, row.job_location),
      remoteStatus: remoteStatusOf(row),
      employmentType: employmentTypeOf(firstText(row.formatted_work_type, row.work_type)),
      description: joinedHtml(htmlOf(row.description ?? row.job_summary), row.skills_desc ?? row.job_skills),
      times: {
        publishedMs: timeOf(row.original_listed_time) ?? timeOf(row.listed_time),
        firstSeenMs: timeOf(row.first_seen),
        lastSeenMs: timeOf(row.last_processed_time),
        endMs: timeOf(row.closed_time) ?? timeOf(row.expiry),
      },
    };
  },
});
