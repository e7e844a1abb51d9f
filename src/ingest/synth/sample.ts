/**
 * The built-in sample: synthetic jobs from a fixed seed, observed up to the moment at which it is built, so that its answers
 * are never stale. Small enough to be built at every start (a fraction of a second) and to keep its cohort whole.
 */
import { SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import { openSnapshot, type Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import { memorySource } from '../../catalogue/snapshot/source.ts';
import { parseNative } from '../native.ts';
import { loadSkillExtractor } from '../skills/skills.ts';
import { synthRecords } from './synth.ts';

const SAMPLE_JOB_COUNT = 8_000;
const SAMPLE_SEED = 402;

export function buildSample(nowMs: number): Snapshot {
  const skills = loadSkillExtractor();
  const builder = new SnapshotBuilder();
  for (const record of synthRecords({
    jobs: SAMPLE_JOB_COUNT,
    seed: SAMPLE_SEED,
    asOfMs: nowMs,
    descriptions: false,
  })) {
    const parsed = parseNative(record, skills);
    if (!parsed.ok)
      throw new Error(`the sample made a job that the catalogue refuses: ${parsed.field} ${parsed.reason}`);
    builder.add(parsed.job);
  }
  const { byteLength, chunks } = builder.finish(() => ({
    builtAtMs: nowMs,
    sourceRows: builder.rowCount,
    rejectedRows: 0,
    skillsVersion: skills.version,
  }));
  const bytes = new Uint8Array(byteLength);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return openSnapshot(memorySource('the sample', bytes));
}
