/**
 * The Muse, its public jobs API (themuse.com/api/public/jobs): {"page", "results": [...]}, or saved under "jobs".
 *
 * id                 `themuse:themuse.com:<id>`
 * location           `locations[].name`. "Flexible / Remote" is how the board says remote
 * remote_status      remote when that is the only location; beside others it is one of several ways
 * department         none: `categories` classify the job
 * employment_type    none: `levels` are seniority; the level "Internship" is an internship
 * first, last        `publication_date`, the observation
 */
import { objectOf } from '../../base/json-value.ts';
import type { EmploymentType } from '../../catalogue/job.ts';
import { htmlOf, listOf, textOf, timeOf, urlOf } from '../input/source-field.ts';
import { defineShape } from './define-shape.ts';
import { joinedPlaces } from './places.ts';
import { hasAll, listedUnder } from './record-list.ts';

const REMOTE_PLACE = /^flexible \/ remote$/i;

function namesOf(list: unknown): (string | null)[] {
  return listOf(list).map((item) => textOf(objectOf(item)?.name ?? item));
}

function employmentOf(levels: readonly (string | null)[]): EmploymentType {
  return levels.length === 1 && levels[0]?.toLowerCase() === 'internship' ? 'internship' : 'unknown';
}

export const themuseShape = defineShape({
  name: 'themuse',
  summary: 'the API of The Muse',
  marks: '"refs" with "contents" and "company"',
  recordsOf: (document) => listedUnder(document, ['results', 'jobs'], 'an answer of The Muse'),
  recognises: (record) => hasAll(record, 'refs', 'name', 'company') && objectOf(record.refs) !== undefined,
  draftOf(job) {
    const places = namesOf(job.locations).filter((place) => place !== null);
    return {
      board: 'themuse.com',
      sourceId: textOf(job.id),
      title: ['name', textOf(job.name)],
      company: ['company', textOf(objectOf(job.company)?.name)],
      url: ['refs', urlOf(objectOf(job.refs)?.landing_page)],
      location: joinedPlaces(places),
      remoteStatus: places.length > 0 && places.every((place) => REMOTE_PLACE.test(place)) ? 'remote' : 'unknown',
      employmentType: employmentOf(namesOf(job.levels)),
      description: htmlOf(job.contents),
      times: { publishedMs: timeOf(job.publication_date) },
    };
  },
});
