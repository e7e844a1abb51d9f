/**
 * The work of `import`: reads all files, then merges feed by feed into the history of a catalogue, in one transaction.
 * It reports and leaves out files that it cannot read and feeds that look broken. If the process dies, the catalogue is
 * as it was before or after the import.
 */
import { join } from 'node:path';
import { openSpillFile } from '../../adapters/files/spill-file.ts';
import { DAY_MS } from '../../base/durations.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import { isoTime } from '../../base/iso-time.ts';
import { printable } from '../../base/printable.ts';
import { zeroCounts } from '../../base/zero-counts.ts';
import type { Spill } from '../../catalogue/packed/spill.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { manifestOf, wordsOf } from '../../ingest/companies/manifest-words.ts';
import {
  BrokenOffError,
  type Bytes,
  InputError,
  type Inputs,
  inputName,
  type Member,
  openInputs,
  timeInNameOf,
} from '../../ingest/input/input.ts';
import { Intake } from '../../ingest/intake.ts';
import type { BoardManifest, WatchedEntries } from '../../ingest/shapes/board-manifest.ts';
import { SHAPES } from '../../ingest/shapes/shapes.ts';
import { loadSkillExtractor } from '../../ingest/skills/skills.ts';
import { watchedEntriesOf } from '../../storage/history/board-tables.ts';
import { unfittingKeys } from '../../storage/history/company-tables.ts';
import { HISTORY_FILE, HistoryDatabase, HistoryError } from '../../storage/history/database.ts';
import { HistoryImport } from '../../storage/history/import.ts';
import { FEED_COUNTS, type FeedCounts, type FeedOutcome, type Refusal } from '../../storage/history/merge.ts';
import { CommandError, commandErrorOf, EXIT_OK, EXIT_USAGE, UsageError } from '../command.ts';
import { unfittingLine } from '../companies/company-lines.ts';
import { AUTO, Complaints, manifestFrom, shapeTeller, takeAll } from '../intake.ts';
import type { Io } from '../io.ts';
import { NewFile } from '../new-file.ts';
import { Progress } from '../progress.ts';
import { countsText, fileLine, fileReportOf, type ImportReport, type RefusedRows } from './import-report.ts';
import { spooledStreams, streamsAmong } from './spooled.ts';

/** Most feeds that are listed one by one: an aggregate holds thousands. */
const LISTED_FEED_COUNT_MAX = 20;

export interface ImportPlan {
  readonly paths: readonly string[];
  readonly catalogue: string;
  /** Name of a shape, or `auto`. */
  readonly format: string;
  readonly isComplete: boolean;
  readonly isForced: boolean;
  readonly observedAtMs: number;
  /** Each file's name says when it was fetched, in place of `observedAtMs`. */
  readonly isFromName: boolean;
  readonly isObservedAtGiven: boolean;
  readonly manifestPath: string | undefined;
  readonly rejectsPath: string | undefined;
  readonly isJson: boolean;
}

/** One path of the command line, opened separately, so that a missing file costs only itself. */
interface Source {
  readonly name: string;
  /** null: the file cannot be opened. */
  readonly inputs: Inputs | null;
}

interface Merged {
  readonly totals: FeedCounts;
  /** Feeds that were merged; those that were refused do not count. */
  readonly feedCount: number;
  /** The first {@link LISTED_FEED_COUNT_MAX}. */
  readonly feeds: readonly FeedOutcome[];
  /** File -> its rows in feeds that were refused. */
  readonly refusedRows: ReadonlyMap<string, RefusedRows>;
}

/** A path that an option names cannot be used: a usage error, found before anything changes. */
const usageErrorOf = (error: unknown): unknown =>
  error instanceof CommandError ? new UsageError(error.message) : error;

/** @throws UsageError when the file cannot be written */
function rejectsAt(path: string): NewFile {
  try {
    return new NewFile(path);
  } catch (error) {
    throw usageErrorOf(error);
  }
}

const boardName = (shape: string, board: string): string => `${shape}:${printable(board)}`;

/** Bytes of all sources; null when the size of one is unknown. */
const totalBytesOf = (sources: readonly Source[]): number | null =>
  sources.reduce<number | null>(
    (sum, { inputs }) =>
      sum === null || inputs?.progress.bytesTotal === null ? null : sum + (inputs?.progress.bytesTotal ?? 0),
    0,
  );

/** @throws InputError for a name without a date, or with a date in the future */
function timeOfName(member: Member, nowMs: number): number {
  const timeMs = timeInNameOf(member);
  if (timeMs !== null && timeMs <= nowMs) return timeMs;
  const fault =
    timeMs === null
      ? 'has no date in its name, such as acme.2026-08-01.json'
      : 'has a date in its name that is still to come';
  throw new InputError(`${member.name}: ${fault}: import it with --observed-at TIME`);
}

