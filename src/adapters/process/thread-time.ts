/**
 * Processor time of one thread, read from another: on Linux from proc(5), which works while the thread is busy and on
 * every runtime. (On Bun a worker's `cpuUsage` waits until the worker is idle.) Elsewhere it is unknown.
 */
import { readFileSync, readlinkSync } from 'node:fs';

/** proc_pid_stat(5): times are given in 1/100 s on every Linux (USER_HZ). */
const TICK_MS = 10;

/** Linux's number of the calling thread; undefined where there is none. */
export function ownThreadNumber(): number | undefined {
  try {
    // proc_thread-self(5): "<process>/task/<thread>".
    const number = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    return Number.isSafeInteger(number) ? number : undefined;
  } catch {
    return undefined;
  }
}

/**
 * User and system time of a thread of this process since it began, milliseconds, in steps of ten. Takes some 20 µs.
 * @param number from `ownThreadNumber` in that thread; undefined gives undefined
 */
export function threadTimeMs(number: number | undefined): number | undefined {
  if (number === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/self/task/${number}/stat`, 'utf8');
    // Fields 14 and 15, counted after field 2, a name in brackets that may contain any character.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
  } catch {
    return undefined;
  }
}
