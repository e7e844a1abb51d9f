/**
 * schema.org JobPosting in JSON-LD: one object, an array, a `@graph`, an ItemList, or the scripts of an HTML page. The
 * fields are read in posting-ld.ts.
 *
 * id                 `jsonld:<host or company>:<identifier>`; without an identifier a hash
 * company, domain    command line, manifest, `hiringOrganization.name` and the host of its `sameAs` or `url`
 * source_url         `url` (or `@id`, `mainEntityOfPage`), else the page's own address (canonical link, og:url) when it holds
 *                    one posting. A posting that has none is refused
 * first, last        `datePosted`, the observation
 */
import { objectOf } from '../../base/json-value.ts';
import { listOf, type SourceRecord, urlOf } from '../input/source-field.ts';
import { boardOf } from './board.ts';
import { type Drafted, defineShape, refusal } from './define-shape.ts';
import { slugOf } from './job-id.ts';
import { isJobPosting, nodesOf, postingFieldsOf } from './posting-ld.ts';
import type { ShapeContext } from './shape.ts';

const NAME = 'jsonld';

const hostOf = (text: string | null): string | null => URL.parse(text ?? '')?.hostname.replace(/^www\./, '') || null;

/** The first address among the values, each single or in an array; an `@id` that is a name within the page is none. */
function addressOf(...values: readonly unknown[]): string | null {
  for (const value of values.flatMap(listOf)) {
    const text = urlOf(objectOf(value)?.['@id'] ?? value);
    if (text !== null && /^https?:\/\//i.test(text)) return text;
  }
  return null;
}

function draftOf(posting: SourceRecord, context: ShapeContext): Drafted {
  const fields = postingFieldsOf(posting);
  const url = addressOf(posting.url, posting.mainEntityOfPage, posting['@id']) ?? context.envelope?.url ?? null;
  if (fields.company === null && context.board.company === null) {
    return refusal('hiringOrganization', 'is missing or blank');
  }
  const token = context.token ?? hostOf(url) ?? slugOf(fields.company ?? '');
  const board = boardOf(token, context, { company: fields.company, domain: fields.domain });
  return {
    ...fields,
    board: token,
    sourceId: fields.identifier,
    title: ['title', fields.title],
    company: ['hiringOrganization', board.company],
    url: ['url', url],
    domain: board.domain,
  };
}

export const jsonldShape = defineShape({
  name: NAME,
  summary: 'schema.org JobPosting in JSON-LD, also inside an HTML page',
  perBoard: true,
  marks: '"@type": "JobPosting"',
  recordsOf(document) {
    const records = [...nodesOf(document)].filter(isJobPosting);
    return records.length > 0 ? { ok: true, records } : { ok: false, reason: 'has no JobPosting in JSON-LD' };
  },
  recognises: isJobPosting,
  draftOf,
});
