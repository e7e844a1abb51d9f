/** The jobs module: paid answers about hiring and the free list of companies, from the served catalogue or from jobs services. */
import { openClientRate } from '../../access/rate-limit.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { remoteRoute } from './remote.ts';
import { ROUTES } from './routes.ts';
import { AnswersMemo, type JobsServices } from './services.ts';

export const jobs = defineModule({
  tag: 'jobs',
  summary: 'Answers about hiring, each for one payment',
  settings: {},
  routes: ROUTES,
  open({ config, catalogue, remoteCatalogue, clock, paid, rateLimits, shedding }) {
    const services: JobsServices = {
      catalogue,
      clock,
      paid: { ...paid, keepsParameters: config.salesParameters },
      shedding,
      clientRate: openClientRate(rateLimits, 'jobs by client', config.rateLimitPerMinute),
      memo: new AnswersMemo(),
    };
    const routes = remoteCatalogue === undefined ? ROUTES : ROUTES.map((one) => remoteRoute(one, remoteCatalogue));
    return { operations: bind('jobs', routes, services) };
  },
});
