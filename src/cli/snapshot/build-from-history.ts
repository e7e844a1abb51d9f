/** `snapshot build --catalogue`: every job in the history of a catalogue, open and closed, as a catalogue file. */
import { join } from 'node:path';
import { type OpenedBlocks, openEarlierBlocks, writeBlockIndex } from '../../adapters/files/block-index.ts';
import { writeSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { openSpillFile } from '../../adapters/files/spill-file.ts';
import { grouped } from '../../base/grouped.ts';
import type { Spill } from '../../catalogue/packed/spill.ts';
import { SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import type { BuildFacts } from '../../catalogue/snapshot/snapshot-file.ts';
import { shownCompanyOf } from '../../ingest/companies/resolve.ts';
import { loadSkillExtractor } from '../../ingest/skills/skills.ts';
import { type CompanyDirectory, companyDirectoryOf } from '../../storage/history/company-directory.ts';
import { HISTORY_FILE, HistoryDatabase, HistoryError } from '../../storage/history/database.ts';
import { jobsToBuild, storedTextsOf } from '../../storage/history/jobs-to-build.ts';
import { recordedEvents } from '../../storage/history/recorded-events.ts';
import { CommandError, EXIT_OK } from '../command.ts';
import { unfittingLine } from '../companies/company-lines.ts';
import type { Io } from '../io.ts';
import { Progress } from '../progress.ts';
import { companyLines, reachOfFile, report, requireApart, requireWritable } from './build-report.ts';
import { type HistorySelection, JobSelection, jobs, leftOutLine } from './left-out.ts';
import { reachReportOf } from './reach-lines.ts';

/**
 * In the folder of the catalogue: what the blocks of the last snapshot hold, so that the next build copies those that are
 * unchanged (adapters/files/block-index.ts).
 */
export const BLOCK_LIST = 'blocks.list';

/** Jobs between two updates of the progress line. */
const PROGRESS_JOBS = 4096;

/** Jobs, and events, between two turns of the loop: a few tens of milliseconds. */
const TURN_JOBS = 256;
const TURN_EVENTS = 4096;

export interface HistoryBuildPlan extends HistorySelection {
  /** Folder of the catalogue. */
  readonly folder: string;
  readonly out: string;
  readonly keepsDescriptions: boolean;
  readonly isJson: boolean;
  /**
   * One of many builds of the same file: it takes over what the file has, does not check every page of the catalogue before, and
   * says only what went wrong.
   */
  readonly isNext: boolean;
}

/** Lets signals and timers come. @throws the reason of a signal that was aborted */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(setImmediate);
  signal?.throwIfAborted();
}

interface Read {
  readonly history: HistoryDatabase;
  readonly selection: JobSelection;
  readonly directory: CompanyDirectory;
}

/** The jobs that are selected, and all events. @throws the reason of the signal */
async function addAll(builder: SnapshotBuilder, read: Read, io: Io, signal: AbortSignal | undefined): Promise<void> {
  const { history, selection, directory } = read;
  const progress = new Progress(io.stderr, io.clock);
  for (const { board, job, stored } of jobsToBuild(history)) {
    if (!selection.has(job)) continue;
    const identity = directory.identityOf(board, job.company);
    const shown = shownCompanyOf(job, identity);
    const companyAliases = shown.companyDomain === identity.domain ? identity.aliases : [];
    builder.add({ ...job, ...shown, companyAliases }, 0, stored);
    if (builder.rowCount % TURN_JOBS === 0) await turn(signal);
    if (builder.rowCount % PROGRESS_JOBS === 0) progress.show({ rows: builder.rowCount, done: 0, total: null });
  }
  let events = 0;
  for (const { event, job, board } of recordedEvents(history)) {
    builder.addEvent(event, { ...job, ...shownCompanyOf(job, directory.identityOf(board, job.company)) });
    if (++events % TURN_EVENTS === 0) await turn(signal);
  }
  progress.clear();
}

/**
 * Lets the loop turn while it reads, so that a process that is to end answers soon.
 * @param signal gives the build up: nothing is written, and the promise rejects with its reason
 * @returns the exit code @throws UsageError, CommandError
 */
export async function buildFromHistory(plan: HistoryBuildPlan, io: Io, signal?: AbortSignal): Promise<number> {
  const { folder, isJson, isNext, keepsDescriptions, out } = plan;
  requireApart(out, undefined, [join(folder, HISTORY_FILE)]);
  await requireWritable(out);
  let history: HistoryDatabase | undefined;
  let spill: Spill | undefined;
  let earlier: OpenedBlocks | undefined;
  const blockList = join(folder, BLOCK_LIST);
  try {
    history = isNext ? HistoryDatabase.openForGlance(folder) : HistoryDatabase.openForReading(folder);
    spill = openSpillFile(out);
    earlier = isNext && keepsDescriptions ? openEarlierBlocks(blockList, out) : undefined;
    const builder = new SnapshotBuilder({ spill, keepsDescriptions, earlier, stored: storedTextsOf(history) });
    const selection = new JobSelection(history, plan, io.clock.nowMs());
    const directory = companyDirectoryOf(history);
    await addAll(builder, { history, selection, directory }, io, signal);
    const sourceRows = history.feedRows();
    const versions = history.skillVersions();
    const facts: BuildFacts = {
      builtAtMs: io.clock.nowMs(),
      sourceRows,
      rejectedRows: 0,
      // A job keeps the skills of an older dictionary until a feed brings the job again.
      leftOut: selection.leftOut,
      skillsVersion: `${versions[0] ?? loadSkillExtractor().version}${versions.length > 1 ? ' and earlier' : ''}`,
    };
    const built = builder.finish(() => facts);
    await writeSnapshotFile(out, built.chunks);
    if (isNext && keepsDescriptions) writeBlockIndex(blockList, out, built.descriptionBlocks);
    if (isNext) return EXIT_OK;
    io.stderr.write(`${out}: ${grouped(builder.rowCount)} jobs, ${grouped(built.byteLength)} bytes\n`);
    if (selection.leftOut !== undefined) io.stderr.write(leftOutLine(selection.leftOut));
    if (selection.sameUrlCount > 0 && !plan.mergesSameUrl) {
      io.stderr.write(
        `note: ${jobs(selection.sameUrlCount)} with the address of a newer one; --merge-same-url leaves such jobs out\n`,
      );
    }
    const reach = reachOfFile(out);
    io.stderr.write(companyLines(reach, built.disputedAliases));
    for (const { key } of directory.unfitting) io.stderr.write(unfittingLine(key));
    if (builder.rowCount === 0) io.stderr.write('warning: the catalogue has no jobs\n');
    report(isJson, io.stdout, {
      written: true,
      out,
      rows: builder.rowCount,
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
    return EXIT_OK;
  } catch (error) {
    if (error instanceof HistoryError || error instanceof SnapshotError) throw new CommandError(error.message);
    throw error;
  } finally {
    spill?.close();
    earlier?.close();
    history?.close();
  }
}
