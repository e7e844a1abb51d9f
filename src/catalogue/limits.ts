/** Every bound of the catalogue, with its reason. */

/** Most jobs that one question considers (specification, "What the service does"). A position in a cohort is a Uint16. */
export const COHORT_ROWS_MAX = 10_000;

/** Most entries of each list in the answer of the company route (specification, "Limits"). */
export const TOP_ENTRIES_MAX = 10;

/**
 * A search in a company with at most this many rows scans them, which takes no longer than the index (bench/search.ts).
 */
export const SCANNED_ROWS_MAX = 128;

/** Rows of all cached company cohorts together. */
export const CACHED_COHORT_ROWS_MAX = 40_000;

/** A company cohort of fewer rows is faster to make than to look up. */
export const CACHED_COHORT_ROWS_MIN = 257;

/**
 * Code units of the distinct tokens of one index: about 100 a row, ten times what real postings have in all searched
 * fields together. Building briefly takes up to 40 bytes a code unit, and a few seconds for a hostile text (one letter
 * over and over). A search in a cohort with more text scans its rows.
 */
export const INDEX_UNITS_MAX = 2 ** 20;

/** Rows of one snapshot: 16.7 million, of about 94 bytes each in memory, stay within the 2 GiB below. */
export const ROW_COUNT_MAX = 2 ** 24;

/** Bytes of columns and details together: offsets in them fit 31 bits, and both runtimes allow an allocation of that size. */
export const HOT_BYTES_MAX = 2 ** 31;

/** Bytes of the index over the whole catalogue, behind them: about 65 a job (bench/snapshot-load.ts), so 16.7 million fit. */
export const INDEX_BYTES_MAX = 3 * 2 ** 29;

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

/**
 * Longest snapshot file, bytes, that a start checks whole before it listens: some 50,000 jobs, 40 ms. For a longer one
 * it checks the columns first and the rest after it listens (bench/start.ts).
 */
export const CHECKED_FIRST_BYTES_MAX = 2 ** 24;

/** Bytes read at a time while a section is checked but not kept. A multiple of 8. */
export const CHECKED_CHUNK_BYTES = 2 ** 20;

/** A dictionary of at most this many texts memoizes their compared forms: about 5 MB for all of them. */
export const MEMOIZED_TEXTS_MAX = 65_536;

/** A dictionary of at most this many texts memoizes the decoded ones: less than a megabyte for all of them. */
export const DECODED_TEXTS_MAX = 8192;

/** The newest jobs are in most answers: this many are cached as objects once an answer showed them. */
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

/** Code units of a token of the whole catalogue's index. A row with a longer one is scanned; URLs and keys are about as long. */
export const TOKEN_UNITS_MAX = 256;

/**
 * UTF-8 of the distinct tokens of one index over the whole catalogue: three million of real postings' length, ten times
 * what ten million of them have. The newest texts come first; later rows with a token that no longer fits are scanned.
 * Sorting briefly takes 22 bytes for each byte.
 */
export const VOCABULARY_BYTES_MAX = 2 ** 25;

/**
 * Nanoseconds that a question may spend on uniting the rows of one term, for each 65,536 rows of the catalogue: sixteen
 * terms at this cost take at most a millisecond for a million jobs (bench/search.ts).
 */
export const MERGED_COST_MAX_NS = 4_000;

/**
 * Bytes a row that the merged sets of one index may take together. Where they would take more, terms cost more time instead.
 */
export const MERGED_BYTES_A_ROW = 24;

/** Active jobs that public samples are drawn from (siblings §4). */
export const PUBLIC_POOL_SIZE = 12;

/**
 * Bytes of a position in a list: a cursor of at most 300 characters (siblings §4) holds it together with its authentication.
 */
export const POSITION_BYTES_MAX = 200;

/** Rows of all companies with cached counts together: 8 bytes each for the first observation, and 8 more if closed. */
export const KEPT_COMPANY_ROWS_MAX = 2 ** 19;

/** Counts over fewer rows are faster to make than to look up. */
export const KEPT_ROWS_MIN = 257;

/** Skills of all cached tables together, 12 bytes each. */
export const KEPT_SKILLS_MAX = 2 ** 17;

/** Most samples in one public answer (siblings §4). */
export const PUBLIC_SAMPLES_MAX = 5;
