/**
 * GET /ready: whether each component is ready for paid work (decisions §6), and whether the server has capacity for new work
 * (`load`, decisions §4). It reveals neither secrets nor versions.
 */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { ProcessServices } from './services.ts';

/** The components of every server, in the order of the answer; modules add theirs. */
export const COMPONENT_NAMES = ['snapshot', 'state', 'settlement'] as const;

/**
 * False while the server is overloaded or about to end. Overload does not change the status: a proxy that took an overloaded
 * server out would give its load to the next one, and what was bought here is still served here.
 */
const LOAD = 'load';

/** @param componentNames the members of the answer that decide its status */
export function readyWith(componentNames: readonly string[]) {
  const names = [...componentNames, LOAD];
  const answer = v.strictObject(Object.fromEntries(names.map((name) => [name, v.boolean()])));
  return route<ProcessServices>()({
    operation: 'ready',
    method: 'GET',
    path: '/ready',
    summary: 'Whether every component is ready: 200 when all are, 503 when one is not or the server is about to end',
    access: [],
    relation: 'status',
    answer,
    otherAnswers: { 503: answer },
    errors: [],
    examples: { answer: Object.fromEntries(names.map((name) => [name, true])) },
    handle(_, { readiness, isLeaving, shedding }) {
      const now = readiness();
      const components = Object.fromEntries(componentNames.map((name) => [name, now[name] === true]));
      const body = { ...components, [LOAD]: shedding.overload.level === 0 && !isLeaving() };
      if (Object.values(components).every((isReady) => isReady) && !isLeaving()) return body;
      return new Reply(JSON.stringify(body), { 'content-type': 'application/json' }, 503);
    },
  });
}
