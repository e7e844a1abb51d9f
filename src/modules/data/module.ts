/** The Jobs Data API (siblings §4): lists, counts and history over the whole catalogue, for holders of an API key. */
import { openClientRate } from '../../access/rate-limit.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { getCompany } from './company.ts';
import { getCompanyHiring } from './company-hiring.ts';
import { listCompanyJobs } from './company-jobs.ts';
import { Cursors } from './cursors.ts';
import { getHiringMetrics } from './hiring.ts';
import { followHistory } from './history.ts';
import { getJob } from './job.ts';
import { listJobHistory } from './job-history.ts';
import { listAllJobs } from './jobs.ts';
import { getOverview } from './overview.ts';
import { PagesMemo } from './pages-memo.ts';
import { getPublicOverview } from './public-overview.ts';
import { searchPublicSamples } from './public-search.ts';
import { searchJobs } from './search.ts';
import type { DataServices } from './services.ts';
import { DATA_SETTINGS } from './settings.ts';
import { listSkills } from './skills.ts';

const TAG = 'data';
const ROUTES = [
  searchJobs,
  listAllJobs,
  getJob,
  listJobHistory,
  followHistory,
  getCompany,
  listCompanyJobs,
  getCompanyHiring,
  listSkills,
  getOverview,
  getHiringMetrics,
  getPublicOverview,
  searchPublicSamples,
];

export const data = defineModule({
  tag: TAG,
  summary: 'Jobs, companies, skills and history of the whole catalogue, for holders of an API key',
  settings: DATA_SETTINGS,
  routes: ROUTES,
  open({ config, accounts, catalogue, clock, rateLimits, shedding, stateKey }) {
    const services: DataServices = {
      accounts,
      catalogue,
      clock,
      shedding,
      clientRate: openClientRate(rateLimits, config.rateLimitPerMinute),
      keyRate: openClientRate(rateLimits, config.keyRateLimitPerMinute),
      cursors: new Cursors(stateKey),
      memo: new PagesMemo(),
    };
    return { operations: bind(TAG, ROUTES, services) };
  },
});
