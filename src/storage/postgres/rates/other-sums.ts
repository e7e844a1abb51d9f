/** The passes that other processes have told of, by key: each sum counts until a moment of the monotonic clock. */

interface Sum {
  readonly leavesMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

export class OtherSums {
  /** What leaves first stands first, as far as the times of the database ascend. */
  #sums: Sum[] = [];
  readonly #totals = new Map<string, number>();

  add(counts: Readonly<Record<string, number>>, leavesMs: number): void {
    this.#sums.push({ leavesMs, counts });
    for (const [key, count] of Object.entries(counts)) this.#totals.set(key, (this.#totals.get(key) ?? 0) + count);
  }

  /** Passes of a key elsewhere, in the window that ends now. */
  of(key: string, nowMs: number): number {
    const [first] = this.#sums;
    if (first !== undefined && first.leavesMs <= nowMs) this.forget(nowMs);
    return this.#totals.get(key) ?? 0;
  }

  /** Milliseconds until the next of them leaves; infinite when there is none. */
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
      for (const [key, count] of Object.entries(sum.counts)) {
        const total = (this.#totals.get(key) ?? 0) - count;
        if (total > 0) this.#totals.set(key, total);
        else this.#totals.delete(key);
      }
    }
    this.#sums = left;
  }
}
