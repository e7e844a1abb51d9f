/** GET /openapi.json: the contract of every route, generated from the declarations that serve them. */
import * as v from 'valibot';
import { Reply, route } from '../../http/route.ts';
import type { ServiceServices } from './services.ts';

export const openApi = route<ServiceServices>()({
  operation: 'openApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This contract, OpenAPI 3.1',
  access: [],
  answer: v.looseObject({ openapi: v.string() }),
  relation: 'service-desc',
  cacheControl: 'public, max-age=60',
  errors: [],
  handle: (_, services) => new Reply(services.documents.openApi(), { 'content-type': 'application/json' }),
});
