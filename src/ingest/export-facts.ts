/**
 * The export's facts: `snapshot export` puts one extra key, "snapshot", on its first line, with the facts of the
 * snapshot that it came from and the digest of its content. A build with the same digest is the same catalogue and
 * adopts those facts, so its file is the same byte for byte. If any job differs, the build states its own facts. Other
 * readers ignore "snapshot" like any unknown key.
 */
import * as v from 'valibot';
import { parseDateTime } from '../base/date-time.ts';
import { isoTime } from '../base/iso-time.ts';
import type { BuildFacts, LeftOut } from '../catalogue/snapshot/snapshot-file.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const exportFacts = v.object({
  content: v.string(),
  built_at: v.string(),
  source_rows: count,
  rejected_rows: count,
  skills_version: v.pipe(v.string(), v.maxLength(200)),
  left_out: v.optional(v.object({ max_age_days: v.nullable(count), aged_jobs: count, same_url_jobs: count })),
});

export interface AdoptableFacts {
  /** Digest of the exported snapshot's content. */
  readonly content: string;
  readonly facts: BuildFacts;
}

/** @returns the facts on the first line of an export, or `undefined` when the key is missing or means something else */
export function adoptableFacts(record: unknown): AdoptableFacts | undefined {
  if (typeof record !== 'object' || record === null || !('snapshot' in record)) return undefined;
  const parsed = v.safeParse(exportFacts, record.snapshot);
  const builtAtMs = parsed.success ? parseDateTime(parsed.output.built_at) : undefined;
  if (!parsed.success || builtAtMs === undefined) return undefined;
  const {
    content,
    source_rows: sourceRows,
    rejected_rows: rejectedRows,
    skills_version: skillsVersion,
    left_out: found,
  } = parsed.output;
  const leftOut = found && {
    maxAgeDays: found.max_age_days,
    agedJobs: found.aged_jobs,
    sameUrlJobs: found.same_url_jobs,
  };
  return { content, facts: { builtAtMs, sourceRows, rejectedRows, skillsVersion, leftOut } };
}

/** What a build left out, as the commands print it. */
export const leftOutJson = ({ maxAgeDays, agedJobs, sameUrlJobs }: LeftOut) => ({
  max_age_days: maxAgeDays,
  aged_jobs: agedJobs,
  same_url_jobs: sameUrlJobs,
});

/** The value of the export's extra key. */
export function exportFactsOf(contentDigest: string, facts: BuildFacts): Record<string, unknown> {
  return {
    content: contentDigest,
    built_at: isoTime(facts.builtAtMs),
    source_rows: facts.sourceRows,
    rejected_rows: facts.rejectedRows,
    skills_version: facts.skillsVersion,
    ...(facts.leftOut === undefined ? {} : { left_out: leftOutJson(facts.leftOut) }),
  };
}
