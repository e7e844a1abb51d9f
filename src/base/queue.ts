/** First in, first out, over one array: O(1) a call on average, whereas `Array.shift` moves every element of a long array. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  /** Index of the oldest element; all before it are undefined. */
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** The oldest element, or undefined. */
  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
