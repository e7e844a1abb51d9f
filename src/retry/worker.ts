/**
 * Finds the jobs that are due and carries them on (siblings §6). It starts and drains with the server. The worker holds many
 * more jobs than there are concurrent requests; the outbound client gives turns, fair by customer and by host. How much of one
 * customer is held here leaves room for every other. Time comes from the clock and wake-ups from the timers, so tests own
 * both.
 */
import { messageOf } from '../base/failure.ts';
import { Pauses } from '../base/pauses.ts';
import type { RetryId } from './identifier.ts';
import { JobRunner, type RunnerPorts } from './job-runner.ts';
import {
  CLOSE_GRACE_MS,
  FAULT_PAUSE_MS,
  FEW_PAUSE_MS,
  HELD_BYTES_MAX,
  HELD_COUNT_MAX,
  LOOK_PAUSE_MS_MAX,
  TAKEN_BYTES_MAX,
  TAKEN_COUNT_MAX,
} from './limits.ts';
import { DamagedJobError, type DueJob, type DueQuery, type Taken } from './store.ts';

export interface WorkerPorts extends RunnerPorts {
  /** Called with a failure in the background; the same message twice in a row is reported once. */
  onFailure(failure: unknown): void;
}

/** How much may be taken at once. */
type Room = Pick<DueQuery, 'countMax' | 'bytesMax'>;

interface Held extends DueJob {
  readonly abort: AbortController;
  readonly work: Promise<void>;
}

/** Number of held jobs, and their bytes. */
interface Share {
  count: number;
  bytes: number;
}

export class RetryWorker {
  readonly runner: JobRunner;
  readonly #ports: WorkerPorts;
  readonly #held = new Map<RetryId, Held>();
  /** Held jobs of each customer. */
  readonly #shares = new Map<string, Share>();
  #heldBytes = 0;
  #state: 'new' | 'working' | 'draining' = 'new';
  /** The look in progress. */
  #look: Promise<void> | undefined;
  #isLookWanted = false;
  /** Until then, no look for customers who hold few jobs: the last one found nothing. Monotonic. */
  #fewAtMs = Number.NEGATIVE_INFINITY;
  /** True: there was no room for all due jobs. */
  #isBehind = false;
  /** Monotonic: a wall clock that is set meanwhile must not hide an earlier wake-up. */
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake = (): void => {};
  /** The failure that was reported last, of looks and of work on jobs. One that goes well forgets it. */
  readonly #reported = new Map<'looks' | 'work', string>();
  #onIdle = (): void => {};
  /** Pauses after failures of the store. */
  readonly #pauses: Pauses;
  /** Cancels the timer that interrupts attempts some time after the drain began. */
  #cancelGrace: (() => void) | undefined;

  constructor(ports: WorkerPorts) {
    this.#ports = ports;
    this.#pauses = new Pauses(ports.timers);
    this.runner = new JobRunner(ports);
  }

