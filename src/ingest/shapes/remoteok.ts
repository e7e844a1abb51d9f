/**
 * RemoteOK, its API (remoteok.com/api): an array whose first element is a legal notice, left out. The board lists remote
 * jobs only, so each is remote.
 *
 * id                 `remoteok:remoteok.com:<id>`
 * title              `position`
 * location           `location`, without the comma that it ends with where no country follows
 * employment_type    none: `tags` name fields and skills as well as hours
 * first, last        `epoch` (seconds), else `date`; the observation
 */
import { objectOf } from '../../base/json-value.ts';
import { firstText, htmlOf, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { defineShape } from './define-shape.ts';
import { hasAll, listedUnder } from './record-list.ts';
import type { Records } from './shape.ts';

function withoutNotice(found: Records): Records {
  if (!found.ok) return found;
  const records = found.records.filter((record) => {
    const item = objectOf(record);
    return item?.legal === undefined || item.position !== undefined;
  });
  return { ...found, records };
}

export const remoteokShape = defineShape({
  name: 'remoteok',
  summary: 'the API of RemoteOK',
  marks: '"position" with "epoch" and "company"',
  recordsOf: (document) => withoutNotice(listedUnder(document, ['jobs'], 'an answer of RemoteOK')),
  recognises: (record) => hasAll(record, 'position', 'company') && (record.epoch ?? record.slug) !== undefined,
  draftOf(job) {
    return {
      board: 'remoteok.com',
      sourceId: firstText(job.id, job.slug),
      title: ['position', textOf(job.position)],
      company: ['company', textOf(job.company)],
      url: ['url', urlOf(job.url) ?? urlOf(job.apply_url)],
      location: textOf(job.location)?.replace(/(?<![\s,])[\s,]+$/, '') || null,
      remoteStatus: 'remote',
      description: htmlOf(job.description),
      times: { publishedMs: timeOf(job.epoch) ?? timeOf(job.date) },
    };
  },
});
