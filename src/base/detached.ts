import { Buffer } from 'node:buffer';

/**
 * A copy of a text that was cut from a longer one: a slice would keep the whole text in memory. The copy goes through bytes,
 * because Bun sees through joining a slice with another text and cutting it off again.
 */
export const detached = <T extends string>(text: T): T => Buffer.from(text).toString() as T;
