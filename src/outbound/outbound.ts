/** The port through which requests of a stranger's choosing leave the server (siblings §5). */
import type { Coding } from './codings.ts';
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
  /** Bytes of the unpacked body; more is `too-large`. null: the body is left packed, and the answer has its codings. */
  readonly unpackedBytesMax: number | null;
  /** A body whose coding ends early is no answer but `unreachable`; without it, what came before the end is unpacked. */
  readonly isWhole?: boolean;
  readonly signal?: AbortSignal;
  /** Awaited before a part of the unpacked body is kept; the rest is not read meanwhile. */
  onPart?(bytes: number): Promise<void>;
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
  /** In the order of the answer, names in lower case; values have one character a byte. */
  readonly headers: readonly (readonly [string, string])[];
  /** Unpacked, or left packed in a buffer of its own. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** How the body is packed, the outermost first, where the request left it so. */
  readonly codings?: readonly Coding[];
  /** The body is in a coding that was not asked for (RFC 9110 §8.4, RFC 9112 §7), as it was on the wire. */
  readonly isUnreadable?: boolean;
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
