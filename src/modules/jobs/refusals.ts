/** Refusals of questions that cannot be answered; none of them is charged. */
import { SnapshotChangedError, SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { defineErrors, type Refusal, refuse } from '../../http/errors.ts';
import type { JobsServices } from './services.ts';

export const { UNSUPPORTED_PERIOD, COMPANY_NOT_FOUND, UPSTREAM_INVALID_RESPONSE, CATALOGUE_UNAVAILABLE } = defineErrors(
  {
    UNSUPPORTED_PERIOD: { status: 400 },
    COMPANY_NOT_FOUND: { status: 404 },
    UPSTREAM_INVALID_RESPONSE: { status: 502 },
    CATALOGUE_UNAVAILABLE: { status: 503 },
  },
);

export const noCatalogue = (): Refusal<'CATALOGUE_UNAVAILABLE'> =>
  refuse(CATALOGUE_UNAVAILABLE, 'no catalogue is loaded on this server');

/** Without a catalogue there is no offer, so that no client signs in vain. */
export const hasCatalogue = ({
  catalogue,
}: Pick<JobsServices, 'catalogue'>): Refusal<'CATALOGUE_UNAVAILABLE'> | undefined =>
  catalogue.current() === undefined ? noCatalogue() : undefined;

/**
 * Asks a snapshot file that may have been altered in place, or that the disk may no longer give: 502 then, as for any invalid
 * answer of the jobs service.
 */
export function fromCatalogue<T>(ask: () => T): T | Refusal<'UPSTREAM_INVALID_RESPONSE'> {
  try {
    return ask();
  } catch (failure) {
    if (!(failure instanceof SnapshotChangedError || failure instanceof SnapshotError)) throw failure;
    return refuse(UPSTREAM_INVALID_RESPONSE, 'the catalogue file changed or could not be read', {
      detail: failure.message,
    });
  }
}
