/** GET /v1/companies/{domain}/jobs: the jobs of one company, page by page. */
import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { EXAMPLE_COMPANY, EXAMPLE_RECORD } from '../catalogue-examples.ts';
import { COMPANY_NOT_FOUND, hasCatalogue, SNAPSHOT_ERRORS } from '../catalogue-refusals.ts';
import { companyName } from '../company-answer.ts';
import { inCompany } from './companies.ts';
import { badCursor, INVALID_CURSOR } from './cursors.ts';
import { envelope, exampleMeta } from './envelope.ts';
import { keyed } from './keyed.ts';
import { answerPage, checksCursor, jobsEntries, jobsPage, withMembers } from './lists.ts';
import { ofJobs, paging } from './parameters.ts';
import type { DataServices } from './services.ts';

const OPERATION = 'listCompanyJobs';

export const listCompanyJobs = route<DataServices>()({
  operation: OPERATION,
  method: 'GET',
  path: '/v1/companies/:domain/jobs',
  decodesParams: true,
  summary: 'The jobs of one company, most recently observed first',
  access: keyed('companies:read', 'record'),
  query: v.strictObject({ ...ofJobs, ...paging }),
  answer: envelope(v.strictObject({ company: companyName, ...jobsEntries })),
  errors: [...SNAPSHOT_ERRORS, COMPANY_NOT_FOUND, INVALID_CURSOR],
  examples: {
    params: { domain: EXAMPLE_COMPANY.domain },
    query: { limit: 1 },
    answer: {
      data: {
        company: EXAMPLE_COMPANY,
        jobs: [EXAMPLE_RECORD],
        returned_jobs: 1,
        limit: 1,
        next_cursor: 'YV0N1p2rN0aQeB5jZl3uTkJ3y0Zf4h8Yq0c6Wn2xV1sQmL9oPd7gTA',
      },
      meta: exampleMeta(1),
    },
  },
  check: checksCursor(OPERATION),
  ready: hasCatalogue,
  handle(input, services, request) {
    const { status, observed_since: observedSinceMs, limit } = input;
    return answerPage(OPERATION, input, services, request, (catalogue, after) =>
      inCompany(request.params.domain, (domain) => {
        const { snapshot } = catalogue;
        const code = snapshot.companyOf(domain);
        if (code === undefined) return undefined;
        const company = { name: snapshot.shownNameOf(code), domain: snapshot.domainOf(code) };
        const listed = jobsPage(catalogue, { company: domain, status, observedSinceMs }, after, limit);
        return listed === undefined ? badCursor() : withMembers({ company }, listed);
      }),
    );
  },
});
