import { LRUCache } from 'lru-cache';

/**
 * Forgets its least recently used entry when it would have more than `countMax`. It takes memory as it fills: with its option
 * `max` the package allocates all of it at once, which for 100,000 entries takes 17 ms on Node and so delays a start.
 */
export const lruMap = <Key extends string, Value extends object | number | string | boolean>(
  countMax: number,
): LRUCache<Key, Value> => new LRUCache({ maxSize: countMax, sizeCalculation: () => 1 });
