/** GET /v1/resolves/{id}: the state and outcome of a resolve, for its read token, for one hour (siblings §7). */
import * as v from 'valibot';
import { RESOLVE_EXPIRED, resolveExpired, resolveToken } from '../../access/resolve-token.ts';
import { route } from '../../http/route.ts';
import { WORK_MS } from '../../resolve/limits.ts';
import { UNTRUSTED_ANSWER_HEADERS } from '../untrusted.ts';
import { resolveId, resolveReply, shownAnswer } from './answers.ts';
import { EXAMPLE_RESOLVE_ID, EXAMPLE_SHOWN } from './examples.ts';
import type { ResolveServices } from './services.ts';

export const getResolve = route<ResolveServices>()({
  operation: 'getResolve',
  method: 'GET',
  path: '/v1/resolves/:id',
  summary: 'Get a resolve and its result',
  description: `Free. \`status\` is \`pending\` while the work goes on, for ${WORK_MS / 1000} seconds at most.`,
  access: [resolveToken],
  params: { id: resolveId },
  query: v.strictObject({}),
  answer: shownAnswer,
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  examples: { params: { id: EXAMPLE_RESOLVE_ID }, answer: EXAMPLE_SHOWN },
  errors: [RESOLVE_EXPIRED],
  async handle(_, { resolver, baseUrl }, _request, { resolve }) {
    const shown = await resolver.show(resolve);
    return shown === undefined ? resolveExpired() : resolveReply(shown, baseUrl);
  },
});
