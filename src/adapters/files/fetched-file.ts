/**
 * A file behind an http(s) address, and its copy for the next start: `snapshot-<digest of the address>.pgs` with its
 * {@link Version} in a `.json` beside it. The copy is replaced by renaming and the version written after it, so that a
 * crash in between costs another download but never pairs a new version with an old file.
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
const VERSION_LENGTH_MAX = 1000;
/** `Last-Modified` has whole seconds. */
const MODIFIED_STEP_MS = 1000;

/**
 * Which version of the file an answer has (RFC 9110 §8.8): its entity tag; without one, when it was last modified and how
 * long it is. Only a tag makes a request conditional: a server would not send an older file that replaced a newer one.
 */
interface Version {
  readonly name: string;
  readonly isTag: boolean;
}

function versionOf({ headers }: Response): Version | undefined {
  const tag = headers.get('etag');
  const modified = headers.get('last-modified');
  const isTag = tag !== null;
  // A file that is written twice in a second is modified at the same time (RFC 9110 §8.8.2.2).
  const isOld = Date.parse(headers.get('date') ?? '') - Date.parse(modified ?? '') >= MODIFIED_STEP_MS;
  if (!isTag && !isOld) return undefined;
  const name = isTag ? tag : `${modified}, ${headers.get('content-length')}`;
  return name.length > VERSION_LENGTH_MAX ? undefined : { name, isTag };
}

/** @param text as `JSON.stringify` wrote it, or damaged */
function writtenVersion(text: string): Version | undefined {
  const { name, isTag } = objectOf(parseJson(text)) ?? {};
  return typeof name === 'string' && typeof isTag === 'boolean' ? { name, isTag } : undefined;
}

const isSame = (one: Version | undefined, other: Version | undefined): boolean =>
  one !== undefined && one.name === other?.name && one.isTag === other.isTag;

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
   * Of the file that is not fetched again: the last one that was kept, served without a copy, or refused. Never two, because
   * some object stores compare the whole header with their tag. undefined = no file, or none whose version is known.
   */
  #known: Version | undefined;
  /** Of the last download. */
  #fresh: Version | undefined;
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
    this.#known = (await exists(this.path)) ? writtenVersion(text) : undefined;
  }

  hasCopy(): Promise<boolean> {
    return exists(this.path);
  }

  /** Call when the kept copy cannot be read now: the next fetch is unconditional. */
  forgetCopy(): void {
    this.#known = undefined;
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
      const tag = this.#known?.isTag === true ? this.#known.name : undefined;
      const response = await fetch(this.#url, {
        headers: { 'accept-encoding': 'identity', ...(tag === undefined ? {} : { 'if-none-match': tag }) },
        signal: abort.signal,
      });
      if (response.status === 304 && tag !== undefined) return undefined;
      if (response.status !== 200) throw new SnapshotError(`${this.name}: answered ${response.status}`);
      const fresh = versionOf(response);
      if (isSame(fresh, this.#known)) {
        abort.abort(); // an unread body holds its connection
        return undefined;
      }
      await this.#write(response, watch);
      this.#hasStatedEnd = response.headers.has('content-length') || response.headers.has('transfer-encoding');
      this.#fresh = fresh;
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
    const version = this.#fresh;
    this.#known = version;
    try {
      await rm(`${this.path}.json`, { force: true });
      await rename(this.#download, this.path);
      if (version !== undefined) await writeFile(`${this.path}.json`, JSON.stringify(version));
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
   * cut on the way is: the version is that of a file which may be sound.
   */
  async refuse(): Promise<void> {
    if (this.#hasStatedEnd) this.#known = this.#fresh;
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
