/** Finds URLs, e-mail addresses and hosts in a text: a skill's name inside one does not mention the skill. */
import { AT, BLANK, CHUNK_END, COLON, DOT, HYPHEN, isWord, LINE, QUESTION, SLASH, WORD } from './characters.ts';

/** Top-level domains that end a host written without a scheme; `net` is missing because of ASP.NET and the like. */
const TOP_LEVEL = new Set('com org io ai dev co edu gov eu uk de fr us ca app cloud info jobs'.split(' '));

/** Answers for matches in ascending order, so that each chunk of a text is read once. */
export class AddressRuns {
  readonly #text: string;
  readonly #flags: Uint8Array;
  /** The chunk read last: whether it is an address; if not, where a host at its start ends (0 = none). */
  #chunkStart = 0;
  #chunkEnd = 0;
  #isAddress = false;
  #hostEnd = 0;

  constructor(text: string, flags: Uint8Array) {
    this.#text = text;
    this.#flags = flags;
  }

  /** Whether a match lies in a URL, an e-mail address or behind a host. A skill that is itself a host counts. */
  covers(start: number, end: number): boolean {
    if (start >= this.#chunkEnd) this.#readChunk(start);
    if (this.#isAddress) return true;
    return this.#hostEnd > 0 && !(start === this.#chunkStart && end >= this.#hostEnd);
  }

  #readChunk(at: number): void {
    const text = this.#text;
    const flags = this.#flags;
    let start = at;
    while (start > this.#chunkEnd && (flags[text.charCodeAt(start - 1)]! & CHUNK_END) === 0) start--;
    let end = at;
    let isAddress = text.startsWith('www.', start);
    while (end < text.length && (flags[text.charCodeAt(end)]! & CHUNK_END) === 0) end++;
    for (let i = start; i < end && !isAddress; i++) {
      const unit = text.charCodeAt(i);
      if (unit === COLON) isAddress = text.startsWith('//', i + 1) && isWord(text, i - 1, flags);
      else if (unit === AT) isAddress = isWord(text, i - 1, flags) && isWord(text, i + 1, flags);
    }
    if (isAddress) {
      // A query may hold commas and brackets, so an address extends to the next blank.
      while (end < text.length && (flags[text.charCodeAt(end)]! & (BLANK | LINE)) === 0) end++;
    }
    this.#chunkStart = start;
    this.#chunkEnd = end;
    this.#isAddress = isAddress;
    this.#hostEnd = isAddress ? 0 : this.#hostEndOf(start, end);
  }

  /** Where a host at the start of a chunk ends, or 0: labels and dots, a known top-level domain, then a path or nothing. */
  #hostEndOf(start: number, end: number): number {
    const text = this.#text;
    let label = start;
    let i = start;
    for (; i < end; i++) {
      const unit = text.charCodeAt(i);
      if (unit === DOT && isWord(text, i + 1, this.#flags)) label = i + 1;
      else if ((this.#flags[unit]! & (WORD | HYPHEN)) === 0) break;
    }
    if (label === start || !TOP_LEVEL.has(text.slice(label, i).toLowerCase())) return 0;
    const after = i < end ? text.charCodeAt(i) : 0;
    return after === 0 || after === SLASH || after === COLON || after === QUESTION || after === DOT ? i : 0;
  }
}
