/**
 * Measures memory and lateness of the event loop, and reports both to the overload. `perf_hooks.monitorEventLoopDelay` would
 * not do: it counts a block of two seconds as one sample among many, and Bun's figures mean something else than Node's.
 */
import type { Clock } from '../../base/clock.ts';
import { LatenessWindow } from '../../base/overload/lateness.ts';
import {
  BEGINS,
  COLLECTION_PAUSE_MS,
  ENDS,
  LATE_SHARE,
  MEMORY_PAUSE_MS,
  SAMPLE_PAUSE_MS,
} from '../../base/overload/limits.ts';
import type { Overload } from '../../base/overload/overload.ts';
import type { Timers } from '../../base/timers.ts';
import type { MemoryUse, ProcessMemory } from './process-memory.ts';

export interface SamplerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly memory: ProcessMemory;
  /** Resident memory that the process may hold. */
  readonly memoryLimitBytes: number;
  readonly overload: Overload;
  /** Called when the level of the overload changed. */
  onChange(): void;
}

export class PressureSampler {
  readonly #ports: SamplerPorts;
  readonly #lateness = new LatenessWindow();
  #memory: MemoryUse;
  /** Monotonic times: of the next look, of the next memory measurement, and of the earliest next garbage collection. */
  #dueMs = 0;
  #memoryDueMs = 0;
  #collectionDueMs = 0;
  #cancel = (): void => {};

  constructor(ports: SamplerPorts) {
    this.#ports = ports;
    this.#memory = ports.memory.measure();
  }

  /** The latest measurement. */
  get memory(): MemoryUse {
    return this.#memory;
  }

  /** The lateness that this share of the last five seconds did not exceed; 1 gives the greatest. */
  lateMs(share: number): number {
    return this.#lateness.quantileMs(share, this.#ports.clock.monotonicMs());
  }

  /** Looks at the loop from the end of this turn on: what is left of it is the server's start and makes no request late. */
  start(): void {
    const { clock, timers } = this.#ports;
    this.#report(clock.monotonicMs());
    this.#cancel = timers.after(0, () => this.#look(clock.monotonicMs()));
  }

  stop(): void {
    this.#cancel();
  }

  readonly #onTimer = (): void => {
    const nowMs = this.#ports.clock.monotonicMs();
    this.#lateness.add(nowMs, nowMs - this.#dueMs);
    this.#look(nowMs);
  };

  #look(nowMs: number): void {
    this.#report(nowMs);
    this.#dueMs = nowMs + SAMPLE_PAUSE_MS;
    this.#cancel = this.#ports.timers.after(SAMPLE_PAUSE_MS, this.#onTimer);
  }

  #report(nowMs: number): void {
    const { overload, onChange } = this.#ports;
    if (nowMs >= this.#memoryDueMs) this.#measure(nowMs);
    const lateMs = this.#lateness.quantileMs(LATE_SHARE, nowMs);
    if (overload.report({ memoryShare: this.#memoryShare(), lateMs })) onChange();
  }

  /**
   * Garbage is no pressure, so it is collected before requests are refused for memory, and while memory keeps the
   * overload level up.
   */
  #measure(nowMs: number): void {
    const { memory, overload } = this.#ports;
    this.#memoryDueMs = nowMs + MEMORY_PAUSE_MS;
    this.#memory = memory.measure();
    const bound = overload.level === 0 ? BEGINS : ENDS;
    if (this.#memoryShare() < bound.memoryShare || nowMs < this.#collectionDueMs) return;
    this.#collectionDueMs = nowMs + COLLECTION_PAUSE_MS;
    memory.collect();
    this.#memory = memory.measure();
  }

  #memoryShare(): number {
    const { residentBytes, heap } = this.#memory;
    const heapShare = heap === null ? 0 : heap.usedBytes / heap.limitBytes;
    return Math.max(heapShare, residentBytes / this.#ports.memoryLimitBytes);
  }
}
