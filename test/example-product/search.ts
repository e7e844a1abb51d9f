/** GET /v1/jobs/search of the example: the path and the operation id of the base surface, behind a key. */
import * as v from 'valibot';
import type { CatalogueHolder } from '../../src/catalogue/holder.ts';
import { route } from '../../src/http/route.ts';
import { type DemoKeyServices, demoKey } from './demo-key.ts';

export interface SearchServices extends DemoKeyServices {
  readonly catalogue: Pick<CatalogueHolder, 'current'>;
}

export const searchJobs = route<SearchServices>()({
  operation: 'searchJobs',
  method: 'GET',
  path: '/v1/jobs/search',
  summary: 'Count the jobs of the catalogue for an account',
  access: [demoKey],
  query: v.strictObject({ status: v.optional(v.picklist(['active', 'closed']), 'active') }),
  answer: v.strictObject({ account: v.string(), job_count: v.pipe(v.number(), v.integer()) }),
  errors: [],
  handle({ status }, { catalogue }, _request, { account }) {
    const snapshot = catalogue.current()?.catalogue.snapshot;
    const activeCount = snapshot?.activeCount ?? 0;
    const count = status === 'active' ? activeCount : (snapshot?.rowCount ?? 0) - activeCount;
    return { account, job_count: count };
  },
});
