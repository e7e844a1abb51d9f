/** Jobs as the Jobs Data API shows them (`JobRecord`, siblings §4). */
import type { Catalogue } from '../catalogue.ts';
import type { JobRecord } from './listing-answers.ts';

/**
 * The jobs of a page, in the order of its rows. Ids and source URLs of neighbours are read from the file together.
 * @throws SnapshotChangedError when the snapshot's file changed after it was opened
 */
export function jobRecords({ foundJobs, snapshot }: Catalogue, rows: readonly number[]): JobRecord[] {
  const { activeCount, department, departments, firstObserved, skillNames, skillOffsets, skills } = snapshot;
  return foundJobs.at(rows).map((job, i): JobRecord => {
    const row = rows[i]!;
    const names: string[] = [];
    for (let at = skillOffsets[row]!; at < skillOffsets[row + 1]!; at++) names.push(skillNames.textOf(skills[at]!));
    return {
      ...job,
      department: department[row] === 0 ? null : departments.textOf(department[row]!),
      skills: names,
      firstObservedMs: firstObserved[row]!,
      status: row < activeCount ? 'active' : 'closed',
    };
  });
}
