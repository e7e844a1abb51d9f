/** Counts each client network's connections or requests in flight against one maximum. */
import { clientNetworkOf } from '../../base/client-network.ts';
import { isLoopback } from '../../base/ip-address.ts';
import { Tally } from '../../base/tally.ts';

export class NetworkCounts {
  readonly #countMax: number;
  readonly #counts = new Tally();

  /** @param countMax of one network; 0 is off */
  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /**
   * The network to count an address under; undefined if it is not counted: the bound is off, or the address is unknown or
   * loopback, so that of a proxy, a probe or the operator.
   */
  countedNetworkOf(address: string): string | undefined {
    return this.#countMax === 0 || address === '' || isLoopback(address) ? undefined : clientNetworkOf(address);
  }

  /** Whether the network has reached the maximum. */
  isFull(network: string): boolean {
    return this.#counts.of(network) >= this.#countMax;
  }

  /** False: the network has reached the maximum, and nothing was counted. */
  tryAdd(network: string): boolean {
    if (this.isFull(network)) return false;
    this.#counts.add(network);
    return true;
  }

  /** Takes back one that was added. */
  remove(network: string): void {
    this.#counts.add(network, -1);
  }
}
