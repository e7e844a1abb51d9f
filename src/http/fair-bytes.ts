/**
 * Divides a number of bytes among client networks. A network may hold as many bytes as are left free, so one network holds
 * half of them at most, two a third each, and a newcomer always finds some. A network that holds nothing may take all free
 * bytes, so that a single large body is never too large for its share. While less than half is held, no network can exceed its
 * share, so bytes may be held for a network that is not named yet ({@link FairBytes.fitsAnyShare}).
 *
 * Invariant: the bytes held never exceed the maximum. Cost: O(1) a call.
 */
import { Tally } from '../base/tally.ts';

export class FairBytes {
  readonly #bytesMax: number;
  readonly #heldBy = new Tally();
  #held = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** Whether {@link check} finds these bytes `free` for any network, even for one that holds all bytes held so far. */
  fitsAnyShare(bytes: number): boolean {
    return this.#held + bytes <= this.#bytesMax / 2;
  }

  /** Takes nothing. `share`: the network would hold more than is left free. `full`: too few bytes are free. */
  check(network: string, bytes: number): 'free' | 'share' | 'full' {
    const leftBytes = this.#bytesMax - this.#held - bytes;
    if (leftBytes < 0) return 'full';
    const held = this.#heldBy.of(network);
    return held > 0 && held + bytes > leftBytes ? 'share' : 'free';
  }

  /** Only after a check that was `free`. */
  take(network: string, bytes: number): void {
    this.takeUnnamed(bytes);
    this.name(network, bytes);
  }

  /** Returns taken bytes. */
  release(network: string, bytes: number): void {
    this.releaseUnnamed(bytes);
    this.#heldBy.add(network, -bytes);
  }

  /** Takes bytes that {@link fitsAnyShare} for a network that is named later. Name all of them before the next check. */
  takeUnnamed(bytes: number): void {
    this.#held += bytes;
  }

  /** Returns taken bytes that are still unnamed. */
  releaseUnnamed(bytes: number): void {
    this.#held -= bytes;
  }

  /** Names the network of unnamed bytes. */
  name(network: string, bytes: number): void {
    this.#heldBy.add(network, bytes);
  }
}
