/**
 * Recruitee, the careers-site API (<company>.recruitee.com/api/offers/): {"offers": [...]}.
 *
 * id                 `recruitee:<company>:<id>`; the company is the subdomain in `careers_url`, else that host
 * company, domain    command line, manifest, `company_name`; no domain
 * location           `locations[]`, else city, state and country, else `location`. "Remote job" is no place
 * remote_status      `remote`, `hybrid`, `on_site`: the one that alone is true; several are several offers, so unknown
 * employment_type    `employment_type_code`: fulltime_permanent, parttime_fixed_term, freelance, internship, ...
 * first, last        `published_at`, else `created_at`; the observation
 * status             closed when `close_at` is past; one that is not published is refused
 */
import { objectOf } from '../../base/json-value.ts';
import type { RemoteStatus } from '../../catalogue/job.ts';
import {
  endTimeOf,
  firstText,
  flagOf,
  joinedHtml,
  listOf,
  type SourceRecord,
  textOf,
  timeOf,
  urlOf,
} from '../input/source-field.ts';
import { boardOf, boardOfFileName } from './board.ts';
import { type Drafted, defineShape, refusal, unlisted } from './define-shape.ts';
import { employmentTypeOf } from './employment-terms.ts';
import { joinedPlaces, placeOf } from './places.ts';
import { hasAll, listedUnder } from './record-list.ts';
import type { ShapeContext } from './shape.ts';

const NAME = 'recruitee';

function remoteStatusOf(offer: SourceRecord): RemoteStatus {
  const said = [
    ...(flagOf(offer.remote) === true ? (['remote'] as const) : []),
    ...(flagOf(offer.hybrid) === true ? (['hybrid'] as const) : []),
    ...(flagOf(offer.on_site) === true ? (['on_site'] as const) : []),
  ];
  return said.length === 1 ? said[0]! : 'unknown';
}

function locationOf(offer: SourceRecord): string | null {
  const listed = listOf(offer.locations).map((item) => {
    const place = objectOf(item) ?? {};
    return placeOf(place.city ?? place.name, place.state, place.country);
  });
  return (
    joinedPlaces(listed) ??
    placeOf(offer.city, offer.state_name, offer.country) ??
    (/^remote job$/i.test(textOf(offer.location) ?? '') ? null : textOf(offer.location))
  );
}

function companyOfUrl(text: string | null): string | null {
  const hostname = URL.parse(text ?? '')?.hostname ?? null;
  return hostname?.endsWith('.recruitee.com') ? hostname.slice(0, -'.recruitee.com'.length) : hostname;
}

function draftOf(offer: SourceRecord, context: ShapeContext): Drafted {
  const status = textOf(offer.status);
  if (status !== null && status !== 'published') return unlisted('status', 'is not published');
  const id = firstText(offer.id, offer.guid);
  if (id === null) return refusal('id', 'is missing');
  const url = urlOf(offer.careers_url);
  const token = context.token ?? companyOfUrl(url) ?? boardOfFileName(context.fileName, NAME);
  if (token === null) return refusal('careers_url', 'is missing or blank');
  const board = boardOf(token, context, {
    company: textOf(offer.company_name),
  });
  return {
    board: token,
    sourceId: id,
    title: ['title', textOf(offer.title)],
    company: ['company_name', board.company],
    url: ['careers_url', url],
    applyUrl: urlOf(offer.careers_apply_url),
    domain: board.domain,
    location: locationOf(offer),
    department: textOf(offer.department),
    remoteStatus: remoteStatusOf(offer),
    employmentType: employmentTypeOf(textOf(offer.employment_type_code ?? offer.employment_type)),
    description: joinedHtml(offer.description, offer.requirements),
    times: {
      publishedMs: timeOf(offer.published_at) ?? timeOf(offer.created_at),
      endMs: endTimeOf(offer.close_at),
    },
  };
}

export const recruiteeShape = defineShape({
  name: NAME,
  summary: 'the offers of a Recruitee careers site',
  perBoard: true,
  marks: '"careers_url" with "title"',
  recordsOf: (document) => listedUnder(document, ['offers'], 'a Recruitee careers site'),
  recognises: (record) => hasAll(record, 'careers_url', 'title'),
  claims: (document) => Array.isArray(document.offers),
  draftOf,
});
