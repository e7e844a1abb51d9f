/**
 * 128-bit keys in order of arrival, each with a value of a few bytes; a key is found by itself and removed from the oldest
 * end. Everything lies in typed arrays, which the garbage collector does not scan; Bun's collector would scan a changed Map at
 * every collection, even of young objects.
 *
 * The index works like that of a sliding window in deflate (RFC 1951 §4): `heads` holds the newest position of each bucket,
 * and a record's link the position before it in its bucket. Removal only moves the window's start: a position
 * outside the window ends its chain, so the index never removes anything.
 */
import { type Random, systemRandom } from './random.ts';

/** Strings of 16 code units 0..255. */
export const KEY_LENGTH = 16;

const BLOCK_RECORDS = 4096;
const WORDS = KEY_LENGTH / 4;
const FIRST_HEADS_BITS = 10;

/** Consecutive records; memory is allocated and freed in blocks. */
interface Block {
  readonly keys: Uint32Array;
  /** Low 32 bits of the previous position in the bucket. */
  readonly links: Uint32Array;
  readonly values: Values;
}

/** Values of a block's keys, as a view for numbers and as bytes. */
export interface Values {
  readonly view: DataView<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class KeyQueue {
  readonly #valueBytes: number;
  /** The first block holds position {@link #first}. */
  readonly #blocks: Block[] = [];
  /** Low 32 bits of positions, one for each bucket; their number is a power of two and at least half that of the records. */
  #heads = new Uint32Array(1 << FIRST_HEADS_BITS);
  #headsBits = FIRST_HEADS_BITS;
  #first = 0;
  #end = 0;
  readonly #sought = new Uint32Array(WORDS);
  /** Four odd numbers that choose the buckets. */
  readonly #salt = new Uint32Array(WORDS);

  /**
   * @param valueBytes length of each key's value, which the caller reads and writes
   * @param random draws the salt, because a client that chooses keys must not know their buckets
   */
  constructor(valueBytes: number, random: Random = systemRandom) {
    this.#valueBytes = valueBytes;
    const salt = new DataView(random.bytes(KEY_LENGTH).slice().buffer);
    for (let word = 0; word < WORDS; word++) this.#salt[word] = salt.getUint32(word * 4) | 1;
  }

  get size(): number {
    return this.#end - this.#first;
  }

  /** Position of the oldest key, if there is one. Positions count up from 0 and are never used twice. */
  get first(): number {
    return this.#first;
  }

  /** Position of the key, or undefined. */
  find(key: string): number | undefined {
    const sought = this.#read(key);
    let behind = this.size;
    let low = this.#heads[this.#bucketOf(sought)] as number;
    for (;;) {
      // A chain leads from newer to older: a position that has left the window, or comes again after 2^32, is not older.
      const distance = (low - this.#first) >>> 0;
      if (distance >= behind) return undefined;
      behind = distance;
      const position = this.#first + distance;
      const { keys, links } = this.#blockOf(position);
      const record = position & (BLOCK_RECORDS - 1);
      const at = record * WORDS;
      if (
        keys[at] === sought[0] &&
        keys[at + 1] === sought[1] &&
        keys[at + 2] === sought[2] &&
        keys[at + 3] === sought[3]
      ) {
        return position;
      }
      low = links[record] as number;
    }
  }

  /** Adds a new key as the newest, with a value of zeros. @returns its position */
  append(key: string): number {
    const sought = this.#read(key);
    if (this.size >= this.#heads.length * 2) this.#spread();
    const position = this.#end;
    const record = position & (BLOCK_RECORDS - 1);
    if (record === 0) {
      const buffer = new ArrayBuffer(BLOCK_RECORDS * this.#valueBytes);
      this.#blocks.push({
        keys: new Uint32Array(BLOCK_RECORDS * WORDS),
        links: new Uint32Array(BLOCK_RECORDS),
        values: { view: new DataView(buffer), bytes: new Uint8Array(buffer) },
      });
    }
    this.#end++;
    const { keys } = this.#blockOf(position);
    keys.set(sought, record * WORDS);
    this.#link(position);
    return position;
  }

  /** Removes the oldest key; does nothing when the queue is empty. */
  removeFirst(): void {
    if (this.size === 0) return;
    this.#first++;
    if ((this.#first & (BLOCK_RECORDS - 1)) === 0) this.#blocks.shift();
  }

  keyAt(position: number): string {
    const { keys } = this.#blockOf(position);
    const at = (position & (BLOCK_RECORDS - 1)) * WORDS;
    let key = '';
    for (let word = at; word < at + WORDS; word++) {
      const bits = keys[word] as number;
      key += String.fromCharCode(bits & 0xff, (bits >>> 8) & 0xff, (bits >>> 16) & 0xff, bits >>> 24);
    }
    return key;
  }

  /** The block's values; the key's begins at {@link valueOffsetOf}. Valid until the key is removed. */
  valuesOf(position: number): Values {
    return this.#blockOf(position).values;
  }

  valueOffsetOf(position: number): number {
    return (position & (BLOCK_RECORDS - 1)) * this.#valueBytes;
  }

  #blockOf(position: number): Block {
    const block = Math.floor(position / BLOCK_RECORDS) - Math.floor(this.#first / BLOCK_RECORDS);
    return this.#blocks[block] as Block;
  }

  /** @throws Error for a key of another length: a bug in the caller */
  #read(key: string): Uint32Array {
    if (key.length !== KEY_LENGTH) throw new Error(`a key of ${key.length} code units, not ${KEY_LENGTH}`);
    const sought = this.#sought;
    for (let word = 0; word < WORDS; word++) {
      const at = word * 4;
      sought[word] =
        key.charCodeAt(at) |
        (key.charCodeAt(at + 1) << 8) |
        (key.charCodeAt(at + 2) << 16) |
        (key.charCodeAt(at + 3) << 24);
    }
    return sought;
  }

  #bucketOf(words: Uint32Array, at = 0): number {
    const salt = this.#salt;
    const mixed =
      Math.imul(words[at] as number, salt[0] as number) +
      Math.imul(words[at + 1] as number, salt[1] as number) +
      Math.imul(words[at + 2] as number, salt[2] as number) +
      Math.imul(words[at + 3] as number, salt[3] as number);
    // The high bits of a product depend on all lower bits.
    return (mixed | 0) >>> (32 - this.#headsBits);
  }

  #link(position: number): void {
    const { keys, links } = this.#blockOf(position);
    const record = position & (BLOCK_RECORDS - 1);
    const bucket = this.#bucketOf(keys, record * WORDS);
    links[record] = this.#heads[bucket] as number;
    this.#heads[bucket] = position;
  }

  /** Makes four times as many buckets and links every key again (bench/reservation.ts). */
  #spread(): void {
    this.#headsBits += 2;
    this.#heads = new Uint32Array(1 << this.#headsBits);
    // An empty bucket holds 0 and so points to some position; that is harmless, because `find` compares keys.
    for (let position = this.#first; position < this.#end; position++) this.#link(position);
  }
}
