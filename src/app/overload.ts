/** Overload as a component: measurement, metrics, and the report to the operator. */
import { Shedding } from '../access/overload.ts';
import { defaultMemoryLimitBytes } from '../adapters/process/memory-limit.ts';
import { PressureSampler } from '../adapters/process/pressure-sampler.ts';
import type { ProcessMemory } from '../adapters/process/process-memory.ts';
import type { Clock } from '../base/clock.ts';
import { LATE_SHARE, LATENESS_WINDOW_MS } from '../base/overload/limits.ts';
import { Overload, type OverloadLevel } from '../base/overload/overload.ts';
import type { Pressure, PressureKind } from '../base/overload/pressure.ts';
import type { Exposition } from '../base/prometheus.ts';
import type { Timers } from '../base/timers.ts';
import type { Component, SharedConfig } from '../modules/module.ts';

/** Overload began, changed or ended. */
export interface OverloadChange extends Pressure {
  readonly level: OverloadLevel;
  readonly kind: PressureKind;
}

export interface OverloadPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** The memory of the process; undefined = the app measures no pressure and is never overloaded. */
  readonly memory?: ProcessMemory | undefined;
  /** Called at each change of the level. */
  onOverload?(change: OverloadChange): void;
}

export interface OpenOverload {
  readonly shedding: Shedding;
  readonly component: Component;
}

const LATENESS_SHARES = { p50: 0.5, p90: LATE_SHARE, max: 1 } as const;

const LAG_HELP = `How late the event loop began what arrived, last ${LATENESS_WINDOW_MS / 1000} s.`;

function writeMeasured(page: Exposition, sampler: PressureSampler, memoryLimitBytes: number): void {
  page.family('paygrade_event_loop_lag_seconds', 'gauge', LAG_HELP);
  for (const [statistic, share] of Object.entries(LATENESS_SHARES)) {
    page.sample(sampler.lateMs(share) / 1000, { statistic });
  }
  page.single('paygrade_memory_limit_bytes', 'gauge', 'Resident memory that the process may hold.', memoryLimitBytes);
  const { heap } = sampler.memory;
  if (heap === null) return;
  page.single('paygrade_heap_limit_bytes', 'gauge', 'Size to which the runtime lets the heap grow.', heap.limitBytes);
}

export function openOverload(
  config: Pick<SharedConfig, 'memoryLimitBytes' | 'shedding'>,
  { clock, timers, memory, onOverload }: OverloadPorts,
): OpenOverload {
  const overload = new Overload();
  // Without SHEDDING the admitters read an overload that never begins.
  const shedding = new Shedding(config.shedding ? overload : new Overload());
  const memoryLimitBytes = memory === undefined ? 0 : (config.memoryLimitBytes ?? defaultMemoryLimitBytes());
  const onChange = (): void => {
    const { level, kind, pressure } = overload;
    onOverload?.({ level, kind, ...pressure });
  };
  const sampler = memory && new PressureSampler({ clock, timers, memory, memoryLimitBytes, overload, onChange });
  return {
    shedding,
    component: {
      metrics(page) {
        if (sampler !== undefined) writeMeasured(page, sampler, memoryLimitBytes);
        const { level, pressure } = overload;
        page
          .single('paygrade_memory_pressure_ratio', 'gauge', 'Memory in use, of its limit.', pressure.memoryShare)
          .single('paygrade_overload_level', 'gauge', '0 none, 1 no new offers, 2 no payments either.', level)
          .family('paygrade_shed_requests_total', 'counter', 'Requests that overload refused, by reason.');
        shedding.writeCounts(page);
      },
      start: () => sampler?.start(),
      close: () => sampler?.stop(),
    },
  };
}
