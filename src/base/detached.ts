import { Buffer } from 'node:buffer';

/**
 * A copy of a text that was cut from a longer one: for a slice, engines keep the whole text in memory. By way of bytes: Bun finds the
 * slice again in what it was joined with.
 */
export const detached = <T extends string>(text: T): T => Buffer.from(text).toString() as T;
