/**
 * From a file to the first `signals` answer, in fresh processes in turn: the snapshot, and the same jobs as JSON lines that are
 * parsed into an array of objects and filtered. Processor time and peak of resident memory; both answers are compared.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { fileURLToPath } from 'node:url';
import { openSnapshotFile } from '../../src/adapters/snapshot-file.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { observationPeriodEndingAt } from '../../src/catalogue/period.ts';
import { signals } from '../../src/catalogue/signals.ts';
import { openSnapshot } from '../../src/catalogue/snapshot.ts';
import type { NativeRecord } from '../../src/ingest/native.ts';
import { quantile } from '../harness.ts';
import { NOW_MS, SIGNAL_QUESTIONS } from '../synthetic-catalogue.ts';

interface Loaded {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly answerRssMib: number;
  readonly peakRssMib: number;
  readonly answer: unknown;
}

const period = observationPeriodEndingAt(NOW_MS);
const question = SIGNAL_QUESTIONS.selective!;

function ofSnapshot(path: string): unknown {
  const catalogue = new Catalogue(openSnapshot(openSnapshotFile(path)));
  return signals(catalogue, question, 5, period).companies.map(({ company, observedSampleJobs }) => [
    company.name,
    observedSampleJobs,
  ]);
}

/** Lines in the order of the catalogue, so that no sort is needed: newest first, active before closed. */
function ofLines(path: string): unknown {
  const jobs: NativeRecord[] = [];
  const file = openSync(path, 'r');
  const bytes = Buffer.allocUnsafe(2 ** 22);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for (let count = readSync(file, bytes); count > 0; count = readSync(file, bytes)) {
    const lines = (rest + decoder.write(bytes.subarray(0, count))).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) jobs.push(JSON.parse(line) as NativeRecord);
  }
  closeSync(file);
  kept = jobs;
  const [roleTerms, locationTerms] = [question.role!.split(' '), question.location!.split(' ')];
  const has = (text: string | null | undefined, terms: readonly string[]): boolean => {
    const lower = text?.toLowerCase();
    return lower !== undefined && terms.every((term) => lower.includes(term));
  };
  const groups = new Map<string, { name: string; observed: number; recent: number; newest: string }>();
  const cohort = jobs.filter(({ status }) => status === 'active').slice(0, 10_000);
  for (const job of cohort) {
    if (!has(job.title, roleTerms) || !has(job.location, locationTerms)) continue;
    const key = job.company_domain ?? job.company.toLowerCase();
    const group = groups.get(key) ?? { name: job.company, observed: 0, recent: 0, newest: job.last_observed_at };
    group.observed++;
    if (Date.parse(job.last_observed_at) >= period.startMs) group.recent++;
    groups.set(key, group);
  }
  return [...groups]
    .sort(
      ([aKey, a], [bKey, b]) =>
        b.recent - a.recent ||
        b.recent / b.observed - a.recent / a.observed ||
        Date.parse(b.newest) - Date.parse(a.newest) ||
        (aKey < bKey ? -1 : 1),
    )
    .slice(0, 5)
    .map(([, { name, observed }]) => [name, observed]);
}

/** What a server would keep: held until its memory has been measured. */
let kept: unknown;

export interface LoadOptions {
  readonly program: string;
  readonly runtime: string;
  readonly catalogue: string;
  readonly lines: string;
  readonly rounds: number;
}

export function measureLoad({ program, runtime, catalogue, lines, rounds }: LoadOptions): unknown {
  const seen: Record<'snapshot' | 'lines', Loaded[]> = { snapshot: [], lines: [] };
  for (let round = 0; round < rounds; round++) {
    for (const [kind, path] of [
      ['snapshot', catalogue],
      ['lines', lines],
    ] as const) {
      const child = spawnSync(program, [fileURLToPath(import.meta.url), kind, path], { encoding: 'utf8' });
      if (child.status !== 0) throw new Error(`${kind} ended with ${child.status}: ${child.stderr}`);
      seen[kind].push(JSON.parse(child.stdout) as Loaded);
    }
    deepStrictEqual(seen.lines.at(-1)?.answer, seen.snapshot.at(-1)?.answer);
  }
  const figures: Record<string, unknown> = {};
  console.log(`${runtime}: from file to first answer, the snapshot and JSON lines`);
  for (const name of ['cpuMs', 'wallMs', 'answerRssMib', 'peakRssMib'] as const) {
    const median = (each: readonly Loaded[]): number =>
      quantile(Float64Array.from(each, (loaded) => loaded[name]).sort(), 0.5);
    const [ours, theirs] = [median(seen.snapshot), median(seen.lines)];
    figures[name] = { snapshot: ours, lines: theirs, ratio: theirs / ours };
    console.log(`  ${name.padEnd(14)} ${ours.toFixed(0)}, ${theirs.toFixed(0)}, x ${(theirs / ours).toFixed(1)}`);
  }
  return figures;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , kind, path] = process.argv;
  const before = process.cpuUsage();
  const startMs = performance.now();
  const answer = kind === 'snapshot' ? ofSnapshot(path!) : ofLines(path!);
  const { user, system } = process.cpuUsage(before);
  const loaded: Loaded = {
    cpuMs: (user + system) / 1000,
    wallMs: performance.now() - startMs,
    answerRssMib: process.memoryUsage.rss() / 2 ** 20,
    peakRssMib: process.resourceUsage().maxRSS / 1024,
    answer,
  };
  console.log(JSON.stringify(loaded));
  if (kept === null) throw new Error('nothing was kept');
}
