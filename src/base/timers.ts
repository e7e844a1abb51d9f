/** Timers as a port: the domains set timers here and never on the runtime, so that tests control time. */
export interface Timers {
  /**
   * Calls `run` once, about `delayMs` from now, unless it is cancelled first. It may fire up to a millisecond early, as the
   * runtimes' timers do, and after 24 days where the delay is longer, so callers that need the exact moment must check the
   * clock again.
   * @returns cancels the call; harmless afterwards
   */
  after(delayMs: number, run: () => void): () => void;
}
