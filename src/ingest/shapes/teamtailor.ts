/**
 * Teamtailor, the JSON Feed of a careers site (<site>/jobs.json): {version, title, home_page_url, items}, each item with
 * the posting's JSON-LD under `_jobposting` (posting-ld.ts reads it).
 *
 * id                 `teamtailor:<site>:<id>`; the site is the subdomain of teamtailor.com, else the host of the address
 * company, domain    command line, manifest, the posting's organisation; else the feed's `title` and no domain
 * department         none in the feed
 * first, last        `date_published`, the observation
 */
import { objectOf } from '../../base/json-value.ts';
import { htmlOf, type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { boardOf, boardOfFileName } from './board.ts';
import { type Drafted, defineShape, refusal } from './define-shape.ts';
import { postingFieldsOf } from './posting-ld.ts';
import { envelopeOf, listedUnder } from './record-list.ts';
import type { ShapeContext } from './shape.ts';

const NAME = 'teamtailor';

function siteOfUrl(text: string | null): string | null {
  const hostname = URL.parse(text ?? '')?.hostname ?? null;
  // career.teamtailor.com is Teamtailor's own site; <company>.teamtailor.com and <company>.<region>.teamtailor.com others'.
  return hostname?.endsWith('.teamtailor.com') ? (hostname.split('.')[0] ?? null) : hostname;
}

function draftOf(item: SourceRecord, context: ShapeContext): Drafted {
  const fields = postingFieldsOf(objectOf(item._jobposting) ?? {});
  const id = textOf(item.id) ?? fields.identifier;
  const url = urlOf(item.url) ?? urlOf(item.external_url);
  const site = context.token ?? siteOfUrl(url) ?? boardOfFileName(context.fileName, NAME);
  if (site === null) return refusal('url', 'is missing or blank');
  const board = boardOf(site, context, {
    company: fields.company ?? context.envelope?.company ?? null,
    domain: fields.domain,
  });
  return {
    ...fields,
    board: site,
    sourceId: id,
    title: ['title', textOf(item.title) ?? fields.title],
    company: ['title of the feed', board.company],
    url: ['url', url],
    domain: board.domain,
    description: htmlOf(item.content_html) ?? fields.description ?? htmlOf(item.content_text),
    times: { ...fields.times, publishedMs: timeOf(item.date_published) ?? fields.times.publishedMs ?? null },
  };
}

export const teamtailorShape = defineShape({
  name: NAME,
  summary: 'the JSON Feed of a Teamtailor careers site',
  perBoard: true,
  marks: '"_jobposting" with "url"',
  recordsOf(document) {
    const found = listedUnder(document, ['items'], 'a Teamtailor feed');
    const feed = objectOf(document);
    if (!found.ok || !feed) return found;
    return { ...found, envelope: { ...envelopeOf(feed), company: textOf(feed.title) } };
  },
  recognises: (record) => record._jobposting !== undefined,
  claims: (document) =>
    Array.isArray(document.items) && textOf(document.version)?.startsWith('https://jsonfeed.org/') === true,
  draftOf,
});
