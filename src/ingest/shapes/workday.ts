/**
 * Workday, the job search of a careers site (POST /wday/cxs/<tenant>/<site>/jobs): {total, jobPostings}; its detail of one
 * posting, {jobPostingInfo, hiringOrganization}; and both joined in rows by scrapers, with `detail_url`, `_raw_listing`
 * and `_raw_detail`.
 *
 * The list has paths only. An address needs the site's own, which the detail (`externalUrl`), the row (`detail_url`), the
 * wrapper (`base_url`) or the manifest (`url`) gives; without one a posting has no address and is refused.
 *
 * id                 `workday:<tenant>/<site>:<requisition>`, without a known site `workday:<tenant>:<requisition>`. The
 *                    requisition is what follows the last `_` of the path, else `jobReqId`, else `bulletFields[0]`. A
 *                    suffix `-1`, `-2` stays: these are postings of one requisition
 * company, domain    command line, manifest, tenant. `hiringOrganization` is a legal entity, other for each country
 * location           `location` and `additionalLocations` of the detail, else `locationsText`; "3 Locations" is no place
 * department         none: job families are a facet of the search, not a field of the posting
 * remote, employment `remoteType`, `timeType`
 * first, last        `startDate` of the detail, the observation; "Posted 30+ Days Ago" is no date
 * status             closed when the detail says that it is no longer `posted`
 */
import { objectOf } from '../../base/json-value.ts';
import {
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
import { type Drafted, defineShape, refusal } from './define-shape.ts';
import { employmentTypeOf, workplaceOf } from './employment-terms.ts';
import { joinedPlaces } from './places.ts';
import { envelopeOf, hasAll, listedUnder } from './record-list.ts';
import type { ShapeContext } from './shape.ts';

const NAME = 'workday';

const HOST = /^([a-z0-9_-]+)\.(?:wd\d+\.)?(?:myworkdayjobs|myworkdayjobs-impl|myworkdaysite)\.com$/;
const SEVERAL = /^\d+ (?:locations?|standorte?|lieux|sites|ubicaciones|localidades|sedi|locaties)$/i;

function tenantOfUrl(text: string | null): string | null {
  const url = URL.parse(text ?? '');
  if (url === null) return null;
  const tenant = HOST.exec(url.hostname)?.[1] ?? null;
  // wd5.myworkdaysite.com/en-US/recruiting/<tenant>/<site>/job/...
  if (tenant !== null && !/^wd\d+$/.test(tenant)) return tenant;
  return /\/recruiting\/([^/]+)\//.exec(url.pathname)?.[1] ?? null;
}

/** A board is one careers site of a tenant, `tenant/site`; only the tenant when the address does not name a site. */
function boardOfUrl(text: string | null): string | null {
  const tenant = tenantOfUrl(text);
  if (text === null || tenant === null) return tenant;
  const parts = new URL(text).pathname.split('/').filter((part) => part !== '');
  if (/^[a-z]{2}(?:-[A-Z]{2})?$/.test(parts[0] ?? '')) parts.shift();
  if (parts[0] === 'recruiting') parts.splice(0, 2);
  const site = parts[0];
  return site === undefined || site === 'job' || site === 'wday' ? tenant : `${tenant}/${site}`;
}

function requisitionOf(info: SourceRecord, path: string | null, bullets: unknown): string | null {
  const tail = path === null ? null : (/^[^?#]*_([^_/?#]+)\/?(?:[?#]|$)/.exec(path)?.[1] ?? null);
  return tail ?? textOf(info.jobReqId) ?? textOf(listOf(bullets)[0]);
}

function draftOf(row: SourceRecord, context: ShapeContext): Drafted {
  const listing = objectOf(row._raw_listing) ?? row;
  const detail = objectOf(row._raw_detail) ?? row;
  const info = objectOf(detail.jobPostingInfo) ?? {};
  const path = urlOf(listing.externalPath ?? row.external_path);
  const envelope = context.envelope;
  const known =
    context.token ??
    boardOfUrl(envelope?.url ?? null) ??
    envelope?.board ??
    boardOfFileName(context.fileName, NAME) ??
    '';
  const site = boardOf(known, context).url ?? envelope?.url ?? null;
  const url =
    urlOf(row.detail_url ?? row.job_url ?? row.url) ??
    urlOf(info.externalUrl) ??
    (site !== null && path !== null ? `${site}${path.startsWith('/') ? '' : '/'}${path}` : null);
  if (url === null) {
    return refusal('externalPath', 'has no host, and neither the document nor --manifest gives one');
  }
  const token = context.token ?? boardOfUrl(url) ?? (known === '' ? null : known);
  if (token === null) return refusal('externalPath', 'does not name its tenant');
  const board = boardOf(token, context);
  const places = [info.location, ...listOf(info.additionalLocations)].map((place) =>
    textOf(objectOf(place)?.descriptor ?? place),
  );
  const listed = firstText(row.location, listing.locationsText);
  return {
    board: token,
    sourceId: requisitionOf(info, path ?? url, listing.bulletFields),
    title: ['title', firstText(row.title, listing.title, info.title)],
    company: ['company', board.company],
    url: ['externalPath', url],
    domain: board.domain,
    location: joinedPlaces(places) ?? (listed !== null && SEVERAL.test(listed) ? null : listed),
    remoteStatus: workplaceOf(firstText(info.remoteType, listing.remoteType, row.remoteType)),
    employmentType: employmentTypeOf(firstText(info.timeType, listing.timeType, row.timeType)),
    description: joinedHtml(info.jobDescription ?? row.description),
    times: {
      publishedMs: timeOf(info.startDate),
      endMs: timeOf(info.endDate),
      closed: flagOf(info.posted) === false,
    },
  };
}

export const workdayShape = defineShape({
  name: NAME,
  summary: 'the job search of a Workday careers site, as it answers or as scrapers keep it',
  perBoard: true,
  marks: '"externalPath", "_raw_detail" or "jobPostingInfo"',
  recordsOf(document) {
    const wrapper = objectOf(document);
    if (wrapper && hasAll(wrapper, 'jobPostingInfo')) {
      return { ok: true, records: [wrapper], envelope: envelopeOf(wrapper) };
    }
    return listedUnder(document, ['jobPostings', 'jobs'], 'a Workday job search');
  },
  recognises: (record) =>
    record.externalPath !== undefined ||
    record.jobPostingInfo !== undefined ||
    (record.external_path !== undefined && record.title !== undefined) ||
    objectOf(objectOf(record._raw_detail)?.jobPostingInfo) !== undefined,
  claims: (document) => Array.isArray(document.jobPostings) && document.total !== undefined,
  draftOf,
});
