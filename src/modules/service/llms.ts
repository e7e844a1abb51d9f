/** GET /llms.txt: a description of every operation for language models, in the form of llmstxt.org. */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { ServiceServices } from './services.ts';

export const llms = route<ServiceServices>()({
  operation: 'llms',
  method: 'GET',
  path: '/llms.txt',
  summary: 'This API described for language models',
  access: [],
  relation: 'service-doc',
  answer: v.string(),
  answerType: 'text/plain',
  cacheControl: 'public, max-age=60',
  errors: [],
  handle: (_, { documents }) => new Reply(documents.llms(), { 'content-type': 'text/plain; charset=utf-8' }),
});
