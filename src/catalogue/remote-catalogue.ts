/**
 * The port to a catalogue in other processes: the jobs services that a gate asks (siblings §8). The adapter knows
 * addresses, connections and timeouts; the question itself knows what a valid answer is.
 */

/** One question to a jobs service. */
export interface RemoteQuestion<A> {
  /** Path of the public route: `/v1/jobs/search`. */
  readonly path: `/${string}`;
  /** Query without its `?`; empty = none. */
  readonly query: string;
  /**
   * Judges a body. Called once, for status 200 or 404.
   * @returns undefined if the body is no answer to this question
   */
  read(status: 200 | 404, text: string): A | undefined;
}

export type RemoteAnswer<A> =
  | { readonly kind: 'answer'; readonly answer: A }
  /** A service returned something that is no answer. @param detail one line for the log, without text of the service */
  | { readonly kind: 'invalid'; readonly detail: string }
  /** No answer within the time for all services together. */
  | { readonly kind: 'late'; readonly detail: string }
  /** No service could be asked. */
  | { readonly kind: 'unavailable'; readonly detail: string };

export interface RemoteCatalogue {
  /** False only while every service is known to be unreachable: then no offer is made. */
  readonly canAsk: () => boolean;
  /** The longest that a question takes, all services together. */
  readonly timeoutMs: number;
  /** Never rejects. Each service is asked at most once, one after the other. */
  ask<A>(question: RemoteQuestion<A>): Promise<RemoteAnswer<A>>;
}
