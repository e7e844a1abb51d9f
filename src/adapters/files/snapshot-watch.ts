/**
 * Notices when the catalogue file is replaced (SNAPSHOT_WATCH). It polls once a second: file system notifications are
 * lost on network drives, in containers, and when the watched file is renamed away.
 */
import type { Timers } from '../../base/timers.ts';
import { fileMark } from './snapshot-file.ts';

const LOOK_MS = 1000;

export class SnapshotWatch {
  readonly #path: string;
  #loaded: string | undefined;
  #seen: string | undefined;
  #isMissing = false;
  #cancel = (): void => {};

  /** Construct it before loading the file, so that no change in between is missed. */
  constructor(path: string) {
    this.#path = path;
    this.#loaded = fileMark(path);
    this.#seen = this.#loaded;
  }

  /**
   * @param onReplaced called once for each new file, after two equal looks: by then a producer that writes in place is
   * done
   * @param onMissing called once when the path has no file in two looks in a row, and again after it had one
   */
  start(timers: Timers, onReplaced: () => void, onMissing: () => void): void {
    this.#cancel = timers.after(LOOK_MS, () => {
      const mark = fileMark(this.#path);
      const isStill = mark === this.#seen;
      this.#seen = mark;
      if (mark !== undefined) this.#isMissing = false;
      // In a single look, a path without a file is between two files.
      if (isStill && mark === undefined && !this.#isMissing) {
        this.#isMissing = true;
        onMissing();
      } else if (isStill && mark !== undefined && mark !== this.#loaded) {
        this.#loaded = mark;
        onReplaced();
      }
      this.start(timers, onReplaced, onMissing);
    });
  }

  /** Notes that the present file is about to be loaded, so that it is not reported. */
  noteLoad(): void {
    this.#loaded = fileMark(this.#path);
    this.#seen = this.#loaded;
  }

  stop(): void {
    this.#cancel();
  }
}
