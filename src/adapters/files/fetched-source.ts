/**
 * The catalogue behind an http(s) address (siblings §8): fetched at the start and at each reload, checked whole in a thread
 * before it is served, and kept for a start at which the address does not answer.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../base/failure.ts';
import type { Timers } from '../../base/timers.ts';
import type { CatalogueSource, ServedCatalogue } from '../../catalogue/holder.ts';
import { DamagedSnapshotError, SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { FetchedFile } from './fetched-file.ts';

const START_WAIT_MS = 10_000;

export interface FetchedPorts {
  readonly timers: Timers;
  /** Folder of the kept copy, made when missing; null or not given: a temporary folder, removed with the source. */
  readonly folder?: string | null;
  /** How long a start waits for the address; a slower download is served when it arrives. */
  readonly startWaitMs?: number;
  /** At start the address gave no catalogue, or the stored copy of it cannot be served or written (one line). */
  onSnapshotFault?(fault: string): void;
}

/** The value of a promise, or `waited` if it takes longer than a start may. */
async function inTime<T>(promise: Promise<T>, waitMs: number, timers: Timers): Promise<T | 'waited'> {
  const late = Promise.withResolvers<'waited'>();
  const cancel = timers.after(waitMs, () => late.resolve('waited'));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    cancel();
  }
}

/** Loads a download and removes it if that fails. @throws SnapshotError (rejects) */
async function loaded(source: CatalogueSource, file: FetchedFile, download: string): Promise<ServedCatalogue> {
  try {
    // For a file, `reload` always gives a catalogue or rejects.
    return (await source.reload()) as ServedCatalogue;
  } catch (failure) {
    const isDamaged = failure instanceof DamagedSnapshotError;
    await (isDamaged ? file.refuse() : file.drop());
    const what = isDamaged ? 'refused' : 'cannot be loaded and is tried again';
    throw new SnapshotError(messageOf(failure).replace(download, `${file.name}: ${what}`), { cause: failure });
  }
}

/** The kept copy, unless it is damaged or cannot be read. */
async function keptCatalogue(
  source: CatalogueSource,
  file: FetchedFile,
  ports: FetchedPorts,
): Promise<ServedCatalogue | undefined> {
  try {
    return source.load();
  } catch (failure) {
    if (!(failure instanceof SnapshotError)) throw failure;
    ports.onSnapshotFault?.(`the kept copy is not served: ${failure.message}`);
    if (failure instanceof DamagedSnapshotError) await file.dropCopy();
    else file.forgetCopy();
    return undefined;
  }
}

/** @param fileSource makes a source for the file that its argument names at each load */
export function fetchedSource(
  url: string,
  fileSource: (pathOf: () => string) => CatalogueSource,
  ports: FetchedPorts,
): CatalogueSource {
  const { timers, folder = null, startWaitMs = START_WAIT_MS } = ports;
  // Created by `prepare`, so that a start that ends earlier leaves nothing.
  const ownFolder = folder === null ? join(tmpdir(), `paygrade-snapshot-${crypto.randomUUID()}`) : undefined;
  const file = new FetchedFile(url, folder ?? ownFolder!, process.pid, timers);
  let path = file.path;
  const source = fileSource(() => path);
  /** What the start serves. */
  let first: ServedCatalogue | undefined;
  /** A fetch under way. */
  let pending: Promise<ServedCatalogue | 'unchanged'> | undefined;
  /** The start's fetch, if it took too long: the first reload takes its result, whenever it ends. */
  let late: Promise<ServedCatalogue | 'unchanged'> | undefined;

  async function fetchAndCheck(): Promise<ServedCatalogue | 'unchanged'> {
    const download = await file.fetchNew();
    if (download === undefined) return 'unchanged';
    path = download;
    const served = await loaded(source, file, download);
    const fault = await file.keep();
    if (fault !== undefined)
      ports.onSnapshotFault?.(`${file.name}: is served, but no copy of it can be kept (${fault})`);
    return served;
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
    return keptCatalogue(source, file, ports);
  }

  return {
    async prepare() {
      await file.open(ownFolder === undefined ? undefined : 0o700);
      const running = begin();
      let hasWaited = false;
      const fetched = running.catch((failure: unknown) => {
        if (!(failure instanceof SnapshotError)) throw failure;
        // A reload that takes a late result reports its failure itself.
        if (!hasWaited) ports.onSnapshotFault?.(failure.message);
        return 'failed' as const;
      });
      const result = await inTime(fetched, startWaitMs, timers);
      if (result === 'waited') {
        hasWaited = true;
        late = running;
      }
      if (typeof result === 'object') {
        first = result;
        source.discard(undefined);
      } else first = await copy();
    },
    load: () => first,
    isAwaited: () => late !== undefined,
    reload() {
      const running = late ?? pending ?? begin();
      late = undefined;
      return running;
    },
    discard: (catalogue) => source.discard(catalogue),
    async close() {
      file.close();
      // Both at once: the pending fetch may wait for the thread that `source.close` ends.
      await Promise.all([source.close(), pending?.catch(() => {})]);
      if (ownFolder !== undefined) rmSync(ownFolder, { recursive: true, force: true });
    },
  };
}
