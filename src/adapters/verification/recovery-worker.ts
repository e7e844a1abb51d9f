/**
 * Entry of a recovery thread: chooses its library, reports it, and recovers the keys of the jobs it receives. It runs
 * at normal priority: a lower one made webhooks no faster under a flood of payments and made honest payers wait longer
 * (`bench/flood.ts`).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { STRUCT_BYTES } from '../../payment/protocol/typed-data.ts';
import { OUTCOME_BYTES, putOutcome } from '../../payment/signature/outcome-bytes.ts';
import { chooseRecovery } from './recovery.ts';
import { JOB_BYTES, type ThreadOptions, type ThreadReady } from './recovery-wire.ts';

/** Outcomes are sent at least this often, so that new jobs arrive before all old ones are done. */
const SEND_INTERVAL_MS = 1;

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const { signatures } = workerData as ThreadOptions;
const { library, recoverSigner, recoveryMs, notice } = await chooseRecovery(signatures, systemClock);

port.on('message', (jobs: Uint8Array) => {
  const count = jobs.length / JOB_BYTES;
  let sentCount = 0;
  let sentMs = systemClock.monotonicMs();
  let outcomes = new Uint8Array(count * OUTCOME_BYTES);
  for (let i = 0; i < count; i++) {
    const at = i * JOB_BYTES;
    const recovered = recoverSigner(
      jobs.subarray(at, at + STRUCT_BYTES),
      jobs.subarray(at + STRUCT_BYTES, at + JOB_BYTES),
    );
    putOutcome(outcomes, (i - sentCount) * OUTCOME_BYTES, recovered);
    const nowMs = systemClock.monotonicMs();
    if (nowMs - sentMs < SEND_INTERVAL_MS && i + 1 < count) continue;
    port.postMessage(outcomes.slice(0, (i + 1 - sentCount) * OUTCOME_BYTES));
    sentCount = i + 1;
    sentMs = nowMs;
    outcomes = new Uint8Array((count - sentCount) * OUTCOME_BYTES);
  }
});
port.postMessage({ library, recoveryMs, notice } satisfies ThreadReady);
