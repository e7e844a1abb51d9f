/** How far this machine's wall clock is off the database's, as the probes show (siblings §9). */
import type { Clock } from '../../base/clock.ts';
import type { Statement } from './connections.ts';

/** How far a process's clock may be off (siblings §9). */
export const SKEW_MS_MAX = 1000;

/** Reads the database's wall clock, milliseconds since 1970, as `now_ms`; `read_only` is `on` for a stand-by. */
export const CLOCK_PROBE: Statement = {
  text: `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms,
    current_setting('transaction_read_only') AS read_only`,
};

/** When a probe was sent. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

const secondsOf = (ms: number): string => (Math.abs(ms) / 1000).toFixed(1);

export class ClockSkew {
  readonly #clock: Clock;
  #fault: string | undefined;
  /** The wall clock less the monotonic one, when the last probe that succeeded was sent. */
  #wallOriginMs: number | undefined;
  /** Monotonic time of that moment. */
  #probedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As the last probe found it; undefined = not too far. */
  get fault(): string | undefined {
    return this.#fault;
  }

  now(): Moment {
    return { wallMs: this.#clock.nowMs(), monotonicMs: this.#clock.monotonicMs() };
  }

  /** How the wall clock was set since the last probe. It may be right only now, so a probe should ask soon. */
  step(): string | undefined {
    const { wallMs, monotonicMs } = this.now();
    const originMs = wallMs - monotonicMs;
    const byMs = originMs - (this.#wallOriginMs ?? originMs);
    if (Math.abs(byMs) <= SKEW_MS_MAX) return undefined;
    return `the clock of this machine was put ${secondsOf(byMs)} s ${byMs > 0 ? 'ahead' : 'back'}`;
  }

  /** A probe that was sent then has just been answered. @param databaseMs the time by the database's clock */
  note(sent: Moment, databaseMs: number): void {
    // One that was sent earlier may be answered later; this machine's clock may have been set in between.
    if (sent.monotonicMs < this.#probedMs) return;
    this.#probedMs = sent.monotonicMs;
    this.#wallOriginMs = sent.wallMs - sent.monotonicMs;
    const unsureMs = (this.#clock.monotonicMs() - sent.monotonicMs) / 2;
    const offMs = databaseMs - (sent.wallMs + unsureMs);
    const isOff = Math.abs(offMs) - unsureMs > SKEW_MS_MAX;
    if (isOff === (this.#fault !== undefined)) return;
    this.#fault = isOff
      ? `the clock of this machine is ${secondsOf(offMs)} s ${offMs > 0 ? 'behind' : 'ahead of'} the database's`
      : undefined;
  }
}
