/** The report of `import`: the object of `--json`, and lines for people. */
import { grouped, quantity } from '../../base/grouped.ts';
import { printable } from '../../base/printable.ts';
import { type FileSummary, formatOf } from '../../ingest/intake-report.ts';
import type { FeedCounts } from '../../storage/history/merge.ts';

const REPEATED = 'repeated id';
/** Why the rows of a refused feed were not imported. */
const REFUSED = {
  unhealthy: 'is in a feed of under half of the usual rows',
  'several days': 'is in one of several files of its board with different days in their names',
} as const;

export interface FileReport {
  readonly file: string;
  /** Of an archive the shapes of its members, comma-separated; null: not recognised, or empty. */
  readonly format: string | null;
  /** imported + refused. */
  readonly read: number;
  readonly imported: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** Members as `--json` prints them. */
export interface ImportReport extends FeedCounts {
  readonly catalogue: string;
  /** null: each file at the date in its name. */
  readonly observed_at: string | null;
  readonly files: readonly FileReport[];
}

/** Rows of one file in feeds that were refused, by the kind of refusal. */
export type RefusedRows = Partial<Record<keyof typeof REFUSED, number>>;

/** @param summary undefined: the file could not be read */
export function fileReportOf(name: string, summary: FileSummary | undefined, rows: RefusedRows): FileReport {
  if (summary === undefined) return { file: name, format: null, read: 0, imported: 0, refused: {} };
  const { read, taken, repeated, joined, refused } = summary;
  const reasons = Object.fromEntries(refused);
  if (repeated > joined) reasons[REPEATED] = repeated - joined;
  let imported = taken + joined;
  for (const [kind, count] of Object.entries(rows) as [keyof typeof REFUSED, number][]) {
    reasons[REFUSED[kind]] = count;
    imported -= count;
  }
  return { file: name, format: formatOf(summary), read, imported, refused: reasons };
}

export function countsText(counts: FeedCounts): string {
  const { seen, changed, closed, reopened } = counts;
  return (
    `${grouped(counts.new)} new, ${grouped(seen)} seen again (${grouped(changed)} changed, ` +
    `${grouped(reopened)} reopened), ${grouped(closed)} closed`
  );
}

export function fileLine({ file, format, read, imported, refused }: FileReport): string {
  const reasons = Object.entries(refused).map(([reason, count]) => `${grouped(count)} ${printable(reason)}`);
  const refusedText = reasons.length === 0 ? '' : `; refused: ${reasons.join(', ')}`;
  return `${file}: ${format ?? 'not read'}, ${quantity(read, 'row')}, ${grouped(imported)} imported${refusedText}\n`;
}
