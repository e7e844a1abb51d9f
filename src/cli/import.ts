/**
 * `import`: files of job boards into the history of a catalogue. All files are read first, then merged feed by feed, in one
 * transaction: a file that cannot be read and a feed that looks broken are left out and named, and whatever happens to
 * the process, the catalogue is as before or after.
 */
import { resolve } from 'node:path';
import { grouped } from '../base/grouped.ts';
import { dateInName, dateTimeOf, parseDateTime } from '../ingest/input/date-time.ts';
import { InputError, type Inputs, openInputs } from '../ingest/input/input.ts';
import { Intake } from '../ingest/intake.ts';
import type { FileSummary } from '../ingest/intake-report.ts';
import { SHAPES } from '../ingest/shapes/shapes.ts';
import { loadSkillExtractor } from '../ingest/skills/skills.ts';
import { HistoryDatabase, HistoryError } from '../storage/history/database.ts';
import { HistoryImport } from '../storage/history/import.ts';
import type { FeedOutcome } from '../storage/history/merge.ts';
import { CommandError, command, EXIT_OK, EXIT_USAGE, UsageError } from './command.ts';
import { AUTO, Complaints, MANIFEST_OPTION, manifestFrom, shapeTeller, takeAll } from './intake.ts';
import type { Io } from './io.ts';
import { NewFile } from './new-file.ts';
import { Progress } from './progress.ts';

/** Feeds told one by one; an aggregate holds thousands. */
const FEEDS_TOLD = 20;
const REPEATED = 'repeated id';
const UNHEALTHY = 'is in a feed of under half of the usual rows';
const DAY_MS = 86_400_000;

interface FileReport {
  readonly file: string;
  /** null: not recognised, or nothing in it. */
  readonly format: string | null;
  /** imported + refused. */
  readonly read: number;
  readonly imported: number;
  readonly refused: Readonly<Record<string, number>>;
}

const COUNTS = ['new', 'seen', 'changed', 'closed', 'reopened'] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

interface ImportReport extends Counts {
  readonly catalogue: string;
  readonly observed_at: string;
  readonly files: readonly FileReport[];
}

/** An input by itself, so that a missing one costs only itself. */
interface Source {
  readonly name: string;
  readonly inputs: Inputs | null;
}

function reportOf({ name, shape, read, taken, repeated, joined, refused }: FileSummary, unhealthy: number): FileReport {
  const reasons = Object.fromEntries(refused);
  if (repeated > joined) reasons[REPEATED] = repeated - joined;
  if (unhealthy > 0) reasons[UNHEALTHY] = unhealthy;
  return { file: name, format: shape, read, imported: taken + joined - unhealthy, refused: reasons };
}

/** What an option names cannot be used: called wrongly, before anything is touched. */
function usageErrorOf(error: unknown): unknown {
  return error instanceof CommandError ? new UsageError(error.message) : error;
}

/** throws UsageError: the place cannot be written to */
function rejectsAt(path: string): NewFile {
  try {
    return new NewFile(path);
  } catch (error) {
    throw usageErrorOf(error);
  }
}

/** As the reader of inputs calls it. */
function nameOf(path: string): string {
  return path === '-' ? 'stdin' : path;
}

function countsText(counts: Counts): string {
  const { seen, changed, closed, reopened } = counts;
  return (
    `${grouped(counts.new)} new, ${grouped(seen)} seen again (${grouped(changed)} changed, ` +
    `${grouped(reopened)} reopened), ${grouped(closed)} closed`
  );
}

function fileLine({ file, format, read, imported, refused }: FileReport): string {
  const reasons = Object.entries(refused).map(([reason, count]) => `${grouped(count)} ${reason}`);
  const left = reasons.length === 0 ? '' : `; refused: ${reasons.join(', ')}`;
  return `${file}: ${format ?? 'not read'}, ${grouped(read)} rows, ${grouped(imported)} imported${left}\n`;
}

