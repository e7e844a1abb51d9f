/** Why a thread ended, once its last message has arrived. */
import { firstLineOf } from './failure.ts';

/** The part of a `Worker` of node:worker_threads that this uses. */
export interface Thread {
  on(event: 'error', listener: (failure: unknown) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
}

/**
 * Calls `onEnd` once, when the thread has ended and all its messages are delivered. An 'error' alone says neither: Node sends
 * it through another port than messages and may deliver it before them. 'exit' comes after both.
 *
 * @param name of the thread, for the reason
 * @param onEnd `why`: one line, such as "the writer failed: out of memory", or "the writer ended" when it threw nothing
 */
export function onThreadEnd(thread: Thread, name: string, onEnd: (why: string) => void): void {
  let why = `${name} ended`;
  thread.on('error', (failure: unknown) => {
    why = `${name} failed: ${firstLineOf(failure)}`;
  });
  thread.on('exit', () => onEnd(why));
}
