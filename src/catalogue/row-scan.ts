/**
 * What a question asks, looked for in one row after another: where there is no index, or none yet. Most rows fail at the first
 * term, and of most rows only the title is looked through: departments and skills repeat, and are looked through once.
 */
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from './job.ts';
import { REMEMBERED_TEXTS_MAX } from './limits.ts';
import type { Snapshot } from './snapshot.ts';
import { TermScan } from './term-scan.ts';
import type { TextColumn } from './text-column.ts';
import type { Wanted } from './wanted.ts';

export class RowScan {
  readonly #snapshot: Snapshot;
  readonly #wanted: Wanted;
  /** -1 = not asked for. */
  readonly #remoteCode: number;
  readonly #employmentCode: number;
  readonly #title: readonly TermScan[];
  readonly #location: readonly TermScan[];
  readonly #keyword: readonly TermScan[];
  readonly #inEmployer: RememberedScan;
  readonly #inDepartment: RememberedScan;
  readonly #inSkill: RememberedScan;

  constructor(snapshot: Snapshot, wanted: Wanted) {
    this.#snapshot = snapshot;
    this.#wanted = wanted;
    this.#remoteCode = wanted.remoteStatus === undefined ? -1 : REMOTE_STATUSES.indexOf(wanted.remoteStatus);
    this.#employmentCode = wanted.employmentType === undefined ? -1 : EMPLOYMENT_TYPES.indexOf(wanted.employmentType);
    this.#title = scansOf(wanted.title);
    this.#location = scansOf(wanted.location);
    this.#keyword = scansOf(wanted.keyword);
    this.#inEmployer = new RememberedScan(this.#keyword, snapshot.employerNames);
    this.#inDepartment = new RememberedScan(this.#keyword, snapshot.departments);
    this.#inSkill = new RememberedScan(this.#keyword, snapshot.skillNames);
  }

  matches(row: number): boolean {
    const { department, employmentType, location, locations, remoteStatus, title, titles } = this.#snapshot;
    if (this.#remoteCode >= 0 && remoteStatus[row] !== this.#remoteCode) return false;
    if (this.#employmentCode >= 0 && employmentType[row] !== this.#employmentCode) return false;
    if (this.#wanted.department !== undefined && !this.#isInDepartment(department[row]!)) return false;
    // The empty text that code 0 stands for holds no term.
    for (const term of this.#location) if (!term.isIn(locations, location[row]!)) return false;
    for (const term of this.#title) if (!term.isIn(titles, title[row]!)) return false;
    for (let t = 0; t < this.#keyword.length; t++) {
      if (!this.#keyword[t]!.isIn(titles, title[row]!) && !this.#isBesideTitle(t, row)) return false;
    }
    return true;
  }

  /** Adds those of `rows` that match to `into`, in their order, until that has `limit` elements. */
  addMatches(rows: Uint32Array, limit: number, into: number[]): void {
    for (let i = 0; i < rows.length && into.length < limit; i++) if (this.matches(rows[i]!)) into.push(rows[i]!);
  }

  #isInDepartment(code: number): boolean {
    return code !== 0 && this.#snapshot.departments.comparedOf(code) === this.#wanted.department;
  }

  /** Whether a term of the keyword lies in the company, the department or a skill of a row. */
  #isBesideTitle(term: number, row: number): boolean {
    const { department, employer, skillOffsets, skills } = this.#snapshot;
    if (this.#inEmployer.has(term, employer[row]!) || this.#inDepartment.has(term, department[row]!)) return true;
    const past = skillOffsets[row + 1]!;
    for (let i = skillOffsets[row]!; i < past; i++) if (this.#inSkill.has(term, skills[i]!)) return true;
    return false;
  }
}

/** Longest first: where a long term is missing, the others need not be looked for. */
function scansOf(terms: readonly string[]): TermScan[] {
  return [...terms].sort((a, b) => b.length - a.length).map((term) => new TermScan(term));
}

/** Terms in the texts of a dictionary, each text looked through once; of a large dictionary only what was looked at last. */
class RememberedScan {
  readonly #terms: readonly TermScan[];
  readonly #column: TextColumn;
  /** By code: bit t for the term at place t; -1 = not looked through. */
  readonly #found: Int16Array;
  #lastCode = -1;
  #lastFound = 0;

  constructor(terms: readonly TermScan[], column: TextColumn) {
    this.#terms = terms;
    this.#column = column;
    this.#found = new Int16Array(terms.length > 0 && column.size <= REMEMBERED_TEXTS_MAX ? column.size : 0).fill(-1);
  }

  /** Whether the term at a place lies in the text of a code. */
  has(term: number, code: number): boolean {
    if (code !== this.#lastCode) {
      this.#lastCode = code;
      this.#lastFound = this.#found[code] ?? -1;
      if (this.#lastFound < 0) {
        this.#lastFound = this.#lookThrough(code);
        if (code < this.#found.length) this.#found[code] = this.#lastFound;
      }
    }
    return ((this.#lastFound >>> term) & 1) !== 0;
  }

  #lookThrough(code: number): number {
    let found = 0;
    for (let t = 0; t < this.#terms.length; t++) if (this.#terms[t]!.isIn(this.#column, code)) found |= 1 << t;
    return found;
  }
}
