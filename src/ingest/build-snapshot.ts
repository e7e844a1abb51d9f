/**
 * Inputs into the rows of a new snapshot: members are read one after another, each record becomes a job or a rejection,
 * and jobs go to the builder at once. Nothing is kept of a record but where it stood: four bytes a row, so that a
 * repeated id can name both places.
 *
 * Native lines and source shapes fail differently, because they are written by different people. A bad native line is
 * the operator's own mistake: without a place for rejects the build is refused (`Intake.tally.rejected` says so). A
 * feed's records are others': one that is refused is left out alone. A document that is not of the shape at all, or not
 * JSON, is an InputError in either case, so that a broken download never empties a board in silence.
 *
 * The export's facts: `snapshot export` puts one extra key, "snapshot", on its first line, with the facts of the
 * snapshot that it came from and the digest of its content. When what was built has that digest, it is the same
 * catalogue, and it takes those facts over, which makes the file the same byte for byte. When one job differs, the facts
 * are those of this build. As any unknown key, "snapshot" means nothing to other readers.
 */
import * as v from 'valibot';
import type { BuildFacts, SnapshotBuilder } from '../catalogue/build.ts';
import { dateTimeOf, parseDateTime } from './date-time.ts';
import { InputError, type Member, memberText } from './input.ts';
import { LineSplitter } from './lines.ts';
import { type NativeParse, parseNative } from './native.ts';
import { type Shape, type ShapeContext, sourceIdOf } from './shape.ts';
import type { SkillExtractor } from './skills.ts';

/** Bytes of one JSON document of a shape. A record costs about 10 KB with its description, so some 25,000 of them. */
export const DOCUMENT_BYTES_MAX = 256 * 1024 * 1024;

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

/** Where rejected records go, byte for byte. */
export interface RejectSink {
  write(bytes: Uint8Array): void;
}

export interface Tally {
  /** Lines that are not blank, or records of documents; rejected ones included. */
  source: number;
  rejected: number;
  /** Jobs last observed later than `nowMs`: a wrong clock or a wrong unit somewhere, worth a word. */
  future: number;
}

const REPEATED = 'was seen before';
const LF = new Uint8Array([0x0a]);

const exportFacts = v.object({
  content: v.string(),
  built_at: v.string(),
  source_rows: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  rejected_rows: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  skills_version: v.pipe(v.string(), v.maxLength(200)),
});

interface AdoptableFacts {
  readonly content: string;
  readonly facts: BuildFacts;
}

/** The facts on the first line of an export, or `undefined` when the key is not there or not ours. */
function adoptableFacts(record: unknown): AdoptableFacts | undefined {
  if (typeof record !== 'object' || record === null || !('snapshot' in record)) return undefined;
  const parsed = v.safeParse(exportFacts, record.snapshot);
  const builtAtMs = parsed.success ? parseDateTime(parsed.output.built_at) : undefined;
  if (!parsed.success || builtAtMs === undefined) return undefined;
  const {
    content,
    source_rows: sourceRows,
    rejected_rows: rejectedRows,
    skills_version: skillsVersion,
  } = parsed.output;
  return { content, facts: { builtAtMs, sourceRows, rejectedRows, skillsVersion } };
}

/** The value of the export's extra key. */
export function exportFactsOf(contentDigest: string, facts: BuildFacts): Record<string, string | number> {
  return {
    content: contentDigest,
    built_at: dateTimeOf(facts.builtAtMs),
    source_rows: facts.sourceRows,
    rejected_rows: facts.rejectedRows,
    skills_version: facts.skillsVersion,
  };
}

export interface IntakeSettings {
  readonly builder: SnapshotBuilder;
  readonly skills: SkillExtractor;
  /** null is the native format. */
  readonly shape: Shape | null;
  readonly context: Omit<ShapeContext, 'fileName'>;
  /** More than one member is read, so a place needs its file's name too. */
  readonly namesFiles: boolean;
  readonly nowMs: number;
  readonly onRejection: (rejection: Rejection) => void;
  readonly rejects: RejectSink | null;
  /** Called every few hundred records. */
  readonly onProgress: () => void;
}

/** Records between two looks at the progress. */
const PROGRESS_RECORDS = 512;

export class Intake {
  readonly tally: Tally = { source: 0, rejected: 0, future: 0 };
  readonly #settings: IntakeSettings;
  /** Line or record number of each added row, in order of additions. */
  #numbers = new Uint32Array(1024);
  /** The members read so far, each with the first row that it added. */
  readonly #members: { readonly name: string; readonly firstRow: number }[] = [];
  #adoptable: AdoptableFacts | undefined;

