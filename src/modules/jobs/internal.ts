/**
 * The routes that a jobs service has for gates (siblings §8): the jobs routes below `/internal`, without payment and rates,
 * behind `ENGINE_TOKEN`. They do not exist without the token or without a local catalogue.
 */
import { type EngineServices, engineToken } from '../../access/engine-token.ts';
import { secretHolderOf } from '../../access/secret-token.ts';
import { bind } from '../../http/operation.ts';
import type { Route } from '../../http/route.ts';
import { defineModule } from '../module.ts';
import { ROUTES } from './routes.ts';
import { AnswersMemo, type JobsServices } from './services.ts';

/** The services that handlers of the jobs routes use; their other services are for ways in that gates skip. */
type InternalServices = Pick<JobsServices, 'catalogue' | 'clock' | 'memo'> & EngineServices;

function internalRoute(route: Route<JobsServices>): Route<InternalServices> {
  const { operation, path } = route;
  const renamed = {
    ...route,
    operation: `internal${operation.charAt(0).toUpperCase()}${operation.slice(1)}`,
    path: `/internal${path}` as const,
    access: [engineToken],
  };
  return renamed as object as Route<InternalServices>;
}

const INTERNAL_ROUTES = ROUTES.map(internalRoute);

export const internal = defineModule({
  tag: 'internal',
  settings: {},
  operatorPaths: ['/internal'],
  routes: INTERNAL_ROUTES,
  open({ config, catalogue, clock, rateLimits, remoteCatalogue }) {
    if (config.engineToken === null || remoteCatalogue !== undefined) return { operations: [] };
    const services: InternalServices = {
      catalogue,
      clock,
      memo: new AnswersMemo(),
      gates: secretHolderOf(config.engineToken, 'wrong engine tokens', rateLimits),
    };
    return { operations: bind('internal', INTERNAL_ROUTES, services) };
  },
});
