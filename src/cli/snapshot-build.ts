/**
 * `snapshot build`: job records from files, archives or stdin into a new catalogue file. Bad native lines stop the
 * build unless they have somewhere to go; refused records of a feed are left out alone (build-snapshot.ts says why).
 * An input that `auto` does not recognise is left out and named. The catalogue file is written last, whole or not at all.
 */
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { writeSnapshotFile } from '../adapters/files/snapshot-file.ts';
import { grouped } from '../base/grouped.ts';
import { parseCompanyDomain } from '../catalogue/company-domain.ts';
import { type BuildFacts, SnapshotBuilder } from '../catalogue/snapshot/build.ts';
import { SnapshotError } from '../catalogue/snapshot/snapshot-error.ts';
import { parseDateTime } from '../ingest/input/date-time.ts';
import { InputError, openInputs } from '../ingest/input/input.ts';
import { Intake } from '../ingest/intake.ts';
import { NAME_LENGTH_MAX } from '../ingest/native.ts';
import { nativeShape } from '../ingest/shapes/native.ts';
import { SHAPES } from '../ingest/shapes/shapes.ts';
import { loadSkillExtractor } from '../ingest/skills/skills.ts';
import { HISTORY_FILE, HistoryDatabase, HistoryError } from '../storage/history/database.ts';
import { CommandError, command, EXIT_FAILED, EXIT_OK, EXIT_USAGE, UsageError } from './command.ts';
import { AUTO, Complaints, MANIFEST_OPTION, manifestFrom, shapeTeller, takeAll } from './intake.ts';
import type { Io, Output } from './io.ts';
import { NewFile } from './new-file.ts';
import { Progress } from './progress.ts';

/** Before an hour's work, not after it. */
async function requireWritable(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new CommandError(`${path} cannot be written: its folder does not exist`);
  const there = await stat(path).catch(() => undefined);
  if (there && !there.isFile()) throw new CommandError(`${path} cannot be written: it is not a file`);
}

/** An output that is also an input, or the other output, would destroy what it was made from. */
function requireApart(out: string, rejects: string | undefined, inputs: readonly string[]): void {
  const taken = new Set(inputs.map((path) => resolve(path)));
  if (taken.has(resolve(out))) throw new UsageError('--out names an input file');
  if (rejects === undefined) return;
  if (taken.has(resolve(rejects))) throw new UsageError('--rejects names an input file');
  if (resolve(rejects) === resolve(out)) throw new UsageError('--rejects and --out name the same file');
}

/** Jobs between two looks at the progress. */
const PROGRESS_JOBS = 4096;

interface FileReport {
  readonly file: string;
  /** null: not recognised, or nothing in it. */
  readonly format: string | null;
  readonly read: number;
  readonly taken: number;
  readonly repeated: number;
  readonly refused: Readonly<Record<string, number>>;
}

interface BuildReport {
  readonly written: boolean;
  readonly out: string;
  readonly rows: number;
  readonly source_rows: number;
  readonly rejected_rows: number;
  /** Records of feeds that were there already. */
  readonly repeated_rows: number;
  readonly rejected: readonly { field: string; reason: string; count: number }[];
  readonly files: readonly FileReport[];
  readonly bytes: number | null;
  readonly content: string | null;
}

function report(json: boolean, stdout: Output, result: BuildReport): void {
  if (json) stdout.write(`${JSON.stringify(result)}\n`);
}

