/**
 * Bounds the requests in flight of each client network, for a runtime whose server has no hook for connections. Only a request
 * whose answer comes later is counted: others have ended before the next one begins.
 *
 * Looking a client up is dear beside a small answer, so a request in flight names its network only when as many are in flight
 * as one network may have: then all do. Cost: O(1) a call; naming, at most UNNAMED_COUNT_MAX look-ups in one turn.
 */
import { UNNAMED_COUNT_MAX } from './limits.ts';
import type { NetworkCounts } from './network-counts.ts';

interface Client {
  readonly address: string;
}

/** One request in flight. */
export class InFlight {
  readonly client: Client;
  /** What it is counted under; undefined = unnamed yet, or of a client that is not counted. */
  network: string | undefined;

  constructor(client: Client) {
    this.client = client;
  }
}

export class RequestsInFlight {
  readonly #networks: NetworkCounts;
  readonly #countMax: number;
  /** All that are counted under their network. */
  #count = 0;
  readonly #unnamed = new Set<InFlight>();

  /** @param countMax the maximum of `networks` */
  constructor(networks: NetworkCounts, countMax: number) {
    this.#networks = networks;
    this.#countMax = countMax;
  }

  /** Whether this client's network has as many in flight as it may. The address is read only when some network could have. */
  isCrowded(client: Client): boolean {
    if (this.#countMax === 0 || !this.#hasAsManyAsOneMay()) return false;
    for (const request of this.#unnamed) this.#name(request);
    this.#unnamed.clear();
    if (!this.#hasAsManyAsOneMay()) return false;
    const network = this.#networks.countedNetworkOf(client.address);
    return network !== undefined && this.#networks.isFull(network);
  }

  /** Counts a request until its {@link end}; undefined where nothing is counted. */
  begin(client: Client): InFlight | undefined {
    if (this.#countMax === 0) return undefined;
    const request = new InFlight(client);
    if (this.#unnamed.size < UNNAMED_COUNT_MAX && !this.#hasAsManyAsOneMay()) this.#unnamed.add(request);
    else this.#name(request);
    return request;
  }

  /** Call it once. */
  end(request: InFlight): void {
    if (this.#unnamed.delete(request) || request.network === undefined) return;
    this.#count--;
    this.#networks.remove(request.network);
  }

  #hasAsManyAsOneMay(): boolean {
    return this.#count + this.#unnamed.size >= this.#countMax;
  }

  #name(request: InFlight): void {
    const network = this.#networks.countedNetworkOf(request.client.address);
    if (network === undefined || !this.#networks.tryAdd(network)) return;
    request.network = network;
    this.#count++;
  }
}
