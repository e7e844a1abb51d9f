/** The body of a resolve and its rules (siblings §5, §7). Everything here is decided without a look-up, before any payment. */
import * as v from 'valibot';
import { parseUrl } from '../../base/parsed-url.ts';
import { Refusal, refuse } from '../../http/errors.ts';
import { type BodyServices, jsonBody } from '../../http/json-body.ts';
import type { RequestView } from '../../http/request-view.ts';
import { LOOK_UP_MS, TARGET_LENGTH_MAX } from '../../outbound/limits.ts';
import type { Target, TargetPolicy } from '../../outbound/target.ts';
import { WAIT_SECONDS_DEFAULT, WAIT_SECONDS_MAX } from '../../resolve/limits.ts';
import { INCLUDES, type ResolveQuestion } from '../../resolve/result.ts';
import { ADDRESS_PATTERN, oneOf, rule, whole } from '../parameter-rules.ts';
import { INVALID_URL, TARGET_NOT_ALLOWED } from './refusals.ts';

const URL_RULE = `an http or https address of at most ${TARGET_LENGTH_MAX} characters`;

export const resolveBody = v.strictObject({
  url: v.pipe(
    v.string(),
    rule({ rule: URL_RULE, jsonSchema: { maxLength: TARGET_LENGTH_MAX, pattern: ADDRESS_PATTERN } }),
  ),
  include: v.optional(
    v.pipe(
      v.array(oneOf(INCLUDES)),
      v.check((include) => new Set(include).size === include.length),
      rule({ rule: `a list, none twice, each one of ${INCLUDES.join(', ')}`, jsonSchema: { uniqueItems: true } }),
    ),
    ['metadata'],
  ),
  max_wait_seconds: v.optional(whole(0, WAIT_SECONDS_MAX), WAIT_SECONDS_DEFAULT),
});

export interface ResolveInput {
  readonly question: ResolveQuestion;
  readonly target: Target;
  readonly waitSeconds: number;
}

const readJson = jsonBody(resolveBody);

/** Seconds of the look-up, which precedes the settlement whatever the wait. */
const LOOK_UP_SECONDS = LOOK_UP_MS / 1000;

/** The `readBody` of the operation, which also says how long the answer may take. */
export async function readInput(request: RequestView, services: BodyServices & { readonly policy: TargetPolicy }) {
  const read = await readJson(request, services);
  if (read instanceof Refusal) return read;
  const { url, include, max_wait_seconds: waitSeconds } = read.body;
  if (url.length > TARGET_LENGTH_MAX || parseUrl(url) === null) {
    return refuse(INVALID_URL, `\`url\` must be ${URL_RULE}`);
  }
  const judged = services.policy.judge(url, 'resolve');
  if (!judged.ok) return refuse(TARGET_NOT_ALLOWED, judged.reason);
  const body: ResolveInput = { question: { url, include }, target: judged.target, waitSeconds };
  const answerSeconds = Math.max(LOOK_UP_SECONDS, waitSeconds);
  return { body, bytes: read.bytes, answerSeconds, isSlow: waitSeconds > 0 };
}
