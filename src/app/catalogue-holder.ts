/**
 * The catalogue that is being served, and its replacement: a new one is opened, verified and indexed beside the old one,
 * then one reference changes. A file that cannot be used changes nothing. Handlers read ids and URLs in the same turn in
 * which they take the reference, so the old file is closed at once.
 */
import { openSnapshotFile } from '../adapters/files/snapshot-file.ts';
import type { Clock } from '../base/clock.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { openSnapshot } from '../catalogue/snapshot/snapshot.ts';
import { buildSample } from '../ingest/synth/sample.ts';
import { type CurrentCatalogue, Shelf } from '../modules/jobs/envelope.ts';

/** Values of `SNAPSHOT` that name no file. */
export const SAMPLE = 'sample';
export const NO_CATALOGUE = 'none';

export interface CatalogueHolder extends CurrentCatalogue {
  /**
   * Takes the configured catalogue anew.
   * @throws SnapshotError one line; what was served before is served on
   */
  reload(): void;
  close(): void;
}

/** The catalogue as it is now, or undefined for none. @throws SnapshotError when it cannot be used */
export type TakeCatalogue = () => Shelf | undefined;

/** What `SNAPSHOT` names. */
export function catalogueTaker(snapshot: string, clock: Clock): TakeCatalogue {
  return () => {
    if (snapshot === NO_CATALOGUE) return undefined;
    const synthetic = snapshot === SAMPLE;
    const opened = synthetic ? buildSample(clock.nowMs()) : openSnapshot(openSnapshotFile(snapshot));
    const catalogue = new Catalogue(opened);
    catalogue.warm();
    return new Shelf(catalogue, synthetic);
  };
}

/** @throws SnapshotError when the catalogue cannot be used */
export function openCatalogueHolder(take: TakeCatalogue): CatalogueHolder {
  let shelf = take();
  return {
    current: () => shelf,
    reload() {
      const old = shelf;
      shelf = take();
      old?.catalogue.snapshot.close();
    },
    close() {
      shelf?.catalogue.snapshot.close();
      shelf = undefined;
    },
  };
}
