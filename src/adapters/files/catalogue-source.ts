/** What `SNAPSHOT` names: a snapshot file, the built-in sample, or nothing. */
import type { Clock } from '../../base/clock.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import type { LoadCatalogue, ServedCatalogue } from '../../catalogue/holder.ts';
import { openSnapshot, type Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import { openSnapshotFile } from './snapshot-file.ts';

/** Values of `SNAPSHOT` that name no file. */
export const SAMPLE = 'sample';
export const NO_CATALOGUE = 'none';

/**
 * How to take the catalogue that `SNAPSHOT` names. Only the sample loads the generator and its words, so this waits for
 * modules; taking the catalogue afterwards is synchronous. Nothing is opened before that.
 */
export async function catalogueSource(snapshot: string, clock: Clock): Promise<LoadCatalogue> {
  if (snapshot === NO_CATALOGUE) return () => undefined;
  if (snapshot === SAMPLE) {
    const { buildSample } = await import('../../ingest/synth/sample.ts');
    return () => served(buildSample(clock.nowMs()), true);
  }
  return () => served(openSnapshot(openSnapshotFile(snapshot)), false);
}

function served(snapshot: Snapshot, isSynthetic: boolean): ServedCatalogue {
  const catalogue = new Catalogue(snapshot);
  catalogue.warm();
  return { catalogue, isSynthetic };
}
