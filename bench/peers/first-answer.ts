/**
 * One process of load.ts: `first-answer.ts snapshot|lines FILE QUESTION`, with `{filters, nowMs}` as JSON. Prints the
 * cost from the file to the first answer. It imports only what the chosen way needs.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { CohortFilters } from '../../src/catalogue/questions/cohort-rows.ts';
import type { NativeRecord } from '../../src/ingest/native.ts';
import { heapBytes, pause, peakResidentBytes } from '../harness.ts';

export interface Question {
  readonly filters: CohortFilters;
  readonly nowMs: number;
}

/** Names of the five companies, and their matching jobs. */
export type FirstAnswer = readonly (readonly [name: string, jobCount: number])[];

export interface Loaded {
  /** From the first byte. */
  readonly wallMs: number;
  readonly cpuMs: number;
  /** From the start of the process. */
  readonly processMs: number;
  /** Of the whole process, right after the answer, and after a full collection. */
  readonly residentMib: number;
  readonly collectedMib: number;
  readonly peakMib: number;
  readonly answer: FirstAnswer;
}

/** Holds what a server would keep in memory, until the memory is measured. */
let kept: unknown;

async function snapshotWay(): Promise<(path: string, question: Question) => FirstAnswer> {
  const [{ openSnapshotFile }, { Catalogue }, { observationPeriodEndingAt }, { signals }, { openSnapshot }] =
    await Promise.all([
      import('../../src/adapters/files/snapshot-file.ts'),
      import('../../src/catalogue/catalogue.ts'),
      import('../../src/catalogue/questions/period.ts'),
      import('../../src/catalogue/questions/signals.ts'),
      import('../../src/catalogue/snapshot/snapshot.ts'),
    ]);
  return (path, { filters, nowMs }) => {
    const catalogue = new Catalogue(openSnapshot(openSnapshotFile(path)));
    kept = catalogue;
    const { companies } = signals(catalogue, filters, 5, observationPeriodEndingAt(nowMs));
    return companies.map(({ company, observedSampleJobs }) => [company.name, observedSampleJobs]);
  };
}

/** Lines in the order of the catalogue, so that no sort is needed: newest first, active before closed. */
function ofLines(path: string, { filters, nowMs }: Question): FirstAnswer {
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
  const periodStartMs = nowMs - 7 * 86_400_000;
  const [roleTerms, locationTerms] = [filters.role!.split(' '), filters.location!.split(' ')];
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
    if (Date.parse(job.last_observed_at) >= periodStartMs) group.recent++;
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

const [, , kind, path, question] = process.argv;
const answerOf = kind === 'snapshot' ? await snapshotWay() : ofLines;
const before = process.cpuUsage();
const startMs = performance.now();
const answer = answerOf(path!, JSON.parse(question!) as Question);
const processMs = performance.now();
const { user, system } = process.cpuUsage(before);
const residentMib = process.memoryUsage.rss() / 2 ** 20;
const peakMib = peakResidentBytes() / 2 ** 20;
heapBytes();
await pause(200); // allocators return pages a little after the collector frees them
heapBytes();
const loaded: Loaded = {
  cpuMs: (user + system) / 1000,
  wallMs: processMs - startMs,
  processMs,
  residentMib,
  collectedMib: process.memoryUsage.rss() / 2 ** 20,
  peakMib,
  answer,
};
console.log(JSON.stringify(loaded));
if (kept === undefined) throw new Error('nothing was kept');
