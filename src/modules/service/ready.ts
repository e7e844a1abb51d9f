/**
 * GET /ready: whether each component is ready for paid work (decisions §6), and whether the server has capacity for new work
 * (`load`, decisions §4). It reveals neither secrets nor versions.
 *
 * With `only=process` the status ignores what depends on other machines (jobs services, database, facilitator). Without them
 * the process still answers webhooks, reads and free routes, so a proxy must learn which process is about to end even while
 * none is ready.
 */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { ProcessServices } from './services.ts';

/** The components of every server, in the order of the answer; modules add theirs. */
export const COMPONENT_NAMES = ['snapshot', 'state', 'settlement'] as const;

/**
 * False while the server is overloaded or about to end. Overload does not change the status: a proxy that removed an
 * overloaded server would shift its load to the next one, and purchases made here are still served here.
 */
const LOAD = 'load';

/** A probe may add any query, to bypass caches; only this one value changes the answer. */
const ONLY_PROCESS = {
  schema: v.string(),
  rule: '`process`: the components do not decide the status. Any other value means none.',
};

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
    lenientQuery: { only: ONLY_PROCESS },
    answer,
    otherAnswers: { 503: answer },
    errors: [],
    examples: { answer: Object.fromEntries(names.map((name) => [name, true])) },
    handle(_, { readiness, isLeaving, shedding }, { search }) {
      const only = new URLSearchParams(search).get('only');
      const now = readiness();
      const components = Object.fromEntries(componentNames.map((name) => [name, now[name] === true]));
      const body = { ...components, [LOAD]: shedding.overload.level === 0 && !isLeaving() };
      const areReady = only === 'process' || Object.values(components).every((isReady) => isReady);
      if (areReady && !isLeaving()) return body;
      return new Reply(JSON.stringify(body), { 'content-type': 'application/json' }, 503);
    },
  });
}
