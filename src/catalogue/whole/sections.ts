/**
 * The sections of the index over the whole catalogue, as the snapshot file holds them (snapshot/layout.ts). The builder
 * makes them (build-index.ts), a reader views them in place (whole-index.ts); nothing is built at load.
 *
 * Rows, active and closed, are taken in chunks of 65,536, newest first. A **set** is some of all rows, by chunk: a sorted list
 * of 16-bit numbers, or a bitmap where at least LISTED_ROWS of the chunk are members (as in Roaring bitmaps). Sets are numbered:
 * one for each workplace type, one for each employment type, then for the keyword fields one for each frequent token and one
 * for each merged range, then the same for locations. Rare tokens have a plain list of rows instead.
 *
 * For each group of fields (`keyword`: title, company, department, skills; `place`: location), over its distinct tokens:
 *
 *   Text       UTF-8 of the compared tokens (terms.ts), frequent ones first, each followed by a byte FF
 *   Suffixes   where in the text each suffix of each token starts, at whole characters, in order of their bytes
 *   Tokens     the token that each of these suffixes ends, in the same order
 *   RareOffsets, RareRows   rows of the rare token t, counted from the first rare one: `RareRows[RareOffsets[t]] ..`, ascending
 *   Ranges     pairs of start and end of a run of suffixes, by start, outer before inner: the runs whose rows have a set
 */
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';

export const WHOLE_SECTIONS = [
  // Frequent tokens of the keyword fields, and of locations.
  { name: 'frequentTokens', types: ['u32'] },
  // Two elements for each chunk of each set, set after set: how many members it has there; where they start in `setLists`, or
  // with LISTED_ROWS or more members the number of their bitmap.
  { name: 'setChunks', types: ['u32'] },
  { name: 'setLists', types: ['u16'] },
  { name: 'setBitmaps', types: ['u32'] },
  // Rows with a text that is not indexed (limits.ts), ascending: no set of a token and no list has them, so they are scanned.
  { name: 'unindexedRows', types: ['u32'] },
  { name: 'keywordText', types: ['u8'] },
  { name: 'keywordSuffixes', types: ['u32'] },
  { name: 'keywordTokens', types: ['u32'] },
  { name: 'keywordRareOffsets', types: ['u32'] },
  { name: 'keywordRareRows', types: ['u32'] },
  { name: 'keywordRanges', types: ['u32'] },
  { name: 'placeText', types: ['u8'] },
  { name: 'placeSuffixes', types: ['u32'] },
  { name: 'placeTokens', types: ['u32'] },
  { name: 'placeRareOffsets', types: ['u32'] },
  { name: 'placeRareRows', types: ['u32'] },
  { name: 'placeRanges', types: ['u32'] },
] as const;

export type WholeSectionName = (typeof WHOLE_SECTIONS)[number]['name'];

/** Sets of the closed lists, which come before those of tokens. */
export const LIST_SET_COUNT = REMOTE_STATUSES.length + EMPLOYMENT_TYPES.length;

/** Rows of a chunk; a row's place in its chunk is a Uint16. */
export const CHUNK_ROWS = 65_536;

/** Words of the bitmap of a chunk: 8 KiB. */
export const CHUNK_WORDS = CHUNK_ROWS / 32;

/** A chunk of a set with fewer members is a list: at this many, list and bitmap take the same space. */
export const LISTED_ROWS = 4096;

/** Follows every token. It occurs in no UTF-8 text and sorts after all of its bytes. */
export const TOKEN_END = 0xff;

export const chunkCountOf = (rowCount: number): number => Math.ceil(rowCount / CHUNK_ROWS);
