/** Finding the records of a document, and what wrappers of a saved answer say beside their list. */
import { objectOf } from '../../base/json-value.ts';
import { type SourceRecord, textOf, timeOf, urlOf } from '../input/source-field.ts';
import type { Envelope, Records } from './shape.ts';

/** What a wrapper says about all records of its list: {company, fetched_at, job_count, jobs} and the like. */
export function envelopeOf(wrapper: SourceRecord): Envelope {
  const url = urlOf(wrapper.board_url ?? wrapper.base_url ?? wrapper.url ?? wrapper.home_page_url);
  return {
    board: textOf(wrapper.board ?? wrapper.board_token ?? wrapper.company_slug),
    company: textOf(wrapper.company ?? wrapper.company_name),
    url: url !== null && URL.canParse(url) ? url.replace(/(?<!\/)\/+$/, '') : null,
    fetchedAtMs: timeOf(wrapper.fetched_at ?? wrapper.fetchedAt ?? wrapper.scraped_at ?? wrapper.generatedAt),
  };
}

/**
 * The records of a document that is a list or has one under one of `keys`.
 * @param what what the document should be, for the refusal
 */
export function listedUnder(document: unknown, keys: readonly string[], what: string): Records {
  if (Array.isArray(document)) return { ok: true, records: document };
  const wrapper = objectOf(document);
  for (const key of keys) {
    const list = wrapper?.[key];
    if (wrapper && Array.isArray(list)) return { ok: true, records: list, envelope: envelopeOf(wrapper) };
  }
  const forms = ['a JSON array', ...keys.map((key) => `an object with an array "${key}"`)].join(' nor ');
  return { ok: false, reason: `is not ${what}: it is neither ${forms}` };
}

/** Whether `record` has all of `fields`, whatever their values. */
export function hasAll(record: SourceRecord, ...fields: readonly string[]): boolean {
  return fields.every((field) => record[field] !== undefined);
}
