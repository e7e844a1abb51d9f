/** A job with only the required fields. */
import type { Job } from '../../src/catalogue/job.ts';

export const minimalJob = (changes: Partial<Job> = {}): Job => ({
  id: 'a',
  title: 'Engineer',
  company: 'Acme',
  companyDomain: null,
  location: null,
  department: null,
  remoteStatus: 'unknown',
  employmentType: 'unknown',
  sourceUrl: 'https://acme.example/',
  skills: [],
  firstObservedMs: 0,
  lastObservedMs: 0,
  status: 'active',
  closedAtMs: null,
  description: null,
  descriptionTruncated: false,
  ...changes,
});
