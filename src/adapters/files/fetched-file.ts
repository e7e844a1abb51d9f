/**
 * A file behind an http(s) address, and its copy for the next start: `snapshot-<digest of the address>.pgs` with its
 * entity tag in a `.json` beside it. The copy is replaced by renaming and the tag written after it, so that a crash in
 * between costs another download but never pairs a new tag with an old file.
 */
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sha256Hex } from '../../base/digest.ts';
import { DAY_MS } from '../../base/durations.ts';
import { objectOf, parseJson } from '../../base/json-value.ts';
import type { Timers } from '../../base/timers.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { fetchCodeOf } from '../outbound/connection-failure.ts';

/** Longest file that is fetched: a hundred million jobs with their descriptions. */
const FETCHED_BYTES_MAX = 256 * 2 ** 30;
/** A download ends when nothing arrives for this time. */
const STALL_MS = 30_000;
/** Age at which unfinished downloads of processes that died are removed. */
const LEFTOVER_MS = DAY_MS;
const ETAG_LENGTH_MAX = 1000;

/** The address without its query, which may hold a signature. */
const shownAddress = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
};

export class FetchedFile {
  /** For the operator: the address without its query. */
  readonly name: string;
  /** Where the kept copy is. */
  readonly path: string;
  readonly #url: string;
  readonly #timers: Timers;
  readonly #download: string;
  /**
   * Tag of the file that is not fetched again: the last one that was kept, served without a copy, or refused. Never two, because
   * some object stores compare the whole header with their tag. undefined = no file, or none with a tag.
   */
  #knownTag: string | undefined;
  /** Tag of the last download. */
  #freshTag: string | undefined;
  /** The answer of the last download stated where its body ends; without that, a body that was cut looks whole. */
  #hasStatedEnd = false;
  #abort: AbortController | undefined;
  #isClosed = false;

  /** @param folder made when missing @param processId keeps downloads of processes that share the folder apart */
  constructor(url: string, folder: string, processId: number, timers: Timers) {
    this.name = shownAddress(url);
    this.path = join(folder, `snapshot-${sha256Hex(url).slice(0, 16)}.pgs`);
    this.#url = url;
    this.#timers = timers;
    this.#download = `${this.path}.${processId}.new`;
  }

  /** Makes the folder and looks for a copy. @param mode of a folder that is made @throws SnapshotError when it cannot be used */
  async open(mode?: number): Promise<void> {
    const folder = dirname(this.path);
    try {
      await mkdir(folder, { recursive: true, mode });
      await this.#removeLeftovers(folder);
    } catch (failure) {
      throw new SnapshotError(
        `SNAPSHOT_CACHE, else STATE_DIR: ${folder} cannot keep a catalogue (${fetchCodeOf(failure)})`,
      );
    }
    const text = await readFile(`${this.path}.json`, 'utf8').catch(() => '');
    const etag = objectOf(parseJson(text))?.etag;
    this.#knownTag = typeof etag === 'string' && (await exists(this.path)) ? etag : undefined;
  }

  hasCopy(): Promise<boolean> {
    return exists(this.path);
  }

  /** Call when the kept copy cannot be read now: the next fetch is unconditional. */
  forgetCopy(): void {
    this.#knownTag = undefined;
  }

  /** Removes a damaged copy: the next fetch is unconditional. */
  async dropCopy(): Promise<void> {
    this.forgetCopy();
    await Promise.all([this.path, `${this.path}.json`].map((path) => rm(path, { force: true })));
  }

