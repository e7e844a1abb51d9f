/**
 * A file that appears whole or not at all: written under a temporary name in the same folder, synced, then renamed. Writes are
 * buffered, because rejected records arrive line by line. A killed command leaves its temporary file; the next one that writes
 * the same file removes those of more than a day ago.
 */
import { closeSync, fstatSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { removeLeftovers } from '../adapters/files/snapshot-file.ts';
import { DAY_MS } from '../base/durations.ts';
import { errorCodeOf } from '../base/failure.ts';
import { CommandError } from './command.ts';

const BUFFER_BYTES = 64 * 1024;

export class NewFile {
  readonly #path: string;
  readonly #temporaryPath: string;
  readonly #descriptor: number;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #filled = 0;
  #isOpen = true;
  #isCommitted = false;

  /** @throws CommandError when the file cannot be written */
  constructor(path: string) {
    this.#path = path;
    this.#temporaryPath = `${path}.${crypto.randomUUID()}.tmp`;
    // Checked now: the final rename would refuse a folder only after all work, and would replace a device such as /dev/null.
    const existing = this.#orCommandError(() => statSync(path, { throwIfNoEntry: false }));
    if (existing?.isFile() === false) throw new CommandError(`${path} cannot be written: it is not a file`);
    this.#descriptor = this.#orCommandError(() => openSync(this.#temporaryPath, 'wx', 0o644));
    this.#removeLeftovers();
  }

  write(bytes: Uint8Array): void {
    if (this.#filled + bytes.length > BUFFER_BYTES) this.#flush();
    if (bytes.length > BUFFER_BYTES) {
      this.#writeAll(bytes);
      return;
    }
    this.#buffer.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  /** Ends writing: everything is on disk, and `commit` only has to rename it. @throws CommandError */
  finish(): void {
    if (!this.#isOpen) return;
    this.#flush();
    this.#orCommandError(() => fsyncSync(this.#descriptor));
    this.#close();
  }

  /** The file exists when this returns. @throws CommandError */
  commit(): void {
    this.finish();
    this.#orCommandError(() => renameSync(this.#temporaryPath, this.#path));
    this.#isCommitted = true;
  }

  /** Removes the temporary file; after `commit` it does nothing. */
  discard(): void {
    if (this.#isCommitted) return;
    this.#close();
    rmSync(this.#temporaryPath, { force: true });
  }

  /** By the clock of the file system. */
  #removeLeftovers(): void {
    try {
      removeLeftovers(this.#path, fstatSync(this.#descriptor).mtimeMs - DAY_MS);
    } catch {
      // They only take space.
    }
  }

  #flush(): void {
    const filled = this.#filled;
    this.#filled = 0;
    if (filled > 0) this.#writeAll(this.#buffer.subarray(0, filled));
  }

  #writeAll(bytes: Uint8Array): void {
    this.#orCommandError(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
    });
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#descriptor);
  }

  #orCommandError<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (error) {
      throw new CommandError(`${this.#path} cannot be written (${errorCodeOf(error) ?? 'unknown'})`);
    }
  }
}
