/** The jobs module: paid answers about hiring, from the served catalogue. */
import { openClientRate } from '../../access/rate-limit.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { findCompanies } from './companies.ts';
import { summarizeCompany } from './company.ts';
import { searchJobs } from './search.ts';
import { type JobsServices, SignalsMemo } from './services.ts';
import { JOBS_SETTINGS } from './settings.ts';
import { findSignals } from './signals.ts';

const ROUTES = [searchJobs, summarizeCompany, findSignals, findCompanies];

export const jobs = defineModule({
  tag: 'jobs',
  summary: 'Answers about hiring, each for one payment',
  settings: JOBS_SETTINGS,
  routes: ROUTES,
  open({ config, catalogue, clock, paid, rateLimits, shedding }) {
    const services: JobsServices = {
      catalogue,
      clock,
      paid: { ...paid, keepsParameters: config.salesParameters },
      shedding,
      clientRate: openClientRate(rateLimits, config.rateLimitPerMinute),
      signalsMemo: new SignalsMemo(),
    };
    return { operations: bind('jobs', ROUTES, services) };
  },
});
