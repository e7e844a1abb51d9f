/**
 * Bounds the signature recoveries that unpaid requests can cause (reliability 208). A recovery is the one expensive thing that
 * an unpaid request can cause, so every request for one goes through this queue. It answers at once what needs no recovery,
 * and hands the rest, a few at a time, to the workers: threads, or the main thread one at a time (recovery-stand-in.ts).
 * Beside threads the main thread recovers signatures that come one by one (recovery-main.ts).
 *
 * The queue is fair by client network, so that a flood waits behind itself:
 *   - there are two lanes, one for clients whose payment has settled before and one for newcomers. Lanes take alternate turns,
 *     so a flood from many addresses that never paid takes at most half of the turns;
 *   - within a lane, clients take turns, and each may queue as many entries as there are free slots (fair-queue.ts);
 *   - a signature that turns out to be forged is charged to its lane: each lane may waste a quarter of one processor on
 *     forgeries, and is served no faster than that while they go on. Good signatures are never charged.
 *
 * It answers without a recovery: a signature of a form that no contract takes; a struct and signature that were recovered
 * lately (a repeated forgery, or a replay of a used payment). Equal requests of one client share one recovery.
 *
 * Invariant: every request gets exactly one answer, and a worker never holds more jobs than it has room for. The number of
 * waiting entries and the time of a wait each have a named maximum.
 */
import type { Clock } from '../../base/clock.ts';
import { FairQueue } from '../../base/fair-queue.ts';
import { lruMap } from '../../base/lru-map.ts';
import type { Timers } from '../../base/timers.ts';
import { STRUCT_BYTES } from '../protocol/typed-data.ts';
import { WasteBudget } from '../waste-budget.ts';
import { RecentRecoveries, recoveryKeyOf } from './recent-recoveries.ts';
import { formFault, type Recovered, SIGNATURE_BYTES } from './signature.ts';

/** Entries that may wait in one lane: enough for a burst of 500 honest payments from one address. */
export const WAITING_COUNT_MAX = 1024;
/** Share of one processor that the clients of a lane may waste on forgeries in the long run. */
export const FORGERY_SHARE = 0.25;
/** Milliseconds of recovery that the clients of a lane may waste on forgeries at once, after a quiet while. */
export const FORGERY_BURST_MS = 50;
/** Covers a full backlog of one client on a busy host. Callers must re-check `validBefore` afterwards. */
export const WAIT_MS_MAX = 10_000;
/** An entry that waited less is not checked for a disconnected client: on Bun the check has to create an abort signal. */
const DISCONNECT_CHECK_AFTER_MS = 10;
/** Client networks that have paid. The least recently used one is evicted, and is a newcomer again. */
const PAID_COUNT_MAX = 4096;

export interface RecoveryJob {
  /** EIP-712 struct that was signed, STRUCT_BYTES long. The worker computes its digest. */
  readonly struct: Uint8Array;
  /** 65 bytes, of a form that the contract accepts. */
  readonly signature: Uint8Array;
}

/** Recovers signers: a thread, or the main thread. */
export interface RecoveryWorker {
  /** Jobs that it can take now; 0 while it is busy or unhealthy. */
  freeCount(): number;
  isHealthy(): boolean;
  /** Estimated duration of one recovery on this worker. */
  recoveryMs(): number;
  /** Calls `done` once a job, never synchronously; with undefined when the job failed and its result is not known. */
  start(job: RecoveryJob, done: (recovered: Recovered | undefined) => void): void;
}

/** The main thread beside recovery threads, for jobs that are not worth handing over. */
export interface MainWorker extends Pick<RecoveryWorker, 'freeCount' | 'start'> {
  /** Called for each request that joins the queue. */
  onRequest(): void;
  /** Whether it takes all waiting jobs, one at a time, and the threads take none. */
  isInCharge(): boolean;
}

/**
 * Nothing was recovered: too many requests wait already (of this client, or of all), the wait was too long, no worker is
 * healthy, or the client has disconnected.
 */
export interface RecoveryRejected {
  readonly ok: 'rejected';
  readonly reason: 'client-crowded' | 'crowded' | 'waited-too-long' | 'out-of-order' | 'client-gone';
}

export type Recovery = Recovered | RecoveryRejected;

export interface RecoveryRequest extends RecoveryJob {
  /** The client's network. */
  readonly network: string;
  /** True once the client no longer waits for the answer. */
  isDisconnected(): boolean;
}

interface Waiter {
  readonly isDisconnected: () => boolean;
  readonly resolve: (recovery: Recovery) => void;
}

