/**
 * A catalogue file, from opening it to the first answer, in fresh processes with the file in the page cache. Each process
 * compares its answer with the first one's. `--catalogue FILE` measures any other file.
 *
 * Figures behind choices in src/catalogue/snapshot, measured once on Node 26.10.0 and Bun 1.4.5: a million synthetic jobs take
 * 70 bytes a job in memory, ten million 59; CRC-32 runs at 3.7 GB/s (Bun 10); checking the codes of a million jobs in one loop
 * takes 20 ms on Bun, with one function for all columns 72; grouping 300,000 rows by company takes 11 ms.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openSnapshotFile } from '../src/adapters/files/snapshot-file.ts';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import { observationPeriodEndingAt } from '../src/catalogue/questions/period.ts';
import { signals } from '../src/catalogue/questions/signals.ts';
import { openColumns, openSnapshot, type Snapshot } from '../src/catalogue/snapshot/snapshot.ts';
import { type Context, cpuMicros, type Figure, figureOf, peakResidentBytes, sized } from './harness.ts';
import { NOW_MS, SIGNAL_QUESTIONS } from './synthetic-catalogue.ts';

interface Loaded {
  readonly openMs: number;
  readonly answerMs: number;
  readonly warmMs: number;
  readonly answerRssBytes: number;
  readonly warmRssBytes: number;
  readonly peakRssBytes: number;
  readonly hotBytesAJob: number;
  readonly rows: number;
  readonly answer: unknown;
}

function hotBytes({ companyOffsets, companyRows, lastObserved, titles, whole }: Snapshot): number {
  const indexBytes = whole.sets.bitmaps.buffer.byteLength;
  const columnBytes = lastObserved.buffer.byteLength + titles.bytes.buffer.byteLength;
  return columnBytes + indexBytes + companyOffsets.byteLength + companyRows.byteLength;
}

/** As a server starts: the columns, then the rest a step at a time. Processor time of all threads. */
interface LoadedInSteps {
  readonly columnsMs: number;
  readonly checkingMs: number;
  readonly steps: number;
  readonly longestStepMs: number;
}

function loadInSteps(path: string): LoadedInSteps {
  const startMicros = cpuMicros();
  const snapshot = openColumns(openSnapshotFile(path));
  const columnsMs = (cpuMicros() - startMicros) / 1000;
  let steps = 0;
  let longestStepMs = 0;
  let stepMs = performance.now();
  for (const _ of snapshot.checking()) {
    const nowMs = performance.now();
    longestStepMs = Math.max(longestStepMs, nowMs - stepMs);
    stepMs = nowMs;
    steps++;
  }
  return { columnsMs, checkingMs: (cpuMicros() - startMicros) / 1000 - columnsMs, steps, longestStepMs };
}

function load(path: string): Loaded {
  const startMs = performance.now();
  const snapshot = openSnapshot(openSnapshotFile(path));
  const openMs = performance.now() - startMs;
  const catalogue = new Catalogue(snapshot);
  const answer = signals(catalogue, SIGNAL_QUESTIONS.selective!, 5, observationPeriodEndingAt(NOW_MS));
  const answerMs = performance.now() - startMs;
  const answerRssBytes = process.memoryUsage.rss();
  catalogue.warm();
  const warmMs = performance.now() - startMs;
  return {
    openMs,
    answerMs,
    warmMs,
    answerRssBytes,
    warmRssBytes: process.memoryUsage.rss(),
    peakRssBytes: peakResidentBytes(),
    hotBytesAJob: hotBytes(snapshot) / snapshot.rowCount,
    rows: snapshot.rowCount,
    answer,
  };
}

/** A fresh process. @param how its further argument */
function loaded<T>(path: string, how: string): T {
  const words = [fileURLToPath(import.meta.url), path, how];
  const child = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (child.status !== 0) throw new Error(`loading ended with ${child.status}: ${child.stderr}`);
  return JSON.parse(child.stdout) as T;
}

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const rounds: Loaded[] = [];
  const inSteps: LoadedInSteps[] = [];
  for (let round = 0; round < sized(size, 3, 7); round++) {
    rounds.push(loaded<Loaded>(cataloguePath, 'whole'));
    inSteps.push(loaded<LoadedInSteps>(cataloguePath, 'steps'));
    deepStrictEqual(rounds.at(-1)?.answer, rounds[0]?.answer);
  }
  const of = (read: (loaded: Loaded) => number): number[] => rounds.map(read);
  const note = `${rounds[0]?.rows} jobs`;
  return [
    figureOf(
      'opened, every byte checked',
      'ms',
      of(({ openMs }) => openMs),
      note,
    ),
    figureOf(
      'first signals answer',
      'ms',
      of(({ answerMs }) => answerMs),
    ),
    figureOf(
      'every index made',
      'ms',
      of(({ warmMs }) => warmMs),
    ),
    figureOf(
      'process at its first answer',
      'MiB',
      of(({ answerRssBytes }) => answerRssBytes / 2 ** 20),
    ),
    figureOf(
      'process with every index',
      'MiB',
      of(({ warmRssBytes }) => warmRssBytes / 2 ** 20),
    ),
    figureOf(
      'process at its peak',
      'MiB',
      of(({ peakRssBytes }) => peakRssBytes / 2 ** 20),
    ),
    figureOf(
      'hot columns a job',
      'B',
      of(({ hotBytesAJob }) => hotBytesAJob),
    ),
    figureOf(
      'columns read and summed, processor time',
      'ms',
      inSteps.map(({ columnsMs }) => columnsMs),
    ),
    figureOf(
      'the rest in steps, processor time',
      'ms',
      inSteps.map(({ checkingMs }) => checkingMs),
      `${inSteps[0]?.steps} steps`,
    ),
    figureOf(
      'longest step',
      'ms',
      inSteps.map(({ longestStepMs }) => longestStepMs),
    ),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , path, how] = process.argv;
  console.log(JSON.stringify(how === 'steps' ? loadInSteps(path!) : load(path!)));
}
