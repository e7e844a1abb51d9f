/** How near the server is to its limits at one moment (decisions §4). */
export interface Pressure {
  /** The larger of heap used / its limit and resident memory / its limit: 0 = none, 1 = all of it. */
  readonly memoryShare: number;
  /** How late the event loop begins what arrives, p90 over the last five seconds, milliseconds. */
  readonly lateMs: number;
}

export const PRESSURE_KINDS = ['memory', 'loop'] as const;
export type PressureKind = (typeof PRESSURE_KINDS)[number];
