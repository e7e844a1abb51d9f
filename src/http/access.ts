/**
 * Who has earned an answer, as plain data on a route's declaration, and the port through which a gate decides. The kit
 * knows the order (decode, admit, answer, settle, respond); what a gate checks is the gate's own.
 */
import type { Refusal } from './errors.ts';

/** Ways in. A route lists them in the order in which they are checked; an empty list is open to all. */
export type Access =
  | { readonly kind: 'caller-rate' }
  | { readonly kind: 'x402'; readonly priceUsdc: `${number}` }
  | { readonly kind: 'capacity' }
  | { readonly kind: 'read-token' };

/** At most so many requests a sliding minute from one client address. */
export const perCaller = { kind: 'caller-rate' } as const;

/** One payment a request, in USDC as decimal text: `paid('0.02')`. */
export function paid<P extends `${number}`>(priceUsdc: P): { readonly kind: 'x402'; readonly priceUsdc: P } {
  return { kind: 'x402', priceUsdc };
}

/** Room for what the answer will come to hold, claimed before anybody pays for it. */
export const storageCapacity = { kind: 'capacity' } as const;

/** What a gate may see of a request. */
export interface Visit {
  /** Path as routed, no query. */
  readonly path: string;
  /** Query as sent, with its `?`, or the empty string. */
  readonly search: string;
  /** A request header's value, or null. Repeated headers arrive joined by `, `. */
  header(name: string): string | null;
  /** The caller's address: the socket's, or the proxy's word for it where the operator trusts one. */
  clientAddress(): string;
  /** True once the client has gone away. */
  isDisconnected(): boolean;
}

/** What was asked. The same object may come when it is asked again, so what depends on it alone is kept here. */
export interface Question {
  /** The offer that was made for it. */
  offer: Refusal | undefined;
}

/**
 * A right to one answer. Exactly one of its two methods is called, once: `settle` after the answer was computed and
 * before any of it leaves; `release` when there is no answer to give. Passes settle in the reverse of the order in which
 * they were given, so that what was claimed before the payment is still free to be given back when the payment fails.
 */
export interface Pass {
  /** Headers to add to the answer (names in lower case), or the refusal that takes the answer's place. */
  settle(): Promise<Readonly<Record<string, string>> | Refusal>;
  release(): void;
}

export interface Gate {
  /** `undefined` lets the request through with nothing held. Synchronous when it can be: the unpaid offer is. */
  admit(visit: Visit, question: Question): Pass | Refusal | undefined | Promise<Pass | Refusal | undefined>;
}
