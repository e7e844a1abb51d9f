/** A process that another one of ours started ends when that one does, however it ends: its stdin ends with it. */
import type { Io } from './io.ts';

export const UNTIL_STDIN_ENDS = {
  type: 'flag',
  help: 'end when stdin ends, so that it does not outlive its parent',
} as const;

/** Resolves when stdin ends or cannot be read. */
export async function stdinEnd(io: Io): Promise<void> {
  try {
    for await (const _ of io.stdin.bytes);
  } catch {
    // What cannot be read has no other end.
  }
}
