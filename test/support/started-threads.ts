/** Watches the threads that a test starts. */
import type { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** The threads that are started from now on until the test ends, those that have ended too. */
export function threadsStarted(): readonly Worker[] {
  const started: Worker[] = [];
  const add = (worker: Worker): void => void started.push(worker);
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return started;
}
