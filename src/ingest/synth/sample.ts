/**
 * The built-in sample: synthetic jobs from a fixed seed, observed up to the moment at which it is built, so that its answers
 * are never stale. Small enough to be built at every start and to have its whole cohort in memory. Its records name their
 * skills and its descriptions are plain text, so it needs the name of the skill dictionary but neither the extractor nor the
 * HTML parser.
 */
import { SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import { memorySource, type SnapshotSource } from '../../catalogue/snapshot/source.ts';
import { parseNative, type SkillSource } from '../native.ts';
import { readDictionary, skillsVersionOf } from '../skills/skills-version.ts';
import { synthRecords } from './synth.ts';

const SAMPLE_JOB_COUNT = 3_000;
export const SAMPLE_SEED = 402;
/**
 * One in this many jobs has a description: descriptions for all would double the time that a start takes to build the sample.
 */
const DESCRIBED_EVERY = 2;

const NO_EXTRACTION: SkillSource = {
  extract() {
    throw new Error('the sample made a job that names no skills');
  },
  descriptionText: (text) => text,
};

/**
 * The bytes of the sample as a snapshot's file would hold them.
 * @param nowMs the moment of the build, milliseconds since the epoch
 */
export function buildSample(nowMs: number, jobCount = SAMPLE_JOB_COUNT): Uint8Array {
  const builder = new SnapshotBuilder();
  const options = { jobs: jobCount, seed: SAMPLE_SEED, asOfMs: nowMs, descriptions: 'beside skills' as const };
  for (const record of synthRecords(options)) {
    const isDescribed = builder.rowCount % DESCRIBED_EVERY === 0 && !record.description?.startsWith('<');
    const parsed = parseNative(isDescribed ? record : { ...record, description: null }, NO_EXTRACTION);
    if (!parsed.ok) {
      throw new Error(`the sample made a job that the catalogue refuses: ${parsed.field} ${parsed.reason}`);
    }
    builder.add(parsed.job);
  }
  const skillsVersion = skillsVersionOf(readDictionary());
  const { byteLength, chunks } = builder.finish(() => ({
    builtAtMs: nowMs,
    sourceRows: builder.rowCount,
    rejectedRows: 0,
    skillsVersion,
  }));
  const bytes = new Uint8Array(byteLength);
  let length = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes;
}

export const sampleSource = (bytes: Uint8Array): SnapshotSource => memorySource('the sample', bytes);
