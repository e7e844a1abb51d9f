import { expect, it } from 'vitest';
import { reachText } from '../../src/cli/snapshot/reach-lines.ts';

it('says in one line how much of a catalogue can be reached, one job and one day in the singular', () => {
  const reach = { activeJobs: 1, jobsWithDomain: 1, domainShare: 1, cohortJobs: 1, cohortShare: 1, observationDays: 1 };
  expect(reachText(reach)).toMatch(/^1 active job, .* last observed on 1 day$/);
  expect(reachText({ ...reach, activeJobs: 1234, observationDays: 2 })).toMatch(/^1,234 active jobs, .* on 2 days$/);
});

it('states no shares of no jobs', () => {
  const none = { activeJobs: 0, jobsWithDomain: 0, domainShare: 1, cohortJobs: 0, cohortShare: 1, observationDays: 0 };
  expect(reachText(none)).toBe('0 active jobs');
});
