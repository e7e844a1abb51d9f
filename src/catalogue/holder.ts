/**
 * The catalogue that is being served, and its replacement: the holder takes a new one beside the old one, then one reference
 * changes. A catalogue that cannot be taken changes nothing. Handlers read ids and URLs in the same turn in which they take
 * the reference, so the holder closes the old snapshot at once.
 */
import type { Catalogue } from './catalogue.ts';

/** A catalogue, and what its snapshot does not say about it. Each reload gives a new object. */
export interface ServedCatalogue {
  readonly catalogue: Catalogue;
  /** True for the built-in sample: answers must say that its jobs are made up. */
  readonly isSynthetic: boolean;
}

/**
 * Opens, checks and warms the configured catalogue as it is now; `undefined` = there is none.
 * @throws SnapshotError when it cannot be used
 */
export type LoadCatalogue = () => ServedCatalogue | undefined;

export class CatalogueHolder {
  readonly #load: LoadCatalogue;
  #served: ServedCatalogue | undefined;

  /** @throws SnapshotError when the catalogue cannot be used */
  constructor(load: LoadCatalogue) {
    this.#load = load;
    this.#served = load();
  }

  /** The catalogue to answer from, or undefined when there is none. Ask once for each request, so that no answer mixes two. */
  current(): ServedCatalogue | undefined {
    return this.#served;
  }

  /**
   * Takes the configured catalogue again.
   * @throws SnapshotError when it cannot be used; the previous catalogue stays in service
   */
  reload(): void {
    const previous = this.#served;
    this.#served = this.#load();
    previous?.catalogue.snapshot.close();
  }

  close(): void {
    this.#served?.catalogue.snapshot.close();
    this.#served = undefined;
  }
}
