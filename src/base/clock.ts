/** Time as a port: the domains never read the ambient clock. */
export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01T00:00:00Z. May step. */
  nowMs(): number;
  /** Monotonic clock, milliseconds from an arbitrary origin. Never steps back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
