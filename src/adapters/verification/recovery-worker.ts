/**
 * A recovery thread (a worker's entry): chooses its library, says so, and works off what it is sent. It has the priority of
 * any thread: with a lower one (nice 5 and 19 were tried) webhooks were no faster under a flood, and an honest payer on a
 * busy machine waits longer.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { digestOf, STRUCT_BYTES } from '../../payment/protocol/typed-data.ts';
import { checkedRecovery } from '../../payment/signature/signature.ts';
import { chooseRecovery } from './recovery.ts';
import { JOB_BYTES, OUTCOME_BYTES, putOutcome, type ThreadOptions, type ThreadReady } from './recovery-wire.ts';

/** Outcomes are told at least this often, so that new jobs come before the old ones are all done. */
const TELL_MS = 1;

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const { signatures } = workerData as ThreadOptions;
const { library, publicKeyOf, recoveryMs, notice } = await chooseRecovery(signatures, systemClock);
const recover = checkedRecovery(publicKeyOf);

port.on('message', (jobs: Uint8Array) => {
  const count = jobs.length / JOB_BYTES;
  let toldCount = 0;
  let toldMs = systemClock.monotonicMs();
  let outcomes = new Uint8Array(count * OUTCOME_BYTES);
  for (let i = 0; i < count; i++) {
    const at = i * JOB_BYTES;
    const digest = digestOf(jobs.subarray(at, at + STRUCT_BYTES));
    putOutcome(outcomes, i - toldCount, recover(digest, jobs.subarray(at + STRUCT_BYTES, at + JOB_BYTES)));
    const nowMs = systemClock.monotonicMs();
    if (nowMs - toldMs < TELL_MS && i + 1 < count) continue;
    port.postMessage(outcomes.slice(0, (i + 1 - toldCount) * OUTCOME_BYTES));
    toldCount = i + 1;
    toldMs = nowMs;
    outcomes = new Uint8Array((count - toldCount) * OUTCOME_BYTES);
  }
});
port.postMessage({ library, recoveryMs, notice } satisfies ThreadReady);