  /**
   * Fetches the file unless it is the one that was kept or refused last.
   * @returns where it is now, for `keep`, `drop` or `refuse`; undefined = the address has nothing new
   * @throws SnapshotError of one line (rejects) when the address has no file for us
   */
  async fetchNew(): Promise<string | undefined> {
    if (this.#isClosed) throw new SnapshotError(`${this.name}: the server is closing`);
    const abort = new AbortController();
    this.#abort = abort;
    const watch = new StallWatch(this.#timers, () => abort.abort());
    try {
      const known = this.#knownTag;
      const response = await fetch(this.#url, {
        headers: { 'accept-encoding': 'identity', ...(known === undefined ? {} : { 'if-none-match': known }) },
        signal: abort.signal,
      });
      if (response.status === 304 && known !== undefined) return undefined;
      if (response.status !== 200) throw new SnapshotError(`${this.name}: answered ${response.status}`);
      await this.#write(response, watch);
      this.#hasStatedEnd = response.headers.has('content-length') || response.headers.has('transfer-encoding');
      const tag = response.headers.get('etag') ?? undefined;
      this.#freshTag = tag === undefined || tag.length > ETAG_LENGTH_MAX ? undefined : tag;
      return this.#download;
    } catch (failure) {
      abort.abort(); // an unread body holds its connection
      await this.drop();
      if (failure instanceof SnapshotError) throw failure;
      const why = watch.hasStalled ? `nothing arrived for ${STALL_MS / 1000} s` : fetchCodeOf(failure);
      throw new SnapshotError(`${this.name}: cannot be fetched (${why})`);
    } finally {
      watch.end();
      this.#abort = undefined;
    }
  }

  /**
   * Makes a download that is sound and served the kept copy. Open descriptors of it stay valid.
   * @returns undefined, or why it cannot be kept; even then it is not fetched again before the next start
   */
  async keep(): Promise<string | undefined> {
    const tag = this.#freshTag;
    this.#knownTag = tag;
    try {
      await rm(`${this.path}.json`, { force: true });
      await rename(this.#download, this.path);
      if (tag !== undefined) await writeFile(`${this.path}.json`, JSON.stringify({ etag: tag }));
      return undefined;
    } catch (failure) {
      await this.drop();
      return fetchCodeOf(failure);
    }
  }

  /** Removes a download that cannot be used now, which says nothing about the file: it is fetched again. */
  async drop(): Promise<void> {
    await rm(this.#download, { force: true }).catch(() => {});
  }

  /**
   * Removes a damaged download, which is not fetched again while the address serves the same file. One that may have been
   * cut on the way is: the tag is that of a file which may be sound.
   */
  async refuse(): Promise<void> {
    if (this.#hasStatedEnd) this.#knownTag = this.#freshTag;
    await this.drop();
  }

  /** Ends a download under way, which then rejects. */
  close(): void {
    this.#isClosed = true;
    this.#abort?.abort();
  }

  async #write(response: Response, watch: StallWatch): Promise<void> {
    const file = await open(this.#download, 'w');
    try {
      let byteCount = 0;
      for await (const chunk of response.body ?? []) {
        watch.arrived();
        byteCount += chunk.length;
        if (byteCount > FETCHED_BYTES_MAX) throw new SnapshotError(`${this.name}: is longer than any catalogue`);
        for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done)).bytesWritten;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #removeLeftovers(folder: string): Promise<void> {
    const prefix = `${basename(this.path)}.`;
    for (const name of await readdir(folder)) {
      if (!name.startsWith(prefix) || !name.endsWith('.new')) continue;
      const path = join(folder, name);
      const facts = await stat(path).catch(() => undefined);
      if (facts !== undefined && Date.now() - facts.mtimeMs > LEFTOVER_MS) await unlink(path).catch(() => {});
    }
  }
}

/** Calls back once when nothing has arrived for {@link STALL_MS}. */
class StallWatch {
  hasStalled = false;
  readonly #timers: Timers;
  readonly #onStall: () => void;
  #hasArrived = false;
  #cancel: () => void;

  constructor(timers: Timers, onStall: () => void) {
    this.#timers = timers;
    this.#onStall = onStall;
    this.#cancel = this.#wait();
  }

  arrived(): void {
    this.#hasArrived = true;
  }

  end(): void {
    this.#cancel();
  }

  #wait(): () => void {
    return this.#timers.after(STALL_MS, () => {
      if (this.#hasArrived) {
        this.#hasArrived = false;
        this.#cancel = this.#wait();
        return;
      }
      this.hasStalled = true;
      this.#onStall();
    });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
