/** GET /ready: whether paid work can be done now, one boolean a component (decisions §6). Neither secrets nor versions. */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { ServiceServices } from './services.ts';

const components = v.strictObject({ snapshot: v.boolean(), state: v.boolean(), settlement: v.boolean() });

export const ready = route<ServiceServices>()({
  operation: 'ready',
  method: 'GET',
  path: '/ready',
  summary: 'Whether every component is ready: 200 when all are, 503 when one is not',
  access: [],
  relation: 'status',
  answer: components,
  otherAnswers: { 503: components },
  errors: [],
  examples: { answer: { snapshot: true, state: true, settlement: true } },
  handle(_, { readiness }) {
    const body = readiness() as v.InferInput<typeof components>;
    if (Object.values(body).every((isReady) => isReady)) return body;
    return new Reply(JSON.stringify(body), { 'content-type': 'application/json' }, 503);
  },
});
