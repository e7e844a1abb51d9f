/**
 * A request as ways in, handlers and the log see it. Reading headers and the client's address costs time, so they are read at
 * first use.
 */
import type { ClientConnection, ServedRequest } from '../adapters/listen/listen.ts';
import { type ClientAddress, parseClientAddress } from '../base/client-network.ts';
import { detached } from '../base/detached.ts';
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import type { Random } from '../base/random.ts';
import type { BodyReceiver } from '../http/body-stream.ts';
import type { RequestView } from '../http/request-view.ts';
import type { Target } from '../http/target.ts';
import type { DeliveredRequest } from './deliveries.ts';

export const newRequestId = (random: Random): string => `req_${random.uuid()}`;

/** The facts of a request that its log line shows. */
export interface LoggedRequest extends BodyReceiver {
  readonly method: string;
  readonly path: string;
  /** Monotonic, milliseconds. */
  readonly startMs: number;
  clientAddress(): string;
}

/** What requests need of their server. */
export interface RequestParts {
  readonly random: Random;
  readonly trustProxy: boolean;
}

/** A connection whose listener can close it in the middle of an answer. */
export type CuttableConnection = Required<Pick<ClientConnection, 'cut'>>;

/** The entry is copied out of a longer X-Forwarded-For, so that counters by client do not retain the whole header. */
const FORWARDED_LENGTH_MAX = 512;

function lastEntryOf(forwarded: string): string {
  const entry = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return forwarded.length > FORWARDED_LENGTH_MAX ? detached(entry) : entry;
}

/**
 * The client of a request. Behind a trusted proxy that is the last entry of X-Forwarded-For: the proxy wrote it, while the
 * client may have sent the others. If that entry is not an address (`unknown`, a name, empty), the request counts as the
 * proxy's, because a client must not choose what it is counted as.
 */
function clientAddressOf(peer: string, forwarded: string | null): ClientAddress {
  const reported = forwarded === null ? undefined : parseClientAddress(lastEntryOf(forwarded));
  return reported ?? parseClientAddress(peer) ?? { address: peer, network: peer };
}

export class HttpRequestView implements RequestView, LoggedRequest, DeliveredRequest {
  /** The request itself, as the source of its body. */
  readonly body: ServedRequest;
  readonly path: string;
  readonly search: string;
  readonly params: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly #client: ClientConnection;
  readonly #parts: RequestParts;
  #requestId: string | undefined;
  /** Parsed at the first use. */
  #clientAddress: ClientAddress | undefined;

  constructor(
    request: ServedRequest,
    { path, search }: Target,
    params: Readonly<Record<string, string>>,
    startMs: number,
    client: ClientConnection,
    parts: RequestParts,
  ) {
    this.body = request;
    this.path = path;
    this.search = search;
    this.params = params;
    this.startMs = startMs;
    this.#client = client;
    this.#parts = parts;
  }

  /** Drawn at the first use. */
  get requestId(): string {
    this.#requestId ??= newRequestId(this.#parts.random);
    return this.#requestId;
  }

  get method(): string {
    return this.body.method;
  }

  header(name: string): string | null {
    const client = this.#client;
    return client.header === undefined ? this.body.headers.get(name) : client.header(name);
  }

  clientAddress(): string {
    return this.#clientFacts().address;
  }

  clientNetwork(): string {
    return this.#clientFacts().network;
  }

  #clientFacts(): ClientAddress {
    this.#clientAddress ??= clientAddressOf(
      this.#client.address,
      this.#parts.trustProxy ? this.header('x-forwarded-for') : null,
    );
    return this.#clientAddress;
  }

  /** The connection, if its listener can cut it. Holding it takes less memory than holding the request. */
  get cuttable(): CuttableConnection | undefined {
    const client = this.#client;
    return client.cut === undefined ? undefined : (client as CuttableConnection);
  }

  cut(): boolean {
    const { cuttable } = this;
    cuttable?.cut();
    return cuttable !== undefined;
  }

  isDisconnected(): boolean {
    const client = this.#client;
    return client.isDisconnected?.() ?? this.signal?.aborted ?? false;
  }

  onDelivered(delivered: () => void): boolean {
    const client = this.#client;
    client.onDelivered?.(delivered);
    return client.onDelivered !== undefined;
  }

  get signal(): AbortSignal | undefined {
    return this.body.signal;
  }

  onDisconnect(listener: DisconnectListener): void {
    const client = this.#client;
    if (client.onDisconnect !== undefined) client.onDisconnect(listener);
    else if (this.isDisconnected()) setImmediate(() => listener.handleEvent());
    else this.signal?.addEventListener('abort', listener, { once: true });
  }
}
