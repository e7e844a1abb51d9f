/**
 * What an intake counts, and where its records were read. It keeps four bytes a row, so that the message for a repeated
 * id can name both places.
 */
import { grown } from '../catalogue/snapshot/column-arrays.ts';

export interface IntakeCounts {
  /** Lines that are not blank, or records of documents, including rejected ones. */
  source: number;
  rejected: number;
  /** Rejected ones that were native. */
  rejectedNative: number;
  /** Records of feeds with an id that was taken before; the first record stays. */
  repeated: number;
  /** Jobs last observed later than `nowMs`: a clock or a unit is wrong somewhere, and the report says so. */
  future: number;
}

/** The outcome of one file, or of all members of one archive. */
export interface FileSummary {
  /** The path as the command line has it, or `stdin`. */
  readonly name: string;
  /** Names of the shapes of the file, or of its members, in the order in which they were recognised. */
  readonly shapes: Set<string>;
  /** taken + repeated + refused. */
  read: number;
  taken: number;
  repeated: number;
  /** Repeated rows that were joined into one job with several places. */
  joined: number;
  /** Counts by field and reason. */
  readonly refused: Map<string, number>;
}

/** A member that is being read. */
export interface CurrentMember {
  readonly name: string;
  /** The first row that it adds. */
  readonly firstRow: number;
  /** Name of the shape of its records; null until it is recognised. */
  shape: string | null;
  noun: 'line' | 'record';
  /** Number of the last line or record that was read whole. */
  reached: number;
  readonly summary: FileSummary;
}

/** The shapes of a file for its report; null when none was recognised. */
export const formatOf = ({ shapes }: FileSummary): string | null => (shapes.size === 0 ? null : [...shapes].join(', '));

export class IntakeReport {
  readonly tally: IntakeCounts = { source: 0, rejected: 0, rejectedNative: 0, repeated: 0, future: 0 };
  readonly #files = new Map<string, FileSummary>();
  readonly #members: CurrentMember[] = [];
  /** Line or record number of each added row, in order of additions. */
  #numbers = new Uint32Array(1024);
  readonly #namesFiles: boolean;

  /** @param namesFiles more than one member is read, so a place needs its file's name too */
  constructor(namesFiles: boolean) {
    this.#namesFiles = namesFiles;
  }

  /** The outcome of each file so far, archives as one, in the order of their first member. */
  get files(): readonly FileSummary[] {
    return [...this.#files.values()];
  }

  /** @param fileName name of the file, or of the archive that the member is in */
  startMember(name: string, fileName: string, firstRow: number): CurrentMember {
    let summary = this.#files.get(fileName);
    if (summary === undefined) {
      summary = { name: fileName, shapes: new Set(), read: 0, taken: 0, repeated: 0, joined: 0, refused: new Map() };
      this.#files.set(fileName, summary);
    }
    const member: CurrentMember = { name, firstRow, shape: null, noun: 'record', reached: 0, summary };
    this.#members.push(member);
    return member;
  }

  countRead({ summary }: CurrentMember): void {
    this.tally.source++;
    summary.read++;
  }

  countRepeated({ summary }: CurrentMember): void {
    this.tally.repeated++;
    summary.repeated++;
  }

  countRejected({ summary }: CurrentMember, field: string, reason: string, isNative: boolean): void {
    this.tally.rejected++;
    if (isNative) this.tally.rejectedNative++;
    const about = field === '' ? reason : `${field} ${reason}`;
    summary.refused.set(about, (summary.refused.get(about) ?? 0) + 1);
  }

  /** Remembers the line or record number of an added row. */
  addRow(row: number, number: number): void {
    if (row === this.#numbers.length) this.#numbers = grown(this.#numbers);
    this.#numbers[row] = number;
  }

  /** The place of an added row, for a message. */
  placeOfRow(row: number): string {
    let low = 0;
    let high = this.#members.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#members[middle]!.firstRow <= row) low = middle;
      else high = middle - 1;
    }
    return this.placeOf(this.#members[low]!, this.#numbers[row]!);
  }

  /** `line 7`, `line 7 of a.jsonl`, `record 3 of acme.json` */
  placeOf({ name, noun }: CurrentMember, number: number): string {
    return noun === 'line' && !this.#namesFiles ? `line ${number}` : `${noun} ${number} of ${name}`;
  }
}
