/** What the two public operations share: their cache header, and an entity tag of snapshot and question (siblings §4). */
import * as v from 'valibot';
import { sha256Base64Url } from '../../base/digest.ts';
import { memoizeByObject } from '../../base/memoize-by-object.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { Reply } from '../../http/answers.ts';
import type { AnswerHeader } from '../../http/contract.ts';
import { isListed } from '../../http/entity-tags.ts';
import type { RequestView } from '../../http/request-view.ts';

/** Headers of their successes. */
export const PUBLIC_ANSWER_HEADERS: Readonly<Record<string, AnswerHeader>> = {
  ETag: { description: 'Of catalogue and question; `If-None-Match` with it gives 304', schema: v.string() },
};

export const PUBLIC_CACHE_CONTROL = 'max-age=60, s-maxage=300, stale-while-revalidate=600';

const digestOf = memoizeByObject(({ catalogue }: ServedCatalogue) => catalogue.snapshot.contentDigest);

/** Weak, because answers with one tag differ in `generated_at`. */
const entityTagOf = (served: ServedCatalogue, question: string): string =>
  `W/"${sha256Base64Url(`${digestOf(served)}\n${question}`).slice(0, 22)}"`;

/** The answer, or 304 if the client has it already. @param write gives the body; called only if it is sent */
export function cached(served: ServedCatalogue, question: string, request: RequestView, write: () => object): Reply {
  const etag = entityTagOf(served, question);
  const headers = { etag };
  if (isListed(etag, request.header('if-none-match'))) return new Reply(null, headers, 304);
  return new Reply(JSON.stringify(write()), { ...headers, 'content-type': 'application/json' });
}
