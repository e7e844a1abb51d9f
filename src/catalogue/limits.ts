/** Every bound of the catalogue, with its reason. */

/** Most jobs that one question considers (specification, "What the service does"). A position in a cohort is a Uint16. */
export const COHORT_ROWS_MAX = 10_000;

/** Most entries of each list in the answer of the company route (specification, "Limits"). */
export const TOP_ENTRIES_MAX = 10;

/**
 * Rows of a company that are indexed together; a search in a company with no more rows scans them. A request waits while such
 * an index is built, and the time grows with its rows (bench/search.ts).
 */
export const PART_ROWS_MAX = 256;

/**
 * Rows of all cached company cohorts together. Their indexes take about 20 MB when all are built (5.2 MB for 10000 rows), and
 * at most 190 MB by PART_INDEX_UNITS_MAX. An evicted cohort is indexed again when a search needs it.
 */
export const CACHED_COHORT_ROWS_MAX = 40_000;

/**
 * Code units of the distinct tokens of one index: about 100 a row, ten times what real postings have in all searched fields
 * together. Building takes up to 40 bytes a code unit for a moment, and a few seconds for a hostile text (one letter over and
 * over). A search in a cohort with more text scans its rows.
 */
export const INDEX_UNITS_MAX = 2 ** 20;

/** The same for an index of at most PART_ROWS_MAX rows, for which a request waits: 128 a row, where real postings have 30. */
export const PART_INDEX_UNITS_MAX = 2 ** 15;

/** Rows of one snapshot: 16.7 million, of about 94 bytes each in memory, stay within the 2 GiB below. */
export const ROW_COUNT_MAX = 2 ** 24;

/** Bytes of all sections in memory: one allocation, of a size that both runtimes allow. */
export const HOT_BYTES_MAX = 2 ** 31;

/** Bytes of one text section; offsets into it are Uint32. */
export const TEXT_BYTES_MAX = 2 ** 32 - 1;

/**
 * Bytes of a snapshot file, 64 GiB: columns and texts within the limits above take at most 8, and the compressed descriptions
 * of 16.7 million real jobs, a kibibyte each, another 17. Opening reads all of it once.
 */
export const SNAPSHOT_BYTES_MAX = 2 ** 36;

/**
 * Bytes of text in a block of descriptions or events. A larger block compresses better and takes longer to read a single
 * text from: bench/descriptions.ts compares 16, 64 and 256 KiB.
 */
export const PACKED_BLOCK_BYTES = 2 ** 16;

/**
 * Bytes of one block's text, decompressed: the size above, or a single longer text. A description has at most 20000 code
 * points of four bytes; the changes of one event at most some 70,000, which as JSON take up to six bytes each.
 */
export const PACKED_BLOCK_BYTES_MAX = 2 ** 20;

/** Decompressed blocks that stay in memory, of about 64 KiB each: an answer shows at most a hundred jobs of a few companies. */
export const CACHED_BLOCKS_MAX = 8;

/** Events in the history of one snapshot: 16 for each of the most jobs. A position is a Uint32. */
export const EVENT_COUNT_MAX = 2 ** 28;

/** Bytes of the JSON header. Its list of sections is fixed; only numbers and the skill dictionary's version vary. */
export const HEADER_BYTES_MAX = 16_384;

/** Code units of the skill dictionary's version name. */
export const SKILLS_VERSION_LENGTH_MAX = 200;

/** Bytes read at a time while a section is checked but not kept. A multiple of 8. */
export const CHECKED_CHUNK_BYTES = 2 ** 20;

/** A dictionary of at most this many texts memoizes their compared forms: about 5 MB when it has all. */
export const MEMOIZED_TEXTS_MAX = 65_536;

/** The newest jobs are in most answers: this many stay as objects once an answer showed them. */
export const CACHED_JOBS_MAX = 1000;

/**
 * Bytes of texts that answers show of the catalogue's cohort, loaded for speed: one such limit for ids and source URLs together
 * (1.2 MB for 10000 real postings) and one for each dictionary. Longer texts are read row by row.
 */
export const LOADED_TEXT_BYTES_MAX = 2 ** 23;

/**
 * Bitmaps of one term index: 1.25 KB each for 10000 rows, so at most 2.6 MB together. In real and synthetic postings 200 to
 * 1,200 terms are frequent enough for one; when there are more, only the most frequent terms get one.
 */
export const TERM_BITMAPS_MAX = 2_048;

/** Matches that stay a list; more become a set. A bitmap of 10000 rows has about as many words. */
export const LISTED_ROWS_MAX = 320;
