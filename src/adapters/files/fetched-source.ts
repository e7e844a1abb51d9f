/**
 * The catalogue behind an http(s) address (siblings §8): fetched at the start and at each reload, checked whole in a thread
 * before it is served, and kept for a start at which the address does not answer.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import type { CatalogueSource, ServedCatalogue } from '../../catalogue/holder.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { FetchedFile } from './fetched-file.ts';

/** How long a start waits for the address; what takes longer is served when it has come. */
const START_WAIT_MS = 10_000;

export interface FetchedPorts {
  readonly timers: Timers;
  /** Folder of the kept copy, made when missing; null: a folder that ends with the source. */
  readonly folder: string | null;
  /** Called with one line about a copy or a file that is not served. */
  onFault(fault: string): void;
}

/** @param fileSource gives the catalogue of the file that its argument names at each call */
export function fetchedSource(
  url: string,
  fileSource: (pathOf: () => string) => CatalogueSource,
  { timers, folder, onFault }: FetchedPorts,
): CatalogueSource {
  const ownFolder = folder === null ? mkdtempSync(join(tmpdir(), 'paygrade-snapshot-')) : undefined;
  const file = new FetchedFile(url, folder ?? ownFolder!, process.pid, timers);
  let path = file.path;
  const source = fileSource(() => path);
  /** What the start serves. */
  let first: ServedCatalogue | undefined;
  /** A fetch under way: one that began at the start may still go on at the first reload. */
  let pending: Promise<ServedCatalogue | 'unchanged'> | undefined;

  async function fetchAndCheck(): Promise<ServedCatalogue | 'unchanged'> {
    const download = await file.fetchNew();
    if (download === undefined) return 'unchanged';
    path = download;
    try {
      // A file always gives a catalogue or rejects.
      const served = (await source.reload()) as ServedCatalogue;
      await file.keep();
      return served;
    } catch (failure) {
      await file.refuse();
      throw new SnapshotError(messageOf(failure).replace(download, `${file.name}: refused`));
    }
  }

  function begin(): Promise<ServedCatalogue | 'unchanged'> {
    const running = fetchAndCheck().finally(() => {
      if (pending === running) pending = undefined;
    });
    pending = running;
    return running;
  }

  async function copy(): Promise<ServedCatalogue | undefined> {
    if (!(await file.hasCopy())) return undefined;
    path = file.path;
    try {
      return source.load();
    } catch (failure) {
      if (!(failure instanceof SnapshotError)) throw failure;
      onFault(`the kept copy is not served: ${failure.message}`);
      await file.dropCopy();
      return undefined;
    }
  }

  return {
    async prepare() {
      await file.open();
      let cancel = (): void => {};
      const waited = new Promise<'waited'>((resolve) => {
        cancel = timers.after(START_WAIT_MS, () => resolve('waited'));
      });
      const fetched = begin().catch((failure: unknown) => {
        if (!(failure instanceof SnapshotError)) throw failure;
        onFault(failure.message);
        return 'failed' as const;
      });
      const result = await Promise.race([fetched, waited]);
      cancel();
      first = typeof result === 'object' ? result : await copy();
    },
    load: () => first,
    reload: () => pending ?? begin(),
    discard: (catalogue) => source.discard(catalogue),
    async close() {
      file.close();
      await pending?.catch(() => {});
      await source.close();
      if (ownFolder !== undefined) rmSync(ownFolder, { recursive: true, force: true });
    },
  };
}
