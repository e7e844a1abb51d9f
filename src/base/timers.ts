/** Timers as a port: the domains never set one themselves, and tests own the time. */
export interface Timers {
  /**
   * Calls `run` once, `delayMs` or a little later from now, unless it is cancelled first. May fire up to a millisecond
   * early, as runtimes' own timers do: who needs the exact moment looks at the clock again.
   * @returns cancels; harmless after the call
   */
  after(delayMs: number, run: () => void): () => void;
}
