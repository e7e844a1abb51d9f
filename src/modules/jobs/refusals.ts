/** What the jobs routes refuse with when the question itself cannot be answered; none of it is charged. */
import { SnapshotChangedError, SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { type Refusal, refuse } from '../../http/errors.ts';
import type { JobsServices } from './envelope.ts';

export const noCatalogue = (): Refusal<'CATALOGUE_UNAVAILABLE'> =>
  refuse('CATALOGUE_UNAVAILABLE', 'no catalogue is loaded on this server');

/** No offer is made for a question that nothing could answer, so that nobody signs in vain. */
export const hasCatalogue = ({ catalogue }: JobsServices): Refusal<'CATALOGUE_UNAVAILABLE'> | undefined =>
  catalogue.current() === undefined ? noCatalogue() : undefined;

/**
 * An answer from a snapshot file that was altered in place under us, or that the disk no longer gives, is no answer: 502, as
 * for any invalid word of the jobs service.
 */
export function fromCatalogue<T>(ask: () => T): T | Refusal<'UPSTREAM_INVALID_RESPONSE'> {
  try {
    return ask();
  } catch (failure) {
    if (!(failure instanceof SnapshotChangedError || failure instanceof SnapshotError)) throw failure;
    return refuse('UPSTREAM_INVALID_RESPONSE', 'the catalogue file changed or could not be read', {
      detail: failure.message,
    });
  }
}
