/** The port for outbound requests: requests to addresses that customers chose (siblings §5). */
import type { Coding } from './codings.ts';
import type { Target, TargetPolicy } from './target.ts';

export interface OutboundRequest {
  readonly target: Target;
  readonly method: string;
  /** Names and values; the guarded client adds `host`, `content-length`, `accept-encoding`, `connection` and `user-agent`. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | null;
  /** For the whole request, including look-up and connecting, but not waiting for a turn. */
  readonly timeoutMs: number;
  /** For fair turns: an organization or a payer. */
  readonly customer: string;
  /** Body bytes read from the wire; the rest is cut off. */
  readonly wireBytesMax: number;
  /** Bytes of the unpacked body; more is `too-large`. null: the body is left packed, and the answer states its codings. */
  readonly unpackedBytesMax: number | null;
  /** True: a packed body over `wireBytesMax` is `unreachable`, not an answer. Otherwise the part before the cut is unpacked. */
  readonly isWhole?: boolean;
  readonly signal?: AbortSignal;
  /** Whether the head is all that is wanted of an answer: its body is then left unread, and the answer has an empty one. */
  endsAtHead?(head: AnswerHead): boolean;
  /** Awaited before a part of the unpacked body is retained; the rest is not read meanwhile. */
  onPart?(bytes: number): Promise<void>;
  /** Awaited once the turn is granted and the addresses are judged, before the first byte is sent. Rejecting ends the request. */
  onSent?(): void | Promise<void>;
  /** Makes headers and body after `onSent`, in place of those above: for parts that are long, or signed with their time. */
  partsInTurn?(): SentParts;
}

/** What a request carries. */
export type SentParts = Pick<OutboundRequest, 'headers' | 'body'>;

/** Status and headers of an answer. */
export type AnswerHead = Pick<OutboundAnswer, 'headers' | 'status'>;

export interface OutboundAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** In the order of the answer, names in lower case; values have one character a byte. */
  readonly headers: readonly (readonly [string, string])[];
  /** Unpacked, or left packed in a separate buffer. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The codings of a body that was left packed, the outermost first. */
  readonly codings?: readonly Coding[];
  /** The body is in a coding that was not requested (RFC 9110 §8.4, RFC 9112 §7); it is as on the wire. */
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
