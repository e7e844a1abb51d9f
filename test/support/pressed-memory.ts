/** The memory of a process as set by a test, with a limit of 1,000 bytes. */
import type { ProcessMemory } from '../../src/adapters/process/process-memory.ts';

export const LIMIT_BYTES = 1_000;

export class PressedMemory implements ProcessMemory {
  residentBytes = 0;
  heap: { usedBytes: number; limitBytes: number } | null = null;
  /** Bytes that a collection frees. */
  garbageBytes = 0;
  collectionCount = 0;

  measure() {
    return { residentBytes: this.residentBytes, heap: this.heap };
  }

  collect(): void {
    this.collectionCount++;
    this.residentBytes -= this.garbageBytes;
    this.garbageBytes = 0;
  }
}
