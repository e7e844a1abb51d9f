/** Closed schemas of the answers of the Resolve API (siblings §7), and how answers are written. */
import * as v from 'valibot';
import { isoTime } from '../../base/iso-time.ts';
import { Reply } from '../../http/answers.ts';
import { RESOLVE_ID_FORM, RESOLVE_TOKEN_FORM } from '../../resolve/identifier.ts';
import { LINK_COUNT_MAX, REDIRECT_COUNT_MAX } from '../../resolve/limits.ts';
import type { ShownResolve } from '../../resolve/resolver.ts';
import { FAILURE_CODES } from '../../resolve/result.ts';
import { count, instant, wholeNumber } from '../answer-values.ts';
import { UNTRUSTED_HEADERS } from '../untrusted.ts';

export const resolveId = v.pipe(v.string(), v.regex(RESOLVE_ID_FORM));
const text = v.nullable(v.string());
const status = wholeNumber(100, 999);

const result = v.strictObject({
  requested_url: v.string(),
  final_url: v.string(),
  redirects: v.pipe(v.array(v.strictObject({ url: v.string(), status_code: status })), v.maxLength(REDIRECT_COUNT_MAX)),
  status_code: status,
  content_type: text,
  size_bytes: count,
  content_sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  fetched_at: instant,
  truncated: v.boolean(),
  metadata: v.nullable(
    v.strictObject({
      title: text,
      description: text,
      canonical_url: text,
      site_name: text,
      language: text,
      image_url: text,
      published_at: text,
    }),
  ),
  text,
  links: v.nullable(
    v.pipe(v.array(v.strictObject({ url: v.string(), text: v.string() })), v.maxLength(LINK_COUNT_MAX)),
  ),
  warnings: v.array(v.string()),
});

const members = {
  id: resolveId,
  status: v.picklist(['pending', 'resolved', 'failed']),
  created_at: instant,
  expires_at: instant,
  result_url: v.string(),
};
const outcome = {
  result: v.nullable(result),
  failure: v.nullable(v.strictObject({ code: v.picklist(FAILURE_CODES), message: v.string() })),
};

export const shownAnswer = v.strictObject({ ...members, ...outcome });
export const createdAnswer = v.strictObject({
  ...members,
  read_token: v.pipe(v.string(), v.regex(RESOLVE_TOKEN_FORM)),
  ...outcome,
});

/** @param readToken for the customer who has just paid; undefined for a reader, who has it */
export function resolveReply(
  { id, status: found, createdAtMs, expiresAtMs, outcome: json }: ShownResolve,
  baseUrl: string,
  readToken?: string,
  statusCode = 200,
): Reply {
  const head = JSON.stringify({
    id,
    status: found,
    created_at: isoTime(createdAtMs),
    expires_at: isoTime(expiresAtMs),
    result_url: `${baseUrl}/v1/resolves/${id}`,
    ...(readToken === undefined ? {} : { read_token: readToken }),
  });
  return new Reply(`${head.slice(0, -1)},${json}}`, UNTRUSTED_HEADERS, statusCode);
}
