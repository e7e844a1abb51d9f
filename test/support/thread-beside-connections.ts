/**
 * Starts threads one after the other as a server does, with few file descriptors left, and takes all of them as soon as it gets
 * the chance, as connections would. Prints the number of threads that have ended, with or without an error.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { startThread } from '../../src/base/start-thread.ts';

const LEFT_COUNT = 20;
/** Most threads are faster than what takes the descriptors. */
const THREAD_COUNT = 20;

function takeAll(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync(devNull, 'r'));
  } catch {
    return taken;
  }
}

if (isMainThread) {
  execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=256:']);
  let taken = takeAll().slice(-LEFT_COUNT);
  let endedCount = 0;
  for (; endedCount < THREAD_COUNT; endedCount++) {
    for (const descriptor of taken) closeSync(descriptor);
    const thread = startThread(new URL(import.meta.url));
    taken = takeAll();
    thread.on('error', () => {});
    await new Promise((resolve) => thread.once('exit', resolve));
  }
  console.log(endedCount);
  process.exit(0);
}