function refusalText(rows: number, refusal: Refusal): string {
  switch (refusal.kind) {
    case 'unhealthy':
      return (
        `refused as unhealthy: ${quantity(rows, 'row')}, where ${grouped(Math.round(refusal.usualRows))} are usual; ` +
        '--force takes it'
      );
    case 'several days': {
      const [first, second, ...others] = refusal.files;
      return (
        `refused: ${first} and ${second}${others.length === 0 ? '' : ` and ${grouped(others.length)} more`} carry different ` +
        'days in their names; --observed-at from-name takes each at its day, or import them one by one with --observed-at'
      );
    }
    default:
      return refusal satisfies never;
  }
}

class FileImport {
  readonly #plan: ImportPlan;
  readonly #io: Io;
  readonly #progress: Progress;
  readonly #complaints: Complaints;
  /** Files whose name has a date other than the import's. */
  readonly #otherDates = new Set<string>();
  /** Files and feeds that were left out. */
  #leftOutCount = 0;

  constructor(plan: ImportPlan, io: Io) {
    this.#plan = plan;
    this.#io = io;
    this.#progress = new Progress(io.stderr, io.clock);
    this.#complaints = new Complaints((line) => this.#progress.say(line));
  }

  /** @returns the exit code @throws UsageError, CommandError */
  async run(): Promise<number> {
    const { catalogue, observedAtMs, manifestPath, rejectsPath } = this.#plan;
    // Until that time, no later import could change what this one observed.
    if (observedAtMs > this.#io.clock.nowMs())
      this.#progress.say("warning: --observed-at is later than this machine's clock\n");
    const manifest = await manifestFrom(manifestPath).catch((error: unknown) => {
      throw usageErrorOf(error);
    });
    const skills = loadSkillExtractor();
    const rejects = rejectsPath === undefined ? null : rejectsAt(rejectsPath);
    let spill: Spill | undefined;
    let history: HistoryDatabase | undefined;
    try {
      const streamPaths = await streamsAmong(this.#plan.paths);
      let streams: ReadonlyMap<string, Bytes> = new Map();
      if (streamPaths.length > 0) {
        // Refuses an unusable catalogue before any stream is read.
        HistoryDatabase.openForSettings(catalogue).close();
        spill = openSpillFile(join(catalogue, HISTORY_FILE));
        streams = await spooledStreams(streamPaths, this.#io.stdin.bytes, spill);
      }
      history = HistoryDatabase.openForImport(catalogue);
      const merging = new HistoryImport(history, {
        mayHaveDays: this.#plan.isFromName,
        skillsVersion: skills.version,
        onUnknownEmpty: (shape, board, { member }) =>
          this.#progress.say(
            `${member.name}: an empty listing of no known board${board === null ? '' : ` (${boardName(shape.name, board)})`}: ` +
              'nothing was recorded\n',
          ),
      });
      const words = merging.rememberWords(wordsOf(manifest));
      const sources = await this.#openSources(streams);
      const watchedOf = watchedEntriesOf(history);
      const reading = { sink: merging, skills, manifest: manifestOf(words), watchedOf, rejects };
      const intake = await this.#readAll(sources, reading);
      const merged = this.#merge(merging);
      for (const key of unfittingKeys(history, manifest.keys())) this.#progress.say(unfittingLine(key));
      rejects?.finish();
      merging.commit();
      rejects?.commit();
      this.#report(sources, intake, merged);
      return this.#leftOutCount > 0 ? EXIT_USAGE : EXIT_OK;
    } catch (error) {
      this.#progress.clear();
      throw commandErrorOf(error, HistoryError, InputError, SnapshotError);
    } finally {
      rejects?.discard();
      spill?.close();
      history?.close();
    }
  }

  /** @throws error unless it says that an input cannot be read */
  #leaveOut(error: unknown): void {
    if (!(error instanceof InputError)) throw error;
    this.#leftOutCount++;
    const taken =
      error instanceof BrokenOffError ? `; ${grouped(error.takenCount)} before it are in a partial feed` : '';
    this.#progress.say(`${error.message}${taken}\n`);
  }

  async #openSources(streams: ReadonlyMap<string, Bytes>): Promise<readonly Source[]> {
    const sources: Source[] = [];
    for (const path of this.#plan.paths) {
      try {
        sources.push({ name: path, inputs: await openInputs([path], streams) });
      } catch (error) {
        this.#leaveOut(error);
        sources.push({ name: path, inputs: null });
      }
    }
    return sources;
  }

