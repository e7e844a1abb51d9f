/** The jobs module: paid answers about hiring, from the served catalogue. */
import { openClientRate } from '../../access/rate-limit.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { listChanges } from './changes.ts';
import { findCompanies } from './companies.ts';
import { summarizeCompany } from './company.ts';
import { getJob } from './detail.ts';
import { describeMarket } from './market.ts';
import { searchJobs } from './search.ts';
import { AnswersMemo, type JobsServices } from './services.ts';
import { findSignals } from './signals.ts';
import { listSkills } from './skills.ts';

const ROUTES = [
  searchJobs,
  summarizeCompany,
  findSignals,
  getJob,
  listChanges,
  listSkills,
  describeMarket,
  findCompanies,
];

export const jobs = defineModule({
  tag: 'jobs',
  summary: 'Answers about hiring, each for one payment',
  settings: {},
  routes: ROUTES,
  open({ config, catalogue, clock, paid, rateLimits, shedding }) {
    const services: JobsServices = {
      catalogue,
      clock,
      paid: { ...paid, keepsParameters: config.salesParameters },
      shedding,
      clientRate: openClientRate(rateLimits, 'jobs by client', config.rateLimitPerMinute),
      memo: new AnswersMemo(),
    };
    return { operations: bind('jobs', ROUTES, services) };
  },
});
