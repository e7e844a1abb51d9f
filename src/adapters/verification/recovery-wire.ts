/**
 * The messages between the main thread and recovery threads. Jobs are one array, JOB_BYTES each (struct, signature); outcomes
 * come back in the same order (outcome-bytes.ts). Copying bytes costs less than cloning objects.
 */
import { STRUCT_BYTES } from '../../payment/protocol/typed-data.ts';
import type { RecoveryJob } from '../../payment/signature/recovery-queue.ts';
import { SIGNATURE_BYTES } from '../../payment/signature/signature.ts';
import type { RecoveryLibrary, SignatureMode } from './recovery.ts';

export const JOB_BYTES = STRUCT_BYTES + SIGNATURE_BYTES;

export interface ThreadOptions {
  readonly signatures: SignatureMode;
}

/** The thread's first message; all later ones are outcomes. */
export interface ThreadReady {
  readonly library: RecoveryLibrary;
  readonly recoveryMs: number;
  readonly notice: string | undefined;
}

export function encodeJobs(jobs: readonly RecoveryJob[]): Uint8Array {
  const bytes = new Uint8Array(jobs.length * JOB_BYTES);
  for (const [i, { struct, signature }] of jobs.entries()) {
    bytes.set(struct, i * JOB_BYTES);
    bytes.set(signature, i * JOB_BYTES + STRUCT_BYTES);
  }
  return bytes;
}
