/**
 * The index over one group of fields while it is built: which tokens each row has, which tokens are frequent, and which
 * runs of suffixes get a set (sections.ts). It visits its rows twice: to count, then chunk by chunk to write.
 */
import { bitCountOf } from '../../base/bitset.ts';
import { MERGED_BYTES_A_ROW, MERGED_COST_MAX_NS } from '../limits.ts';
import { TextTable } from '../snapshot/text-table.ts';
import { type MergedRange, mergedRanges, type SetSizes } from './merged-ranges.ts';
import { CHUNK_ROWS, CHUNK_WORDS, chunkCountOf, LISTED_ROWS, TOKEN_END } from './sections.ts';
import type { SetWriter } from './set-writer.ts';
import { sortedSuffixes } from './suffix-order.ts';
import { NOT_INDEXED, type Texts, type TokenizedTexts, tokenized } from './vocabulary.ts';

/** The texts of one field: those of row r have the codes `codes[offsets[r]] .. codes[offsets[r + 1] - 1]`; without offsets `codes[r]`. */
export interface FieldColumn {
  readonly texts: Texts;
  readonly codes: Uint8Array | Uint16Array | Uint32Array;
  readonly offsets?: Uint32Array;
}

/** Nanoseconds that a question needs for a piece of a set (bench/search.ts). */
const BITMAP_NS = 1_000;
const PIECE_NS = 25;
const LISTED_ROW_NS = 1.5;
const RARE_TOKEN_NS = 90;
const RARE_ROW_NS = 6;

/** A token with more rows is frequent: then its chunk directory takes no more space than the shorter list saves. */
const rareRowsMax = (chunkCount: number): number => Math.max(32, 4 * chunkCount);

export class GroupIndex {
  readonly #rowCount: number;
  readonly #fields: readonly (FieldColumn & { readonly tokenized: TokenizedTexts })[];
  readonly #vocabulary = new TextTable();
  /** By token: the row that had it last, so that a row counts once. */
  #lastRow = new Uint32Array(0);
  #counts = new Uint32Array(0);
  /** By token: its number in the file, frequent ones first. */
  #numbers = new Uint32Array(0);
  #frequentCount = 0;

  // The sections.
  #text = new Uint8Array(0);
  #suffixes = new Uint32Array(0);
  #tokens = new Uint32Array(0);
  #rareOffsets = new Uint32Array(1);
  #rareRows = new Uint32Array(0);
  #ranges: MergedRange[] = [];

  /** By rare token: where its next row goes. */
  #nextRare = new Uint32Array(0);
  /** The innermost merged ranges around the suffixes of token t: `rangesOf[rangeOffsets[t]] ..`, each once. */
  #rangeOffsets = new Uint32Array(1);
  #rangesOf = new Uint32Array(0);

  constructor(rowCount: number, fields: readonly FieldColumn[]) {
    this.#rowCount = rowCount;
    this.#fields = fields.map((field) => ({ ...field, tokenized: tokenized(field.texts, this.#vocabulary) }));
  }

  get frequentCount(): number {
    return this.#frequentCount;
  }

  get setCount(): number {
    return this.#frequentCount + this.#ranges.length;
  }

  /** Sets the flag of each row with a text that has no tokens here. */
  markUnindexed(flags: Uint8Array): void {
    for (const { codes, offsets, tokenized: texts } of this.#fields) {
      for (let row = 0; row < this.#rowCount; row++) {
        const end = offsets === undefined ? row + 1 : offsets[row + 1]!;
        for (let i = offsets === undefined ? row : offsets[row]!; i < end; i++) {
          if (texts.tokens[texts.offsets[codes[i]!]!] === NOT_INDEXED) flags[row] = 1;
        }
      }
    }
  }

