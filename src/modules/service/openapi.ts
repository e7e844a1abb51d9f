/** GET /openapi.json: the contract of every operation of a surface, generated from the declarations that serve them. */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { SurfaceServices } from './services.ts';

export const openApi = route<SurfaceServices>()({
  operation: 'openApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This contract, OpenAPI 3.1',
  access: [],
  answer: v.looseObject({ openapi: v.string() }),
  relation: 'service-desc',
  cacheControl: 'public, max-age=60',
  errors: [],
  handle: (_, services) => new Reply(services.openApi(), { 'content-type': 'application/json' }),
});
