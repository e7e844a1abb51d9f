/**
 * The table of descriptions in the history, and how its rows are read: text in a Zstandard frame with a checksum; `bytes` is the
 * length of its UTF-8, so that a build can place a text that it does not read.
 */
import { DESCRIPTION_LENGTH_MAX, type Job } from '../../catalogue/job.ts';
import { decompressed } from '../../catalogue/packed/zstd.ts';

export const DESCRIPTION_TABLE = `
  CREATE TABLE description (
    serial INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, is_truncated INTEGER NOT NULL, bytes INTEGER NOT NULL,
    text BLOB NOT NULL
  );
`;

/** UTF-8 has at most four bytes for a code point. */
const TEXT_BYTES_MAX = DESCRIPTION_LENGTH_MAX * 4;

/** UTF-8; undefined when it is damaged. */
export const decompressedText = (text: Uint8Array): Buffer | undefined => decompressed(text, TEXT_BYTES_MAX);

export type Described = Pick<Job, 'description' | 'descriptionTruncated'>;

/** @param row of `job` joined with `description` @returns undefined when the text is damaged */
export function storedDescription({
  text,
  is_truncated: isTruncated,
}: Readonly<Record<string, unknown>>): Described | undefined {
  if (text === null) return { description: null, descriptionTruncated: false };
  const bytes = decompressedText(text as Uint8Array);
  return bytes && { description: bytes.toString('utf8'), descriptionTruncated: isTruncated === 1 };
}
