/**
 * The catalogue that is served, and its replacement: a new one is opened, verified and indexed beside the old one, then one
 * reference changes. A catalogue that cannot be used changes nothing. Handlers read ids and URLs in the turn in which they
 * take the reference, so the old file is closed at once.
 */
import type { Catalogue } from './catalogue.ts';

/** A catalogue and what is known of it beyond its rows. */
export interface ServedCatalogue {
  readonly catalogue: Catalogue;
  /** True for the built-in sample: answers must say that its jobs are made up. */
  readonly isSynthetic: boolean;
}

/** The catalogue as it is now, or undefined for none. @throws SnapshotError when it cannot be used */
export type TakeCatalogue = () => ServedCatalogue | undefined;

export interface CatalogueHolder {
  current(): ServedCatalogue | undefined;
  /**
   * Takes the catalogue again.
   * @throws SnapshotError one line; the old one goes on being served
   */
  reload(): void;
  close(): void;
}

/** @throws SnapshotError when the catalogue cannot be used */
export function openCatalogueHolder(take: TakeCatalogue): CatalogueHolder {
  let served = take();
  return {
    current: () => served,
    reload() {
      const old = served;
      served = take();
      old?.catalogue.snapshot.close();
    },
    close() {
      served?.catalogue.snapshot.close();
      served = undefined;
    },
  };
}