/** All jobs of a catalogue's history, open and closed. */
async function buildFromHistory(folder: string, out: string, json: boolean, io: Io): Promise<number> {
  requireApart(out, undefined, [join(folder, HISTORY_FILE)]);
  await requireWritable(out);
  let history: HistoryDatabase | undefined;
  try {
    history = HistoryDatabase.openForReading(folder);
    const builder = new SnapshotBuilder();
    const progress = new Progress(io.stderr, io.clock);
    for (const job of history.jobs()) {
      builder.add(job);
      if (builder.rowCount % PROGRESS_JOBS === 0) progress.show({ rows: builder.rowCount, done: 0, total: null });
    }
    progress.clear();
    const sourceRows = history.feedRows();
    const versions = history.skillVersions();
    const facts: BuildFacts = {
      builtAtMs: io.clock.nowMs(),
      sourceRows,
      rejectedRows: 0,
      // Jobs that no feed has had since the dictionary changed keep the skills that they had.
      skillsVersion: `${versions[0] ?? loadSkillExtractor().version}${versions.length > 1 ? ' and earlier' : ''}`,
    };
    const built = builder.finish(() => facts);
    await writeSnapshotFile(out, built.chunks);
    io.stderr.write(`${out}: ${grouped(builder.rowCount)} jobs, ${grouped(built.byteLength)} bytes\n`);
    if (builder.rowCount === 0) io.stderr.write('warning: the catalogue has no jobs\n');
    report(json, io.stdout, {
      written: true,
      out,
      rows: builder.rowCount,
      source_rows: sourceRows,
      rejected_rows: 0,
      repeated_rows: 0,
      rejected: [],
      files: [],
      bytes: built.byteLength,
      content: built.contentDigest,
    });
    return EXIT_OK;
  } catch (error) {
    if (error instanceof HistoryError || error instanceof SnapshotError) throw new CommandError(error.message);
    throw error;
  } finally {
    history?.close();
  }
}

