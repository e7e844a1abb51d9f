/**
 * Descriptions in a catalogue file: building with them, with blocks of several sizes, and reading one. Each step runs in a fresh
 * process with the file in the page cache; a reader checks that each text names its job's title. Synthetic descriptions resemble
 * each other more than real ones, so their blocks are smaller.
 */
import { ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSnapshotFile, writeSnapshotFile } from '../src/adapters/files/snapshot-file.ts';
import { openSpillFile } from '../src/adapters/files/spill-file.ts';
import { SeededRandom } from '../src/base/seeded-random.ts';
import { SnapshotBuilder } from '../src/catalogue/snapshot/build.ts';
import { openSnapshot } from '../src/catalogue/snapshot/snapshot.ts';
import { parseNative } from '../src/ingest/native.ts';
import { loadSkillExtractor } from '../src/ingest/skills/skills.ts';
import { synthRecords } from '../src/ingest/synth/synth.ts';
import { type Context, type Figure, figureOf, peakResidentBytes, quantile, sized } from './harness.ts';
import { FULL_JOB_COUNT, NOW_MS, SEED } from './synthetic-catalogue.ts';

const KIB = 1024;
const MIB = 2 ** 20;
const BLOCK_SIZES = [16 * KIB, 64 * KIB, 256 * KIB];
/** The size that snapshots have (src/catalogue/limits.ts). */
const USUAL = 64 * KIB;

interface Built {
  readonly seconds: number;
  readonly peakBytes: number;
  readonly fileBytes: number;
  readonly textBytes: number;
}

interface Read {
  readonly openMs: number;
  readonly p50: number;
  readonly p99: number;
  /** Time to read a text whose neighbour was read just before. */
  readonly neighbour: number;
  readonly grownBytes: number;
  readonly blockBytes: number;
}

async function build(path: string, jobCount: number, blockBytes: number): Promise<Built> {
  const startMs = performance.now();
  const skills = loadSkillExtractor();
  const spill = openSpillFile(path);
  let textBytes = 0;
  try {
    const builder = new SnapshotBuilder({ spill, blockBytes });
    const options = { jobs: jobCount, seed: SEED, asOfMs: NOW_MS, descriptions: 'beside skills' as const };
    for (const record of synthRecords(options)) {
      const parsed = parseNative(record, skills);
      if (!parsed.ok) throw new Error(`the catalogue refuses a synthetic job: ${parsed.field} ${parsed.reason}`);
      textBytes += Buffer.byteLength(parsed.job.description ?? '');
      builder.add(parsed.job);
    }
    const facts = { builtAtMs: NOW_MS, sourceRows: jobCount, rejectedRows: 0, skillsVersion: '0' };
    const { byteLength, chunks } = builder.finish(() => facts);
    await writeSnapshotFile(path, chunks);
    const seconds = (performance.now() - startMs) / 1000;
    return { seconds, peakBytes: peakResidentBytes(), fileBytes: byteLength, textBytes };
  } finally {
    spill.close();
  }
}

function read(path: string, reads: number): Read {
  const startMs = performance.now();
  const snapshot = openSnapshot(openSnapshotFile(path));
  const openMs = performance.now() - startMs;
  const random = new SeededRandom(SEED, 1);
  const timeOf = (row: number): number => {
    const from = performance.now();
    const { text } = snapshot.descriptionOf(row);
    const micros = (performance.now() - from) * 1000;
    ok(text?.includes(snapshot.titles.textOf(snapshot.title[row]!)), `row ${row} has another description`);
    return micros;
  };
  for (let warm = 0; warm < 200; warm++) timeOf(random.below(snapshot.rowCount));
  const beforeBytes = process.memoryUsage.rss();
  const apart = Float64Array.from({ length: reads }, () => timeOf(random.below(snapshot.rowCount))).sort();
  const grownBytes = process.memoryUsage.rss() - beforeBytes;
  const rows = snapshot.companyRows;
  const neighbours = Float64Array.from({ length: reads }, (_, i) => timeOf(rows[i % rows.length]!)).sort();
  return {
    openMs,
    p50: quantile(apart, 0.5),
    p99: quantile(apart, 0.99),
    neighbour: quantile(neighbours, 0.5),
    grownBytes,
    blockBytes: snapshot.descriptions.byteLength,
  };
}

function apart<Result>(...words: readonly (string | number)[]): Result {
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...words.map(String)], {
    encoding: 'utf8',
  });
  if (child.status !== 0) throw new Error(`${words[0]} ended with ${child.status}: ${child.stderr}`);
  return JSON.parse(child.stdout) as Result;
}

function figuresOf(path: string, jobCount: number, blockBytes: number, reads: number): Figure[] {
  const built = apart<Built>('build', path, jobCount, blockBytes);
  const found = apart<Read>('read', path, reads);
  const label = `${blockBytes / KIB} KiB, ${jobCount} jobs: `;
  const ratio = `${(built.textBytes / found.blockBytes).toFixed(1)} times smaller than the text`;
  return [
    figureOf(`${label}built`, 's', [built.seconds]),
    figureOf(`${label}peak of the build`, 'MiB', [built.peakBytes / MIB]),
    figureOf(`${label}file, a job`, 'B', [built.fileBytes / jobCount]),
    figureOf(`${label}descriptions in it, a job`, 'B', [found.blockBytes / jobCount], ratio),
    figureOf(`${label}opened, every byte checked`, 'ms', [found.openMs]),
    figureOf(`${label}a description, p50`, 'µs', [found.p50]),
    figureOf(`${label}a description, p99`, 'µs', [found.p99]),
    figureOf(`${label}a neighbour's description`, 'µs', [found.neighbour]),
    figureOf(`${label}grown by ${reads} reads`, 'MiB', [found.grownBytes / MIB]),
  ];
}

export async function measure({ size }: Context): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-bench-'));
  try {
    const path = join(folder, 'catalogue');
    const reads = sized(size, 500, 10_000);
    const compared = BLOCK_SIZES.flatMap((bytes) => figuresOf(path, sized(size, 500, 100_000), bytes, reads));
    return size === 'small' ? compared : [...compared, ...figuresOf(path, FULL_JOB_COUNT, USUAL, reads)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , step, path, ...numbers] = process.argv;
  const [first, second] = numbers.map(Number);
  const result = step === 'build' ? await build(path!, first!, second!) : read(path!, first!);
  console.log(JSON.stringify(result));
}
