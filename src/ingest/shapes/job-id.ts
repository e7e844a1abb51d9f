/** Ids of jobs from what sources say: parts of an id, and hashes for what has none. */
import { sha256Base64Url } from '../../base/digest.ts';
import { objectOf } from '../../base/json-value.ts';

/** Longest text that becomes a slug; a longer one is replaced by its hash at once. No company name is that long. */
const SLUGGED_LENGTH_MAX = 1000;

/** A text as one part of an id: lower case, letters and digits joined by hyphens. */
export function slugOf(text: string): string {
  // Before normalizing, because thousands of marks on one letter would take seconds.
  if (text.length > SLUGGED_LENGTH_MAX) return hashOf([text]);
  const slug = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return slug.length > 0 && slug.length <= 60 ? slug : hashOf([text]);
}

/** 96 bits of SHA-256 over the parts, in base64url: the id of a job without one. The order of parts counts. */
export function hashOf(parts: readonly (string | null)[]): string {
  return sha256Base64Url(JSON.stringify(parts)).slice(0, 16);
}

/** The source's own id, for a message about a record that may be broken. */
export function sourceIdOf(record: unknown): string | undefined {
  const fields = objectOf(record);
  for (const name of ['id', 'job_id', 'jobId', 'control_number', 'shortcode', 'slug', 'external_id']) {
    const value = fields?.[name];
    if (typeof value === 'string' || typeof value === 'number') return String(value);
  }
  return undefined;
}
