/**
 * Encrypts a job's secrets (siblings §6, §9) under a key that HMAC-SHA-256 derives from the state key. The job's id is
 * authenticated too, so a record cannot be opened in place of another.
 */
import { createHmac } from 'node:crypto';
import type { Random } from '../base/random.ts';
import { sealed, unsealed } from '../base/sealed.ts';
import type { RetryId } from './identifier.ts';
import { DamagedJobError } from './store.ts';

/** The label under which this key is derived from the state key. */
const PURPOSE = 'paygrade retries';
/** The label of {@link Sealer.purchaseKeyOf}. */
const PURCHASES = 'paygrade purchases of retries\n';

export class Sealer {
  readonly #stateKey: Uint8Array;
  /** Derived at the first use. */
  #derived: Uint8Array | undefined;
  readonly #random: Random;

  /** @param stateKey 32 secret bytes, the same after a restart */
  constructor(stateKey: Uint8Array, random: Random) {
    this.#stateKey = stateKey;
    this.#random = random;
  }

  get #key(): Uint8Array {
    this.#derived ??= createHmac('sha256', this.#stateKey).update(PURPOSE).digest();
    return this.#derived;
  }

  /**
   * A name for the purchase under an idempotency key, 43 characters. The idempotency key may be easy to guess, so the state
   * key is mixed in: the payment's records hold a digest of the name and an answer sealed under it, which alone reveal
   * nothing.
   */
  purchaseKeyOf(idempotencyKey: string): string {
    return createHmac('sha256', this.#stateKey).update(PURCHASES).update(idempotencyKey).digest('base64url');
  }

  seal(id: RetryId, text: string): Uint8Array {
    return new Uint8Array(sealed(this.#key, text, id, this.#random));
  }

  /** @throws DamagedJobError when the bytes were sealed for another job or with another key, or were changed */
  open(id: RetryId, bytes: Uint8Array): string {
    try {
      return unsealed(this.#key, bytes, id);
    } catch (cause) {
      throw new DamagedJobError(id, 'what it carries was changed, or sealed with another STATE_KEY', { cause });
    }
  }
}
