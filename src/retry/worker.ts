/**
 * Finds the jobs that are due and carries them on (siblings §6). It starts and drains with the server. Turns: the worker holds many
 * more jobs than requests go out at once, and the way out gives the turns, fair by customer and by host; what one customer may
 * have held here leaves room for every other. Time comes from the clock and wake-ups from the timers, so tests own both.
 */
import { messageOf } from '../base/failure.ts';
import type { Timers } from '../base/timers.ts';
import type { RetryId } from './identifier.ts';
import { JobRunner, type RunnerPorts } from './job-runner.ts';
import {
  CLOSE_GRACE_MS,
  FAULT_PAUSE_MS,
  HELD_BYTES_MAX,
  HELD_COUNT_MAX,
  LOOK_PAUSE_MS_MAX,
  TAKEN_COUNT_MAX,
} from './limits.ts';
import type { DueJob } from './store.ts';

export interface WorkerPorts extends RunnerPorts {
  readonly timers: Timers;
  /** Called with a failure in the background; the same message twice in a row comes once. */
  onFailure(failure: unknown): void;
}

interface Held extends DueJob {
  readonly abort: AbortController;
}

export class RetryWorker {
  readonly runner: JobRunner;
  readonly #ports: WorkerPorts;
  readonly #held = new Map<RetryId, Held>();
  /** Jobs held of each customer. */
  readonly #counts = new Map<string, number>();
  #heldBytes = 0;
  #state: 'new' | 'working' | 'draining' = 'new';
  /** The look that is under way. */
  #look: Promise<void> | undefined;
  #isLookWanted = false;
  /** There was no room for all that was due. */
  #isBehind = false;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake = (): void => {};
  #lastFault: string | undefined;
  #onIdle = (): void => {};

  constructor(ports: WorkerPorts) {
    this.#ports = ports;
    this.runner = new JobRunner(ports);
  }

  /** Jobs that this process holds. */
  get heldCount(): number {
    return this.#held.size;
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'working';
    this.wake();
  }

  /** Looks for due jobs now: one was created, or changed. */
  wake(): void {
    if (this.#state !== 'working') return;
    this.#isLookWanted = true;
    this.#look ??= this.#lookAgain();
  }

  /** Looks for due jobs at that time, or before. */
  wakeAt(timeMs: number): void {
    if (this.#state !== 'working' || timeMs >= this.#wakeAtMs) return;
    this.#cancelWake();
    this.#wakeAtMs = timeMs;
    const pauseMs = Math.min(Math.max(0, timeMs - this.#ports.clock.nowMs()), this.#lookPauseMs);
    this.#cancelWake = this.#ports.timers.after(Math.ceil(pauseMs), () => {
      this.#wakeAtMs = Number.POSITIVE_INFINITY;
      this.wake();
    });
  }

  get #lookPauseMs(): number {
    return this.#ports.store.lookPauseMs ?? LOOK_PAUSE_MS_MAX;
  }

  /** Aborts what is under way of a job, if this process holds it. */
  abandon(id: RetryId): void {
    this.#held.get(id)?.abort.abort();
  }

  /** Takes no further jobs, and lets those go that wait for a turn. */
  drain(): void {
    this.#state = 'draining';
    this.#cancelWake();
    this.runner.isDraining = true;
    for (const { id, abort } of this.#held.values()) if (!this.runner.isUnderWay(id)) abort.abort();
  }

  /** Lets attempts end for a moment, interrupts those that are still under way, and records how they ended. Never rejects. */
  async close(): Promise<void> {
    this.drain();
    // It may have taken jobs, which are to be released.
    await this.#look;
    if (this.#held.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    const cancel = this.#ports.timers.after(CLOSE_GRACE_MS, () => this.#abortAll());
    await idle;
    cancel();
  }

  #abortAll(): void {
    for (const { abort } of this.#held.values()) abort.abort();
  }

  async #lookAgain(): Promise<void> {
    while (this.#isLookWanted && this.#state === 'working') {
      this.#isLookWanted = false;
      try {
        await this.#takeAll();
        this.#lastFault = undefined;
      } catch (failure) {
        this.#fail(failure);
        this.wakeAt(this.#ports.clock.nowMs() + FAULT_PAUSE_MS);
      }
    }
    this.#look = undefined;
  }

  /** Takes what is due until there is no more, or no room. */
  async #takeAll(): Promise<void> {
    const { store, clock } = this.#ports;
    for (;;) {
      const countMax = Math.min(TAKEN_COUNT_MAX, HELD_COUNT_MAX - this.#held.size);
      const bytesMax = HELD_BYTES_MAX - this.#heldBytes;
      if (countMax <= 0 || bytesMax <= 0) {
        this.#isBehind = true;
        return;
      }
      const without = this.#crowdedCustomers();
      const taken = await store.takeDue({ nowMs: clock.nowMs(), countMax, bytesMax, without });
      const { jobs, nextDueMs, abandoned = [] } = taken;
      for (const id of abandoned) this.abandon(id);
      for (const job of jobs) this.#hold(job);
      this.#isBehind = without.length > 0;
      if (nextDueMs !== undefined) {
        this.wakeAt(Math.min(nextDueMs ?? Number.POSITIVE_INFINITY, clock.nowMs() + this.#lookPauseMs));
        return;
      }
      if (this.#state !== 'working') return;
    }
  }

  /** Customers who hold as many jobs as there is room left: one of them never fills it, and a newcomer always finds some. */
  #crowdedCustomers(): string[] {
    const free = HELD_COUNT_MAX - this.#held.size;
    if (this.#held.size < free) return [];
    return [...this.#counts].filter(([, count]) => count >= free).map(([customer]) => customer);
  }

  #hold(job: DueJob): void {
    const held: Held = { ...job, abort: new AbortController() };
    this.#held.set(job.id, held);
    this.#heldBytes += job.byteCount;
    this.#counts.set(job.customer, (this.#counts.get(job.customer) ?? 0) + 1);
    this.#ports.meter.due = this.#held.size - this.#ports.meter.running;
    void this.#carry(held);
  }

  async #carry({ id, customer, byteCount, abort }: Held): Promise<void> {
    const { store, clock } = this.#ports;
    let isFailed = false;
    try {
      await this.runner.run(id, abort.signal);
    } catch (failure) {
      isFailed = true;
      this.#fail(failure);
    }
    if (isFailed) await this.#pause();
    let dueAtMs: number | undefined;
    try {
      dueAtMs = await store.release(id);
    } catch (failure) {
      this.#fail(failure);
      dueAtMs = clock.nowMs() + FAULT_PAUSE_MS;
    }
    this.#held.delete(id);
    this.#heldBytes -= byteCount;
    const count = (this.#counts.get(customer) ?? 1) - 1;
    if (count === 0) this.#counts.delete(customer);
    else this.#counts.set(customer, count);
    this.#ports.meter.due = this.#held.size - this.#ports.meter.running;
    if (this.#held.size === 0) this.#onIdle();
    if (dueAtMs !== undefined) this.wakeAt(dueAtMs);
    if (this.#isBehind) this.wake();
  }

  /** A job whose step failed is held a moment longer, so that it does not come again at once. */
  #pause(): Promise<void> {
    if (this.#state !== 'working') return Promise.resolve();
    return new Promise((resolve) => {
      this.#ports.timers.after(FAULT_PAUSE_MS, resolve);
    });
  }

  #fail(failure: unknown): void {
    const message = messageOf(failure);
    if (message === this.#lastFault) return;
    this.#lastFault = message;
    this.#ports.onFailure(failure);
  }
}
