/** GET /v1/jobs/skills: the skills that matching jobs ask for most (siblings §2). */
import * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { paid } from '../../access/x402.ts';
import { requestedSkills } from '../../catalogue/questions/skills.ts';
import { route } from '../../http/route.ts';
import { count } from '../answer-values.ts';
import { cohortFilters, companyDomain, period } from '../catalogue-parameters.ts';
import { askServed, CATALOGUE_ERRORS, COMPANY_NOT_FOUND, hasCatalogue, noCompany } from '../catalogue-refusals.ts';
import { integer } from '../parameter-rules.ts';
import { skillCounts, skillCountsOf } from '../skill-counts.ts';
import { envelope, metaOf } from './envelope.ts';
import { exampleMeta } from './examples.ts';
import type { JobsServices } from './services.ts';

const SKILL_COUNT_MAX = 10;

const skillsData = v.strictObject({
  top_requested_skills: skillCounts,
  observed_sample_jobs: count,
  matching_active_jobs: v.nullable(count),
});

export const listSkills = route<JobsServices>()({
  operation: 'listSkills',
  method: 'GET',
  path: '/v1/jobs/skills',
  summary: 'List the 10 skills that matching jobs ask for most',
  description:
    'Counts over the most recently observed active jobs that match every filter, of the catalogue or of one company. For a ' +
    'company that is not in the catalogue the answer to a valid payment is 404, and nothing is charged.',
  access: [perClient, unlessOverloaded, paid('0.05', 'skills')],
  query: v.strictObject({
    company: v.optional(companyDomain),
    ...cohortFilters,
    period: v.optional(period, '7d'),
    limit: v.optional(integer(1, SKILL_COUNT_MAX), SKILL_COUNT_MAX),
  }),
  answer: envelope(skillsData),
  errors: [...CATALOGUE_ERRORS, COMPANY_NOT_FOUND],
  examples: {
    query: { role: 'data engineer', limit: 3 },
    answer: {
      data: {
        top_requested_skills: [
          { skill: 'sql', observed_job_count: 171, sample_size: 214 },
          { skill: 'python', observed_job_count: 160, sample_size: 214 },
        ],
        observed_sample_jobs: 214,
        matching_active_jobs: 214,
      },
      meta: exampleMeta('monitored catalogue', 4210),
    },
  },
  ready: hasCatalogue,
  handle(input, { catalogue, clock, memo }) {
    return askServed(catalogue, (served) => {
      const { company, role, location, department, limit } = input;
      const { snapshot } = served.catalogue;
      if (company !== undefined && snapshot.companyOf(company) === undefined) return noCompany(company);
      return memo.answer(served, clock.nowMs(), ['skills', company, role, location, department, limit], () => {
        const found = requestedSkills(served.catalogue, company, { role, location, department }, limit)!;
        return (stated) => ({
          data: {
            top_requested_skills: skillCountsOf(found.skills, found.observedSampleJobs),
            observed_sample_jobs: found.observedSampleJobs,
            matching_active_jobs: found.matchingActiveJobs,
          },
          meta: metaOf(served, found.cohort, stated),
        });
      });
    });
  },
});
