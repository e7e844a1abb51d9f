/**
 * The served catalogue and its replacement: the holder loads a new one beside the old one, then changes one reference.
 * A catalogue that cannot be loaded changes nothing. Handlers read ids and URLs in the turn in which they take the
 * reference, so the holder discards the old catalogue at once.
 */
import type { Catalogue } from './catalogue.ts';

/** A catalogue with facts that its snapshot lacks. Each reload makes a new object. */
export interface ServedCatalogue {
  readonly catalogue: Catalogue;
  /** True for the built-in sample: answers must say that its jobs are made up. */
  readonly isSynthetic: boolean;
}

/** The configured catalogue; `undefined` = there is none. */
export interface CatalogueSource {
  /** Work that the start awaits before `load`. Rejects with a SnapshotError when the source can never work. */
  prepare?(): Promise<void>;
  /**
   * Opens and checks the catalogue synchronously: for the start, when no request waits for an answer.
   * @throws SnapshotError when it cannot be used
   */
  load(): ServedCatalogue | undefined;
  /** Whether work of the start is still under way, for which the next `reload` waits. */
  isAwaited?(): boolean;
  /**
   * Loads and warms the catalogue without blocking the event loop. The holder runs one call at a time. Rejects as
   * `load` throws. `unchanged`: it is known to be the catalogue that was loaded last.
   */
  reload(): Promise<ServedCatalogue | undefined | 'unchanged'>;
  /**
   * Called after each reload that gave a catalogue: closes the replaced one, which no request will use again, and frees
   * its memory without blocking the event loop. undefined: it replaced none.
   */
  discard(catalogue: Catalogue | undefined): void;
  /** Ends a reload under way, which then rejects. */
  close(): Promise<void>;
}

export class CatalogueHolder {
  readonly #source: CatalogueSource;
  #served: ServedCatalogue | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isClosed = false;

  /** @throws SnapshotError when the catalogue cannot be used */
  constructor(source: CatalogueSource) {
    this.#source = source;
    this.#served = source.load();
  }

  /** The catalogue to answer from, or undefined when there is none. Ask once for each request, so that no answer mixes two. */
  current(): ServedCatalogue | undefined {
    return this.#served;
  }

  /**
   * Whether the served catalogue can be read whole: false while its file has changed, for example overwritten in place.
   * undefined: there is no catalogue. Looks at the file.
   */
  isReadable(): boolean | undefined {
    return this.#served?.catalogue.snapshot.cold.isUnchanged();
  }

  /**
   * Loads the configured catalogue again. A reload under way may have read the file before it changed, so a later call
   * waits for it and starts another; calls that come meanwhile share that second reload. Resolves without effect once
   * the holder is closed.
   * @throws SnapshotError (rejects) when it cannot be used; the previous catalogue stays in service
   */
  reload(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    const next = this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#start();
      });
    this.#next = next;
    return next;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#served?.catalogue.snapshot.close();
    this.#served = undefined;
    await this.#source.close();
  }

  #start(): Promise<void> {
    const running = this.#replace().finally(() => {
      this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #replace(): Promise<void> {
    if (this.#isClosed) return;
    let served: Awaited<ReturnType<CatalogueSource['reload']>>;
    try {
      served = await this.#source.reload();
    } catch (failure) {
      if (this.#isClosed) return;
      throw failure;
    }
    if (served === 'unchanged') return;
    // A catalogue that arrives after the close is not served.
    const unused = this.#isClosed ? served : this.#served;
    if (!this.#isClosed) this.#served = served;
    this.#source.discard(unused?.catalogue);
  }
}