interface Entry {
  readonly job: RecoveryJob;
  /** Equal for equal struct and signature. */
  readonly key: string;
  /** Network and key: an equal request of another client is a separate entry. */
  readonly id: string;
  readonly network: string;
  readonly sinceMs: number;
  readonly waiters: Waiter[];
}

interface Lane {
  readonly queue: FairQueue<Entry>;
  /** In milliseconds of recovery. */
  readonly forgeries: WasteBudget;
}

const openLane = (): Lane => ({
  queue: new FairQueue(WAITING_COUNT_MAX),
  forgeries: new WasteBudget(FORGERY_BURST_MS, FORGERY_SHARE),
});

/** Scratch: struct and signature side by side. Overwritten by every call of {@link keyOf}. */
const keyBytes = new Uint8Array(STRUCT_BYTES + SIGNATURE_BYTES);

function keyOf({ struct, signature }: RecoveryJob): string {
  keyBytes.set(struct, 0);
  keyBytes.set(signature, STRUCT_BYTES);
  return recoveryKeyOf(keyBytes);
}

const rejected = (reason: RecoveryRejected['reason']): RecoveryRejected => ({ ok: 'rejected', reason });

export class RecoveryQueue {
  readonly #clock: Clock;
  readonly #timers: Timers;
  #isPaused = false;
  #workers: readonly RecoveryWorker[] | undefined;
  #main: MainWorker | undefined;
  readonly #newcomers = openLane();
  readonly #paid = openLane();
  /** Networks of clients whose payment has settled. */
  readonly #paidNetworks = lruMap<string, true>(PAID_COUNT_MAX);
  readonly #recovered = new RecentRecoveries();
  /** Entries that wait or are with a worker, by id. */
  readonly #entries = new Map<string, Entry>();
  #isTurnOfPaid = true;
  #isClosed = false;
  readonly #onNeeded: () => void;

  /**
   * @param workers at least one; their owner calls {@link resume} when one is healthy again. undefined: requests wait until
   *   {@link use} names the workers
   * @param onNeeded called when a request waits for {@link use}
   */
  constructor(
    workers: readonly RecoveryWorker[] | undefined,
    clock: Clock,
    timers: Timers,
    onNeeded: () => void = () => {},
  ) {
    this.#workers = workers;
    this.#clock = clock;
    this.#timers = timers;
    this.#onNeeded = onNeeded;
  }

  /** Hands the waiting requests to workers that have started. @param workers none: rejects requests until there are some */
  use(workers: readonly RecoveryWorker[]): void {
    this.#workers = workers;
    this.resume();
  }

  /** @param main works beside the recovery threads; it takes nothing while no worker is healthy */
  useMain(main: MainWorker): void {
    this.#main = main;
  }

  /** Entries that wait in a lane. */
  get waitingCount(): number {
    return this.#newcomers.queue.count + this.#paid.queue.count;
  }

  /** Moves the client to the lane of those who have paid: its payment has settled. */
  markPaid(network: string): void {
    this.#paidNetworks.set(network, true);
  }

  /** Whether a payment of this network has settled. */
  isKnownPayer(network: string): boolean {
    return this.#paidNetworks.get(network) === true;
  }

  /** Charges the client's lane for a recovery whose address is not the payer's. */
  chargeForgery(network: string): void {
    const worker = this.#workers?.find((one) => one.isHealthy());
    if (worker !== undefined) this.#laneOf(network).forgeries.charge(worker.recoveryMs(), this.#clock.monotonicMs());
  }

