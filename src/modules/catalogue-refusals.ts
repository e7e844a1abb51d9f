/** Refusals of questions that the server cannot answer; none of them is charged. */
import type { CompanyDomain } from '../catalogue/company-domain.ts';
import type { CatalogueHolder, ServedCatalogue } from '../catalogue/holder.ts';
import { SnapshotChangedError, SnapshotError } from '../catalogue/snapshot/snapshot-error.ts';
import { defineErrors, type Refusal, refuse } from '../http/errors.ts';

export const {
  UNSUPPORTED_PERIOD,
  COMPANY_NOT_FOUND,
  JOB_NOT_FOUND,
  UPSTREAM_INVALID_RESPONSE,
  UPSTREAM_TIMEOUT,
  CATALOGUE_UNAVAILABLE,
} = defineErrors({
  UNSUPPORTED_PERIOD: { status: 400 },
  COMPANY_NOT_FOUND: { status: 404 },
  JOB_NOT_FOUND: { status: 404 },
  UPSTREAM_INVALID_RESPONSE: { status: 502 },
  UPSTREAM_TIMEOUT: { status: 504 },
  CATALOGUE_UNAVAILABLE: { status: 503 },
});

/** Codes of {@link askServed} and {@link hasCatalogue}, for the `errors` of a route. */
export const SNAPSHOT_ERRORS = [CATALOGUE_UNAVAILABLE, UPSTREAM_INVALID_RESPONSE] as const;

/** Codes of every jobs route, whether the catalogue is in this process or in a jobs service. */
export const CATALOGUE_ERRORS = [...SNAPSHOT_ERRORS, UPSTREAM_TIMEOUT] as const;

export interface CatalogueServices {
  readonly catalogue: Pick<CatalogueHolder, 'current' | 'isReadable'>;
}

export const noCompany = (domain: CompanyDomain): Refusal<'COMPANY_NOT_FOUND'> =>
  refuse(COMPANY_NOT_FOUND, `no job in the catalogue has the company domain ${domain}`);

/** For a text that is not a domain. The message does not repeat the text, which may be long, or a misplaced secret. */
export const noDomain = (): Refusal<'COMPANY_NOT_FOUND'> =>
  refuse(COMPANY_NOT_FOUND, 'this is no company domain such as example.com');

export const noJob = (): Refusal<'JOB_NOT_FOUND'> => refuse(JOB_NOT_FOUND, 'no job in the catalogue has this id');

export const noCatalogue = (): Refusal<'CATALOGUE_UNAVAILABLE'> =>
  refuse(CATALOGUE_UNAVAILABLE, 'no catalogue is loaded on this server');

/** Refuses before the offer while no catalogue is loaded, so that no client signs a payment for nothing. */
export const hasCatalogue = ({ catalogue }: CatalogueServices): Refusal<'CATALOGUE_UNAVAILABLE'> | undefined =>
  catalogue.current() === undefined ? noCatalogue() : undefined;

const altered = (detail?: string): Refusal<'CATALOGUE_UNAVAILABLE'> =>
  refuse(CATALOGUE_UNAVAILABLE, 'the catalogue file was altered in place and has to be loaded again', { detail });

/**
 * The same for routes that are paid per request and whose answers contain texts of jobs. Those are read from the snapshot's
 * file, so nothing can be answered while a producer overwrites that in place.
 */
export const hasReadableCatalogue = ({
  catalogue,
}: CatalogueServices): Refusal<'CATALOGUE_UNAVAILABLE'> | undefined => {
  const isReadable = catalogue.isReadable();
  if (isReadable === undefined) return noCatalogue();
  return isReadable ? undefined : altered();
};

/** There is no catalogue, its file was altered in place, or the disk cannot read it. */
export type Unread = Refusal<'CATALOGUE_UNAVAILABLE'> | Refusal<'UPSTREAM_INVALID_RESPONSE'>;

/**
 * Asks the catalogue that is served now, the same one for the whole answer. Refuses with 503 when there is none or its file
 * was altered in place, and with 502, as for any invalid answer of the catalogue, when the disk cannot read it.
 */
export function askServed<T>(
  catalogue: CatalogueServices['catalogue'],
  ask: (served: ServedCatalogue) => T,
): T | Unread {
  const served = catalogue.current();
  if (served === undefined) return noCatalogue();
  try {
    return ask(served);
  } catch (failure) {
    if (failure instanceof SnapshotChangedError) return altered(failure.message);
    if (!(failure instanceof SnapshotError)) throw failure;
    return refuse(UPSTREAM_INVALID_RESPONSE, 'the catalogue file could not be read', {
      detail: failure.message,
    });
  }
}
