/** Every bound of the catalogue, with its reason. */

/** Most jobs that one question looks at (specification, "What the service does"). A position in a cohort is a Uint16. */
export const COHORT_ROWS_MAX = 10_000;

/** Most entries of each list in the answer of the company route (specification, "Limits"). */
export const TOP_ENTRIES_MAX = 10;

/**
 * Rows of a company that are indexed together; a company with no more is gone through row by row. Such an index takes about
 * 2 ms on a busy machine, where one of 1,700 rows takes 7 and one of 10000 some 30 (bench/search.ts), and a request waits for it.
 */
export const PART_ROWS_MAX = 256;

/**
 * Rows of the company cohorts that are kept with their indexes, together: about 20 MB when all of them are indexed (5.2 MB for
 * 10000 rows), and 190 MB at most by PART_INDEX_UNITS_MAX. One that makes room for another is indexed again when it is asked for.
 */
export const KEPT_COHORT_ROWS_MAX = 40_000;

/**
 * Code units of distinct tokens that one index may hold: about 100 a row, ten times what real postings have in all
 * searched fields together. Building takes up to 40 bytes a code unit for a moment, and for a text made to be slow (one
 * letter over and over) a few seconds. A cohort with more text is scanned.
 */
export const INDEX_UNITS_MAX = 2 ** 20;

/** The same for the index of at most PART_ROWS_MAX rows, for which a request waits: 128 a row, where real ones have 30. */
export const PART_INDEX_UNITS_MAX = 2 ** 15;

/** Rows of one snapshot: 16.7 million, of about 94 bytes each in memory, stay within the 2 GiB below. */
export const ROW_COUNT_MAX = 2 ** 24;

/** Bytes of all sections that are kept in memory: one allocation, and both runtimes grant one of this size. */
export const HOT_BYTES_MAX = 2 ** 31;

/** Bytes of one text section; places in it are Uint32. */
export const TEXT_BYTES_MAX = 2 ** 32 - 1;

/** Bytes of a snapshot file: the two limits above together, and the offsets of the cold text. */
export const SNAPSHOT_BYTES_MAX = 2 ** 33;

/** Bytes of the JSON header. Its list of sections is fixed; only numbers and the skill dictionary's version vary. */
export const HEADER_BYTES_MAX = 16_384;

/** Code units of the skill dictionary's version name. */
export const SKILLS_VERSION_LENGTH_MAX = 200;

/** Bytes read at a time when a section is checked but not kept. A multiple of 8. */
export const CHECKED_CHUNK_BYTES = 2 ** 20;

/** A dictionary of at most this many texts remembers the compared forms it was asked for: about 5 MB when all were. */
export const REMEMBERED_TEXTS_MAX = 65_536;

/** The newest jobs are in most answers: so many are kept as objects once they were in one. */
export const KEPT_JOBS_MAX = 1000;

/**
 * Bytes of what answers show of the catalogue's cohort that are kept in memory: of ids and source URLs together, some 1.2 MB for the
 * 10000 rows of real postings, and of each dictionary's texts. Longer ones are read row by row, from the file or where they lie.
 */
export const KEPT_TEXT_BYTES_MAX = 2 ** 23;

/**
 * Bitmaps of one term index: 1.25 KB each for 10000 rows, so at most 2.6 MB together. Real and synthetic postings have 200
 * to 1,200 pieces of words that lie in more rows than a bitmap has words; when there are more, only the most frequent have one.
 */
export const TERM_BITMAPS_MAX = 2_048;

/** Matches that are looked at one by one, more are a set: as many as a bitmap of 10000 rows has words, and some. */
export const LISTED_ROWS_MAX = 320;