  /** Finds the signer of a struct. Synchronous when no recovery is needed or the request is rejected. */
  recover(request: RecoveryRequest): Recovery | Promise<Recovery> {
    const { struct, signature, network } = request;
    const reason = formFault(signature);
    if (reason !== undefined) return { ok: false, reason };
    const key = keyOf(request);
    const known = this.#recovered.find(key);
    if (known !== undefined) return known;
    if (this.#isClosed || this.isOutOfOrder()) return rejected('out-of-order');

    const isDisconnected = (): boolean => request.isDisconnected();
    const id = network + key;
    const equal = this.#entries.get(id);
    if (equal !== undefined) {
      if (equal.waiters.length >= WAITING_COUNT_MAX) return rejected('client-crowded');
      return new Promise((resolve) => equal.waiters.push({ isDisconnected, resolve }));
    }
    const { queue } = this.#laneOf(network);
    if (queue.freeSlotsFor(network) <= 0) return rejected(queue.lengthOf(network) > 0 ? 'client-crowded' : 'crowded');
    return new Promise((resolve) => {
      const entry: Entry = {
        job: { struct, signature },
        key,
        id,
        network,
        sinceMs: this.#clock.monotonicMs(),
        waiters: [{ isDisconnected, resolve }],
      };
      this.#entries.set(id, entry);
      queue.add(entry);
      if (this.#workers === undefined) this.#onNeeded();
      this.#main?.onRequest();
      this.resume();
    });
  }

  /** Gives entries to the free workers. The owner of the workers calls it when one is healthy again or has failed. */
  resume(): void {
    if (this.isOutOfOrder()) {
      this.#rejectAll();
      return;
    }
    for (let worker = this.#free(); worker !== undefined; worker = this.#free()) {
      const entry = this.#next();
      if (entry === undefined) return;
      worker.start(entry.job, (recovered) => {
        if (recovered === undefined) this.#resolve(entry, rejected('out-of-order'));
        else this.#answer(entry, recovered);
        this.resume();
      });
    }
  }

  /** Rejects every entry that waits, and every later request. Jobs that workers hold are still answered. */
  close(): void {
    this.#isClosed = true;
    this.#rejectAll();
  }

  /** Whether no worker is healthy, so that every request is rejected; before {@link use} it is not. */
  isOutOfOrder(): boolean {
    return this.#workers?.every((worker) => !worker.isHealthy()) ?? false;
  }

  #laneOf(network: string): Lane {
    return this.isKnownPayer(network) ? this.#paid : this.#newcomers;
  }

  #rejectAll(): void {
    for (const { queue } of [this.#paid, this.#newcomers]) {
      for (let entry = queue.next(); entry !== undefined; entry = queue.next())
        this.#resolve(entry, rejected('out-of-order'));
    }
  }

  /** The worker for the next entry; undefined while there is no room. */
  #free(): Pick<RecoveryWorker, 'start'> | undefined {
    const main = this.#main;
    if (main === undefined || !main.isInCharge()) return this.#freest();
    return main.freeCount() > 0 ? main : undefined;
  }

  /** The worker with the most room, so that several share the work. */
  #freest(): RecoveryWorker | undefined {
    let freest: RecoveryWorker | undefined;
    let mostFree = 0;
    for (const worker of this.#workers ?? []) {
      const free = worker.freeCount();
      if (free <= mostFree) continue;
      freest = worker;
      mostFree = free;
    }
    return freest;
  }

  /** The next entry whose client still waits for it. */
  #next(): Entry | undefined {
    for (;;) {
      const entry = this.#nextInTurn();
      if (entry === undefined) return undefined;
      const waitedMs = this.#clock.monotonicMs() - entry.sinceMs;
      if (waitedMs > WAIT_MS_MAX) this.#resolve(entry, rejected('waited-too-long'));
      else if (waitedMs >= DISCONNECT_CHECK_AFTER_MS && entry.waiters.every(({ isDisconnected }) => isDisconnected()))
        this.#resolve(entry, rejected('client-gone'));
      else return entry;
    }
  }

  /** The next entry of the lane whose turn it is, or of the other when the first is empty or pauses. */
  #nextInTurn(): Entry | undefined {
    const isTurnOfPaid = this.#isTurnOfPaid;
    this.#isTurnOfPaid = !isTurnOfPaid;
    const nowMs = this.#clock.monotonicMs();
    let pauseMs = Number.POSITIVE_INFINITY;
    for (const { queue, forgeries } of isTurnOfPaid ? [this.#paid, this.#newcomers] : [this.#newcomers, this.#paid]) {
      if (queue.count === 0) continue;
      const laneMs = forgeries.pauseMs(nowMs);
      if (laneMs === 0) return queue.next();
      pauseMs = Math.min(pauseMs, laneMs);
    }
    if (pauseMs !== Number.POSITIVE_INFINITY) this.#pause(pauseMs);
    return undefined;
  }

  /** Resumes when the first paused lane may be served again. */
  #pause(pauseMs: number): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#timers.after(Math.ceil(pauseMs), () => {
      this.#isPaused = false;
      this.resume();
    });
  }

  #answer(entry: Entry, recovered: Recovered): void {
    this.#recovered.add(entry.key, recovered);
    this.#resolve(entry, recovered);
  }

  #resolve(entry: Entry, recovery: Recovery): void {
    this.#entries.delete(entry.id);
    for (const { resolve } of entry.waiters) resolve(recovery);
  }
}
