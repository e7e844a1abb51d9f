/**
 * Places under way at a time, shared fairly among clients: one may hold as many as are free, so one holds half of them at
 * most, two a third each, and a newcomer finds room. For work that a stranger can cause elsewhere (a facilitator's
 * verification of a contract wallet's signature) and that nobody waits in line for.
 */
import { clientNetworkOf } from '../../base/client-network.ts';

export class ClientShare {
  readonly #countMax: number;
  readonly #held = new Map<string, number>();
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** How to give the place back, once; undefined when there is none for this client now. */
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
