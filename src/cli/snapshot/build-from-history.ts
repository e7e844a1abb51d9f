/** `snapshot build --catalogue`: every job in the history of a catalogue, open and closed, as a catalogue file. */
import { join } from 'node:path';
import { writeSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { openSpillFile } from '../../adapters/files/spill-file.ts';
import { errorCodeOf } from '../../base/failure.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import type { Spill } from '../../catalogue/packed/spill.ts';
import { type FinishedSnapshot, SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import { EarlierSnapshotError, SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { BuildFacts } from '../../catalogue/snapshot/snapshot-file.ts';
import { loadSkillExtractor } from '../../ingest/skills/skills.ts';
import { type BuildDirectory, buildDirectoryOf } from '../../storage/history/company-directory.ts';
import { HISTORY_FILE, HistoryDatabase } from '../../storage/history/database.ts';
import { feedRowsIn, lastChange, skillVersionsIn, storedTextsOf } from '../../storage/history/jobs-to-build.ts';
import { commandErrorOf } from '../command.ts';
import { unfittingLine } from '../companies/company-lines.ts';
import type { Io } from '../io.ts';
import { requireApart, requireWritable } from '../output-paths.ts';
import { Progress } from '../progress.ts';
import { withHistory } from '../with-history.ts';
import { companyLines, reachOfFile, report } from './build-report.ts';
import { CatalogueReader, takenOver } from './catalogue-reader.ts';
import { type KeptBuild, keepBuild, openKeptBuild } from './kept-build.ts';
import { type HistorySelection, JobSelection, jobs, leftOutLine } from './left-out.ts';
import { reachReportOf } from './reach-lines.ts';

/**
 * File in the catalogue's folder with what the next build needs, besides the snapshot, to take over unchanged parts
 * (kept-build.ts).
 */
export const KEPT_LIST = 'build.list';

/** Jobs between two updates of the progress line. */
const PROGRESS_JOBS = 4096;

export interface HistoryBuildPlan extends HistorySelection {
  /** Folder of the catalogue. */
  readonly folder: string;
  readonly out: string;
  readonly keepsDescriptions: boolean;
  readonly isJson: boolean;
  /**
   * True for one of many builds of the same file: it takes over unchanged parts, does not first check every page of the
   * catalogue, and reports only failures.
   */
  readonly isNext: boolean;
  /** True: it takes nothing over even so. */
  readonly isFromNothing?: boolean;
}

/** Lets signals and timers run. @throws the reason of a signal that was aborted */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(setImmediate);
  signal?.throwIfAborted();
}

/** Does the work piece by piece, with a turn of the loop after each. @throws the reason of the signal */
async function inTurns<Result>(
  pieces: Generator<void, Result, void>,
  signal: AbortSignal | undefined,
  onTurn: () => void = () => {},
): Promise<Result> {
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
    onTurn();
    await turn(signal);
  }
}

interface Built {
  readonly built: FinishedSnapshot;
  readonly rows: number;
  readonly sourceRows: number;
  readonly selection: JobSelection;
  /** Words of the operator that apply to no employer. */
  readonly unfitting: BuildDirectory['unfitting'];
}

/** Reports what was built, with advice for the operator. */
function sayBuilt(
  { isJson, mergesSameUrl, out }: HistoryBuildPlan,
  io: Io,
  { built, rows, selection, sourceRows, unfitting }: Built,
): void {
  io.stderr.write(`${out}: ${quantity(rows, 'job')}, ${grouped(built.byteLength)} bytes\n`);
  if (selection.leftOut !== undefined) io.stderr.write(leftOutLine(selection.leftOut));
  if (selection.sameUrlCount > 0 && !mergesSameUrl) {
    io.stderr.write(
      `note: ${jobs(selection.sameUrlCount)} with the address of a newer one; --merge-same-url leaves such jobs out\n`,
    );
  }
  const reach = reachOfFile(out);
  io.stderr.write(companyLines(reach, built.disputedAliases));
  for (const { key } of unfitting) io.stderr.write(unfittingLine(key));
  if (rows === 0) io.stderr.write('warning: the catalogue has no jobs\n');
  report(isJson, io.stdout, {
    written: true,
    out,
    rows,
    source_rows: sourceRows,
    rejected_rows: 0,
    repeated_rows: 0,
    aged_jobs: selection.leftOut?.agedJobs ?? 0,
    same_url_jobs: selection.sameUrlCount,
    rejected: [],
    files: [],
    bytes: built.byteLength,
    content: built.contentDigest,
    reach: reachReportOf(reach),
    disputed_aliases: built.disputedAliases,
  });
}

/** Without the list the next build starts from nothing, and this one holds. */
function keepList(list: string, io: Io, keep: () => void): void {
  try {
    keep();
  } catch (failure) {
    const code = errorCodeOf(failure);
    if (code === undefined) throw failure;
    io.stderr.write(`warning: ${list} cannot be written (${code}), so the next build takes nothing over\n`);
  }
}

/**
 * Lets the loop turn while it reads, so that the process reacts to a signal soon.
 * @param signal aborts the build: nothing is written, and the promise rejects with its reason
 * @throws UsageError, CommandError
 */
export async function buildFromHistory(plan: HistoryBuildPlan, io: Io, signal?: AbortSignal): Promise<void> {
  const { folder, isNext, out } = plan;
  requireApart(out, undefined, [join(folder, HISTORY_FILE)]);
  await requireWritable(out);
  try {
    await withHistory(
      () => (isNext ? HistoryDatabase.openForGlance(folder) : HistoryDatabase.openForReading(folder)),
      (history) => build(history, plan, io, signal),
    );
  } catch (error) {
    if (error instanceof EarlierSnapshotError)
      return await buildFromHistory({ ...plan, isFromNothing: true }, io, signal);
    throw commandErrorOf(error, SnapshotError);
  }
}

async function build(history: HistoryDatabase, plan: HistoryBuildPlan, io: Io, signal?: AbortSignal): Promise<void> {
  const { folder, isNext, keepsDescriptions, out } = plan;
  let spill: Spill | undefined;
  let kept: KeptBuild | undefined;
  const list = join(folder, KEPT_LIST);
  try {
    spill = openSpillFile(out);
    kept = isNext && !plan.isFromNothing ? openKeptBuild(list, out, keepsDescriptions) : undefined;
    let earlier = kept && takenOver(kept, history);
    const positions = new Map<number, number>();
    const builder = new SnapshotBuilder({
      spill,
      keepsDescriptions,
      stored: storedTextsOf(history),
      earlier: earlier && kept?.snapshot,
      storedEvents: { read: (_, number) => kept!.snapshot.eventText(positions.get(number)!) },
    });
    const selection = new JobSelection(history, plan, io.clock.nowMs(), !isNext);
    const directory = buildDirectoryOf(history);
    const reader = new CatalogueReader(builder, { history, selection, directory }, positions);
    const progress = new Progress(io.stderr, io.clock);
    let shown = 0;
    await inTurns(earlier === undefined ? reader.all() : reader.next(earlier), signal, () => {
      if (builder.rowCount < shown + PROGRESS_JOBS) return;
      shown = builder.rowCount;
      progress.show({ rows: shown, done: 0, total: null });
    });
    // Frees it, because its columns are in the builder now.
    earlier = undefined;
    progress.clear();
    const sourceRows = feedRowsIn(history);
    const versions = skillVersionsIn(history);
    const facts: BuildFacts = {
      builtAtMs: io.clock.nowMs(),
      sourceRows,
      rejectedRows: 0,
      // A job keeps the skills of an older dictionary until a feed lists it again.
      leftOut: selection.leftOut,
      skillsVersion: `${versions[0] ?? loadSkillExtractor().version}${versions.length > 1 ? ' and earlier' : ''}`,
    };
    const built = await inTurns(
      builder.finishing(() => facts),
      signal,
    );
    const change = lastChange(history);
    await writeSnapshotFile(out, built.chunks, signal);
    if (!isNext) {
      sayBuilt(plan, io, { built, rows: builder.rowCount, sourceRows, selection, unfitting: directory.unfitting });
    } else if (change !== undefined) {
      keepList(list, io, () => keepBuild(list, built, reader.added, { change, keepsDescriptions }));
    }
  } finally {
    spill?.close();
    kept?.close();
  }
}
