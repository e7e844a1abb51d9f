/** The Jobs Data API (siblings §4): lists, counts and history over the whole catalogue, for holders of an API key. */
import { KEY_RATE_NAME } from '../../access/key-rate.ts';
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

/** Cursors, for documents: `…` stands for the rest of an opaque text. */
const GUIDE = [
  'Lists come in pages of `limit` records (1 to 100, 25 when not given). `next_cursor` of an answer is the place where it ' +
    'ended: send the same request with it as `cursor` and the list goes on there; `next_cursor` null ends it. A cursor is an ' +
    'opaque text of at most 300 characters that belongs to its operation and its filters (`limit` may change); with others it ' +
    'is 400 `INVALID_CURSOR`. It names a position in the order of the list, not the number of a page, so it stays good when ' +
    'the catalogue is loaded again: no record comes twice, and none that stayed in its place is left out.',
  'A chain of three pages:',
  [
    '```text',
    'GET /v1/jobs?limit=100               100 jobs  "next_cursor": "q83v…"',
    'GET /v1/jobs?limit=100&cursor=q83v…  100 jobs  "next_cursor": "Kx0d…"',
    'GET /v1/jobs?limit=100&cursor=Kx0d…   17 jobs  "next_cursor": null',
    '```',
  ].join('\n'),
  'The feed `GET /v1/history` without `until` has no end: its last page has a `next_cursor` too. Keep that, and ask again with ' +
    'it later: the answer is exactly what was recorded since, or an empty page, which costs nothing.',
];

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
  guide: GUIDE,
  summary: 'Jobs, companies, skills and history of the whole catalogue, for holders of an API key',
  settings: DATA_SETTINGS,
  routes: ROUTES,
  open({ config, accounts, catalogue, clock, rateLimits, shedding, stateKey }) {
    const services: DataServices = {
      accounts,
      catalogue,
      clock,
      shedding,
      clientRate: openClientRate(rateLimits, 'data by client', config.rateLimitPerMinute),
      keyRate: openClientRate(rateLimits, KEY_RATE_NAME, config.keyRateLimitPerMinute),
      cursors: new Cursors(stateKey),
      memo: new PagesMemo(),
    };
    return { operations: bind(TAG, ROUTES, services) };
  },
});
