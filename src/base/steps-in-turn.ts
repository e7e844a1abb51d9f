/**
 * Steps of one key run in order, one at a time; those of different keys run concurrently. Memory: an entry per key with a step.
 */
export class StepsInTurn<Key> {
  /** The last step of each key. */
  readonly #last = new Map<Key, Promise<unknown>>();

  /** Whether a step of the key runs or waits. */
  has(key: Key): boolean {
    return this.#last.has(key);
  }

  /** Begins at once if the key has no other step, otherwise when the last one has settled, even if it failed. */
  run<T>(key: Key, step: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const running = before === undefined ? step() : before.then(step, step);
    const forget = (): void => {
      if (this.#last.get(key) === running) this.#last.delete(key);
    };
    this.#last.set(key, running);
    running.then(forget, forget);
    return running;
  }
}
