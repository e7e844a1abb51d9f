/** GET /ready: whether each component is ready for paid work (decisions §6). It reveals neither secrets nor versions. */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { ServiceServices } from './services.ts';

/** The components of every server; modules may add theirs. */
const components = v.objectWithRest(
  { snapshot: v.boolean(), state: v.boolean(), settlement: v.boolean() },
  v.boolean(),
);

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
    const { snapshot, state, settlement, ...others } = readiness() as v.InferInput<typeof components>;
    const body = { snapshot, state, settlement, ...others };
    if (Object.values(body).every((isReady) => isReady)) return body;
    return new Reply(JSON.stringify(body), { 'content-type': 'application/json' }, 503);
  },
});
