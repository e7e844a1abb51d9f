/**
 * A request as ways in and handlers see it. The HTTP edge makes one from a Fetch `Request`; another protocol that sells the
 * same operations makes its own.
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
  /** Path parameters as sent, still percent-encoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: BodySource;
  /** A request header's value, or null; `name` in lower case. Repeated headers arrive joined by `, `. */
  header(name: string): string | null;
  /** The client's address: the socket's, or the proxy's word for it where the operator trusts one. */
  clientAddress(): string;
  isDisconnected(): boolean;
  /** Calls the listener when the client disconnects: once, some time later, or when its answer has gone out, or never. */
  onDisconnect(listener: DisconnectListener): void;
}
