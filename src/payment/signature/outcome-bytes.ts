/** Outcomes of recoveries as bytes, {@link OUTCOME_BYTES} each: in messages of threads, and in memory without objects. */
import type { Recovered, RecoveryFault } from './signature.ts';

/** Outcome, then the address. */
export const OUTCOME_BYTES = 21;

/** The first byte of an outcome is the index in this list plus 1; 0 is success. */
const FAULTS: readonly RecoveryFault[] = ['length', 'v', 'r-range', 's-range', 'no-key'];

/** @param at where it begins, in bytes that are zeros */
export function putOutcome(into: Uint8Array, at: number, recovered: Recovered): void {
  if (recovered.ok) into.set(recovered.address, at + 1);
  else into[at] = FAULTS.indexOf(recovered.reason) + 1;
}

export function outcomeAt(bytes: Uint8Array, at: number): Recovered {
  const fault = bytes[at]!;
  if (fault === 0) return { ok: true, address: bytes.slice(at + 1, at + OUTCOME_BYTES) };
  return { ok: false, reason: FAULTS[fault - 1] ?? 'no-key' };
}
