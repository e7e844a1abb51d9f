/** Facts for example answers about the catalogue: one time and one company, both invented. */
import { isoTime } from '../base/iso-time.ts';
import { observationPeriodEndingAt } from '../catalogue/questions/period.ts';
import { periodOf } from './answer-period.ts';

export const EXAMPLE_ANSWERED_MS = Date.UTC(2026, 10, 20, 12);
export const EXAMPLE_OBSERVED_MS = Date.UTC(2026, 10, 20, 9, 30);
export const EXAMPLE_FIRST_OBSERVED_MS = Date.UTC(2026, 9, 2, 8);

export const EXAMPLE_OBSERVED_AT = isoTime(EXAMPLE_OBSERVED_MS);
export const EXAMPLE_COMPANY = { name: 'Example', domain: 'example.com' } as const;
export const EXAMPLE_CLOSED_AT = isoTime(Date.UTC(2026, 10, 19, 6));
export const EXAMPLE_JOB = {
  id: 'ashby:example:7f3a',
  title: 'Senior Data Engineer',
  company: EXAMPLE_COMPANY.name,
  company_domain: EXAMPLE_COMPANY.domain,
  location: 'Berlin, Germany',
  remote_status: 'remote',
  employment_type: 'full_time',
  source_url: 'https://jobs.example.com/7f3a',
  last_observed_at: EXAMPLE_OBSERVED_AT,
} as const;
export const EXAMPLE_FIRST_OBSERVED_AT = isoTime(EXAMPLE_FIRST_OBSERVED_MS);
export const EXAMPLE_PERIOD = periodOf(observationPeriodEndingAt(EXAMPLE_ANSWERED_MS));
export const EXAMPLE_RECORD = {
  ...EXAMPLE_JOB,
  department: 'Engineering',
  skills: ['python', 'sql'],
  first_observed_at: EXAMPLE_FIRST_OBSERVED_AT,
  status: 'active',
} as const;
export const EXAMPLE_DETAIL = {
  ...EXAMPLE_RECORD,
  description: 'You build the pipelines that our reports rest on.',
  description_truncated: false,
  closed_at: null,
} as const;
