/** The passes that other processes have shared, by key; each sum counts until a monotonic time. */

interface Sum {
  readonly leavesMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

export class OtherSums {
  /** The sum that leaves first comes first, as long as the database's times ascend. */
  #sums: Sum[] = [];
  readonly #totals = new Map<string, number>();

  add(counts: Readonly<Record<string, number>>, leavesMs: number): void {
    this.#sums.push({ leavesMs, counts });
    for (const [key, count] of Object.entries(counts)) this.#totals.set(key, (this.#totals.get(key) ?? 0) + count);
  }

  /** Passes of a key in other processes, in the window that ends now. */
  of(key: string, nowMs: number): number {
    const [first] = this.#sums;
    if (first !== undefined && first.leavesMs <= nowMs) this.forget(nowMs);
    return this.#totals.get(key) ?? 0;
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
      for (const [key, count] of Object.entries(sum.counts)) {
        const total = (this.#totals.get(key) ?? 0) - count;
        if (total > 0) this.#totals.set(key, total);
        else this.#totals.delete(key);
      }
    }
    this.#sums = left;
  }
}
