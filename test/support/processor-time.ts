/** What a process had of the processors, on a machine that others use too. */
import { readFileSync } from 'node:fs';

/** Of the first thread of a process, the one with the event loop, since it began, seconds. */
export interface ProcessorTime {
  readonly ran: number;
  /** It could run and other processes did: what it was late by for reasons that are not its own. */
  readonly waited: number;
}

/** Linux, sched-stats: nanoseconds on a processor, and waiting for one. Zero elsewhere, and when the process has ended. */
export function processorTimeOf(pid: number): ProcessorTime {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1');
    const [ran = 0, waited = 0] = text.split(' ').map(Number);
    return { ran: ran / 1e9, waited: waited / 1e9 };
  } catch {
    return { ran: 0, waited: 0 };
  }
}

/** How long this process has waited so, milliseconds. */
export const waitedMs = (): number => processorTimeOf(process.pid).waited * 1000;
