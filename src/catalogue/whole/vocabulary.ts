/** The distinct tokens of the texts of some dictionaries, each text as numbers of tokens: what an index is built from. */
import { TOKEN_UNITS_MAX, VOCABULARY_BYTES_MAX } from '../limits.ts';
import { grown } from '../snapshot/column-arrays.ts';
import type { TextTable } from '../snapshot/text-table.ts';
import { comparedText } from '../terms.ts';

/** The texts of a dictionary by code. */
export interface Texts {
  readonly size: number;
  textOf(code: number): string;
}

/** A text with a token that is too long, or no longer fits, has only this number: it is not indexed. */
export const NOT_INDEXED = 0xffffffff;

/** Texts of a dictionary as tokens: those of code c are `tokens[offsets[c]] .. tokens[offsets[c + 1] - 1]`, each once. */
export interface TokenizedTexts {
  readonly offsets: Uint32Array;
  tokens: Uint32Array;
}

/** Adds the tokens of all texts to a vocabulary. @param bytesMax of its tokens, each with a byte behind it */
export function tokenized(texts: Texts, vocabulary: TextTable, bytesMax = VOCABULARY_BYTES_MAX): TokenizedTexts {
  const offsets = new Uint32Array(texts.size + 1);
  let tokens = new Uint32Array(Math.max(64, texts.size * 4));
  let count = 0;
  for (let code = 0; code < texts.size; code++) {
    const start = count;
    const compared = comparedText(texts.textOf(code));
    for (let from = 0; from < compared.length; ) {
      const blank = compared.indexOf(' ', from);
      const to = blank < 0 ? compared.length : blank;
      const token = numberOf(compared.slice(from, to), vocabulary, bytesMax);
      from = to + 1;
      if (count === tokens.length) tokens = grown(tokens);
      if (token === NOT_INDEXED) {
        tokens[start] = NOT_INDEXED;
        count = start + 1;
        break;
      }
      let place = start;
      while (place < count && tokens[place] !== token) place++;
      if (place === count) tokens[count++] = token;
    }
    offsets[code + 1] = count;
  }
  return { offsets, tokens: tokens.subarray(0, count) };
}

function numberOf(token: string, vocabulary: TextTable, bytesMax: number): number {
  if (token.length > TOKEN_UNITS_MAX) return NOT_INDEXED;
  // UTF-8 has at most three bytes for each code unit; every token has a byte behind it.
  const bytes = vocabulary.byteLength + vocabulary.size + token.length * 3 + 1;
  return bytes <= bytesMax ? vocabulary.numberOf(token) : (vocabulary.find(token) ?? NOT_INDEXED);
}
