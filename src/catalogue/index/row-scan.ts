/**
 * A filter applied row by row, where there is no index or none yet. It scans rows in blocks, and each block one column
 * at a time: a company's rows lie far apart in every column, and independent loads overlap their waits for memory,
 * which takes less than half the time of going row by row (bench/search.ts).
 */
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { TextColumn } from '../snapshot/text-column.ts';
import type { RowFilter } from './row-filter.ts';
import { TermScan } from './term-scan.ts';

const BLOCK_ROWS = 256;

/** Clearing a remembered text costs about a hundredth of searching it, and a row has a few texts. */
const REMEMBERED_PER_ROW = 64;

type Codes = Uint8Array | Uint16Array | Uint32Array;

export class RowScan {
  readonly #snapshot: Snapshot;
  readonly #filter: RowFilter;
  readonly #title: readonly TermScan[];
  readonly #location: readonly TermScan[];
  readonly #keyword: readonly TermScan[];
  readonly #inEmployer: RememberedScan;
  readonly #inDepartment: RememberedScan;
  readonly #inSkill: RememberedScan;

  // The current block, `#count` elements each: the rows that may still match and their indexes in the caller's rows;
  // for each row the code of a text, whether that text is ASCII, and whether the current term was found.
  readonly #rows: Uint32Array;
  readonly #indexes: Uint32Array;
  #count = 0;
  readonly #codes: Uint32Array;
  readonly #areAscii: Uint8Array;
  readonly #isFound: Uint8Array;

  /** @param rowCount the most rows of one `matchesAmong` */
  constructor(snapshot: Snapshot, filter: RowFilter, rowCount: number) {
    const blockRows = Math.min(BLOCK_ROWS, rowCount);
    this.#rows = new Uint32Array(blockRows);
    this.#indexes = new Uint32Array(blockRows);
    this.#codes = new Uint32Array(blockRows);
    this.#areAscii = new Uint8Array(blockRows);
    this.#isFound = new Uint8Array(blockRows);
    this.#snapshot = snapshot;
    this.#filter = filter;
    this.#title = scansOf(filter.title);
    this.#location = scansOf(filter.location);
    this.#keyword = scansOf(filter.keyword);
    // A company has few spellings, so the next name is nearly always the last one.
    this.#inEmployer = new RememberedScan(this.#keyword, snapshot.employerNames, 0);
    this.#inDepartment = new RememberedScan(this.#keyword, snapshot.departments, rowCount * REMEMBERED_PER_ROW);
    this.#inSkill = new RememberedScan(this.#keyword, snapshot.skillNames, rowCount * REMEMBERED_PER_ROW);
  }

  /** Indexes in `rows` of the first `limit` rows that match, ascending, or of all when there are fewer. */
  matchesAmong(rows: Uint32Array, limit: number): number[] {
    const matches: number[] = [];
    // The first block is short, because its rows are often enough.
    for (let start = 0, length = 16; start < rows.length; start += length, length = BLOCK_ROWS) {
      this.#start(rows, start, Math.min(start + length, rows.length));
      this.#keepMatches();
      for (let i = 0; i < this.#count; i++) if (matches.push(this.#indexes[i]!) === limit) return matches;
    }
    return matches;
  }

  #start(rows: Uint32Array, start: number, end: number): void {
    this.#count = end - start;
    for (let i = 0; i < this.#count; i++) {
      this.#rows[i] = rows[start + i]!;
      this.#indexes[i] = start + i;
    }
  }

