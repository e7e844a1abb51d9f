/**
 * POST /v1/resolve: what is behind an address (siblings §7). Once the payment is verified, the server looks the name up and
 * begins to fetch. A result within the wait is the answer, and the payment settles before it is sent; a failure within the
 * wait costs nothing; without either the payment settles too, and the result will be at `result_url`.
 */
import type * as v from 'valibot';
import { unlessOverloaded } from '../../access/overload.ts';
import { perClient } from '../../access/rate-limit.ts';
import { freePlace, placeClaim } from '../../access/resolve-place.ts';
import { fewUncharged } from '../../access/uncharged.ts';
import { paid } from '../../access/x402.ts';
import { AfterSettlement } from '../../http/answers.ts';
import { STATE_UNAVAILABLE } from '../../http/errors.ts';
import { BODY_ERRORS } from '../../http/json-body.ts';
import { route } from '../../http/route.ts';
import { WORK_MS } from '../../resolve/limits.ts';
import type { ResolveDraft } from '../../resolve/resolver.ts';
import { UNTRUSTED_ANSWER_HEADERS } from '../untrusted.ts';
import { createdAnswer, resolveReply } from './answers.ts';
import { EXAMPLE_CREATED, EXAMPLE_PENDING } from './examples.ts';
import { readInput, resolveBody } from './input.ts';
import { FAILURE_ERRORS, failedWithin, INVALID_URL } from './refusals.ts';
import type { ResolveServices } from './services.ts';

type Answer = v.InferInput<typeof createdAnswer>;

export const createResolve = route<ResolveServices>()({
  operation: 'createResolve',
  method: 'POST',
  path: '/v1/resolve',
  summary: 'Fetch an address and say what is behind it',
  description:
    'Waits at most `max_wait_seconds`. 200 is the result; 202 means that the work goes on for up to ' +
    `${WORK_MS / 1000} seconds, and that ` +
    '`result_url` will have the outcome, which is paid for even if it is a failure. A failure within the wait is an error and costs nothing.',
  access: [perClient, freePlace, unlessOverloaded, paid<ResolveDraft>('0.03', 'resolve'), fewUncharged, placeClaim],
  bodies: { 'application/json': resolveBody },
  examples: {
    bodies: { 'application/json': { url: 'https://www.example.org/news/first-light', include: ['metadata', 'text'] } },
    answer: EXAMPLE_CREATED,
    otherAnswers: { 202: EXAMPLE_PENDING },
  },
  answer: createdAnswer,
  otherAnswers: { 202: createdAnswer },
  answerHeaders: UNTRUSTED_ANSWER_HEADERS,
  errors: [...BODY_ERRORS, INVALID_URL, ...FAILURE_ERRORS, STATE_UNAVAILABLE],
  readBody: readInput,
  async handle({ body: { question, target, waitSeconds } }, { resolver, baseUrl }, request, { place, draft: sold }) {
    const draft = sold ?? resolver.draft();
    // A crash may have lost the answer of a resolve that is on record.
    const known = sold === undefined ? undefined : await resolver.show(draft);
    if (known !== undefined) {
      place.release();
      return new AfterSettlement<Answer, ResolveDraft>(draft, () =>
        resolveReply(known, baseUrl, draft.readToken, known.status === 'pending' ? 202 : 200),
      );
    }
    // A resolve that was paid for before continues when its client disconnects, and is kept even if it fails.
    const client = sold === undefined ? request : undefined;
    const waited = await place.run(question, target, waitSeconds * 1000, client);
    if (waited.kind === 'failed' && sold === undefined) return failedWithin(waited.failure);
    return new AfterSettlement<Answer, ResolveDraft>(draft, async () => {
      const kept = await place.keep(draft, question);
      return resolveReply(kept, baseUrl, draft.readToken, kept.status === 'pending' ? 202 : 200);
    });
  },
});
