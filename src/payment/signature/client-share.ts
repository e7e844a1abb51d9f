/**
 * A semaphore with fair shares: a client (by network) may hold as many slots as are free, so one client holds half of them
 * at most, two hold a third each, and a newcomer finds one. It bounds work that a stranger can cause elsewhere, such as a
 * facilitator's verification of a contract wallet's signature. Requests do not queue for a slot.
 */
import { clientNetworkOf } from '../../base/client-network.ts';

export class ClientShare {
  readonly #countMax: number;
  readonly #held = new Map<string, number>();
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** @returns releases the slot that was taken, to be called once; undefined when this client may take none now */
  tryTake(client: string): (() => void) | undefined {
    const network = clientNetworkOf(client);
    const held = this.#held.get(network) ?? 0;
    if (held >= this.#countMax - this.#count) return undefined;
    this.#held.set(network, held + 1);
    this.#count++;
    return () => {
      this.#count--;
      const left = (this.#held.get(network) ?? 1) - 1;
      if (left > 0) this.#held.set(network, left);
      else this.#held.delete(network);
    };
  }
}
