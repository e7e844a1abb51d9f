/**
 * Bounds the requests in flight of each client network, for a runtime whose server has no hook for connections. Only a
 * request with a deferred answer is counted: any other ends before the next one begins.
 */
import { NetworkCounts } from './network-counts.ts';

export class RequestsInFlight {
  readonly #networks: NetworkCounts;
  readonly #countMax: number;
  /** Number of requests counted. */
  #count = 0;

  /** @param countMax of one network; 0 is off */
  constructor(countMax: number) {
    this.#networks = new NetworkCounts(countMax);
    this.#countMax = countMax;
  }

  /**
   * Whether this client's network has its maximum in flight. Reads the address only when some network could have that many.
   */
  isCrowded(client: { readonly address: string }): boolean {
    if (this.#count < this.#countMax || this.#countMax === 0) return false;
    const network = this.#networks.countedNetworkOf(client.address);
    return network !== undefined && this.#networks.isFull(network);
  }

  /**
   * Counts a request until it is answered.
   * @param answered returns a promise that resolves with the answer and never rejects. Not called where nothing is
   *   counted: the promise would be a good part of the memory of a parked wait (bench/peers, --only waits)
   */
  hold(client: { readonly address: string }, answered: () => Promise<unknown>): void {
    if (this.#countMax === 0) return; // before looking up the address
    const network = this.#networks.countedNetworkOf(client.address);
    if (network === undefined || !this.#networks.tryAdd(network)) return;
    this.#count++;
    void answered().then(() => {
      this.#count--;
      this.#networks.remove(network);
    });
  }
}
