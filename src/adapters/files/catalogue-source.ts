/** What the setting `SNAPSHOT` names: a file, the built-in sample, or no catalogue (decisions §2). */
import type { Clock } from '../../base/clock.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import type { TakeCatalogue } from '../../catalogue/holder.ts';
import type { Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import { openSnapshot } from '../../catalogue/snapshot/snapshot.ts';
import { openSnapshotFile } from './snapshot-file.ts';

/** Values of `SNAPSHOT` that name no file. */
export const SAMPLE = 'sample';
export const NO_CATALOGUE = 'none';

function served(snapshot: Snapshot, isSynthetic: boolean): ReturnType<TakeCatalogue> {
  const catalogue = new Catalogue(snapshot);
  catalogue.warm();
  return { catalogue, isSynthetic };
}

/** The sample's generator, with the skills and the HTML parser that it needs, is loaded only where the sample is served. */
export async function catalogueSource(name: string, clock: Clock): Promise<TakeCatalogue> {
  switch (name) {
    case NO_CATALOGUE:
      return () => undefined;
    case SAMPLE: {
      const { buildSample } = await import('../../ingest/synth/sample.ts');
      return () => served(buildSample(clock.nowMs()), true);
    }
    default:
      return () => served(openSnapshot(openSnapshotFile(name)), false);
  }
}
