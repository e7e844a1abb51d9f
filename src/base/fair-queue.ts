/**
 * A waiting line in which clients take turns. The waiting client networks take turns, one entry each; within a network entries
 * are served in order of arrival. Its user bounds it, by bytes or by {@link FairQueue.freeSlotsFor}: a network may queue as
 * many entries as there are free slots left, so one network fills half of the slots at most, two fill a third each, and a
 * newcomer always finds one.
 *
 * Cost: O(1) a call; {@link FairQueue.next} with a condition looks at one entry of each network that waits.
 */
export class FairQueue<Entry extends { readonly network: string }> {
  readonly #countMax: number;
  /** Entries by network, in the order of turns; no queue is empty. */
  readonly #queues = new Map<string, Entry[]>();
  /** Entries that wait. */
  count = 0;

  /** @param countMax slots; without it, {@link freeSlotsFor} has no meaning */
  constructor(countMax: number = Number.POSITIVE_INFINITY) {
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
   * The oldest entry of each network, in the order of turns. A network whose entry is {@link serve}d meanwhile is visited
   * again at the end of the round.
   */
  *inTurn(): Generator<Entry, void> {
    for (const queue of this.#queues.values()) yield queue[0] as Entry; // no queue is empty
  }

  /** Takes out the oldest entry of a network and ends the network's turn. */
  serve(entry: Entry): void {
    this.remove(entry);
    const queue = this.#queues.get(entry.network);
    if (queue === undefined) return;
    this.#queues.delete(entry.network);
    this.#queues.set(entry.network, queue);
  }

  /**
   * Takes out the oldest entry of the network whose turn it is; undefined when none waits.
   * @param isServed false: the network of this oldest entry is passed over and keeps its turn
   */
  next(isServed: (oldest: Entry) => boolean = () => true): Entry | undefined {
    for (const entry of this.inTurn()) {
      if (!isServed(entry)) continue;
      this.serve(entry);
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
