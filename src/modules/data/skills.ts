/** GET /v1/skills: the recorded skills by the number of active jobs, page by page. */
import * as v from 'valibot';
import { listSkillCounts } from '../../catalogue/listing/list-skills.ts';
import { route } from '../../http/route.ts';
import { count } from '../answer-values.ts';
import { companyDomain, department } from '../catalogue-parameters.ts';
import { hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { INVALID_CURSOR } from './cursors.ts';
import { envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import { answerPage, checksCursor, listOf, membersOf, page, returned } from './lists.ts';
import { paging, partOfSkill } from './parameters.ts';
import type { DataServices } from './services.ts';

const OPERATION = 'listSkills';

const skillCount = v.strictObject({ skill: v.string(), active_job_count: count, company_count: count });

export const listSkills = route<DataServices>()({
  operation: OPERATION,
  method: 'GET',
  path: '/v1/skills',
  summary: 'Recorded skills by the number of active jobs',
  description: 'Over the whole catalogue, over one company, or over one department; most jobs first, then by text.',
  access: keyed('jobs:read', 'record'),
  query: v.strictObject({
    q: v.optional(partOfSkill),
    company: v.optional(companyDomain),
    department: v.optional(department),
    ...paging,
  }),
  answer: envelope(v.strictObject({ skills: listOf(skillCount), returned_skills: returned, ...page })),
  errors: [...SNAPSHOT_ERRORS, INVALID_CURSOR],
  examples: {
    query: { q: 'sql', limit: 2 },
    answer: {
      data: {
        skills: [
          { skill: 'sql', active_job_count: 812, company_count: 240 },
          { skill: 'postgresql', active_job_count: 301, company_count: 122 },
        ],
        returned_skills: 2,
        limit: 2,
        next_cursor: null,
      },
      meta: exampleMeta(2),
    },
  },
  check: checksCursor(OPERATION),
  ready: hasCatalogue,
  handle(input, services, request) {
    const { q, company, department: inDepartment, limit } = input;
    const filters = { q, company, department: inDepartment };
    return answerPage(OPERATION, input, services, request, (catalogue, after) => {
      const listed = listSkillCounts(catalogue, filters, after, limit);
      if (listed === undefined) return undefined;
      const skills = listed.skills.map(({ activeJobs, companies, skill }) => ({
        skill,
        active_job_count: activeJobs,
        company_count: companies,
      }));
      const members = membersOf({ skills, returned_skills: skills.length });
      return { members, recordCount: skills.length, next: listed.next };
    });
  },
});
