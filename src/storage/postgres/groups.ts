/**
 * Group commit: items wait while a statement of their kind is in flight, then all go as one statement, which is one
 * transaction and one sync of the log. There is no timer, so a lone item is not delayed.
 *
 * A group is sorted by key, so that all processes lock rows in one order and never deadlock. A statement that the
 * database refuses, or that meets others each time, is repeated item by item, so one customer's failure never fails another's. An item whose key is
 * already in the group waits for the next group, unless the statement accepts repeated keys.
 */
import { ContentionError, StatementError } from './failures.ts';

export interface GroupOptions<Item> {
  /** The key of the row that the statement locks; groups are sorted by it. */
  keyOf(item: Item): string;
  /** Most items in a statement. */
  readonly countMax?: number;
  /** True: one statement may hold several items of one key, in the order in which they came. */
  readonly takesRepeatedKeys?: boolean;
}

/** The items of a statement in the order of their keys -> a result for each, in the same order. */
export type RunGroup<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

const COUNT_MAX = 1000;

interface Waiting<Item, Result> {
  readonly key: string;
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (failure: unknown) => void;
}

export class Group<Item, Result> {
  readonly #run: RunGroup<Item, Result>;
  readonly #keyOf: (item: Item) => string;
  readonly #countMax: number;
  readonly #takesRepeatedKeys: boolean;
  #waiting: Waiting<Item, Result>[] = [];
  #isInFlight = false;
  #idle: (() => void)[] = [];

  constructor(
    run: RunGroup<Item, Result>,
    { keyOf, countMax = COUNT_MAX, takesRepeatedKeys = false }: GroupOptions<Item>,
  ) {
    this.#run = run;
    this.#keyOf = keyOf;
    this.#countMax = countMax;
    this.#takesRepeatedKeys = takesRepeatedKeys;
  }

  /** Resolves with the item's result; rejects with the statement's failure. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key: this.#keyOf(item), item, resolve, reject });
      if (!this.#isInFlight) void this.#flush();
    });
  }

  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void> {
    return this.#isInFlight ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  async #flush(): Promise<void> {
    this.#isInFlight = true;
    // Items of the same turn go together.
    await undefined;
    while (this.#waiting.length > 0) await this.#send(this.#take());
    this.#isInFlight = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Takes the next group, sorted; the other items keep waiting in their order. */
  #take(): Waiting<Item, Result>[] {
    const group: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const keys = new Set<string>();
    for (const one of this.#waiting) {
      const fits = group.length < this.#countMax && (this.#takesRepeatedKeys || !keys.has(one.key));
      if (fits) keys.add(one.key);
      (fits ? group : left).push(one);
    }
    this.#waiting = left;
    // Stable: items of one key keep their order.
    return group.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }

  async #send(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(group.map(({ item }) => item));
      if (results.length !== group.length) throw new Error(`${group.length} items got ${results.length} results`);
      for (const [index, one] of group.entries()) one.resolve(results[index] as Result);
    } catch (failure) {
      if (group.length > 1 && (failure instanceof StatementError || failure instanceof ContentionError)) {
        for (const one of group) await this.#send([one]);
      } else {
        for (const one of group) one.reject(failure);
      }
    }
  }
}