  async #readAll(
    sources: readonly Source[],
    {
      sink,
      skills,
      manifest,
      watchedOf,
      rejects,
    }: {
      readonly sink: HistoryImport;
      readonly skills: ReturnType<typeof loadSkillExtractor>;
      readonly manifest: BoardManifest;
      readonly watchedOf: WatchedEntries;
      readonly rejects: NewFile | null;
    },
  ): Promise<Intake> {
    const { paths, format, observedAtMs, isFromName } = this.#plan;
    const total = totalBytesOf(sources);
    let bytesBefore = 0;
    let current: Inputs | null = null;
    const tellShape = shapeTeller((line) => this.#progress.say(line));
    const intake: Intake = new Intake({
      sink,
      skills,
      shape: SHAPES.find(({ name }) => name === format) ?? SHAPES,
      // The contract of `import`: the observation time is --observed-at or now, never a time inside a document.
      observedAtGiven: true,
      context: { observedAtMs, board: { company: null, domain: null }, manifest },
      watchedOf,
      ...(isFromName ? { observedAtOf: (member) => timeOfName(member, this.#io.clock.nowMs()) } : {}),
      namesFiles: paths.length > 1,
      nowMs: this.#io.clock.nowMs(),
      onRejection: (rejection) => this.#complaints.take(rejection),
      rejects,
      onShape: (member, shape) => {
        const name = member.archive ?? member.name;
        const date = timeInNameOf(member);
        if (date !== null && Math.abs(date - observedAtMs) > DAY_MS) this.#otherDates.add(name);
        if (format === AUTO) tellShape(member, shape);
      },
      onProgress: () =>
        this.#progress.show({
          rows: intake.tally.source,
          done: bytesBefore + (current?.progress.bytesRead ?? 0),
          total,
        }),
    });
    for (const { inputs } of sources) {
      current = inputs;
      await takeAll(inputs?.files ?? [], intake, (error) => this.#leaveOut(error));
      bytesBefore += inputs?.progress.bytesRead ?? 0;
      current = null;
    }
    this.#progress.clear();
    this.#complaints.summarise();
    return intake;
  }

  #merge(merging: HistoryImport): Merged {
    const totals = zeroCounts(FEED_COUNTS);
    const feeds: FeedOutcome[] = [];
    let feedCount = 0;
    const refusedRows = new Map<string, RefusedRows>();
    merging.merge(this.#plan.isComplete, this.#plan.isForced, (feed) => {
      for (const name of FEED_COUNTS) totals[name] += feed[name];
      if (feed.hasNameless) {
        this.#progress.say(
          `${boardName(feed.shape, feed.board)}: merged as partial: a record has no id of its own, so it may be any of its jobs\n`,
        );
      }
      if (feed.refusal === null) {
        feedCount++;
        if (feeds.length < LISTED_FEED_COUNT_MAX) feeds.push(feed);
        return;
      }
      this.#leftOutCount++;
      const { kind, rowsByFile } = feed.refusal;
      for (const [file, rows] of rowsByFile) {
        const before = refusedRows.get(file);
        refusedRows.set(file, { ...before, [kind]: (before?.[kind] ?? 0) + rows });
      }
      this.#progress.say(`${boardName(feed.shape, feed.board)}: ${refusalText(feed.rows, feed.refusal)}\n`);
    });
    return { totals, feedCount, feeds, refusedRows };
  }

  #report(sources: readonly Source[], intake: Intake, { totals, feedCount, feeds, refusedRows }: Merged): void {
    const { catalogue, observedAtMs, isFromName, isObservedAtGiven, isJson } = this.#plan;
    const summaries = new Map(intake.files.map((file) => [file.name, file] as const));
    const names = [...new Set(sources.map(({ name }) => inputName(name)))];
    const files = names.map((name) => fileReportOf(name, summaries.get(name), refusedRows.get(name) ?? {}));
    for (const file of files) this.#progress.say(fileLine(file));
    if (feedCount <= LISTED_FEED_COUNT_MAX) {
      for (const feed of feeds) {
        this.#progress.say(
          `${boardName(feed.shape, feed.board)}: ${quantity(feed.rows, 'job')}, ${countsText(feed)}\n`,
        );
      }
    }
    const otherDates = files.filter(({ file, imported }) => imported > 0 && this.#otherDates.has(file));
    if (otherDates.length > 0 && !isObservedAtGiven) {
      this.#progress.say(
        `note: ${otherDates.length === 1 ? `${otherDates[0]?.file} carries` : `${grouped(otherDates.length)} files carry`} ` +
          'another date in the name; the import recorded them as observed now. --observed-at from-name takes each at its date\n',
      );
    }
    this.#progress.say(`${catalogue}: ${quantity(feedCount, 'feed')}, ${countsText(totals)}\n`);
    const report: ImportReport = {
      catalogue,
      observed_at: isFromName ? null : isoTime(observedAtMs),
      files,
      ...totals,
    };
    if (isJson) this.#io.stdout.write(`${JSON.stringify(report)}\n`);
  }
}

/** @returns the exit code @throws UsageError, CommandError */
export const importFiles = (plan: ImportPlan, io: Io): Promise<number> => new FileImport(plan, io).run();
