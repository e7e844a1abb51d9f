/**
 * The bound on signature recoveries that nobody has paid for (reliability 208). A recovery is the one expensive thing a
 * stranger can cause, so each goes through here: what needs none is answered at once, and the others wait their turn for the
 * places where recoveries are worked off (worker threads, or the main thread one at a time).
 *
 * Fair by client network, so that a flood waits behind itself:
 *   - turns go round among the clients that wait, one recovery each;
 *   - a client may have as many waiting as there are free places left, so one fills half of them at most, two a third each,
 *     and a newcomer finds room;
 *   - clients whose payment has settled have places of their own and every other turn: a flood from many addresses that
 *     never paid takes half of the turns at most;
 *   - what turns out to be forged is charged: each of the two kinds of clients may have a quarter of one processor wasted on
 *     forgeries, and is served no faster than that while they go on. Good signatures are never charged.
 *
 * Answered without a recovery: a signature of a form that no contract takes; the very signature over the same struct that
 * was recovered lately (a repeated forgery, or a replay of a payment that was used). The same one waiting twice waits once.
 *
 * Invariant: every request gets exactly one answer, and the places hold at most their own number of jobs. What waits has a
 * named maximum in number and in time.
 */
import { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import { clientNetworkOf } from '../../base/client-network.ts';
import type { Clock } from '../../base/clock.ts';
import type { Timers } from '../../base/timers.ts';
import { STRUCT_BYTES } from '../protocol/typed-data.ts';
import { formFault, type Recovered, SIGNATURE_BYTES } from './signature.ts';

/** Waiting recoveries of each of the two kinds of clients: enough for a burst of 500 honest payments from one address. */
export const WAITING_COUNT_MAX = 1024;
/** Longer than a client's full half of the places takes on a busy machine; who asks sees to the runway that is left then. */
export const WAIT_MS_MAX = 10_000;
/** Whether a client is still there is asked after so long: on Bun a signal has to be made for the question. */
const GONE_AFTER_MS = 10;
/** Processor time that each kind of clients may have wasted on forgeries, of all time; and at once, after a quiet while. */
export const FORGERY_SHARE = 0.25;
export const FORGERY_BURST_MS = 50;
/** About 2 MB. Forgotten ones are recovered again. */
const RECOVERED_COUNT_MAX = 4096;
/** Client networks that have paid; the one seen longest ago is forgotten, and is then a newcomer. */
const KNOWN_COUNT_MAX = 4096;

export interface RecoveryJob {
  /** What was signed, STRUCT_BYTES of typed data; its digest is made where the job is done. */
  readonly struct: Uint8Array;
  /** 65 bytes, of a form that the contract takes. */
  readonly signature: Uint8Array;
}

/** Where recoveries are worked off. */
export interface RecoveryWorker {
  /** Jobs that it can take now; 0 while it is busy or out of order. */
  freeCount(): number;
  isHealthy(): boolean;
  /** What one recovery takes here, about. */
  recoveryMs(): number;
  /** Called once a job, never from inside; undefined: it was not done, and nobody knows the answer. */
  start(job: RecoveryJob, done: (recovered: Recovered | undefined) => void): void;
}

/** No answer: too many wait already (of this client, or of all), or nobody works. Nothing was recovered. */
export interface RecoveryRejected {
  readonly ok: 'turned-away';
  readonly reason: 'client-crowded' | 'crowded' | 'waited-too-long' | 'out-of-order' | 'client-gone';
}

export type Recovery = Recovered | RecoveryRejected;

export interface RecoveryRequest extends RecoveryJob {
  /** Address of the client as text. */
  readonly client: string;
  /** True once nobody waits for the answer any more. */
  isDisconnected(): boolean;
}

/** For metrics, tests and benches. */
export interface RecoveryCounts {
  /** Recoveries that were worked off. */
  readonly recovered: number;
  /** Answered from memory or together with an equal one. */
  readonly repeated: number;
  readonly turnedAway: number;
  readonly waiting: number;
}

interface Waiter {
  readonly isDisconnected: () => boolean;
  readonly resolve: (recovery: Recovery) => void;
}

interface Entry {
  readonly job: RecoveryJob;
  /** Equal for equal struct and signature. */
  readonly key: string;
  /** Network and key: an equal one of another client has a turn of its own. */
  readonly place: string;
  readonly network: string;
  readonly sinceMs: number;
  readonly waiters: Waiter[];
}

/** Struct and signature in one piece. Kept and overwritten: one call runs at a time. */
const keyBytes = Buffer.alloc(STRUCT_BYTES + SIGNATURE_BYTES);

function keyOf({ struct, signature }: RecoveryJob): string {
  keyBytes.set(struct, 0);
  keyBytes.set(signature, STRUCT_BYTES);
  return keyBytes.toString('latin1');
}

const turnedAway = (reason: RecoveryRejected['reason']): RecoveryRejected => ({ ok: 'turned-away', reason });

/** Those who wait, first come first served within a client, turn by turn among clients. */
class Lane {
  /** In the order of turns; no entry is empty. */
  readonly #queues = new Map<string, Entry[]>();
  count = 0;
  /** Time that forgeries may still take; below zero nobody is served. */
  #allowanceMs = FORGERY_BURST_MS;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /** 0 when the next one can be served, otherwise the time until then. */
  pauseMs(nowMs: number): number {
    this.#allowanceMs = Math.min(FORGERY_BURST_MS, this.#allowanceMs + (nowMs - this.#sinceMs) * FORGERY_SHARE);
    this.#sinceMs = nowMs;
    return Math.max(0, -this.#allowanceMs / FORGERY_SHARE);
  }

  charge(spentMs: number, nowMs: number): void {
    this.pauseMs(nowMs);
    this.#allowanceMs -= spentMs;
  }

  /** Places that this client may still take. */
  roomFor(network: string): number {
    return WAITING_COUNT_MAX - this.count - this.lengthOf(network);
  }

  lengthOf(network: string): number {
    return this.#queues.get(network)?.length ?? 0;
  }

  add(entry: Entry): void {
    const queue = this.#queues.get(entry.network);
    if (queue === undefined) this.#queues.set(entry.network, [entry]);
    else queue.push(entry);
    this.count++;
  }

  next(): Entry | undefined {
    for (const [network, queue] of this.#queues) {
      const entry = queue.shift();
      // The client goes to the end of the round.
      this.#queues.delete(network);
      if (queue.length > 0) this.#queues.set(network, queue);
      this.count--;
      return entry;
    }
    return undefined;
  }
}

export class RecoveryQueue {
  readonly #clock: Clock;
  readonly #timers: Timers;
  #isPaused = false;
  readonly #places: readonly RecoveryWorker[];
  readonly #newcomers = new Lane();
  readonly #customers = new Lane();
  readonly #known = new LRUCache<string, true>({ max: KNOWN_COUNT_MAX });
  readonly #recovered = new LRUCache<string, Recovered>({ max: RECOVERED_COUNT_MAX });
  /** Waiting or being worked off, by place. */
  readonly #entries = new Map<string, Entry>();
  #isCustomersTurn = true;
  #isClosed = false;
  #recoveredCount = 0;
  #repeatedCount = 0;
  #turnedAwayCount = 0;

  /** @param places at least one; whoever owns them calls {@link resume} when one is in order again */
  constructor(places: readonly RecoveryWorker[], clock: Clock, timers: Timers) {
    this.#places = places;
    this.#clock = clock;
    this.#timers = timers;
  }

  counts(): RecoveryCounts {
    return {
      recovered: this.#recoveredCount,
      repeated: this.#repeatedCount,
      turnedAway: this.#turnedAwayCount,
      waiting: this.#newcomers.count + this.#customers.count,
    };
  }

  /** This client's payment has settled. */
  markPaid(client: string): void {
    this.#known.set(clientNetworkOf(client), true);
  }

  /** What was recovered for this client is not who was to pay. */
  chargeForgery(client: string): void {
    const place = this.#places.find((one) => one.isHealthy());
    if (place !== undefined)
      this.#laneOf(clientNetworkOf(client)).charge(place.recoveryMs(), this.#clock.monotonicMs());
  }

  recover(request: RecoveryRequest): Recovery | Promise<Recovery> {
    const { struct, signature } = request;
    const reason = formFault(signature);
    if (reason !== undefined) return { ok: false, reason };
    const key = keyOf(request);
    const known = this.#recovered.get(key);
    if (known !== undefined) {
      this.#repeatedCount++;
      return known;
    }
    if (this.#isClosed || !this.#places.some((place) => place.isHealthy())) return this.#turnAway('out-of-order');

    const network = clientNetworkOf(request.client);
    const isDisconnected = (): boolean => request.isDisconnected();
    const place = network + key;
    const equal = this.#entries.get(place);
    if (equal !== undefined) {
      if (equal.waiters.length >= WAITING_COUNT_MAX) return this.#turnAway('client-crowded');
      this.#repeatedCount++;
      return new Promise((resolve) => equal.waiters.push({ isDisconnected, resolve }));
    }
    const lane = this.#laneOf(network);
    if (lane.roomFor(network) <= 0) return this.#turnAway(lane.lengthOf(network) > 0 ? 'client-crowded' : 'crowded');
    return new Promise((resolve) => {
      const entry: Entry = {
        job: { struct, signature },
        key,
        place,
        network,
        sinceMs: this.#clock.monotonicMs(),
        waiters: [{ isDisconnected, resolve }],
      };
      this.#entries.set(place, entry);
      lane.add(entry);
      this.resume();
    });
  }

  /** Fills the free places; to be called when one that was out of order works again, or when one has failed. */
  resume(): void {
    if (!this.#places.some((place) => place.isHealthy())) {
      this.#turnAllAway();
      return;
    }
    for (let place = this.#freest(); place !== undefined; place = this.#freest()) {
      const entry = this.#next();
      if (entry === undefined) return;
      place.start(entry.job, (recovered) => {
        if (recovered === undefined) this.#answerWith(entry, 'out-of-order');
        else this.#answer(entry, recovered);
        this.resume();
      });
    }
  }

  /** Whoever waits is turned away; what is being worked off is still answered. */
  close(): void {
    this.#isClosed = true;
    this.#turnAllAway();
  }

  #laneOf(network: string): Lane {
    return this.#known.get(network) === true ? this.#customers : this.#newcomers;
  }

  #turnAway(reason: RecoveryRejected['reason']): RecoveryRejected {
    this.#turnedAwayCount++;
    return turnedAway(reason);
  }

  #turnAllAway(): void {
    for (const lane of [this.#customers, this.#newcomers]) {
      for (let entry = lane.next(); entry !== undefined; entry = lane.next()) this.#answerWith(entry, 'out-of-order');
    }
  }

  /** The place with the most room, so that several share the work. */
  #freest(): RecoveryWorker | undefined {
    let freest: RecoveryWorker | undefined;
    let mostFree = 0;
    for (const place of this.#places) {
      const free = place.freeCount();
      if (free <= mostFree) continue;
      freest = place;
      mostFree = free;
    }
    return freest;
  }

  /** The next one that is still worth a recovery. */
  #next(): Entry | undefined {
    for (;;) {
      const entry = this.#nextInTurn();
      if (entry === undefined) return undefined;
      const waitedMs = this.#clock.monotonicMs() - entry.sinceMs;
      if (waitedMs > WAIT_MS_MAX) this.#answerWith(entry, 'waited-too-long');
      else if (waitedMs >= GONE_AFTER_MS && entry.waiters.every(({ isDisconnected }) => isDisconnected()))
        this.#answerWith(entry, 'client-gone');
      else return entry;
    }
  }

  #nextInTurn(): Entry | undefined {
    const isCustomersTurn = this.#isCustomersTurn;
    this.#isCustomersTurn = !isCustomersTurn;
    const nowMs = this.#clock.monotonicMs();
    let pauseMs = Number.POSITIVE_INFINITY;
    for (const lane of isCustomersTurn ? [this.#customers, this.#newcomers] : [this.#newcomers, this.#customers]) {
      if (lane.count === 0) continue;
      const laneMs = lane.pauseMs(nowMs);
      if (laneMs === 0) return lane.next();
      pauseMs = Math.min(pauseMs, laneMs);
    }
    if (pauseMs !== Number.POSITIVE_INFINITY) this.#pause(pauseMs);
    return undefined;
  }

  #pause(pauseMs: number): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#timers.after(Math.ceil(pauseMs), () => {
      this.#isPaused = false;
      this.resume();
    });
  }

  #answer(entry: Entry, recovered: Recovered): void {
    this.#recoveredCount++;
    this.#recovered.set(entry.key, recovered);
    this.#give(entry, recovered);
  }

  #answerWith(entry: Entry, reason: RecoveryRejected['reason']): void {
    this.#turnedAwayCount += entry.waiters.length;
    this.#give(entry, turnedAway(reason));
  }

  #give(entry: Entry, recovery: Recovery): void {
    this.#entries.delete(entry.place);
    for (const { resolve } of entry.waiters) resolve(recovery);
  }
}
