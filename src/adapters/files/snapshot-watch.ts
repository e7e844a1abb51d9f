/**
 * Notices that another file has taken the place of the catalogue file (SNAPSHOT_WATCH). It looks once a second: notifications of
 * file systems are lost on network drives, in containers, and with the file that is renamed away.
 */
import type { Timers } from '../../base/timers.ts';
import { fileMark } from './snapshot-file.ts';

const LOOK_MS = 1000;

export class SnapshotWatch {
  readonly #path: string;
  #loaded: string | undefined;
  #seen: string | undefined;
  #cancel = (): void => {};

  /** Make it before the file is loaded, and nothing between the two is missed. */
  constructor(path: string) {
    this.#path = path;
    this.#loaded = fileMark(path);
    this.#seen = this.#loaded;
  }

  /**
   * @param onReplaced called once for each new file, when it has been the same for two looks: a producer that writes in place is
   * done by then
   */
  start(timers: Timers, onReplaced: () => void): void {
    this.#cancel = timers.after(LOOK_MS, () => {
      const mark = fileMark(this.#path);
      const isStill = mark === this.#seen;
      this.#seen = mark;
      // A path without a file is between two of them.
      if (isStill && mark !== undefined && mark !== this.#loaded) {
        this.#loaded = mark;
        onReplaced();
      }
      this.start(timers, onReplaced);
    });
  }

  /** The file as it is now is about to be loaded, so it is no news. */
  noteLoad(): void {
    this.#loaded = fileMark(this.#path);
    this.#seen = this.#loaded;
  }

  stop(): void {
    this.#cancel();
  }
}
