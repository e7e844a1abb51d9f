/**
 * A spill in a temporary file beside the file being built. Where the system allows it, the file is unlinked at once, so
 * that not even a killed build leaves it behind; elsewhere `close` removes it.
 */
import { closeSync, openSync, readSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { errorCodeOf } from '../../base/failure.ts';
import { printable } from '../../base/printable.ts';
import type { Spill } from '../../catalogue/packed/spill.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';

const BUFFER_BYTES = 2 ** 20;

/** @param path of the file that is being built @throws SnapshotError when no file can be made beside it */
export function openSpillFile(path: string): Spill {
  return new FileSpill(path);
}

class FileSpill implements Spill {
  readonly #beside: string;
  readonly #path: string;
  #descriptor: number;
  /** The last bytes, not in the file yet; the first belongs at offset `#written`. */
  readonly #pending = new Uint8Array(BUFFER_BYTES);
  #pendingLength = 0;
  #written = 0;
  #read = new Uint8Array(BUFFER_BYTES);

  /** @param beside the file that is being built, which the operator knows: errors name it */
  constructor(beside: string) {
    const path = `${beside}.${crypto.randomUUID()}.spill.tmp`;
    this.#beside = beside;
    this.#path = path;
    this.#descriptor = this.#guarded(() => openSync(path, 'wx+', 0o600));
    try {
      unlinkSync(path);
    } catch {
      // Windows does not unlink an open file: `close` removes it.
    }
  }

  append(bytes: Uint8Array): number {
    const start = this.#written + this.#pendingLength;
    if (this.#pendingLength + bytes.length > BUFFER_BYTES) this.#flush();
    if (bytes.length > BUFFER_BYTES) this.#write(bytes);
    else {
      this.#pending.set(bytes, this.#pendingLength);
      this.#pendingLength += bytes.length;
    }
    return start;
  }

  read(offset: number, length: number): Uint8Array {
    if (offset >= this.#written) {
      const start = offset - this.#written;
      return this.#pending.subarray(start, start + length);
    }
    if (offset + length > this.#written) this.#flush();
    if (length > this.#read.length) this.#read = new Uint8Array(length);
    return this.#guarded(() => {
      for (let done = 0; done < length; ) {
        const count = readSync(this.#descriptor, this.#read, done, length - done, offset + done);
        if (count === 0)
          throw new SnapshotError(
            `${printable(this.#beside)}: the temporary file beside it is shorter than what was written`,
          );
        done += count;
      }
      return this.#read.subarray(0, length);
    });
  }

  close(): void {
    if (this.#descriptor === -1) return;
    closeSync(this.#descriptor);
    this.#descriptor = -1;
    rmSync(this.#path, { force: true });
  }

  #flush(): void {
    const bytes = this.#pending.subarray(0, this.#pendingLength);
    this.#pendingLength = 0;
    this.#write(bytes);
  }

  #write(bytes: Uint8Array): void {
    this.#guarded(() => {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#descriptor, bytes, done, bytes.length - done, this.#written + done);
      }
    });
    this.#written += bytes.length;
  }

  #guarded<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (error) {
      if (error instanceof SnapshotError) throw error;
      const words = `the temporary file beside it cannot be used (${errorCodeOf(error)})`;
      throw new SnapshotError(`${printable(this.#beside)}: ${words}`, { cause: error });
    }
  }
}
