/**
 * A bounded waiting line in which clients take turns. Turns go round among the client networks that wait, one entry each;
 * within a network the first to come is served first. A network may queue as many entries as there are free slots left, so one
 * network fills half of the slots at most, two fill a third each, and a newcomer always finds one.
 *
 * Cost: O(1) a call; {@link FairQueue.next} with a condition looks at one entry of each network that waits.
 */
export class FairQueue<Entry extends { readonly network: string }> {
  readonly #countMax: number;
  /** Entries by network, in the order of turns; no queue is empty. */
  readonly #queues = new Map<string, Entry[]>();
  /** Entries that wait. */
  count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Entries that this network may still add. */
  freeSlotsFor(network: string): number {
    return this.#countMax - this.count - this.lengthOf(network);
  }

  /** Entries of this network that wait. */
  lengthOf(network: string): number {
    return this.#queues.get(network)?.length ?? 0;
  }

  add(entry: Entry): void {
    const queue = this.#queues.get(entry.network);
    if (queue === undefined) this.#queues.set(entry.network, [entry]);
    else queue.push(entry);
    this.count++;
  }

  /**
   * Takes out the oldest entry of the network whose turn it is; undefined when none waits.
   * @param isServed false: the network is passed over and keeps its turn
   */
  next(isServed?: (network: string) => boolean): Entry | undefined {
    for (const [network, queue] of this.#queues) {
      if (isServed !== undefined && !isServed(network)) continue;
      const entry = queue.shift();
      // The network goes to the end of the round.
      this.#queues.delete(network);
      if (queue.length > 0) this.#queues.set(network, queue);
      this.count--;
      return entry;
    }
    return undefined;
  }

  /** Takes out an entry that waits; does nothing for one that was served. */
  remove(entry: Entry): void {
    const queue = this.#queues.get(entry.network);
    const index = queue === undefined ? -1 : queue.indexOf(entry);
    if (queue === undefined || index < 0) return;
    queue.splice(index, 1);
    if (queue.length === 0) this.#queues.delete(entry.network);
    this.count--;
  }
}