  /** Counts rows, sorts suffixes and chooses the sets; yields between. @param flags of `markUnindexed`: rows to leave out */
  *prepare(flags: Uint8Array): Generator<void, void, void> {
    const tokenCount = this.#vocabulary.size;
    this.#lastRow = new Uint32Array(tokenCount).fill(NOT_INDEXED);
    this.#counts = new Uint32Array(tokenCount);
    const counts = this.#counts;
    this.#visit(0, this.#rowCount, flags, (token) => {
      counts[token]!++;
    });
    yield;
    this.#numberTokens();
    this.#sortSuffixes();
    yield;
    this.#chooseRanges();
    this.#assignRanges();
    yield;
  }

  /** Writes the sets of one chunk. @param firstSet number of this group's first set */
  writeChunk(chunk: number, firstSet: number, flags: Uint8Array, writer: SetWriter): void {
    const start = chunk * CHUNK_ROWS;
    const end = Math.min(start + CHUNK_ROWS, this.#rowCount);
    const frequent = this.#frequentCount;
    const numbers = this.#numbers;
    const inChunk = new Uint32Array(frequent);
    this.#visit(start, end, flags, (token) => {
      const number = numbers[token]!;
      if (number < frequent) inChunk[number]!++;
    });
    /** By frequent token: where its next member goes in the lists, or the first word of its bitmap. */
    const places = new Float64Array(frequent);
    for (let number = 0; number < frequent; number++) {
      const count = inChunk[number]!;
      places[number] =
        count < LISTED_ROWS
          ? writer.addList(firstSet + number, chunk, count)
          : writer.addBitmap(firstSet + number, chunk, count);
    }
    const { bitmaps, lists } = writer;
    const merged = Array.from(this.#ranges, () => new Uint32Array(CHUNK_WORDS));
    const rangeOffsets = this.#rangeOffsets;
    const rangesOf = this.#rangesOf;
    this.#visit(start, end, flags, (token, row) => {
      const number = numbers[token]!;
      const member = row - start;
      const bit = 1 << (member & 31);
      if (number >= frequent) this.#rareRows[this.#nextRare[number - frequent]!++] = row;
      else if (inChunk[number]! < LISTED_ROWS) lists[places[number]!++] = member;
      else bitmaps[places[number]! + (member >>> 5)]! |= bit;
      for (let i = rangeOffsets[number]!; i < rangeOffsets[number + 1]!; i++) {
        merged[rangesOf[i]!]![member >>> 5]! |= bit;
      }
    });
    // Inner ranges come after outer ones, so in a backward pass they are complete when the outer ones need them.
    for (let i = merged.length - 1; i >= 0; i--) {
      const words = merged[i]!;
      const around = merged[this.#ranges[i]!.parent];
      let count = 0;
      for (let w = 0; w < CHUNK_WORDS; w++) {
        const word = words[w]!;
        if (word === 0) continue;
        count += bitCountOf(word);
        if (around !== undefined) around[w]! |= word;
      }
      writer.addWords(firstSet + frequent + i, chunk, words, count);
    }
  }

  /** The sections of this group, once every chunk is written. */
  finish() {
    const ranges = new Uint32Array(this.#ranges.length * 2);
    for (const [i, { end, start }] of this.#ranges.entries()) ranges.set([start, end], i * 2);
    return {
      text: this.#text,
      suffixes: this.#suffixes,
      tokens: this.#tokens,
      rareOffsets: this.#rareOffsets,
      rareRows: this.#rareRows,
      ranges,
    };
  }

  /** Calls `see` once for each token of each row from `start` to `end - 1`. */
  #visit(start: number, end: number, flags: Uint8Array, see: (token: number, row: number) => void): void {
    const lastRow = this.#lastRow;
    lastRow.fill(NOT_INDEXED);
    for (let row = start; row < end; row++) {
      if (flags[row] === 1) continue;
      for (const { codes, offsets, tokenized: texts } of this.#fields) {
        const codeEnd = offsets === undefined ? row + 1 : offsets[row + 1]!;
        for (let i = offsets === undefined ? row : offsets[row]!; i < codeEnd; i++) {
          const code = codes[i]!;
          const past = texts.offsets[code + 1]!;
          for (let t = texts.offsets[code]!; t < past; t++) {
            const token = texts.tokens[t]!;
            if (lastRow[token] === row) continue;
            lastRow[token] = row;
            see(token, row);
          }
        }
      }
    }
  }

  #numberTokens(): void {
    const rareMax = rareRowsMax(chunkCountOf(this.#rowCount));
    const counts = this.#counts;
    const tokenCount = counts.length;
    for (let token = 0; token < tokenCount; token++) if (counts[token]! > rareMax) this.#frequentCount++;
    this.#numbers = new Uint32Array(tokenCount);
    this.#rareOffsets = new Uint32Array(tokenCount - this.#frequentCount + 1);
    let frequent = 0;
    let rare = 0;
    for (let token = 0; token < tokenCount; token++) {
      if (counts[token]! > rareMax) this.#numbers[token] = frequent++;
      else {
        this.#numbers[token] = this.#frequentCount + rare++;
        this.#rareOffsets[rare] = this.#rareOffsets[rare - 1]! + counts[token]!;
      }
    }
    this.#nextRare = this.#rareOffsets.slice(0, rare);
    this.#rareRows = new Uint32Array(this.#rareOffsets[rare]!);
  }

  #sortSuffixes(): void {
    const vocabulary = this.#vocabulary;
    const tokenCount = vocabulary.size;
    const tokenWith = new Uint32Array(tokenCount);
    for (let token = 0; token < tokenCount; token++) tokenWith[this.#numbers[token]!] = token;
    const text = new Uint8Array(vocabulary.byteLength + tokenCount).fill(TOKEN_END);
    const tokenAt = new Uint32Array(text.length);
    for (let number = 0, at = 0; number < tokenCount; number++) {
      const token = tokenWith[number]!;
      const start = vocabulary.startOf(token);
      const end = vocabulary.endOf(token);
      text.set(vocabulary.bytes.subarray(start, end), at);
      tokenAt.fill(number, at, at + end - start + 1);
      at += end - start + 1;
    }
    this.#text = text;
    this.#suffixes = sortedSuffixes(text);
    this.#tokens = this.#suffixes.map((suffix) => tokenAt[suffix]!);
  }

  #chooseRanges(): void {
    const chunkCount = chunkCountOf(this.#rowCount);
    const sizes: SetSizes = {
      costOf: (rows) => chunkCount * Math.min(BITMAP_NS, PIECE_NS + (LISTED_ROW_NS * rows) / chunkCount),
      bytesOf: (rows) => chunkCount * (8 + Math.min(CHUNK_WORDS * 4, (2 * rows) / chunkCount)),
    };
    const rowsOf = new Uint32Array(this.#counts.length);
    for (let token = 0; token < rowsOf.length; token++) rowsOf[this.#numbers[token]!] = this.#counts[token]!;
    const suffixCount = this.#suffixes.length;
    const costSums = new Float64Array(suffixCount + 1);
    const rowSums = new Float64Array(suffixCount + 1);
    for (let i = 0; i < suffixCount; i++) {
      const token = this.#tokens[i]!;
      const rows = rowsOf[token]!;
      const cost = token < this.#frequentCount ? sizes.costOf(rows) : RARE_TOKEN_NS + RARE_ROW_NS * rows;
      costSums[i + 1] = costSums[i]! + cost;
      rowSums[i + 1] = rowSums[i]! + rows;
    }
    const input = { text: this.#text, suffixes: this.#suffixes, costSums, rowSums };
    // Without a floor a catalogue of a few jobs would get sets that save nothing.
    const costMax = MERGED_COST_MAX_NS * Math.max(4, chunkCount);
    this.#ranges = mergedRanges(input, sizes, costMax, Math.max(2 ** 16, this.#rowCount * MERGED_BYTES_A_ROW));
  }

  /** For each token the smallest merged ranges around its suffixes. */
  #assignRanges(): void {
    const ranges = this.#ranges;
    const tokenCount = this.#counts.length;
    const smallest = new Int32Array(this.#suffixes.length).fill(-1);
    // Inner ranges come later, so they overwrite.
    for (const [i, { end, start }] of ranges.entries()) smallest.fill(i, start, end);
    const offsets = new Uint32Array(tokenCount + 1);
    for (let i = 0; i < smallest.length; i++) if (smallest[i]! >= 0) offsets[this.#tokens[i]! + 1]!++;
    for (let token = 0; token < tokenCount; token++) offsets[token + 1]! += offsets[token]!;
    const rangesOf = new Uint32Array(offsets[tokenCount]!);
    const next = offsets.slice();
    for (let i = 0; i < smallest.length; i++) {
      if (smallest[i]! >= 0) rangesOf[next[this.#tokens[i]!]!++] = smallest[i]!;
    }
    this.#rangeOffsets = offsets;
    this.#rangesOf = rangesOf;
  }
}
