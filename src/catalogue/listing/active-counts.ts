/** The catalogue in numbers (`GET /v1/metrics/overview` and `/v1/public/overview`, siblings §4). */
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Overview } from './listing-answers.ts';

/** One pass over three columns. */
export function overviewOf(snapshot: Snapshot): Overview {
  const { activeCount, companyCount, companyOffsets, companyRows, firstObserved, rowCount } = snapshot;
  let companies = 0;
  for (let company = 0; company < companyCount; company++) {
    if (companyRows[companyOffsets[company]!]! < activeCount) companies++;
  }
  let first = Number.POSITIVE_INFINITY;
  for (let row = 0; row < rowCount; row++) if (firstObserved[row]! < first) first = firstObserved[row]!;
  const ofRemote = activeCounts(snapshot.remoteStatus, REMOTE_STATUSES.length, activeCount);
  const ofEmployment = activeCounts(snapshot.employmentType, EMPLOYMENT_TYPES.length, activeCount);
  return {
    activeJobs: activeCount,
    closedJobs: rowCount - activeCount,
    companies,
    byRemoteStatus: REMOTE_STATUSES.map((remoteStatus, code) => ({ remoteStatus, activeJobCount: ofRemote[code]! })),
    byEmploymentType: EMPLOYMENT_TYPES.map((employmentType, code) => ({
      employmentType,
      activeJobCount: ofEmployment[code]!,
    })),
    firstObservedMs: rowCount === 0 ? null : first,
    lastObservedMs: snapshot.newestObservedMs,
  };
}

function activeCounts(codes: Uint8Array, codeCount: number, activeCount: number): Uint32Array {
  const counts = new Uint32Array(codeCount);
  for (let row = 0; row < activeCount; row++) counts[codes[row]!]!++;
  return counts;
}
