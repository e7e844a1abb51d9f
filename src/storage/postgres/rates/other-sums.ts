/** The passes that other processes have shared, by key; each sum counts until a monotonic time. */
import { Tally } from '../../../base/tally.ts';

interface Sum {
  readonly leavesMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

export class OtherSums {
  /** The sum that leaves first comes first, as long as the database's times ascend. */
  #sums: Sum[] = [];
  readonly #totals = new Tally();

  add(counts: Readonly<Record<string, number>>, leavesMs: number): void {
    this.#sums.push({ leavesMs, counts });
    for (const [key, count] of Object.entries(counts)) this.#totals.add(key, count);
  }

  /** Passes of a key in other processes, in the window that ends now. */
  of(key: string, nowMs: number): number {
    const [first] = this.#sums;
    if (first !== undefined && first.leavesMs <= nowMs) this.forget(nowMs);
    return this.#totals.of(key);
  }

  /** Milliseconds until the key's next sum leaves; infinite without one. */
  leavesInMs(key: string, nowMs: number): number {
    const sum = this.#sums.find(({ counts }) => key in counts);
    return sum === undefined ? Number.POSITIVE_INFINITY : sum.leavesMs - nowMs;
  }

  forget(nowMs: number): void {
    const left: Sum[] = [];
    for (const sum of this.#sums) {
      if (sum.leavesMs > nowMs) {
        left.push(sum);
        continue;
      }
      for (const [key, count] of Object.entries(sum.counts)) this.#totals.add(key, -count);
    }
    this.#sums = left;
  }
}
