/** Used authorizations in the order of their removal. A record takes about 85 bytes. */
import { decodeHex, encodeHex } from '../../base/codec.ts';
import { KeyQueue } from '../../base/key-queue.ts';
import type { ReservationKey } from '../../payment/protocol/order.ts';

/** A used authorization: settled or dead. */
export interface UsedAuthorization {
  readonly key: ReservationKey;
  readonly kind: 'settled' | 'dead';
  readonly validBeforeSeconds: number;
  /** `0x` and 64 lower-case hex digits; '' when none is known. */
  readonly transaction: string;
}

const TRANSACTION_FORM = /^(?:0x[0-9a-f]{64})?$/;

/** Byte offsets within a value. */
const DUE_AT = 0;
const SERIAL_AT = 8;
const VALID_BEFORE_AT = 16;
const FLAGS_AT = 24;
const HASH_AT = 25;
const HASH_BYTES = 32;
const VALUE_BYTES = HASH_AT + HASH_BYTES;

const IS_DEAD = 1;
const HAS_HASH = 2;

/** @throws Error when the transaction does not have the form of {@link UsedAuthorization} */
export function checkTransaction(transaction: string): void {
  if (!TRANSACTION_FORM.test(transaction)) throw new Error('a transaction must be 32 bytes of lower-case hex, or none');
}

export class UsedAuthorizations {
  readonly #queue = new KeyQueue(VALUE_BYTES);

  get count(): number {
    return this.#queue.size;
  }

  /**
   * @param used must have a new key and a transaction that {@link checkTransaction} accepts
   * @param serial its number in the journal
   * @param dueMs earliest monotonic time of its removal; it also waits until all earlier ones are removed
   */
  add(used: UsedAuthorization, serial: number, dueMs: number): void {
    const { key, kind, validBeforeSeconds, transaction } = used;
    const position = this.#queue.append(key);
    const { view, bytes } = this.#queue.valuesOf(position);
    const at = this.#queue.valueOffsetOf(position);
    view.setFloat64(at + DUE_AT, dueMs);
    view.setFloat64(at + SERIAL_AT, serial);
    view.setFloat64(at + VALID_BEFORE_AT, validBeforeSeconds);
    const hash = transaction === '' ? undefined : decodeHex(transaction);
    bytes[at + FLAGS_AT] = (kind === 'dead' ? IS_DEAD : 0) | (hash === undefined ? 0 : HAS_HASH);
    if (hash !== undefined) bytes.set(hash, at + HASH_AT);
  }

  find(key: ReservationKey): Pick<UsedAuthorization, 'kind' | 'transaction'> | undefined {
    const position = this.#queue.find(key);
    return position === undefined ? undefined : this.#endAt(position);
  }

  /** Removes and returns the oldest one if it is due. */
  removeDue(monotonicMs: number): (UsedAuthorization & { readonly serial: number }) | undefined {
    if (this.#queue.size === 0) return undefined;
    const position = this.#queue.first;
    const { view } = this.#queue.valuesOf(position);
    const at = this.#queue.valueOffsetOf(position);
    if (view.getFloat64(at + DUE_AT) > monotonicMs) return undefined;
    const due = {
      key: this.#queue.keyAt(position) as ReservationKey,
      ...this.#endAt(position),
      validBeforeSeconds: view.getFloat64(at + VALID_BEFORE_AT),
      serial: view.getFloat64(at + SERIAL_AT),
    };
    this.#queue.removeFirst();
    return due;
  }

  #endAt(position: number): Pick<UsedAuthorization, 'kind' | 'transaction'> {
    const { bytes } = this.#queue.valuesOf(position);
    const at = this.#queue.valueOffsetOf(position);
    const flags = bytes[at + FLAGS_AT] as number;
    const hash = bytes.subarray(at + HASH_AT, at + HASH_AT + HASH_BYTES);
    return {
      kind: (flags & IS_DEAD) === 0 ? 'settled' : 'dead',
      transaction: (flags & HAS_HASH) === 0 ? '' : encodeHex(hash),
    };
  }
}
