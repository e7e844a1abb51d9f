/**
 * The outcomes of the last recoveries, by the bytes that were recovered; the oldest is forgotten first. They lie in typed
 * arrays: a map of this size that changes with each payment would cost the collector more than all the work done here.
 */
import { sha256Latin1 } from '../../base/digest.ts';
import { KEY_LENGTH, KeyQueue } from '../../base/key-queue.ts';
import { OUTCOME_BYTES, outcomeAt, putOutcome } from './outcome-bytes.ts';
import type { Recovered } from './signature.ts';

/** About 0.4 MB. Forgotten ones are recovered again. */
export const RECOVERED_COUNT_MAX = 4096;

/**
 * The key of struct and signature: 16 bytes of a SHA-256 as code units 0..255. Finding two inputs with one key takes 2^64
 * tries, and only lets an attacker who signed the first use a wrong signature for the second.
 */
export const recoveryKeyOf = (bytes: Uint8Array): string => sha256Latin1(bytes).slice(0, KEY_LENGTH);

export class RecentRecoveries {
  readonly #outcomes = new KeyQueue(OUTCOME_BYTES);

  /** @param key from {@link recoveryKeyOf} */
  find(key: string): Recovered | undefined {
    const position = this.#outcomes.find(key);
    if (position === undefined) return undefined;
    return outcomeAt(this.#outcomes.valuesOf(position).bytes, this.#outcomes.valueOffsetOf(position));
  }

  add(key: string, recovered: Recovered): void {
    const position = this.#outcomes.append(key);
    putOutcome(this.#outcomes.valuesOf(position).bytes, this.#outcomes.valueOffsetOf(position), recovered);
    if (this.#outcomes.size > RECOVERED_COUNT_MAX) this.#outcomes.removeFirst();
  }
}