export const snapshotBuild = command({
  name: 'build',
  summary: 'Makes a catalogue file from job records',
  arguments: [
    {
      name: 'INPUT',
      help: 'file, plain, gzip, tar or tar in gzip (told by its content); - or none is stdin',
      count: 'many',
    },
  ],
  options: {
    out: { type: 'text', value: 'FILE', help: 'catalogue file to write', required: true },
    catalogue: { type: 'text', value: 'DIR', help: 'build from what `import` has gathered here, instead of inputs' },
    format: {
      type: 'text',
      value: 'FORMAT',
      choices: [AUTO, ...SHAPES.map(({ name }) => name)],
      default: nativeShape.name,
      help: 'what the inputs are',
    },
    rejects: { type: 'text', value: 'FILE', help: 'write bad records here, as they came, and build the rest' },
    company: { type: 'text', value: 'NAME', help: 'company of all boards in the inputs' },
    domain: { type: 'text', value: 'DOMAIN', help: 'its domain, such as example.com' },
    manifest: MANIFEST_OPTION,
    'observed-at': { type: 'text', value: 'TIME', help: 'when the boards were fetched, RFC 3339 (default now)' },
    json: { type: 'flag', help: 'report on stdout as JSON' },
  },
  notes: [
    `Formats: ${AUTO}, each input told by its content; ${SHAPES.map(({ name, summary }) => `${name}, ${summary}`).join('; ')}.`,
    'An input of any format may be a JSON document, JSON Lines, CSV (UTF-8 or Windows-1252), Parquet or an HTML page.',
    'A bad native line stops the build, with its number, field and reason, unless --rejects is given.\n' +
      'A record of another format that is refused is left out, and the rest is built. An input that auto cannot read or\n' +
      'recognise is named and left out, and the exit code is 2.',
    '--company, --domain and --manifest are for formats that are one board a file, --observed-at for those whose records\n' +
      'do not say when they were seen.',
  ],
  async run({ options, given, arguments: paths }, io: Io) {
    if (options.catalogue !== undefined) {
      for (const name of given) {
        if (!['catalogue', 'out', 'json'].includes(name))
          throw new UsageError(`--${name} does not go with --catalogue`);
      }
      if (paths.length > 0) throw new UsageError('INPUT does not go with --catalogue');
      return buildFromHistory(options.catalogue, options.out, options.json, io);
    }
    const shape = SHAPES.find(({ name }) => name === options.format);
    const auto = shape === undefined;
    for (const name of ['company', 'domain', 'manifest', 'observed-at']) {
      const fits = auto || (name === 'observed-at' ? shape.observedBy === 'reader' : shape.perBoard);
      if (given.has(name) && !fits) throw new UsageError(`--${name} does not go with --format ${options.format}`);
    }
    if (paths.filter((path) => path === '-').length > 1) throw new UsageError('- (stdin) is given twice');
    const company = options.company?.trim();
    if (company === '' || (company?.length ?? 0) > NAME_LENGTH_MAX)
      throw new UsageError('--company is blank or too long');
    const domain = options.domain === undefined ? null : parseCompanyDomain(options.domain);
    if (domain === undefined) throw new UsageError('--domain must be a domain name such as example.com');
    const nowMs = io.clock.nowMs();
    const observedAt = options['observed-at'];
    const observedAtMs = observedAt === undefined ? nowMs : parseDateTime(observedAt);
    if (observedAtMs === undefined) throw new UsageError('--observed-at must be an RFC 3339 date-time or a date');
    requireApart(options.out, options.rejects, paths);
    await requireWritable(options.out);

    const progress = new Progress(io.stderr, io.clock);
    const say = (line: string) => {
      progress.clear();
      io.stderr.write(line);
    };
    const complaints = new Complaints(say);
    const tellShape = shapeTeller(say);
    const rejects = options.rejects === undefined ? null : new NewFile(options.rejects);
    try {
      const inputs = await openInputs(paths, io.stdin.bytes);
      if (io.stdin.isTerminal && (paths.length === 0 || paths.includes('-'))) say('reading from the terminal\n');
      const builder = new SnapshotBuilder();
      const intake: Intake = new Intake({
        sink: builder,
        skills: loadSkillExtractor(),
        shape: shape ?? SHAPES,
        observedAtGiven: observedAt !== undefined,
        context: {
          observedAtMs,
          board: { company: company ?? null, domain },
          manifest: await manifestFrom(options.manifest),
        },
        namesFiles: paths.length > 1,
        nowMs,
        onRejection: (rejection) => complaints.take(rejection),
        rejects,
        onShape: (member, taken) => {
          if (auto) tellShape(member, taken);
        },
        onProgress: () =>
          progress.show({
            rows: intake.tally.source,
            done: inputs.progress.bytesRead,
            total: inputs.progress.bytesTotal,
          }),
      });
      let unread = 0;
      const leftOut = (error: unknown): void => {
        if (!auto || !(error instanceof InputError)) throw error;
        unread++;
        say(`${error.message}\n`);
      };
      await takeAll(inputs.files, intake, leftOut);
      progress.clear();
      complaints.summarise();

      const { source, rejected, rejectedNative, repeated, future } = intake.tally;
      const counts = {
        rows: builder.rowCount,
        source_rows: source,
        rejected_rows: rejected,
        repeated_rows: repeated,
        rejected: complaints.counts,
        files: intake.files.map((file) => ({
          file: file.name,
          format: file.shape,
          read: file.read,
          taken: file.taken,
          repeated: file.repeated,
          refused: Object.fromEntries(file.refused),
        })),
      };
      if (rejectedNative > 0 && rejects === null) {
        const lines = rejectedNative === 1 ? '1 bad line' : `${grouped(rejectedNative)} bad lines`;
        say(
          `nothing was written: ${lines} of ${grouped(source)}; --rejects FILE puts them aside and builds the rest\n`,
        );
        report(options.json, io.stdout, { written: false, out: options.out, ...counts, bytes: null, content: null });
        return EXIT_FAILED;
      }
      if (unread > 0 && source === 0) {
        say('nothing was written: no input could be read\n');
        report(options.json, io.stdout, { written: false, out: options.out, ...counts, bytes: null, content: null });
        return EXIT_USAGE;
      }
      const built = builder.finish((digest) => intake.factsOf(digest));
      rejects?.commit();
      await writeSnapshotFile(options.out, built.chunks);
      say(
        `${options.out}: ${grouped(builder.rowCount)} jobs, ${grouped(built.byteLength)} bytes; ` +
          `${grouped(rejected)} of ${grouped(source)} records rejected` +
          `${repeated > 0 ? `, ${grouped(repeated)} repeated` : ''}\n`,
      );
      if (future > 0) say(`warning: observed later than this machine's clock says: ${grouped(future)} of the jobs\n`);
      if (builder.rowCount === 0) say('warning: the catalogue has no jobs\n');
      report(options.json, io.stdout, {
        written: true,
        out: options.out,
        ...counts,
        bytes: built.byteLength,
        content: built.contentDigest,
      });
      return unread > 0 ? EXIT_USAGE : EXIT_OK;
    } catch (error) {
      progress.clear();
      if (error instanceof InputError || error instanceof SnapshotError) throw new CommandError(error.message);
      throw error;
    } finally {
      rejects?.discard();
    }
  },
});
