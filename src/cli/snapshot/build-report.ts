/** The report of `snapshot build`, for people and for `--json`; both ways of building share it. */
import { openSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { grouped } from '../../base/grouped.ts';
import { type Reach, reachOf } from '../../catalogue/questions/reach.ts';
import { openSnapshot } from '../../catalogue/snapshot/snapshot.ts';
import type { Output } from '../io.ts';
import { type ReachReport, reachLines } from './reach-lines.ts';

export interface FileReport {
  readonly file: string;
  /** null: not recognised, or empty. */
  readonly format: string | null;
  readonly read: number;
  readonly taken: number;
  readonly repeated: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** Members as `--json` prints them. */
export interface BuildReport {
  readonly written: boolean;
  readonly out: string;
  readonly rows: number;
  readonly source_rows: number;
  readonly rejected_rows: number;
  /** Records of feeds that the catalogue already had. */
  readonly repeated_rows: number;
  /** Active jobs that `--max-age-days` left out. */
  readonly aged_jobs: number;
  /** Active jobs with the same address as one that was observed later. */
  readonly same_url_jobs: number;
  readonly rejected: readonly { field: string; reason: string; count: number }[];
  readonly files: readonly FileReport[];
  readonly bytes: number | null;
  readonly content: string | null;
  /** null: nothing was written. */
  readonly reach: ReachReport | null;
  /** Aliases that several companies would have, so that none has them. */
  readonly disputed_aliases: readonly string[];
}

export function report(isJson: boolean, stdout: Output, result: BuildReport): void {
  if (isJson) stdout.write(`${JSON.stringify(result)}\n`);
}

/** The reach of a file that was just written. */
export function reachOfFile(path: string): Reach {
  const snapshot = openSnapshot(openSnapshotFile(path));
  try {
    return reachOf(snapshot);
  } finally {
    snapshot.close();
  }
}

/** Disputed aliases that are named in one line. */
const NAMED_COUNT_MAX = 10;

/** What people read about the companies of a file: its reach, and aliases that no company has. */
export function companyLines(reach: Reach, disputed: readonly string[]): string {
  if (disputed.length === 0) return reachLines(reach);
  const named = disputed.slice(0, NAMED_COUNT_MAX).join(', ');
  const more = disputed.length > NAMED_COUNT_MAX ? ` and ${grouped(disputed.length - NAMED_COUNT_MAX)} more` : '';
  return `note: several companies would have the alias ${named}${more}: none has it\n${reachLines(reach)}`;
}
