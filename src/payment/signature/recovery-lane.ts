/**
 * One of the two waiting lines of the recovery queue: clients take turns, and the time that forgeries waste is charged to
 * the lane.
 *
 * Fairness: turns go round among the clients (by network) that wait, one entry each; within a client the first to come is
 * served first. A client may queue as many entries as there are free slots left, so one client fills half of the slots at
 * most, two fill a third each, and a newcomer always finds room.
 *
 * Forgeries: a token bucket of milliseconds. A forgery takes what its recovery cost, time refills {@link FORGERY_SHARE} of
 * itself up to {@link FORGERY_BURST_MS}, and the lane pauses while the bucket is overdrawn.
 *
 * Invariant: at most {@link WAITING_COUNT_MAX} entries wait. Cost: O(1) a call.
 */

/** Entries that may wait in one lane: enough for a burst of 500 honest payments from one address. */
export const WAITING_COUNT_MAX = 1024;
/** Share of one processor that the clients of a lane may waste on forgeries in the long run. */
export const FORGERY_SHARE = 0.25;
/** Milliseconds of recovery that the clients of a lane may waste on forgeries at once, after a quiet while. */
export const FORGERY_BURST_MS = 50;

export class RecoveryLane<Entry extends { readonly network: string }> {
  /** Entries by network, in the order of turns; no queue is empty. */
  readonly #queues = new Map<string, Entry[]>();
  /** Entries that wait. */
  count = 0;
  /** Milliseconds that forgeries may still take; the lane pauses while it is below zero. */
  #allowanceMs = FORGERY_BURST_MS;
  #refilledAtMs = Number.NEGATIVE_INFINITY;

  /** Milliseconds until the lane may serve its next entry; 0 = now. */
  pauseMs(nowMs: number): number {
    this.#allowanceMs = Math.min(FORGERY_BURST_MS, this.#allowanceMs + (nowMs - this.#refilledAtMs) * FORGERY_SHARE);
    this.#refilledAtMs = nowMs;
    return Math.max(0, -this.#allowanceMs / FORGERY_SHARE);
  }

  /** Charges the lane for a recovery that exposed a forgery. */
  charge(spentMs: number, nowMs: number): void {
    this.pauseMs(nowMs);
    this.#allowanceMs -= spentMs;
  }

  /** Entries that this client may still add. */
  freeSlotsFor(network: string): number {
    return WAITING_COUNT_MAX - this.count - this.lengthOf(network);
  }

  /** Entries of this client that wait. */
  lengthOf(network: string): number {
    return this.#queues.get(network)?.length ?? 0;
  }

  add(entry: Entry): void {
    const queue = this.#queues.get(entry.network);
    if (queue === undefined) this.#queues.set(entry.network, [entry]);
    else queue.push(entry);
    this.count++;
  }

  /** Takes out the oldest entry of the client whose turn it is; undefined when none waits. */
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
