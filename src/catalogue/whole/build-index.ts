/** Builds the index over the whole catalogue (sections.ts) from the finished columns of a snapshot. */
import { Buffer } from 'node:buffer';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import { GroupIndex } from './group-index.ts';
import { CHUNK_ROWS, CHUNK_WORDS, chunkCountOf, LIST_SET_COUNT, type WholeSectionName } from './sections.ts';
import { SetWriter } from './set-writer.ts';
import type { Texts } from './vocabulary.ts';

/** Columns as the snapshot's file has them (snapshot/layout.ts). */
export interface IndexedColumns {
  readonly title: Uint32Array;
  readonly employer: Uint32Array;
  readonly location: Uint32Array;
  readonly department: Uint16Array | Uint32Array;
  readonly remoteStatus: Uint8Array;
  readonly employmentType: Uint8Array;
  readonly skillOffsets: Uint32Array;
  readonly skills: Uint16Array | Uint32Array;
  readonly titleOffsets: Uint32Array;
  readonly titleText: Uint8Array;
  readonly employerNameOffsets: Uint32Array;
  readonly employerNameText: Uint8Array;
  readonly locationOffsets: Uint32Array;
  readonly locationText: Uint8Array;
  readonly departmentOffsets: Uint32Array;
  readonly departmentText: Uint8Array;
  readonly skillTextOffsets: Uint32Array;
  readonly skillText: Uint8Array;
}

type IndexColumn = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/**
 * The index's sections; yields between pieces of the work. Cost: about three passes over the words of all rows, and a sort of the
 * distinct words; memory for the result and about 20 bytes for each byte of distinct words.
 */
export function* buildWholeIndex(
  columns: IndexedColumns,
): Generator<void, Record<WholeSectionName, IndexColumn>, void> {
  const rowCount = columns.title.length;
  // Small dictionaries first: if not all words fit, those of the newest titles still do (limits.ts).
  const keyword = new GroupIndex(rowCount, [
    {
      texts: textsIn(columns.skillTextOffsets, columns.skillText),
      codes: columns.skills,
      offsets: columns.skillOffsets,
    },
    { texts: textsIn(columns.departmentOffsets, columns.departmentText), codes: columns.department },
    { texts: textsIn(columns.employerNameOffsets, columns.employerNameText), codes: columns.employer },
    { texts: textsIn(columns.titleOffsets, columns.titleText), codes: columns.title },
  ]);
  yield;
  const place = new GroupIndex(rowCount, [
    { texts: textsIn(columns.locationOffsets, columns.locationText), codes: columns.location },
  ]);
  const flags = new Uint8Array(rowCount);
  for (const group of [keyword, place]) group.markUnindexed(flags);
  yield;
  for (const group of [keyword, place]) yield* group.prepare(flags);
  const chunkCount = chunkCountOf(rowCount);
  const writer = new SetWriter(LIST_SET_COUNT + keyword.setCount + place.setCount, chunkCount);
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    writeCodes(columns.remoteStatus, REMOTE_STATUSES.length, 0, chunk, writer);
    writeCodes(columns.employmentType, EMPLOYMENT_TYPES.length, REMOTE_STATUSES.length, chunk, writer);
    keyword.writeChunk(chunk, LIST_SET_COUNT, flags, writer);
    place.writeChunk(chunk, LIST_SET_COUNT + keyword.setCount, flags, writer);
    yield;
  }
  const ofKeyword = keyword.finish();
  const ofPlace = place.finish();
  return {
    frequentTokens: Uint32Array.of(keyword.frequentCount, place.frequentCount),
    ...writer.finish(),
    unindexedRows: Uint32Array.from(rowsWith(flags)),
    keywordText: ofKeyword.text,
    keywordSuffixes: ofKeyword.suffixes,
    keywordTokens: ofKeyword.tokens,
    keywordRareOffsets: ofKeyword.rareOffsets,
    keywordRareRows: ofKeyword.rareRows,
    keywordRanges: ofKeyword.ranges,
    placeText: ofPlace.text,
    placeSuffixes: ofPlace.suffixes,
    placeTokens: ofPlace.tokens,
    placeRareOffsets: ofPlace.rareOffsets,
    placeRareRows: ofPlace.rareRows,
    placeRanges: ofPlace.ranges,
  };
}

function textsIn(offsets: Uint32Array, text: Uint8Array): Texts {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
  return { size: offsets.length - 1, textOf: (code) => bytes.toString('utf8', offsets[code]!, offsets[code + 1]!) };
}

/** The rows of a chunk by the code in a column of a closed list. */
function writeCodes(codes: Uint8Array, codeCount: number, firstSet: number, chunk: number, writer: SetWriter): void {
  const start = chunk * CHUNK_ROWS;
  const end = Math.min(start + CHUNK_ROWS, codes.length);
  const sets = Array.from({ length: codeCount }, () => new Uint32Array(CHUNK_WORDS));
  const counts = new Uint32Array(codeCount);
  for (let row = start; row < end; row++) {
    const code = codes[row]!;
    counts[code]!++;
    sets[code]![(row - start) >>> 5]! |= 1 << ((row - start) & 31);
  }
  for (const [code, words] of sets.entries()) writer.addWords(firstSet + code, chunk, words, counts[code]!);
}

function* rowsWith(flags: Uint8Array): Generator<number> {
  for (let row = 0; row < flags.length; row++) if (flags[row] === 1) yield row;
}
