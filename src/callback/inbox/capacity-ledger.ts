/**
 * The capacity that one inbox has for callbacks (decisions §5; reliability 126, 127). Every callback claims the same number
 * of bytes, so the ledger counts claims. A new callback commits its claim, or the admitter releases it; a callback's end releases
 * a committed claim. The inbox never removes a live callback to free capacity.
 */
import type { CallbackCapacity } from '../callbacks.ts';
import { CLAIM_BYTES } from '../limits.ts';

export class CapacityLedger implements CallbackCapacity {
  readonly capacityBytes: number;
  readonly #sweep: () => void;
  #claimCount = 0;
  #committedCount = 0;

  /** @param sweep ends expired callbacks, at most SWEEP_COUNT_MAX */
  constructor(capacityBytes: number, sweep: () => void) {
    this.capacityBytes = capacityBytes;
    this.#sweep = sweep;
  }

  get claimedBytes(): number {
    return this.#claimCount * CLAIM_BYTES;
  }

  isFree(): boolean {
    if (!this.#fits()) this.#sweep();
    return this.#fits();
  }

  tryClaim(): boolean {
    if (!this.isFree()) return false;
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

  /** Turns a claim into the claim of a new callback. */
  commit(): void {
    if (this.#committedCount === this.#claimCount) throw new Error('a callback was created without a claim');
    this.#committedCount++;
  }

  /** Claims for a callback from before a restart, even beyond the current capacity, because it is paid for. */
  restore(): void {
    this.#claimCount++;
    this.#committedCount++;
  }

  /** Releases the claim of a callback that has ended. */
  releaseCommitted(): void {
    if (this.#committedCount === 0) throw new Error('a callback without a claim has ended');
    this.#committedCount--;
    this.#claimCount--;
  }
}
