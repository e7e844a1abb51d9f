/** The ports of the intake: the sink that takes jobs, with their sources, and the one that takes rejected records. */
import type { Job } from '../catalogue/job.ts';
import type { Member } from './input/input.ts';
import type { Shape } from './shapes/shape.ts';

export interface Rejection {
  /** Its place: `line 7`, `line 7 of a.jsonl`, `record 3 of acme.json`. */
  readonly place: string;
  /** The source's id, if it is readable and the place alone would be hard to find. */
  readonly id: string | undefined;
  /** '' for the record as a whole. */
  readonly field: string;
  /** Fixed text, so that rejections can be counted by it. */
  readonly reason: string;
  /** What is specific to this record: where its id came first. */
  readonly detail: string | undefined;
}

/** Where a job came from, beyond its own record. */
export interface JobSource {
  readonly shape: Shape;
  /** The list that the job is from, within its shape. */
  readonly board: string;
  /** Where to apply, if the source names an address other than the posting's own. */
  readonly applyUrl?: string | null;
  /** As the source has it; null when it has none. */
  readonly description: string | null;
  /** Its whole text; the job keeps the beginning. */
  readonly descriptionText: string | null;
  /** Whether the source itself names the skills. */
  readonly hasOwnSkills: boolean;
  readonly document: SourceDocument;
}

/** The member that a job was read from. */
export interface SourceDocument {
  readonly member: Member;
  /** When it was fetched, by its own statement; null without one. */
  readonly fetchedAtMs: number | null;
}

/** Where jobs go: the builder of a snapshot, or the history of a catalogue. */
export interface JobSink {
  /** Jobs added so far. */
  readonly rowCount: number;
  /** @returns undefined when the job was added; otherwise the row, from 0, of the job that it repeats, which stays */
  add(job: Job, source: JobSource): number | undefined;
  /** A board's token as the sink spells it, perhaps in another case. A sink without boards omits this. */
  tokenOf?(shape: string, board: string): string;
  /** Skills extracted earlier from the same texts; undefined = extract them. A sink without a memory omits this. */
  knownSkills?(id: string, title: string, description: string): readonly string[] | undefined;
  /** Records a board without a single posting. A sink with no use for that omits this. */
  addEmpty?(shape: Shape, board: string | null, document: SourceDocument): void;
  /**
   * Records that the source listed a job which the intake refused, so that the job does not count as missing. `id` and
   * `board` are those that the job would have, if known. A sink with no use for that omits this.
   */
  addRefused?(shape: Shape, board: string | undefined, id: string | undefined): void;
  /** Starts a member: `undo` goes back to here. @param observedAtMs when it was fetched, milliseconds since the epoch */
  begin?(observedAtMs: number): void;
  /** Removes what was added since `begin`. Without this method, what a member added before it broke stays. */
  undo?(): void;
  /**
   * Records that a file broke off: what was added stays, but is not everything that its sources list. For a sink
   * without this method, an unfinished last line counts as a bad one.
   * @param file the path as the command line has it, or `stdin`
   */
  breakOff?(file: string): void;
}

/** Where rejected records go, byte for byte. */
export interface RejectSink {
  write(bytes: Uint8Array): void;
}
