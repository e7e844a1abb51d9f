/** What `SNAPSHOT` names: a snapshot file, one behind an http(s) address, the built-in sample, or nothing. */
import type { Clock } from '../../base/clock.ts';
import { Pauses } from '../../base/pauses.ts';
import { Catalogue } from '../../catalogue/catalogue.ts';
import type { CatalogueSource, ServedCatalogue } from '../../catalogue/holder.ts';
import { CHECKED_FIRST_BYTES_MAX } from '../../catalogue/limits.ts';
import { openColumns, openSnapshot, Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../../catalogue/snapshot/source.ts';
import { type LoadingThread, startLoading } from './catalogue-thread.ts';
import type { LoadedCatalogue, LoadingTask } from './catalogue-wire.ts';
import { type FetchedPorts, fetchedSource } from './fetched-source.ts';
import { openSnapshotFile } from './snapshot-file.ts';

/** The value of `SNAPSHOT` for the built-in sample. */
export const SAMPLE = 'sample';

/** A refused file is read again after this pause: a producer that writes in place may have changed it. */
const REWRITE_PAUSE_MS = 500;
/** Most readings of a file that keeps changing: some ten seconds; then the refusal stands until the next reload. */
const READINGS_MAX = 20;

const NOTHING: CatalogueSource = {
  load: () => undefined,
  reload: async () => undefined,
  discard: () => {},
  close: async () => {},
};

export const isWebAddress = (snapshot: string): boolean => /^https?:\/\//.test(snapshot);

export interface SourcePorts extends FetchedPorts {
  readonly clock: Clock;
  /** The caller runs `Snapshot.checking` for the catalogue of `load`, which reads only some columns of a long file. */
  readonly checksLater?: boolean;
  /** Starts a substitute for the thread of a reload. */
  readonly startLoading?: (task: LoadingTask, name: string) => LoadingThread;
}

/**
 * The source of the catalogue that `SNAPSHOT` names. Asynchronous because it imports modules: only the sample loads the
 * generator and its words. Nothing is opened before `load`.
 * @param snapshot undefined: the process has no catalogue
 */
export async function catalogueSource(snapshot: string | undefined, ports: SourcePorts): Promise<CatalogueSource> {
  if (snapshot === undefined) return NOTHING;
  if (isWebAddress(snapshot)) {
    return fetchedSource(snapshot, (pathOf) => fileSource(pathOf, ports, openSnapshot), ports);
  }
  if (snapshot !== SAMPLE)
    return fileSource(() => snapshot, ports, ports.checksLater === true ? openForStart : openSnapshot);
  const { clock } = ports;
  const { buildSample, sampleSource } = await import('../../ingest/synth/sample.ts');
  const threads = new Threads(ports);
  const load = () => opened(openSnapshot(sampleSource(buildSample(clock.nowMs()))), true);
  return {
    load,
    async reload() {
      const loaded = await threads.load({ kind: 'sample', nowMs: clock.nowMs() }, 'the sample');
      return loaded?.bytes === undefined ? warmed(load()) : servedOf(sampleSource(loaded.bytes), loaded, true);
    },
    discard: (catalogue) => threads.discard(catalogue),
    close: () => threads.close(),
  };
}

/** A file that takes long to check is served once its columns are checked. */
const openForStart = (file: SnapshotSource): Snapshot =>
  file.byteLength > CHECKED_FIRST_BYTES_MAX ? openColumns(file) : openSnapshot(file);

/** @param pathOf called at each load @param openFirst opens the file for the start */
function fileSource(
  pathOf: () => string,
  ports: SourcePorts,
  openFirst: (source: SnapshotSource) => Snapshot,
): CatalogueSource {
  const threads = new Threads(ports);

  /** @returns 'replaced' if the file is refused but has changed since, so that it may be whole now */
  async function read(mayRepeat: boolean): Promise<ServedCatalogue | 'replaced'> {
    const path = pathOf();
    const file = openSnapshotFile(path);
    try {
      const { byteLength, descriptor } = file;
      const loaded = await threads.load({ kind: 'file', path, descriptor, byteLength }, file.name);
      if (loaded !== undefined) {
        const served = await servedOf(file, loaded, false);
        if (file.isUnchanged()) return served;
        threads.discard(served.catalogue);
        throw new SnapshotError(`${file.name}: changed while it was read`);
      }
    } catch (failure) {
      const mayBeWhole = mayRepeat && (await threads.pause(REWRITE_PAUSE_MS)) && file.isReplaced();
      file.close();
      if (mayBeWhole) return 'replaced';
      throw failure;
    }
    file.close();
    return warmed(opened(openSnapshot(openSnapshotFile(path)), false));
  }

  return {
    load: () => opened(openFirst(openSnapshotFile(pathOf())), false),
    async reload() {
      for (let reading = 1; ; reading++) {
        const served = await read(reading < READINGS_MAX);
        if (served !== 'replaced') return served;
      }
    },
    discard: (catalogue) => threads.discard(catalogue),
    close: () => threads.close(),
  };
}

const closing = (name: string): SnapshotError => new SnapshotError(`${name}: the server is closing`);

/** At most one thread at a time, which ends with the source. */
class Threads {
  readonly #ports: SourcePorts;
  #running: LoadingThread | undefined;
  /** A thread that has loaded its catalogue and waits for the memory of the replaced one. */
  #loaded: LoadingThread | undefined;
  readonly #pauses: Pauses;
  #isClosed = false;

  constructor(ports: SourcePorts) {
    this.#ports = ports;
    this.#pauses = new Pauses(ports.timers);
  }

  /** @returns undefined where this host starts no threads @throws SnapshotError */
  async load(task: LoadingTask, name: string): Promise<LoadedCatalogue | undefined> {
    if (this.#isClosed) throw closing(name);
    const running = (this.#ports.startLoading ?? startLoading)(task, name);
    this.#running = running;
    try {
      const done = await running.done;
      this.#running = undefined;
      this.#loaded = done.kind === 'loaded' ? running : undefined;
      if (this.#isClosed) throw closing(name);
      if (done.kind === 'unavailable') return undefined;
      return done.loaded;
    } catch (failure) {
      this.#running = undefined;
      // Must end before the caller closes the descriptor that the thread reads.
      await running.close();
      throw failure;
    }
  }

  discard(catalogue: Catalogue | undefined): void {
    const thread = this.#loaded;
    this.#loaded = undefined;
    const memory = catalogue?.snapshot.release() ?? [];
    if (thread !== undefined) thread.free(memory);
    else for (const buffer of memory) buffer.transfer(0);
  }

  /** @returns false when the source was closed meanwhile */
  async pause(ms: number): Promise<boolean> {
    if (!this.#isClosed) await this.#pauses.wait(ms);
    return !this.#isClosed;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pauses.endAll();
    await Promise.all([this.#running?.close(), this.#loaded?.close()]);
  }
}

const opened = (snapshot: Snapshot, isSynthetic: boolean): ServedCatalogue => ({
  catalogue: new Catalogue(snapshot),
  isSynthetic,
});

function warmed(served: ServedCatalogue): ServedCatalogue {
  served.catalogue.warm();
  return served;
}

/** Lets the event loop answer requests that came meanwhile. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Takes a few milliseconds, whatever the number of jobs, in separate turns: receiving the message already took one. */
async function servedOf(
  source: SnapshotSource,
  { checked, indexes }: LoadedCatalogue,
  isSynthetic: boolean,
): Promise<ServedCatalogue> {
  await nextTurn();
  const catalogue = new Catalogue(new Snapshot(source, checked), indexes);
  await nextTurn();
  catalogue.loadTexts(indexes.cold);
  await nextTurn();
  return { catalogue, isSynthetic };
}
