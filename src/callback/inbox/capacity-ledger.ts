/**
 * The capacity that one inbox has for callbacks (decisions §5; reliability 126, 127). Every callback claims the same number
 * of bytes, so the ledger counts claims. A claim becomes a callback's or is released; a callback's is released when it ends.
 * Nothing live is ever removed to make room.
 */
import type { CallbackCapacity } from '../callbacks.ts';
import { CLAIM_BYTES } from '../limits.ts';

export class CapacityLedger implements CallbackCapacity {
  readonly capacityBytes: number;
  readonly #sweep: () => void;
  #claimCount = 0;
  #committedCount = 0;

  /** @param sweep ends callbacks that are past their end, as many as one turn of the loop allows */
  constructor(capacityBytes: number, sweep: () => void) {
    this.capacityBytes = capacityBytes;
    this.#sweep = sweep;
  }

  get claimedBytes(): number {
    return this.#claimCount * CLAIM_BYTES;
  }

  tryClaim(): boolean {
    if (!this.#fits()) this.#sweep();
    if (!this.#fits()) return false;
    this.#claimCount++;
    return true;
  }

  #fits(): boolean {
    return (this.#claimCount + 1) * CLAIM_BYTES <= this.capacityBytes;
  }

  release(): void {
    if (this.#claimCount === this.#committedCount) throw new Error('a release without a claim');
    this.#claimCount--;
  }

  /** A claim becomes a callback's. */
  commit(): void {
    if (this.#committedCount === this.#claimCount) throw new Error('a callback was made without a claim');
    this.#committedCount++;
  }

  /** Claims for a callback that was paid for before a restart, even beyond the present capacity. */
  restore(): void {
    this.#claimCount++;
    this.#committedCount++;
  }

  /** A callback has ended. */
  releaseCommitted(): void {
    if (this.#committedCount === 0) throw new Error('a callback ended that was not there');
    this.#committedCount--;
    this.#claimCount--;
  }
}
