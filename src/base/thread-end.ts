/** Why a thread ended, once its last message has arrived. */
import type { Worker } from 'node:worker_threads';
import { firstLineOf } from './failure.ts';

/**
 * Calls `onEnd` once, when the thread has ended and all its messages are delivered. An 'error' alone says neither: Node sends
 * it through another port than messages and may deliver it before them. 'exit' comes after both.
 *
 * @param name of the thread, for the reason
 * @param onEnd `why`: one line, such as "the writer failed: out of memory", or "the writer ended" when it threw nothing
 */
export function onThreadEnd(worker: Pick<Worker, 'on'>, name: string, onEnd: (why: string) => void): void {
  let why = `${name} ended`;
  worker.on('error', (failure: unknown) => {
    why = `${name} failed: ${firstLineOf(failure)}`;
  });
  worker.on('exit', () => onEnd(why));
}
