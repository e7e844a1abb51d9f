/**
 * From a file to the first `signals` answer, in fresh processes in turn: the snapshot, every byte of it checked, and the same
 * jobs as JSON lines that are parsed into an array of objects and filtered; both files in the page cache, both answers
 * compared. Times count from the first byte, and from the start of the process with its runtime and modules; memory is that of
 * the whole process: resident right after the answer, after a full collection, and at its peak.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from '../harness.ts';
import { NOW_MS, SIGNAL_QUESTIONS } from '../synthetic-catalogue.ts';
import type { Loaded, Question } from './first-answer.ts';

/**
 * Limits for the snapshot, relative to the lines: with the index over all jobs it takes more than its columns alone did.
 */
const TIME_SHARE = 15;
const MEMORY_SHARE = 4;

const ROWS = [
  ['wallMs', 'from the first byte, ms', TIME_SHARE],
  ['cpuMs', 'the same, processor time, ms', undefined],
  ['processMs', 'from the start of the process, ms', undefined],
  ['residentMib', 'resident after the answer, MiB', MEMORY_SHARE],
  ['collectedMib', 'the same, collected, MiB', MEMORY_SHARE],
  ['peakMib', 'resident at its peak, MiB', MEMORY_SHARE],
] as const;

export interface LoadOptions {
  readonly program: string;
  readonly runtime: string;
  readonly catalogue: string;
  readonly lines: string;
  readonly rounds: number;
}

export function measureLoad({ program, runtime, catalogue, lines, rounds }: LoadOptions): unknown {
  const script = fileURLToPath(new URL('first-answer.ts', import.meta.url));
  const question: Question = { filters: SIGNAL_QUESTIONS.selective!, nowMs: NOW_MS };
  const loaded = (kind: 'snapshot' | 'lines', path: string): Loaded => {
    const child = spawnSync(program, ['--expose-gc', script, kind, path, JSON.stringify(question)], {
      encoding: 'utf8',
    });
    if (child.status !== 0) throw new Error(`${kind} ended with ${child.status}: ${child.stderr}`);
    return JSON.parse(child.stdout) as Loaded;
  };
  const ours: Loaded[] = [];
  const theirs: Loaded[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(loaded('snapshot', catalogue));
    theirs.push(loaded('lines', lines));
    deepStrictEqual(ours.at(-1)?.answer, theirs.at(-1)?.answer);
  }
  const figures: Record<string, unknown> = {};
  console.log(`${runtime}: from a file to the first answer; medians of ${rounds} rounds in turn, each a fresh process`);
  console.log('  the snapshot beside JSON lines through JSON.parse into an array of objects');
  for (const [name, title, share] of ROWS) {
    const values = { snapshot: ours.map((each) => each[name]), lines: theirs.map((each) => each[name]) };
    const ratio = median(values.lines.map((value, round) => value / values.snapshot[round]!));
    figures[name] = { ...values, ratio, ratioMin: share };
    const bound = share === undefined ? '' : ` (at most 1/${share})`;
    const shown = `${median(values.snapshot).toFixed(0)}, lines ${median(values.lines).toFixed(0)}`;
    console.log(`  ${title.padEnd(34)} ${shown.padEnd(20)} 1/${ratio.toFixed(1)}${bound}`);
  }
  return figures;
}
