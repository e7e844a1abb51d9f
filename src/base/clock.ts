/** Time as a port: the domains read this clock and never the ambient one. */
export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01T00:00:00Z. It may step. */
  nowMs(): number;
  /** Monotonic clock, milliseconds from an arbitrary origin. It never steps back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
