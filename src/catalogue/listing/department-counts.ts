/** Departments of some jobs, grouped by compared text and shown as on the newest job, as the market question does (siblings §2). */
import { keepTop } from '../../base/top-list.ts';
import { TOP_ENTRIES_MAX } from '../limits.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { DepartmentCount } from './listing-answers.ts';
import type { TextGroups } from './text-groups.ts';

/** A department as recorded. */
interface RecordedDepartment {
  count: number;
  /** The first of the rows that has it, so the newest job. */
  readonly row: number;
}

/**
 * The ten most frequent departments, count descending, then shown text ascending by code unit. Jobs without a
 * department do not count.
 * @param recorded by {@link recordedIn} or {@link recordedInActive}
 */
export function topDepartments(
  { department, departments }: Snapshot,
  groups: TextGroups,
  recorded: Iterable<RecordedDepartment>,
): DepartmentCount[] {
  const grouped = new Map<number, { count: number; row: number }>();
  for (const { count, row } of recorded) {
    const group = groups.groupOf[department[row]!]!;
    const known = grouped.get(group);
    if (known === undefined) grouped.set(group, { count, row });
    else {
      known.count += count;
      known.row = Math.min(known.row, row);
    }
  }
  const top: DepartmentCount[] = [];
  for (const { count, row } of grouped.values()) {
    const last = top[TOP_ENTRIES_MAX - 1];
    // A text is decoded only where the counts do not decide.
    if (last !== undefined && count < last.activeJobCount) continue;
    const shown = { department: departments.textOf(department[row]!), activeJobCount: count };
    keepTop(top, shown, TOP_ENTRIES_MAX, comesBefore);
  }
  return top;
}

/** @param rows active ones, ascending */
export function recordedIn({ department }: Snapshot, rows: Uint32Array): Iterable<RecordedDepartment> {
  const byCode = new Map<number, RecordedDepartment>();
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const code = department[row]!;
    if (code === 0) continue;
    const known = byCode.get(code);
    if (known === undefined) byCode.set(code, { count: 1, row });
    else known.count++;
  }
  return byCode.values();
}

/** Those of all active jobs. */
export function* recordedInActive({
  activeCount,
  department,
  departments,
}: Snapshot): Generator<RecordedDepartment, void> {
  const counts = new Uint32Array(departments.size);
  const firstRows = new Uint32Array(departments.size);
  for (let row = 0; row < activeCount; row++) {
    const code = department[row]!;
    if (counts[code] === 0) firstRows[code] = row;
    counts[code]!++;
  }
  for (let code = 1; code < counts.length; code++) {
    if (counts[code]! > 0) yield { count: counts[code]!, row: firstRows[code]! };
  }
}

const comesBefore = (left: DepartmentCount, right: DepartmentCount): boolean =>
  left.activeJobCount === right.activeJobCount
    ? left.department < right.department
    : left.activeJobCount > right.activeJobCount;
