/**
 * `snapshot build INPUT...`: builds a catalogue file from job records in files, archives or stdin. A bad native line stops the
 * build unless `--rejects` stores it; a feed loses only its refused records (ingest/intake.ts has the reason). An input that
 * `auto` does not recognise is reported and left out. The build writes the catalogue file last, whole or not at all.
 */
import { writeSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { openSpillFile } from '../../adapters/files/spill-file.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { Spill } from '../../catalogue/packed/spill.ts';
import { SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { loadCompanyList } from '../../ingest/companies/company-list.ts';
import { CompanySink } from '../../ingest/companies/company-sink.ts';
import { withoutDomains, wordsOf } from '../../ingest/companies/manifest-words.ts';
import { BrokenOffError, InputError, type Inputs, openInputs, STDIN } from '../../ingest/input/input.ts';
import { Intake } from '../../ingest/intake.ts';
import { formatOf } from '../../ingest/intake-report.ts';
import type { BoardManifest } from '../../ingest/shapes/board-manifest.ts';
import type { Shape } from '../../ingest/shapes/shape.ts';
import { SHAPES } from '../../ingest/shapes/shapes.ts';
import { loadSkillExtractor } from '../../ingest/skills/skills.ts';
import { commandErrorOf, EXIT_FAILED, EXIT_OK, EXIT_USAGE } from '../command.ts';
import { unfittingLine } from '../companies/company-lines.ts';
import { Complaints, manifestFrom, shapeTeller, takeAll } from '../intake.ts';
import type { Io } from '../io.ts';
import { NewFile } from '../new-file.ts';
import { Progress } from '../progress.ts';
import { type BuildReport, companyLines, reachOfFile, report } from './build-report.ts';
import { jobs, leftOutLine, RecentJobs } from './left-out.ts';
import { reachReportOf } from './reach-lines.ts';

export interface BuildPlan {
  readonly paths: readonly string[];
  readonly out: string;
  readonly rejectsPath: string | undefined;
  readonly manifestPath: string | undefined;
  /** undefined: each input's content decides. */
  readonly shape: Shape | undefined;
  readonly company: string | null;
  readonly domain: CompanyDomain | null;
  /** `--observed-at`; undefined = now. */
  readonly observedAtMs: number | undefined;
  /** Greatest age of an active job; undefined = any. */
  readonly maxAgeDays: number | undefined;
  readonly keepsDescriptions: boolean;
  readonly isJson: boolean;
}

/** The parts that reading needs. */
interface Build {
  readonly plan: BuildPlan;
  readonly inputs: Inputs;
  readonly builder: SnapshotBuilder;
  readonly sink: RecentJobs;
  readonly companies: CompanySink;
  readonly manifest: BoardManifest;
  readonly complaints: Complaints;
  readonly rejects: NewFile | null;
  readonly progress: Progress;
  readonly say: (line: string) => void;
}

function openIntake({ plan, inputs, sink, complaints, rejects, progress, say, manifest }: Build, io: Io): Intake {
  const { shape, company, observedAtMs } = plan;
  const nowMs = io.clock.nowMs();
  const tellShape = shapeTeller(say);
  const intake: Intake = new Intake({
    sink,
    skills: loadSkillExtractor(),
    shape: shape ?? SHAPES,
    observedAtGiven: observedAtMs !== undefined,
    context: {
      observedAtMs: observedAtMs ?? nowMs,
      // The operator's domains are words, which beat anything that the feeds state (CompanySink).
      board: { company, domain: null },
      manifest: withoutDomains(manifest),
    },
    namesFiles: plan.paths.length > 1,
    nowMs,
    onRejection: (rejection) => complaints.take(rejection),
    rejects,
    onShape: (member, recognised) => {
      if (shape === undefined) tellShape(member, recognised);
    },
    onProgress: () =>
      progress.show({
        rows: intake.tally.source,
        done: inputs.progress.bytesRead,
        total: inputs.progress.bytesTotal,
      }),
  });
  return intake;
}

function unwrittenReport({ plan: { out }, builder, sink, complaints }: Build, intake: Intake): BuildReport {
  const { source, rejected, repeated } = intake.tally;
  return {
    written: false,
    out,
    rows: builder.rowCount,
    source_rows: source,
    rejected_rows: rejected,
    repeated_rows: repeated,
    aged_jobs: sink.agedCount,
    same_url_jobs: sink.sameUrlCount,
    rejected: complaints.counts,
    files: intake.files.map((file) => ({
      file: file.name,
      format: formatOf(file),
      read: file.read,
      taken: file.taken,
      repeated: file.repeated,
      refused: Object.fromEntries(file.refused),
    })),
    bytes: null,
    content: null,
    reach: null,
    disputed_aliases: [],
  };
}

/** Writes the catalogue file, or says why not. @param unreadCount inputs that were left out @returns the exit code */
async function finish(build: Build, intake: Intake, unreadCount: number, io: Io): Promise<number> {
  const { plan, builder, companies, sink, manifest, rejects, say } = build;
  const { source, rejected, rejectedNative, repeated, future } = intake.tally;
  const unwritten = unwrittenReport(build, intake);
  const writeNothing = (why: string): number => {
    say(`nothing was written: ${why}\n`);
    report(plan.isJson, io.stdout, unwritten);
    return EXIT_FAILED;
  };
  if (rejectedNative > 0 && rejects === null) {
    const remedy =
      builder.rowCount === 0
        ? 'if these are no native records, --format auto recognises other formats by their content'
        : '--rejects FILE sets bad records aside and builds the rest';
    return writeNothing(`${quantity(rejectedNative, 'bad record')} of ${grouped(source)}; ${remedy}`);
  }
  if (unreadCount > 0 && source === 0) return writeNothing('no input could be read');
  if (source > 0 && rejected === source) {
    // A producer that changed its records must not empty a catalogue.
    rejects?.finish();
    rejects?.commit();
    return writeNothing(`${quantity(source, 'record')}, all rejected`);
  }
  for (const { key } of companies.finish(wordsOf(manifest), loadCompanyList())) say(unfittingLine(key));
  const built = builder.finish((digest) => {
    const facts = intake.factsOf(digest);
    return sink.leftOut === undefined ? facts : { ...facts, leftOut: sink.leftOut };
  });
  rejects?.finish();
  await writeSnapshotFile(plan.out, built.chunks);
  rejects?.commit();
  say(
    `${plan.out}: ${quantity(builder.rowCount, 'job')}, ${grouped(built.byteLength)} bytes; ` +
      `${grouped(rejected)} of ${quantity(source, 'record')} rejected` +
      `${repeated > 0 ? `, ${grouped(repeated)} repeated` : ''}\n`,
  );
  if (sink.leftOut !== undefined) say(leftOutLine(sink.leftOut));
  if (unwritten.same_url_jobs > 0) {
    say(
      `note: ${jobs(unwritten.same_url_jobs)} with the address of another one; to leave such jobs out, import the inputs and ` +
        'build with --catalogue and --merge-same-url\n',
    );
  }
  const reach = reachOfFile(plan.out);
  say(companyLines(reach, built.disputedAliases));
  if (future > 0) say(`warning: jobs with an observation later than this machine's clock: ${grouped(future)}\n`);
  if (builder.rowCount === 0) say('warning: the catalogue has no jobs\n');
  report(plan.isJson, io.stdout, {
    ...unwritten,
    written: true,
    bytes: built.byteLength,
    content: built.contentDigest,
    reach: reachReportOf(reach),
    disputed_aliases: built.disputedAliases,
  });
  return unreadCount > 0 ? EXIT_USAGE : EXIT_OK;
}

/** @returns the exit code @throws CommandError */
export async function buildFromInputs(plan: BuildPlan, io: Io): Promise<number> {
  const progress = new Progress(io.stderr, io.clock);
  const say = (line: string): void => progress.say(line);
  const rejects = plan.rejectsPath === undefined ? null : new NewFile(plan.rejectsPath);
  let spill: Spill | undefined;
  try {
    spill = openSpillFile(plan.out);
    const inputs = await openInputs(plan.paths, new Map([[STDIN, io.stdin.bytes]]));
    const readsStdin = plan.paths.length === 0 || plan.paths.includes(STDIN);
    if (io.stdin.isTerminal && readsStdin) say('reading from the terminal\n');
    const complaints = new Complaints(say);
    const manifest = await manifestFrom(plan.manifestPath);
    const builder = new SnapshotBuilder({ spill, keepsDescriptions: plan.keepsDescriptions });
    const companies = new CompanySink(builder, plan.domain);
    const sink = new RecentJobs(companies, plan.maxAgeDays, io.clock.nowMs());
    const build = { plan, inputs, builder, companies, sink, manifest, complaints, rejects, progress, say };
    const intake = openIntake(build, io);
    let unreadCount = 0;
    const leaveOut = (error: unknown): void => {
      if (plan.shape !== undefined || !(error instanceof InputError)) throw error;
      unreadCount++;
      say(
        `${error.message}${error instanceof BrokenOffError ? `; the ${grouped(error.takenCount)} before it were taken` : ''}\n`,
      );
    };
    await takeAll(inputs.files, intake, leaveOut);
    progress.clear();
    complaints.summarise();
    return await finish(build, intake, unreadCount, io);
  } catch (error) {
    progress.clear();
    throw commandErrorOf(error, InputError, SnapshotError);
  } finally {
    rejects?.discard();
    spill?.close();
  }
}
