/** The detail question (siblings §2): one job, active or closed, whole. */
import type { Catalogue } from '../catalogue.ts';
import type { Job } from '../job.ts';

/** `undefined` when no job has the id. @throws SnapshotChangedError when the snapshot's file changed after it was opened */
export function jobDetail({ snapshot }: Catalogue, id: string): Job | undefined {
  const row = snapshot.rowOf(id);
  return row === undefined ? undefined : snapshot.job(row);
}
