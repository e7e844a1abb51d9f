/** GET /ready: whether each component is ready for paid work (decisions §6). It reveals neither secrets nor versions. */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { ServiceServices } from './services.ts';

/** The components of every server, in the order of the answer; modules add theirs. */
export const COMPONENT_NAMES = ['snapshot', 'state', 'settlement'] as const;

/** @param componentNames the members of the answer */
export function readyWith(componentNames: readonly string[]) {
  const answer = v.strictObject(Object.fromEntries(componentNames.map((name) => [name, v.boolean()])));
  return route<ServiceServices>()({
    operation: 'ready',
    method: 'GET',
    path: '/ready',
    summary: 'Whether every component is ready: 200 when all are, 503 when one is not',
    access: [],
    relation: 'status',
    answer,
    otherAnswers: { 503: answer },
    errors: [],
    examples: { answer: Object.fromEntries(componentNames.map((name) => [name, true])) },
    handle(_, { readiness }) {
      const now = readiness();
      const body = Object.fromEntries(componentNames.map((name) => [name, now[name] === true]));
      if (Object.values(body).every((isReady) => isReady)) return body;
      return new Reply(JSON.stringify(body), { 'content-type': 'application/json' }, 503);
    },
  });
}