  #keepMatches(): void {
    const { department, departments, employmentType, location, locations, remoteStatus, title, titles } =
      this.#snapshot;
    const filter = this.#filter;
    if (filter.remoteStatus !== undefined) this.#keepCode(remoteStatus, REMOTE_STATUSES.indexOf(filter.remoteStatus));
    if (filter.employmentType !== undefined) {
      this.#keepCode(employmentType, EMPLOYMENT_TYPES.indexOf(filter.employmentType));
    }
    if (filter.department !== undefined) {
      this.#read(department);
      for (let i = 0; i < this.#count; i++) {
        const code = this.#codes[i]!;
        this.#isFound[i] = code !== 0 && departments.comparedOf(code) === filter.department ? 1 : 0;
      }
      this.#keepFound();
    }
    // Code 0 is the empty text, which contains no term.
    if (this.#location.length > 0) this.#keepTexts(this.#location, location, locations);
    if (this.#title.length > 0) this.#keepTexts(this.#title, title, titles);
    if (this.#keyword.length > 0) this.#keepKeyword();
  }

  #keepCode(column: Uint8Array, code: number): void {
    for (let i = 0; i < this.#count; i++) this.#isFound[i] = column[this.#rows[i]!] === code ? 1 : 0;
    this.#keepFound();
  }

  #keepTexts(terms: readonly TermScan[], codes: Codes, column: TextColumn): void {
    for (const term of terms) {
      this.#readTexts(codes, column);
      this.#searchTexts(term, column);
      this.#keepFound();
    }
  }

  #keepKeyword(): void {
    const { department, employer, skillOffsets, skills, title, titles } = this.#snapshot;
    for (let t = 0; t < this.#keyword.length; t++) {
      this.#readTexts(title, titles);
      this.#searchTexts(this.#keyword[t]!, titles);
      const isFound = this.#isFound;
      const rows = this.#rows;
      for (let i = 0; i < this.#count; i++) {
        if (isFound[i] === 0 && this.#inEmployer.has(t, employer[rows[i]!]!)) isFound[i] = 1;
      }
      for (let i = 0; i < this.#count; i++) {
        if (isFound[i] === 0 && this.#inDepartment.has(t, department[rows[i]!]!)) isFound[i] = 1;
      }
      for (let i = 0; i < this.#count; i++) {
        if (isFound[i] === 1) continue;
        const past = skillOffsets[rows[i]! + 1]!;
        for (let place = skillOffsets[rows[i]!]!; place < past; place++) {
          if (this.#inSkill.has(t, skills[place]!)) isFound[i] = 1;
        }
      }
      this.#keepFound();
    }
  }

  #read(column: Codes): void {
    for (let i = 0; i < this.#count; i++) this.#codes[i] = column[this.#rows[i]!]!;
  }

  #readTexts(codes: Codes, column: TextColumn): void {
    this.#read(codes);
    for (let i = 0; i < this.#count; i++) this.#areAscii[i] = column.isAscii(this.#codes[i]!) ? 1 : 0;
  }

  #searchTexts(term: TermScan, column: TextColumn): void {
    for (let i = 0; i < this.#count; i++) {
      const code = this.#codes[i]!;
      this.#isFound[i] = (this.#areAscii[i] === 1 ? term.isInAscii(column, code) : term.isIn(column, code)) ? 1 : 0;
    }
  }

  #keepFound(): void {
    let kept = 0;
    for (let i = 0; i < this.#count; i++) {
      this.#rows[kept] = this.#rows[i]!;
      this.#indexes[kept] = this.#indexes[i]!;
      kept += this.#isFound[i]!;
    }
    this.#count = kept;
  }
}

/** Longest first: it is the rarest, and if it is missing the others need no search. */
function scansOf(terms: readonly string[]): TermScan[] {
  return [...terms].sort((a, b) => b.length - a.length).map((term) => new TermScan(term));
}

/** Memoizes which terms the texts of a dictionary contain; for a large dictionary only the last text. */
class RememberedScan {
  readonly #terms: readonly TermScan[];
  readonly #column: TextColumn;
  /** By code: bit t = the text contains term t; -1 = not searched yet. */
  readonly #found: Int16Array;
  #lastCode = -1;
  #lastFound = 0;

  /** @param sizeMax most texts of a dictionary for which an array pays off */
  constructor(terms: readonly TermScan[], column: TextColumn, sizeMax: number) {
    this.#terms = terms;
    this.#column = column;
    this.#found = new Int16Array(terms.length > 0 && column.size <= sizeMax ? column.size : 0).fill(-1);
  }

  /** Whether the text of a code contains a term, given by its index. */
  has(term: number, code: number): boolean {
    if (code !== this.#lastCode) {
      this.#lastCode = code;
      this.#lastFound = this.#found[code] ?? -1;
      if (this.#lastFound < 0) {
        this.#lastFound = this.#search(code);
        if (code < this.#found.length) this.#found[code] = this.#lastFound;
      }
    }
    return ((this.#lastFound >>> term) & 1) !== 0;
  }

  #search(code: number): number {
    let found = 0;
    for (let t = 0; t < this.#terms.length; t++) if (this.#terms[t]!.isIn(this.#column, code)) found |= 1 << t;
    return found;
  }
}
