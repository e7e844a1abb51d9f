/**
 * A recovery thread (a worker's entry): chooses its library, says so, and works off what it is sent. It steps back behind
 * the main thread where the system lets it: a flood of forged payments shall not take the processor from those who answer.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { checkedRecovery } from '../payment/signature.ts';
import { chooseRecovery } from './recovery.ts';
import {
  DIGEST_BYTES,
  JOB_BYTES,
  OUTCOME_BYTES,
  putOutcome,
  type ThreadOptions,
  type ThreadReady,
} from './recovery-wire.ts';

/** Linux gives a thread of this niceness about a third of the weight of one of 0, and all of a processor that is idle. */
const NICENESS = 5;
/** Outcomes are told at least this often, so that new jobs come before the old ones are all done. */
const TELL_MS = 1;

/** On Linux a thread has a priority of its own, under its own id; elsewhere nothing happens. */
function stepBack(): void {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (threadId > 0 && threadId !== process.pid) setPriority(threadId, NICENESS);
  } catch {
    // Not Linux, or not allowed: all threads weigh the same.
  }
}

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const { signatures } = workerData as ThreadOptions;
const { library, publicKeyOf, recoveryMs, notice } = await chooseRecovery(signatures, systemClock);
const recover = checkedRecovery(publicKeyOf);
stepBack();

port.on('message', (jobs: Uint8Array) => {
  const count = jobs.length / JOB_BYTES;
  let toldCount = 0;
  let toldMs = systemClock.monotonicMs();
  let outcomes = new Uint8Array(count * OUTCOME_BYTES);
  for (let i = 0; i < count; i++) {
    const at = i * JOB_BYTES;
    const digest = jobs.subarray(at, at + DIGEST_BYTES);
    putOutcome(outcomes, i - toldCount, recover(digest, jobs.subarray(at + DIGEST_BYTES, at + JOB_BYTES)));
    const nowMs = systemClock.monotonicMs();
    if (nowMs - toldMs < TELL_MS && i + 1 < count) continue;
    port.postMessage(outcomes.slice(0, (i + 1 - toldCount) * OUTCOME_BYTES));
    toldCount = i + 1;
    toldMs = nowMs;
    outcomes = new Uint8Array((count - toldCount) * OUTCOME_BYTES);
  }
});
port.postMessage({ library, recoveryMs, notice } satisfies ThreadReady);
