/**
 * A request as ways in and handlers see it. The HTTP edge makes one from a Fetch `Request`; another protocol that offers the
 * same operations makes one from its own requests.
 */
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import type { BodySource } from './body.ts';

export interface RequestView {
  /** `req_` and a UUID, as in the error body, the `X-Request-Id` header and the log. */
  readonly requestId: string;
  readonly method: string;
  /** Path as sent, no query. */
  readonly path: string;
  /** Query as sent, with its `?`, or the empty string. */
  readonly search: string;
  /** Path parameters as sent, still percent-encoded, unless the route decodes them. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: BodySource;
  /** A request header's value, or null; `name` in lower case. Repeated headers arrive joined by `, `. */
  header(name: string): string | null;
  /** The client's address, for the log: that of the socket, or the one that a trusted proxy reports; no port, no zone. */
  clientAddress(): string;
  /** The network that counts as one client for rates and shares: the IPv4 address, or the /64 of the IPv6 address. */
  clientNetwork(): string;
  isDisconnected(): boolean;
  /** Calls the listener at most once: when the client disconnects, or after the answer was sent. */
  onDisconnect(listener: DisconnectListener): void;
}

/** What reading a body gave: the input for the handler, and what the admitters must know. */
export interface ReadBody {
  /** The input; undefined where its content says nothing. */
  readonly body?: unknown;
  /** As it arrived; undefined for a request without one. */
  readonly bytes?: Uint8Array;
  /** Seconds that the answer may take before anything is settled; undefined = negligible. */
  readonly answerSeconds?: number;
  /** Whether the answer usually takes seconds, so that it must hold nothing scarce meanwhile. */
  readonly isSlow?: boolean;
  /** Names the purchase, as an identifier of its payment does: secret text of 1 to 64 characters. */
  readonly purchaseKey?: string | undefined;
}
