/** The port through which requests of a stranger's choosing leave the server (siblings §5). */
import type { Target, TargetPolicy } from './target.ts';

export interface OutboundRequest {
  readonly target: Target;
  readonly method: string;
  /** Names and values; `host`, `content-length`, `accept-encoding`, `connection` and `user-agent` are set by the client. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | null;
  /** Whole request, the look-up and connecting included; waiting for a turn is not part of it. */
  readonly timeoutMs: number;
  /** For fair turns: an organization or a payer. */
  readonly customer: string;
  /** Body bytes read from the wire; what is beyond is cut. */
  readonly wireBytesMax: number;
  /** Bytes of the unpacked body; more is `too-large`. */
  readonly unpackedBytesMax: number;
  /** A body whose coding ends early is no answer but `unreachable`; without it, what came before the end is unpacked. */
  readonly isWhole?: boolean;
  readonly signal?: AbortSignal;
  /** Awaited after the turn is given and the addresses are judged, before the first byte leaves. A rejection ends the request. */
  onSent?(): void | Promise<void>;
  /** Makes headers and body after `onSent`, in place of those above: what is long, or signed with its time, is made in its turn. */
  partsInTurn?(): SentParts;
}

/** What a request carries. */
export type SentParts = Pick<OutboundRequest, 'headers' | 'body'>;

export interface OutboundAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** In the order of the answer, names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  /** Unpacked. */
  readonly body: Uint8Array;
  /** The body on the wire was longer than `wireBytesMax`. */
  readonly isTruncated: boolean;
  readonly durationMs: number;
}

export type OutboundFailureKind = 'blocked' | 'timeout' | 'unreachable' | 'tls-error' | 'too-large' | 'aborted';

export interface OutboundFailure {
  readonly kind: OutboundFailureKind;
  /** One line without the address's path, query, headers or body. */
  readonly detail: string;
  readonly durationMs: number;
}

export type OutboundResult = OutboundAnswer | OutboundFailure;

export interface Outbound {
  readonly policy: TargetPolicy;
  /** Resolves the name and judges every address, without connecting; `unreachable`: the name does not resolve. */
  lookUp(target: Target, signal?: AbortSignal): Promise<'allowed' | 'blocked' | 'unreachable' | 'timeout'>;
  /** Follows no redirects. Rejects only with what `onSent` rejected with. */
  send(request: OutboundRequest): Promise<OutboundResult>;
}
