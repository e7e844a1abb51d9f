/**
 * A semaphore with fair shares: a client network may hold as many slots as are free, so one network holds half of them at
 * most, two hold a third each, and a newcomer finds one. It bounds the work that unpaid requests cause elsewhere, such as a
 * facilitator's verification of a payment. Requests do not queue for a slot.
 */
import { Tally } from '../base/tally.ts';

export class ClientShare {
  readonly #countMax: number;
  readonly #held = new Tally();
  /** Slots that are held. */
  count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Slots that this network holds. */
  heldBy(network: string): number {
    return this.#held.of(network);
  }

  canTake(network: string): boolean {
    return this.heldBy(network) < this.#countMax - this.count;
  }

  /** @returns releases the slot, to be called once; undefined when this network may take none now */
  tryTake(network: string): (() => void) | undefined {
    if (!this.canTake(network)) return undefined;
    this.#held.add(network);
    this.count++;
    return () => {
      this.count--;
      this.#held.add(network, -1);
    };
  }
}
