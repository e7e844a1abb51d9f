/** Opens jobs as a snapshot, by way of the file's bytes. */
import type { Job } from '../../src/catalogue/job.ts';
import { SnapshotBuilder } from '../../src/catalogue/snapshot/build.ts';
import { openSnapshot, type Snapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import type { BuildFacts } from '../../src/catalogue/snapshot/snapshot-file.ts';
import { memorySource, type SnapshotSource } from '../../src/catalogue/snapshot/source.ts';

export const FACTS = { builtAtMs: 1_700_000_000_000, sourceRows: 7, rejectedRows: 1, skillsVersion: 'test-1' };

export function bytesOfJobs(jobs: Iterable<Job>, facts: BuildFacts = FACTS): Buffer {
  const builder = new SnapshotBuilder();
  for (const job of jobs) builder.add(job);
  return Buffer.concat([...builder.finish(() => facts).chunks]);
}

export function openedJobs(jobs: Iterable<Job>): Snapshot {
  return openSnapshot(forgetfulSource(bytesOfJobs(jobs)));
}

/**
 * A source over bytes in memory that overwrites the result of a transient read at the next one, as a file source does.
 */
export function forgetfulSource(bytes: Uint8Array): SnapshotSource {
  const source = memorySource('test', bytes);
  let last = new Uint8Array(0);
  return {
    ...source,
    readTransient: (offset, length) => {
      last.fill(0xff);
      last = Uint8Array.from(source.read(offset, length));
      return last;
    },
  };
}
