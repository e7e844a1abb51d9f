/** Servers as separate processes, for benches that observe them from outside. Linux. */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../', import.meta.url));
export const RUNTIMES = {
  node: join(PROJECT, 'node_modules/.bin/node'),
  bun: join(PROJECT, 'node_modules/.bin/bun'),
} as const;
export type Runtime = keyof typeof RUNTIMES;

const READY = /listening on (http:\S+)/;

/** Processor time of all threads that the process has now, ms. */
export function cpuMsOf(processId: number): number {
  const tasks = `/proc/${processId}/task`;
  const times = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** Clock ticks of /proc/PID/stat a second; Linux has shown user space 100 for twenty years. */
const TICKS_A_SECOND = 100;

/** User and system time of a process, with its threads that have ended, or of one thread, µs. */
export function cpuMicrosOf(pid: number, thread?: number): number {
  const stat = readFileSync(thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`, 'utf8');
  // The name in brackets may hold blanks; after it come the state and then numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_A_SECOND;
}

/** Resolves with the address that the server prints. @throws Error when it ends first */
export function listening(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      printed += bytes;
      const url = READY.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    child.once('error', reject);
  });
}
