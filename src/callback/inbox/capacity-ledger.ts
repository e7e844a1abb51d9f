/**
 * Bytes that callbacks may come to hold, claimed before anybody pays (decisions §5; reliability 126, 127). Every callback
 * claims the same, so that a claim is a count. Claims become callbacks or are given back; callbacks give theirs back when
 * they end. Nothing live is ever put out to make room.
 */
import { CLAIM_BYTES } from '../limits.ts';

export class Room {
  readonly capacityBytes: number;
  readonly #sweep: () => void;
  #claimCount = 0;
  #ownedCount = 0;

  /** @param sweep ends callbacks that are past their end, as far as one turn goes */
  constructor(capacityBytes: number, sweep: () => void) {
    this.capacityBytes = capacityBytes;
    this.#sweep = sweep;
  }

  /** Bytes claimed, by live callbacks and by requests on their way. */
  get claimedBytes(): number {
    return this.#claimCount * CLAIM_BYTES;
  }

  /** One callback's bytes, or false when they are not there. */
  tryClaim(): boolean {
    if (!this.#fits()) this.#sweep();
    if (!this.#fits()) return false;
    this.#claimCount++;
    return true;
  }

  #fits(): boolean {
    return (this.#claimCount + 1) * CLAIM_BYTES <= this.capacityBytes;
  }

  /** Gives back a claim that did not become a callback. */
  release(): void {
    if (this.#claimCount === this.#ownedCount) throw new Error('a claim was given back that nobody held');
    this.#claimCount--;
  }

  /** A claim becomes a callback's. */
  own(): void {
    if (this.#ownedCount === this.#claimCount) throw new Error('a callback was made without a claim');
    this.#ownedCount++;
  }

  /** A callback that was paid for before a restart, whatever the capacity is now. */
  adopt(): void {
    this.#claimCount++;
    this.#ownedCount++;
  }

  /** A callback has ended. */
  vacate(): void {
    if (this.#ownedCount === 0) throw new Error('a callback ended that was not there');
    this.#ownedCount--;
    this.#claimCount--;
  }
}
