import { Buffer } from 'node:buffer';

/**
 * A copy of a text that was cut from a longer one: for a slice, engines keep the whole text in memory. It goes by way of bytes,
 * because Bun recognises a slice that is joined with another text and cut off again.
 */
export const detached = <T extends string>(text: T): T => Buffer.from(text).toString() as T;
