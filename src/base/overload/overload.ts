/** Whether the server has more work than it can do (decisions §4): two levels with hysteresis, pure. */
import { BEGINS, ENDS, IS_SEVERE } from './limits.ts';
import type { Pressure, PressureKind } from './pressure.ts';

/** 0: no overload. 1: no new offers. 2: no new work, paid or not. */
export type OverloadLevel = 0 | 1 | 2;

const NO_PRESSURE: Pressure = { memoryShare: 0, lateMs: 0 };

const hasReached = ({ memoryShare, lateMs }: Pressure, bound: Pressure): boolean =>
  memoryShare >= bound.memoryShare || lateMs >= bound.lateMs;

/**
 * The level that follows `level` under a pressure. Level 2 falls to 1 as soon as neither pressure would begin level 1, so that
 * paying clients are served again first; level 1 lasts until both pressures are below ENDS.
 */
export function levelAfter(level: OverloadLevel, pressure: Pressure): OverloadLevel {
  if (hasReached(pressure, IS_SEVERE)) return 2;
  if (hasReached(pressure, BEGINS)) return level === 2 ? 2 : 1;
  return level === 0 || !hasReached(pressure, ENDS) ? 0 : 1;
}

/** The kind of pressure that is nearer to, or further beyond, the bound where overload begins. */
export const pressingKindOf = ({ memoryShare, lateMs }: Pressure): PressureKind =>
  memoryShare / BEGINS.memoryShare >= lateMs / BEGINS.lateMs ? 'memory' : 'loop';

/** The current overload: one part of the server reports the pressure, every admitter of a paid route reads the level. */
export class Overload {
  #level: OverloadLevel = 0;
  #pressure = NO_PRESSURE;

  get level(): OverloadLevel {
    return this.#level;
  }

  get pressure(): Pressure {
    return this.#pressure;
  }

  /** The kind of pressure that causes refusals while the level is not 0. */
  get kind(): PressureKind {
    return pressingKindOf(this.#pressure);
  }

  /** @returns whether the level changed */
  report(pressure: Pressure): boolean {
    const before = this.#level;
    this.#pressure = pressure;
    this.#level = levelAfter(before, pressure);
    return this.#level !== before;
  }
}