  constructor(settings: IntakeSettings) {
    this.#settings = settings;
  }

  /** Reads one member to its end. throws InputError */
  async take(member: Member): Promise<void> {
    this.#members.push({ name: member.name, firstRow: this.#settings.builder.rowCount });
    const { shape } = this.#settings;
    if (shape === null) await this.#takeLines(member);
    else this.#takeDocument(member, shape, await memberText(member, DOCUMENT_BYTES_MAX));
  }

  /** The facts of what was built: those of the export that it equals, else this build's own. */
  factsOf(contentDigest: string): BuildFacts {
    if (this.#adoptable?.content === contentDigest) return this.#adoptable.facts;
    const { nowMs, skills } = this.#settings;
    const { source, rejected } = this.tally;
    return { builtAtMs: nowMs, sourceRows: source, rejectedRows: rejected, skillsVersion: skills.version };
  }

  async #takeLines(member: Member): Promise<void> {
    const lines = new LineSplitter();
    for await (const chunk of member.bytes) {
      for (const item of lines.push(chunk)) this.#takeLine(member, item);
      this.#settings.onProgress();
    }
    for (const item of lines.finish()) this.#takeLine(member, item);
  }

  #takeLine(member: Member, item: ReturnType<LineSplitter['push']> extends Iterable<infer Item> ? Item : never): void {
    const { rejects } = this.#settings;
    if (item.kind === 'part') {
      rejects?.write(item.bytes);
      return;
    }
    this.tally.source++;
    const refused =
      item.kind === 'unreadable'
        ? { field: '', reason: item.reason, id: undefined, detail: undefined }
        : this.#addLine(item.text, item.number);
    if (refused === undefined) return;
    this.#reject(member, item.number, refused);
    rejects?.write(item.bytes);
    rejects?.write(LF);
  }

  #addLine(text: string, number: number): RejectedAs | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return { field: '', reason: 'is not JSON', id: undefined, detail: undefined };
    }
    if (this.tally.source === 1) this.#adoptable = adoptableFacts(value);
    const refused = this.#add(parseNative(value, this.#settings.skills), number);
    // The line's number finds it; an id would only repeat what stands there.
    return refused === undefined ? undefined : { ...refused, id: undefined };
  }

  #takeDocument(member: Member, shape: Shape, text: string): void {
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch {
      throw new InputError(`${member.name}: is not JSON`);
    }
    const found = shape.recordsOf(document);
    if (!found.ok) throw new InputError(`${member.name}: ${found.reason}`);
    const { context, skills, rejects, onProgress } = this.#settings;
    const memberContext: ShapeContext = { ...context, fileName: member.fileName };
    for (const [index, record] of found.records.entries()) {
      this.tally.source++;
      const shaped = shape.nativeOf(record, memberContext);
      const refused = this.#add(shaped.ok ? parseNative(shaped.record, skills) : shaped, index + 1);
      if (refused !== undefined) {
        this.#reject(member, index + 1, { ...refused, id: sourceIdOf(record) });
        rejects?.write(Buffer.from(`${JSON.stringify(record)}\n`));
      }
      if (index % PROGRESS_RECORDS === 0) onProgress();
    }
    onProgress();
  }

  #add(parsed: NativeParse, number: number): Omit<RejectedAs, 'id'> | undefined {
    if (!parsed.ok) return { field: parsed.field, reason: parsed.reason, detail: undefined };
    const { builder, nowMs } = this.#settings;
    const row = builder.rowCount;
    const earlier = builder.add(parsed.job);
    if (earlier !== undefined) {
      return { field: 'id', reason: REPEATED, detail: `on ${this.#placeOfRow(earlier)}` };
    }
    if (row === this.#numbers.length) {
      const larger = new Uint32Array(row * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[row] = number;
    if (parsed.job.lastObservedMs > nowMs) this.tally.future++;
    return undefined;
  }

  #reject(member: Member, number: number, rejected: RejectedAs): void {
    this.tally.rejected++;
    this.#settings.onRejection({ place: this.#place(member.name, number), ...rejected });
  }

  #placeOfRow(row: number): string {
    let low = 0;
    let high = this.#members.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#members[middle]!.firstRow <= row) low = middle;
      else high = middle - 1;
    }
    return this.#place(this.#members[low]!.name, this.#numbers[row]!);
  }

  #place(memberName: string, number: number): string {
    const { shape, namesFiles } = this.#settings;
    const noun = shape === null ? 'line' : 'record';
    return namesFiles || shape !== null ? `${noun} ${number} of ${memberName}` : `${noun} ${number}`;
  }
}

type RejectedAs = Omit<Rejection, 'place'>;
