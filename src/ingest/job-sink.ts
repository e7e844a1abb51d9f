/** The ports of the intake: the sink that takes jobs, with their sources, and the one that takes rejected records. */
import type { Job } from '../catalogue/job.ts';
import type { Member } from './input/input.ts';
import type { Shape } from './shapes/shape.ts';

export interface Rejection {
  /** Where it stands: `line 7`, `line 7 of a.jsonl`, `record 3 of acme.json`. */
  readonly place: string;
  /** The source's id, where it has a readable one and the place alone would be hard to find. */
  readonly id: string | undefined;
  /** '' for the record as a whole. */
  readonly field: string;
  /** Fixed text, so that rejections can be counted by it. */
  readonly reason: string;
  /** What is particular to this one: where an id stood first. */
  readonly detail: string | undefined;
}

/** Where a job came from, beyond its own record. */
export interface JobSource {
  readonly shape: Shape;
  /** The list that it is from, within its shape. */
  readonly board: string;
  /** Where one applies, when the source names another address than the posting's own. */
  readonly applyUrl?: string | null;
  /** As the source has it; null when it has none. */
  readonly description: string | null;
  /** Its whole text, of which the job keeps the beginning. */
  readonly descriptionText: string | null;
  /** Whether the source itself names the skills. */
  readonly hasOwnSkills: boolean;
  readonly document: SourceDocument;
}

/** The member that a job was read from. */
export interface SourceDocument {
  readonly member: Member;
  /** When it was fetched, as it says itself; null when it does not say so. */
  readonly fetchedAtMs: number | null;
}

/** Where jobs go: the builder of a snapshot, or the history of a catalogue. */
export interface JobSink {
  /** Jobs added so far. */
  readonly rowCount: number;
  /** @returns undefined when the job was added; otherwise the row, from 0, of the job that it repeats, which stays */
  add(job: Job, source: JobSource): number | undefined;
  /** A board's token as the sink has it, which may be in another case. A sink without boards leaves it out. */
  tokenOf?(shape: string, board: string): string;
  /** Skills extracted from the same texts earlier; undefined = extract them. A sink without a memory leaves it out. */
  knownSkills?(id: string, title: string, description: string): readonly string[] | undefined;
  /** Records a board without a single posting. A sink to which that means nothing leaves it out. */
  addEmpty?(shape: Shape, board: string | null, document: SourceDocument): void;
  /**
   * Records that the source listed a job which the intake refused, so that the job does not count as missing. `id` and
   * `board` are those that the job would have, where they are known. A sink to which that means nothing leaves it out.
   */
  addRefused?(shape: Shape, board: string | undefined, id: string | undefined): void;
  /** Starts a member: `undo` goes back to here. @param observedAtMs when it was fetched, milliseconds since the epoch */
  begin?(observedAtMs: number): void;
  /** Removes what was added since `begin`. Without it, what a member added before it broke stays. */
  undo?(): void;
  /**
   * What was added from this file stays, and is not all that its sources list. A sink without it takes an unfinished last line
   * for a bad one.
   * @param file the path as the command line has it, or `stdin`
   */
  breakOff?(file: string): void;
}

/** Where rejected records go, byte for byte. */
export interface RejectSink {
  write(bytes: Uint8Array): void;
}
