/** Starts threads, for storage and adapters alike. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Worker options that keep a thread from printing warnings: Node 22 warns once a thread that node:sqlite and type stripping
 * are experimental. Deno prints no such warning and refuses a worker with flags that it does not know.
 */
const QUIET_THREAD: WorkerOptions = 'Deno' in globalThis ? {} : { execArgv: ['--disable-warning=ExperimentalWarning'] };

/** A thread that has not started by then never will. */
export const THREAD_START_MS = 10_000;

/** More than a thread opens before it runs, because connections may take some meanwhile. */
const DESCRIPTOR_COUNT = 16;

/** @throws Error when the process is out of file descriptors, or nearly so */
export function expectDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTOR_COUNT) opened.push(openSync(devNull, 'r'));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/**
 * Bun ends the whole process when a starting thread finds no file descriptor, and clients' connections may have taken them
 * all; so this checks first.
 *
 * @throws Error when there are too few file descriptors for a thread
 */
export function startThread(entry: URL, options: WorkerOptions = {}): Worker {
  expectDescriptors();
  return new Worker(entry, { ...QUIET_THREAD, ...options });
}
