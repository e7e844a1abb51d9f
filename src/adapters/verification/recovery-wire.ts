/**
 * The messages between the main thread and recovery threads. Jobs are one array, JOB_BYTES each (struct, signature); outcomes
 * come back in the same order, OUTCOME_BYTES each (outcome, address). Copying bytes costs less than cloning objects.
 */
import { STRUCT_BYTES } from '../../payment/protocol/typed-data.ts';
import type { RecoveryJob } from '../../payment/signature/recovery-queue.ts';
import { type Recovered, type RecoveryFault, SIGNATURE_BYTES } from '../../payment/signature/signature.ts';
import type { RecoveryLibrary, SignatureMode } from './recovery.ts';

export const JOB_BYTES = STRUCT_BYTES + SIGNATURE_BYTES;
export const OUTCOME_BYTES = 21;

export interface ThreadOptions {
  readonly signatures: SignatureMode;
}

/** The thread's first message; all later ones are outcomes. */
export interface ThreadReady {
  readonly library: RecoveryLibrary;
  readonly recoveryMs: number;
  readonly notice: string | undefined;
}

/** The first byte of an outcome is the index in this list plus 1; 0 is success. */
const FAULTS: readonly RecoveryFault[] = ['length', 'v', 'r-range', 's-range', 'no-key'];

export function encodeJobs(jobs: readonly RecoveryJob[]): Uint8Array {
  const bytes = new Uint8Array(jobs.length * JOB_BYTES);
  for (const [i, { struct, signature }] of jobs.entries()) {
    bytes.set(struct, i * JOB_BYTES);
    bytes.set(signature, i * JOB_BYTES + STRUCT_BYTES);
  }
  return bytes;
}

export function putOutcome(into: Uint8Array, index: number, recovered: Recovered): void {
  const at = index * OUTCOME_BYTES;
  if (recovered.ok) into.set(recovered.address, at + 1);
  else into[at] = FAULTS.indexOf(recovered.reason) + 1;
}

export function outcomeAt(bytes: Uint8Array, index: number): Recovered {
  const at = index * OUTCOME_BYTES;
  const fault = bytes[at]!;
  if (fault === 0) return { ok: true, address: bytes.slice(at + 1, at + OUTCOME_BYTES) };
  return { ok: false, reason: FAULTS[fault - 1] ?? 'no-key' };
}