export const importFeeds = command({
  name: 'import',
  summary: 'Merges files of job boards into the history of a catalogue',
  arguments: [
    {
      name: 'FILE',
      help: 'as it comes, plain, gzip, tar or tar in gzip (told by its content); - is stdin',
      count: 'many',
    },
  ],
  options: {
    catalogue: { type: 'text', value: 'DIR', help: 'folder of the catalogue, made when missing', required: true },
    format: {
      type: 'text',
      value: 'NAME',
      choices: [AUTO, ...SHAPES.map(({ name }) => name)],
      default: AUTO,
      help: 'what the files are',
    },
    complete: { type: 'flag', help: 'each board is listed whole, so that what is missing counts as missing' },
    'observed-at': { type: 'text', value: 'TIME', help: 'when the files were fetched, RFC 3339 (default now)' },
    manifest: MANIFEST_OPTION,
    rejects: { type: 'text', value: 'FILE', help: 'write refused records here, as they came' },
    force: { type: 'flag', help: 'take a complete feed of under half of the usual rows too' },
    json: { type: 'flag', help: 'report on stdout as JSON' },
  },
  notes: [
    'A feed is one board at one time. A job that is missing from two complete feeds of its board in a row is closed; it is\n' +
      'open again when it returns. A complete feed of under half of the rows that its board usually has is refused.',
    'Exit code 2: a file could not be read or recognised, or a feed was refused; the others came in. 1: the catalogue\n' +
      'cannot be used, and is unchanged.',
    '`snapshot build --catalogue DIR --out FILE` makes what a server loads; `history` shows what opened, changed, closed.',
  ],
  async run({ options, arguments: paths }, io: Io) {
    if (paths.length === 0) throw new UsageError('the argument FILE is missing; - is stdin');
    if (paths.filter((path) => path === '-').length > 1) throw new UsageError('- (stdin) is given twice');
    const { rejects: rejectsPath, catalogue } = options;
    if (rejectsPath !== undefined && paths.some((path) => resolve(path) === resolve(rejectsPath))) {
      throw new UsageError('--rejects names an input file');
    }
    const nowMs = io.clock.nowMs();
    const observedAtMs = options['observed-at'] === undefined ? nowMs : parseDateTime(options['observed-at']);
    if (observedAtMs === undefined) throw new UsageError('--observed-at must be an RFC 3339 date-time or a date');

    const progress = new Progress(io.stderr, io.clock);
    const say = (line: string) => {
      progress.clear();
      io.stderr.write(line);
    };
    // What is observed in the future would stand against everything until then.
    if (observedAtMs > nowMs) say("warning: --observed-at is later than this machine's clock\n");
    const manifest = await manifestFrom(options.manifest).catch((error: unknown) => {
      throw usageErrorOf(error);
    });
    const skills = loadSkillExtractor();
    const rejects = rejectsPath === undefined ? null : rejectsAt(rejectsPath);
    let history: HistoryDatabase | undefined;
    try {
      history = HistoryDatabase.openForImport(catalogue);
      const merging = new HistoryImport(history, {
        observedAtMs,
        skillsVersion: skills.version,
        onUnknownEmpty: (shape, board, { member }) =>
          say(
            `${member.name}: an empty listing of no known board${board === null ? '' : ` (${shape.name}:${board})`}: ` +
              'nothing was recorded\n',
          ),
      });

      let leftOut = 0;
      const tellLeftOut = (error: unknown): void => {
        if (!(error instanceof InputError)) throw error;
        leftOut++;
        say(`${error.message}\n`);
      };
      const sources: Source[] = [];
      for (const path of paths) {
        try {
          sources.push({ name: path, inputs: await openInputs([path], io.stdin.bytes) });
        } catch (error) {
          tellLeftOut(error);
          sources.push({ name: path, inputs: null });
        }
      }
      const bytesTotal = sources.reduce<number | null>(
        (sum, { inputs }) =>
          sum === null || inputs?.progress.bytesTotal === null ? null : sum + (inputs?.progress.bytesTotal ?? 0),
        0,
      );
      let bytesBefore = 0;
      let reading: Inputs | null = null;

      const complaints = new Complaints(say);
      const tellShape = shapeTeller(say);
      const dated = new Set<string>();
      const intake: Intake = new Intake({
        sink: merging,
        skills,
        shape: SHAPES.find(({ name }) => name === options.format) ?? SHAPES,
        // The contract of the command: now, unless it is said; never what a document says.
        observedAtGiven: true,
        context: { observedAtMs, board: { company: null, domain: null }, manifest },
        namesFiles: paths.length > 1,
        nowMs,
        onRejection: (rejection) => complaints.take(rejection),
        rejects,
        onShape: (member, taken) => {
          const name = member.archive ?? member.name;
          const date = dateInName(member.fileName ?? '') ?? dateInName(name);
          if (date !== null && Math.abs(date - observedAtMs) > DAY_MS) dated.add(name);
          if (options.format === AUTO) tellShape(member, taken);
        },
        onProgress: () =>
          progress.show({
            rows: intake.tally.source,
            done: bytesBefore + (reading?.progress.bytesRead ?? 0),
            total: bytesTotal,
          }),
      });
      for (const { name, inputs } of sources) {
        reading = inputs;
        const leftOutBefore = leftOut;
        await takeAll(inputs?.files ?? [], intake, tellLeftOut);
        bytesBefore += inputs?.progress.bytesRead ?? 0;
        reading = null;
        const isRead = intake.files.some((file) => file.name === nameOf(name) && file.shape !== null);
        if (inputs !== null && !isRead && leftOut === leftOutBefore) tellLeftOut(new InputError(`${name}: is empty`));
      }
      progress.clear();
      complaints.summarise();

      const totals: Counts = { new: 0, seen: 0, changed: 0, closed: 0, reopened: 0 };
      const feeds: FeedOutcome[] = [];
      let feedCount = 0;
      const unhealthyRows = new Map<string, number>();
      merging.merge(options.complete, options.force, (feed) => {
        feedCount++;
        if (feeds.length < FEEDS_TOLD) feeds.push(feed);
        for (const name of COUNTS) totals[name] += feed[name];
        if (feed.hasNameless) {
          say(`${feed.shape}:${feed.board}: taken for partial: a refused record may be any of its jobs\n`);
        }
        if (feed.refusal === null) return;
        leftOut++;
        for (const [file, rows] of feed.refusal.rowsByFile)
          unhealthyRows.set(file, (unhealthyRows.get(file) ?? 0) + rows);
        say(
          `${feed.shape}:${feed.board}: refused as unhealthy: ${grouped(feed.rows)} rows, where ` +
            `${grouped(Math.round(feed.refusal.usualRows))} are usual; --force takes it\n`,
        );
      });
      rejects?.commit();
      merging.commit();

      const summaries = new Map(intake.files.map((file) => [file.name, file] as const));
      const nothing = { shape: null, read: 0, taken: 0, repeated: 0, joined: 0, refused: new Map() };
      const names = [...new Set(sources.map(({ name }) => nameOf(name)))];
      const files = names.map((name) =>
        reportOf(summaries.get(name) ?? { name, ...nothing }, unhealthyRows.get(name) ?? 0),
      );
      for (const file of files) say(fileLine(file));
      if (feedCount <= FEEDS_TOLD) {
        for (const feed of feeds) {
          if (feed.refusal === null) {
            say(`${feed.shape}:${feed.board}: ${grouped(feed.rows)} jobs, ${countsText(feed)}\n`);
          }
        }
      }
      if (dated.size > 0 && options['observed-at'] === undefined) {
        say(
          `note: ${dated.size === 1 ? `${[...dated][0]} carries` : `${grouped(dated.size)} files carry`} another date in ` +
            'the name, but was taken as observed now; --observed-at says when\n',
        );
      }
      say(`${catalogue}: ${grouped(feedCount)} feed${feedCount === 1 ? '' : 's'}, ${countsText(totals)}\n`);
      const report: ImportReport = { catalogue, observed_at: dateTimeOf(observedAtMs), files, ...totals };
      if (options.json) io.stdout.write(`${JSON.stringify(report)}\n`);
      return leftOut > 0 ? EXIT_USAGE : EXIT_OK;
    } catch (error) {
      progress.clear();
      if (error instanceof HistoryError || error instanceof InputError) throw new CommandError(error.message);
      throw error;
    } finally {
      rejects?.discard();
      history?.close();
    }
  },
});