  /** Held jobs that wait for their turn. */
  get dueCount(): number {
    return this.#held.size - this.runner.underWayCount;
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'working';
    this.#ports.store.onLeaseLost?.(() => this.#abortAll());
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
    const { clock, store, timers } = this.#ports;
    const pauseMs = Math.min(Math.max(0, timeMs - clock.nowMs()), store.lookPauseMs ?? LOOK_PAUSE_MS_MAX);
    const wakeAtMs = clock.monotonicMs() + pauseMs;
    if (this.#state !== 'working' || wakeAtMs >= this.#wakeAtMs) return;
    this.#cancelWake();
    this.#wakeAtMs = wakeAtMs;
    this.#cancelWake = timers.after(Math.ceil(pauseMs), () => {
      this.#wakeAtMs = Number.POSITIVE_INFINITY;
      this.wake();
    });
  }

  /** Aborts the work on a job, if this process holds it. */
  abandon(id: RetryId): void {
    this.#held.get(id)?.abort.abort();
  }

  /**
   * Takes no further jobs, releases those that wait for a turn, and gives attempts in flight CLOSE_GRACE_MS to end. That time
   * begins here, so that it runs in parallel with the drain of other requests.
   */
  drain(): void {
    this.#state = 'draining';
    this.#cancelWake();
    this.runner.isDraining = true;
    for (const { id, abort } of this.#held.values()) if (!this.runner.isUnderWay(id)) abort.abort();
    this.#pauses.endAll();
    if (this.#held.size > 0) this.#beginGrace();
  }

  #beginGrace(): void {
    this.#cancelGrace ??= this.#ports.timers.after(CLOSE_GRACE_MS, () => this.#abortAll());
  }

  /** Waits until all attempts have ended or were interrupted and that is on record. Never rejects. */
  async close(): Promise<void> {
    this.drain();
    // The look may have taken jobs, which must be released.
    await this.#look;
    if (this.#held.size > 0) {
      const idle = Promise.withResolvers<void>();
      this.#onIdle = idle.resolve;
      this.#beginGrace();
      await idle.promise;
    }
    this.#cancelGrace?.();
  }

  #abortAll(): void {
    for (const { abort } of this.#held.values()) abort.abort();
  }

  async #lookAgain(): Promise<void> {
    while (this.#isLookWanted && this.#state === 'working') {
      this.#isLookWanted = false;
      try {
        await this.#takeAll();
        this.#reported.delete('looks');
      } catch (failure) {
        this.#fail('looks', failure);
        this.wakeAt(this.#ports.clock.nowMs() + FAULT_PAUSE_MS);
      }
    }
    this.#look = undefined;
  }

  /** Takes due jobs until none is left, there is no room, or the worker drains. */
  async #takeAll(): Promise<void> {
    while (this.#state === 'working') {
      const { count, bytes } = this.#room();
      const countMax = Math.min(TAKEN_COUNT_MAX, count);
      const bytesMax = Math.min(TAKEN_BYTES_MAX, bytes);
      if (countMax <= 0 || bytesMax <= 0) {
        this.#isBehind = true;
        return;
      }
      const without = this.#crowdedCustomers();
      if (await this.#takeOfFew({ countMax, bytesMax }, without)) continue;
      const { nextDueMs } = await this.#take({ countMax, bytesMax }, without);
      this.#isBehind = without.length > 0;
      if (nextDueMs !== undefined) {
        this.wakeAt(nextDueMs ?? Number.POSITIVE_INFINITY);
        return;
      }
    }
  }

  async #take(room: Room, without: readonly string[]): Promise<Taken> {
    const { store, clock } = this.#ports;
    const taken = await store.takeDue({ nowMs: clock.nowMs(), ...room, without });
    for (const id of taken.abandoned ?? []) this.abandon(id);
    for (const job of taken.jobs) this.#hold(job);
    return taken;
  }

  /**
   * Takes due jobs of customers who hold few jobs or bytes, ahead of the long line of a customer who holds many.
   * @returns false when all customers are next: nothing was found, or no customer holds many
   */
  async #takeOfFew(room: Room, without: readonly string[]): Promise<boolean> {
    const { clock } = this.#ports;
    if (clock.monotonicMs() < this.#fewAtMs) return false;
    const many = [...this.#shares]
      .filter(([, { count, bytes }]) => count >= TAKEN_COUNT_MAX || bytes >= TAKEN_BYTES_MAX)
      .map(([customer]) => customer);
    if (many.length === 0) return false;
    const passed = [...new Set([...without, ...many])];
    const { jobs } = await this.#take(room, passed);
    if (jobs.length === 0) this.#fewAtMs = clock.monotonicMs() + FEW_PAUSE_MS;
    return jobs.length > 0 || this.#state !== 'working';
  }

  #room(): Share {
    return { count: HELD_COUNT_MAX - this.#held.size, bytes: HELD_BYTES_MAX - this.#heldBytes };
  }

  /** Customers who hold as much as there is room left: so none fills all of it, and a newcomer always finds some. */
  #crowdedCustomers(): string[] {
    const room = this.#room();
    if (this.#held.size < room.count && this.#heldBytes < room.bytes) return [];
    return [...this.#shares]
      .filter(([, { count, bytes }]) => count >= room.count || bytes >= room.bytes)
      .map(([customer]) => customer);
  }

  #share({ customer, byteCount }: DueJob, sign: 1 | -1): void {
    const share = this.#shares.get(customer) ?? { count: 0, bytes: 0 };
    share.count += sign;
    share.bytes += sign * byteCount;
    this.#heldBytes += sign * byteCount;
    if (share.count === 0) this.#shares.delete(customer);
    else this.#shares.set(customer, share);
  }

  #hold(job: DueJob): void {
    const abort = new AbortController();
    // After a lost lease, a job may be taken again while its earlier work is still ending here.
    const before = this.#held.get(job.id)?.work;
    const run = (): Promise<void> => this.runner.run(job.id, abort.signal);
    const held: Held = { ...job, abort, work: before?.then(run, run) ?? run() };
    this.#held.set(job.id, held);
    this.#share(job, 1);
    void this.#carry(held);
  }

  async #carry(held: Held): Promise<void> {
    const { id } = held;
    let failed: unknown;
    try {
      await held.work;
      this.#reported.delete('work');
    } catch (failure) {
      failed = failure;
      this.#fail('work', failure);
    }
    let dueAtMs: number | undefined;
    // If released, it would be due again at once, without end.
    if (failed instanceof DamagedJobError) this.#ports.store.setAside(id);
    else {
      if (failed !== undefined) await this.#pause();
      dueAtMs = await this.#released(id);
    }
    // A look may have taken the job again before its release was answered.
    if (this.#held.get(id) === held) this.#held.delete(id);
    this.#share(held, -1);
    if (this.#held.size === 0) this.#onIdle();
    if (dueAtMs !== undefined) this.wakeAt(dueAtMs);
    if (this.#isBehind) this.wake();
  }

  /** Releases a job, retrying while the store fails: no process would find a job that stays held. */
  async #released(id: RetryId): Promise<number | undefined> {
    for (;;) {
      try {
        return await this.#ports.store.release(id);
      } catch (failure) {
        this.#fail('work', failure);
        if (failure instanceof DamagedJobError) {
          this.#ports.store.setAside(id);
          return undefined;
        }
        if (this.#state !== 'working') return undefined;
        await this.#pause();
      }
    }
  }

  /**
   * Holds a job whose step failed a moment longer, so that it is not taken again at once. Not while draining: this timer would
   * not keep a process alive that only waits to close.
   */
  #pause(): Promise<void> {
    if (this.#state !== 'working') return Promise.resolve();
    return this.#pauses.wait(FAULT_PAUSE_MS);
  }

  #fail(part: 'looks' | 'work', failure: unknown): void {
    const message = messageOf(failure);
    if (message === this.#reported.get(part)) return;
    this.#reported.set(part, message);
    this.#ports.onFailure(failure);
  }
}
