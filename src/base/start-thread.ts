/** Starts threads, for storage and adapters alike. */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { onThreadEnd } from './thread-end.ts';
import type { Timers } from './timers.ts';

/**
 * Worker options that keep a thread from printing warnings: Node 22 warns once a thread that node:sqlite and type stripping
 * are experimental. Deno prints no such warning and refuses a worker with flags that it does not know.
 */
const QUIET_THREAD: WorkerOptions = 'Deno' in globalThis ? {} : { execArgv: ['--disable-warning=ExperimentalWarning'] };

/** A thread that has not started by then never will. */
export const THREAD_START_MS = 10_000;

/** More than a thread opens before it runs, because connections may take some meanwhile. */
const DESCRIPTOR_COUNT = 16;

/**
 * @returns the descriptors that are opened next
 * @throws Error when the process is out of file descriptors, or nearly so
 */
export function expectDescriptors(): readonly number[] {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTOR_COUNT) opened.push(openSync(devNull, 'r'));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
  return opened;
}

/** What a thread of Bun opens first, for its event loop: epoll and eventfd, elsewhere kqueue. */
const LOOP_DESCRIPTOR_COUNT = process.platform === 'linux' ? 2 : 1;
/** A thread has its event loop after one or two on an idle machine. */
const LOOP_LOOKS_MAX = 100;

function isOpen(descriptor: number): boolean {
  try {
    fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
}

/** Looks once a millisecond whether a thread has its event loop, and accepts no connection meanwhile. */
function holdUntilLoop(free: readonly number[]): void {
  const last = free[LOOP_DESCRIPTOR_COUNT - 1]!;
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let looks = 0; looks < LOOP_LOOKS_MAX && !isOpen(last); looks++) Atomics.wait(never, 0, 0, 1);
}

/**
 * Bun ends the whole process when a starting thread finds no file descriptor, and clients' connections may have taken them
 * all, or take them while it starts; so this checks first, and under Bun waits until the thread needs no more.
 *
 * @throws Error when there are too few file descriptors for a thread
 */
export function startThread(entry: URL, options: WorkerOptions = {}): Worker {
  const free = expectDescriptors();
  const worker = new Worker(entry, { ...QUIET_THREAD, ...options });
  if (process.versions.bun !== undefined) holdUntilLoop(free);
  return worker;
}

/** What becomes of a thread whose first message says that it is ready. Each is called later, never by the start itself. */
export interface ThreadEvents<Ready, Message> {
  onReady(ready: Ready): void;
  onMessage(message: Message): void;
  /**
   * Called once, and nothing after it: the thread has ended, or was not ready in time and is being terminated.
   * @param why one line, see {@link onThreadEnd}
   */
  onEnd(why: string): void;
}

/**
 * Starts a thread that has to be ready within {@link THREAD_START_MS}.
 *
 * @param name of the thread, for the reason of its end
 * @throws Error when there are too few file descriptors for a thread
 */
export function startReadyThread<Ready, Message>(
  entry: URL,
  options: WorkerOptions,
  name: string,
  timers: Timers,
  events: ThreadEvents<Ready, Message>,
): Worker {
  const worker = startThread(entry, options);
  let state: 'starting' | 'ready' | 'over' = 'starting';
  const end = (why: string): void => {
    if (state === 'over') return;
    state = 'over';
    cancel();
    events.onEnd(why);
  };
  const cancel = timers.after(THREAD_START_MS, () => {
    void worker.terminate();
    end(`${name} did not start`);
  });
  worker.on('message', (message: Ready | Message) => {
    if (state === 'ready') events.onMessage(message as Message);
    else if (state === 'starting') {
      state = 'ready';
      cancel();
      events.onReady(message as Ready);
    }
  });
  onThreadEnd(worker, name, end);
  return worker;
}
