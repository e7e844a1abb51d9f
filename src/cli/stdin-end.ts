/** Lets a process started by another of ours end with that one, however it ends: its stdin ends then. */
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
    // An unreadable stdin counts as ended.
  }
}
