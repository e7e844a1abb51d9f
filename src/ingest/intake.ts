/**
 * Inputs into jobs: members are read one after another, each record becomes a job or a rejection, and jobs go to their
 * sink at once, the builder of a snapshot or the history of a catalogue. Nothing is kept of a record but where it stood:
 * four bytes a row, so that a repeated id can name both places.
 *
 * Native lines and source shapes fail differently, because they are written by different people. A bad native line is
 * the operator's own mistake: without a place for rejects the build is refused (`Intake.tally.rejectedNative` says so). A
 * feed's records are others': one that is refused is left out alone, and one whose id was seen before is counted apart,
 * because feeds repeat themselves. A document that is not of the shape at all, or not JSON, is an InputError in either
 * case, so that a broken download never empties a board in silence.
 *
 * The export's facts: `snapshot export` puts one extra key, "snapshot", on its first line, with the facts of the
 * snapshot that it came from and the digest of its content. When what was built has that digest, it is the same
 * catalogue, and it takes those facts over, which makes the file the same byte for byte. When one job differs, the facts
 * are those of this build. As any unknown key, "snapshot" means nothing to other readers.
 */
import * as v from 'valibot';
import type { Job } from '../catalogue/job.ts';
import type { BuildFacts } from '../catalogue/snapshot/build.ts';
import { dateTimeOf, parseDateTime } from './input/date-time.ts';
import { type Bytes, InputError, type Member } from './input/input.ts';
import { type LineItem, LineSplitter } from './input/lines.ts';
import {
  type Recognised,
  recordsIn,
  SAMPLE_RECORDS,
  shapeOfDocument,
  shapeOfRecords,
  unrecognised,
} from './input/recognise.ts';
import { contentOf } from './input/source-content.ts';
import { objectOf, type SourceRecord } from './input/source-field.ts';
import { parseNative } from './native.ts';
import { nativeShape } from './shapes/native.ts';
import {
  boardOfFileName,
  type Envelope,
  NO_ENVELOPE,
  type Records,
  type Shape,
  type ShapeContext,
  type Shaped,
  slugOf,
  sourceIdOf,
} from './shapes/shape.ts';
import type { SkillExtractor } from './skills/skills.ts';

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

/** What stands behind a job that was taken. */
export interface JobSource {
  readonly shape: Shape;
  /** The list that it is from, within its shape. */
  readonly board: string;
  /** As the source has it; null when it says none. */
  readonly description: string | null;
  /** The source itself names the skills. */
  readonly hasOwnSkills: boolean;
  readonly document: SourceDocument;
}

/** A member that is being read. */
export interface SourceDocument {
  readonly member: Member;
  /** When it was fetched, as it says itself; null when it does not. */
  readonly fetchedAtMs: number | null;
}

/** Where jobs go: the builder of a snapshot, or the history of a catalogue. */
export interface JobSink {
  /** Jobs added so far. */
  readonly rowCount: number;
  /** undefined: added. Otherwise the job repeats the one that was added as that row, counted from 0, and was not taken. */
  add(job: Job, source: JobSource): number | undefined;
  /**
   * Skills that were extracted from these very texts before; undefined: they have to be extracted. Absent: nothing is known.
   */
  knownSkills?(id: string, title: string, description: string): readonly string[] | undefined;
  /** A board without a single posting. Absent: it means nothing here. */
  addEmpty?(shape: Shape, board: string | null, document: SourceDocument): void;
  /**
   * A record that was listed and could not be taken: its job is not missing. `id` and `board` as a job of it would have
   * them, where they can be told. Absent: it means nothing here.
   */
  addRefused?(shape: Shape, board: string | undefined, id: string | undefined): void;
  /** A new member is read; what it adds may have to be undone. */
  begin?(): void;
  /** Takes back what was added since `begin`. Absent: what was read before a member broke stays. */
  undo?(): void;
}

/** Where rejected records go, byte for byte. */
export interface RejectSink {
  write(bytes: Uint8Array): void;
}

export interface Tally {
  /** Lines that are not blank, or records of documents; rejected ones included. */
  source: number;
  rejected: number;
  /** Rejected ones that were native. */
  rejectedNative: number;
  /** Records of feeds whose id was there already; the first one holds. */
  repeated: number;
  /** Jobs last observed later than `nowMs`: a wrong clock or a wrong unit somewhere, worth a word. */
  future: number;
}

/** What came of one file, or of all members of one archive. */
export interface FileSummary {
  /** The path as it was given, or `stdin`. */
  readonly name: string;
  /** The name of the shape that it, or its last member, was taken for; null when it was not recognised. */
  shape: string | null;
  /** taken + repeated + refused. */
  read: number;
  taken: number;
  repeated: number;
  /** Of the repeated: rows that went into a job of several places. */
  joined: number;
  /** How often, by field and reason. */
  readonly refused: Map<string, number>;
}

const REPEATED = 'was seen before';
const BROKEN_OFF = 'stands in a file that breaks off';
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
  readonly sink: JobSink;
  readonly skills: SkillExtractor;
  /** The one shape of all inputs, or, to be told apart by their content, all that are known, in the order to ask them. */
  readonly shape: Shape | readonly Shape[];
  readonly context: Omit<ShapeContext, 'fileName' | 'envelope'>;
  /** The observation time was said by the operator, so a document's own does not count. */
  readonly observedAtGiven: boolean;
  /** More than one member is read, so a place needs its file's name too. */
  readonly namesFiles: boolean;
  readonly nowMs: number;
  readonly onRejection: (rejection: Rejection) => void;
  readonly rejects: RejectSink | null;
  /** Told once a member: what it was taken for. */
  readonly onShape?: (member: Member, shape: Shape) => void;
  /** Called every few hundred records. */
  readonly onProgress: () => void;
}

/** Records between two looks at the progress. */
const PROGRESS_RECORDS = 512;

export class Intake {
  readonly tally: Tally = { source: 0, rejected: 0, rejectedNative: 0, repeated: 0, future: 0 };
  readonly #settings: IntakeSettings;
  /** Line or record number of each added row, in order of additions. */
  #numbers = new Uint32Array(1024);
  /** The members read so far. */
  readonly #members: Place[] = [];
  readonly #files = new Map<string, FileSummary>();
  #adoptable: AdoptableFacts | undefined;

  constructor(settings: IntakeSettings) {
    this.#settings = settings;
  }

  /**
   * Reads one member to its end.
   * throws  InputError: it cannot be read, or is of none of the shapes. It has then added nothing, unless it is lines or
   *         a table that break in the middle
   */
  async take(member: Member): Promise<void> {
    const { sink } = this.#settings;
    const summary = this.#fileOf(member.archive ?? member.name);
    const place: Place = { name: member.name, firstRow: sink.rowCount, noun: 'record', summary };
    this.#members.push(place);
    const { taken, repeated } = summary;
    sink.begin?.();
    try {
      await this.#read(member, place);
    } catch (error) {
      if (sink.undo === undefined) throw error;
      sink.undo();
      const lost = summary.taken - taken + summary.repeated - repeated;
      if (lost > 0) summary.refused.set(BROKEN_OFF, (summary.refused.get(BROKEN_OFF) ?? 0) + lost);
      summary.taken = taken;
      summary.repeated = repeated;
      throw error;
    }
  }

  async #read(member: Member, place: Place): Promise<void> {
    const { shape: wanted } = this.#settings;
    const one = 'nativeOf' in wanted ? wanted : undefined;
    const shapes = 'nativeOf' in wanted ? [wanted] : wanted;
    if (one === nativeShape) {
      this.#took(member, place, nativeShape);
      return this.#takeLines(member, place, nativeShape, member.bytes);
    }
    const content = await contentOf(member);
    switch (content.kind) {
      case 'nothing':
        if (one) throw new InputError(`${member.name}: is empty`);
        return;
      case 'unreadable':
        throw new InputError(`${member.name}: ${content.reason}`);
      case 'lines': {
        const sample = objectsIn(content.head);
        const shape = this.#recognised(member, sample, one ? fitting(one, sample) : shapeOfRecords(sample, shapes));
        this.#took(member, place, shape);
        return this.#takeLines(member, place, shape, content.bytes);
      }
      case 'table':
        return this.#takeTable(member, place, shapes, one, content.rows);
      case 'document':
      case 'page': {
        const found = one && recordsIn(content.document, one);
        if (found?.ok === false) throw new InputError(`${member.name}: ${found.reason}`);
        const given = one && found ? fitted(one, found) : undefined;
        const sample = found?.records ?? sampleOf(content.document);
        const known = this.#recognised(member, sample, one ? given : shapeOfDocument(content.document, shapes));
        this.#took(member, place, known.shape);
        // A page's address is that of its posting only when it holds one.
        const url = content.kind === 'page' && known.found.records.length === 1 ? content.url : null;
        return this.#takeRecords(member, place, known.shape, known.found, url);
      }
    }
  }

  /** What came of each file so far, archives as one, in the order of their first member. */
  get files(): readonly FileSummary[] {
    return [...this.#files.values()];
  }

  #fileOf(name: string): FileSummary {
    const known = this.#files.get(name);
    if (known) return known;
    const summary: FileSummary = { name, shape: null, read: 0, taken: 0, repeated: 0, joined: 0, refused: new Map() };
    this.#files.set(name, summary);
    return summary;
  }

  #took(member: Member, place: Place, shape: Shape): void {
    if (shape === nativeShape) place.noun = 'line';
    place.summary.shape = shape.name;
    this.#settings.onShape?.(member, shape);
  }

  /** What auto has found; for a format that was given, that at least one of the first records has its marks. */
  #recognised<Found>(member: Member, sample: readonly unknown[], found: Found | undefined): Found {
    if (found !== undefined) return found;
    const { shape } = this.#settings;
    throw new InputError(`${member.name}: ${unrecognised(sample, 'nativeOf' in shape ? [shape] : shape)}`);
  }

  /** The facts of what was built: those of the export that it equals, else this build's own. */
  factsOf(contentDigest: string): BuildFacts {
    if (this.#adoptable?.content === contentDigest) return this.#adoptable.facts;
    const { nowMs, skills } = this.#settings;
    const { source, rejected } = this.tally;
    return { builtAtMs: nowMs, sourceRows: source, rejectedRows: rejected, skillsVersion: skills.version };
  }

  async #takeLines(member: Member, place: Place, shape: Shape, bytes: Bytes): Promise<void> {
    place.noun = 'line';
    const context = this.#contextOf(member, NO_ENVELOPE);
    const lines = new LineSplitter();
    for await (const chunk of bytes) {
      for (const item of lines.push(chunk)) this.#takeLine(place, shape, context, item);
      this.#settings.onProgress();
    }
    for (const item of lines.finish()) this.#takeLine(place, shape, context, item);
  }

  #takeLine(place: Place, shape: Shape, context: Reading, item: LineItem): void {
    const { rejects } = this.#settings;
    if (item.kind === 'part') {
      rejects?.write(item.bytes);
      return;
    }
    this.#count(place);
    const refused =
      item.kind === 'unreadable'
        ? { field: '', reason: item.reason, id: undefined, detail: undefined }
        : this.#addLine(place, shape, context, item.text, item.number);
    if (refused === undefined) return;
    if (item.kind === 'unreadable') this.#settings.sink.addRefused?.(shape, undefined, undefined);
    this.#reject(place, shape, item.number, refused);
    rejects?.write(item.bytes);
    rejects?.write(LF);
  }

  #addLine(place: Place, shape: Shape, context: Reading, text: string, number: number): RejectedAs | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#settings.sink.addRefused?.(shape, undefined, undefined);
      return { field: '', reason: 'is not JSON', id: undefined, detail: undefined };
    }
    if (shape === nativeShape && this.tally.source === 1) this.#adoptable = adoptableFacts(value);
    const refused = this.#addRecord(place, shape, context, value, number);
    // The line's number finds it; an id would only repeat what stands there.
    return refused === undefined ? undefined : { ...refused, id: undefined };
  }

  async #takeTable(
    member: Member,
    place: Place,
    shapes: readonly Shape[],
    given: Shape | undefined,
    rows: AsyncIterable<SourceRecord>,
  ): Promise<void> {
    const context = this.#contextOf(member, NO_ENVELOPE);
    let shape: Shape | undefined;
    let number = 0;
    const held: SourceRecord[] = [];
    const settle = (): Shape => {
      const found = given ? fitting(given, held) : shapeOfRecords(held, shapes);
      const known = this.#recognised(member, held, found);
      this.#took(member, place, known);
      for (const row of held) this.#takeRecord(place, known, context, row, ++number);
      held.length = 0;
      return known;
    };
    for await (const row of rows) {
      if (shape !== undefined) {
        this.#takeRecord(place, shape, context, row, ++number);
        continue;
      }
      held.push(row);
      if (held.length === SAMPLE_RECORDS) shape = settle();
    }
    if (shape === undefined) settle();
    this.#settings.onProgress();
  }

  #takeRecords(member: Member, place: Place, shape: Shape, found: FoundRecords, pageUrl: string | null): void {
    const envelope = found.envelope ?? NO_ENVELOPE;
    const context = this.#contextOf(member, pageUrl === null ? envelope : { ...envelope, url: pageUrl });
    for (let joined = found.joinedRows ?? 0; joined > 0; joined--) {
      this.#count(place);
      this.#repeat(place);
      place.summary.joined++;
    }
    if (found.records.length === 0) {
      const { board, company } = envelope;
      const token =
        board?.toLowerCase() ?? (company === null ? boardOfFileName(member.fileName, shape.name) : slugOf(company));
      this.#settings.sink.addEmpty?.(shape, token, context.document);
    }
    for (const [index, record] of found.records.entries()) {
      if (shape === nativeShape && this.tally.source === 0) this.#adoptable = adoptableFacts(record);
      this.#takeRecord(place, shape, context, record, index + 1);
    }
    this.#settings.onProgress();
  }

  #takeRecord(place: Place, shape: Shape, context: Reading, record: unknown, number: number): void {
    this.#count(place);
    const refused = this.#addRecord(place, shape, context, record, number);
    if (refused !== undefined) {
      this.#reject(place, shape, number, { ...refused, id: sourceIdOf(record) });
      this.#settings.rejects?.write(Buffer.from(`${JSON.stringify(record, plainNumbers)}\n`));
    }
    if (number % PROGRESS_RECORDS === 0) this.#settings.onProgress();
  }

  #contextOf(member: Member, envelope: Envelope): Reading {
    const { context, observedAtGiven } = this.#settings;
    const fetchedAtMs = observedAtGiven ? null : envelope.fetchedAtMs;
    return {
      ...context,
      observedAtMs: fetchedAtMs ?? context.observedAtMs,
      fileName: member.fileName,
      envelope,
      document: { member, fetchedAtMs: envelope.fetchedAtMs },
    };
  }

  #count(place: Place): void {
    this.tally.source++;
    place.summary.read++;
  }

  #repeat(place: Place): void {
    this.tally.repeated++;
    place.summary.repeated++;
  }

  #addRecord(
    place: Place,
    shape: Shape,
    context: Reading,
    record: unknown,
    number: number,
  ): Omit<RejectedAs, 'id'> | undefined {
    const shaped = shape.nativeOf(record, context);
    const refused = shaped.ok
      ? this.#add(shaped, shape, context, number)
      : { field: shaped.field, reason: shaped.reason, detail: undefined };
    if (!shaped.ok && !shaped.isUnlisted) this.#settings.sink.addRefused?.(shape, shaped.board, shaped.id);
    if (refused === undefined) place.summary.taken++;
    else if (refused.reason === REPEATED && shape !== nativeShape) {
      this.#repeat(place);
      return undefined;
    }
    return refused;
  }

  #add(
    { record, board }: ShapedRecord,
    shape: Shape,
    { document }: Reading,
    number: number,
  ): Omit<RejectedAs, 'id'> | undefined {
    const { sink, nowMs, skills } = this.#settings;
    const parsed = parseNative(record, {
      version: skills.version,
      extract(title, description) {
        const known = description === null ? undefined : sink.knownSkills?.(record.id, title, description);
        return known === undefined ? skills.extract(title, description) : [...known];
      },
    });
    if (!parsed.ok) {
      // A native record is whatever its writer made it.
      const id: unknown = record.id;
      sink.addRefused?.(shape, board, typeof id === 'string' ? id : undefined);
      return { field: parsed.field, reason: parsed.reason, detail: undefined };
    }
    const row = sink.rowCount;
    const earlier = sink.add(parsed.job, {
      shape,
      board,
      description: record.description ?? null,
      hasOwnSkills: Array.isArray(record.skills),
      document,
    });
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

  #reject(place: Place, shape: Shape, number: number, rejected: RejectedAs): void {
    this.tally.rejected++;
    if (shape === nativeShape) this.tally.rejectedNative++;
    const { refused } = place.summary;
    const about = rejected.field === '' ? rejected.reason : `${rejected.field} ${rejected.reason}`;
    refused.set(about, (refused.get(about) ?? 0) + 1);
    this.#settings.onRejection({ place: this.#placeOf(place, number), ...rejected });
  }

  #placeOfRow(row: number): string {
    let low = 0;
    let high = this.#members.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#members[middle]!.firstRow <= row) low = middle;
      else high = middle - 1;
    }
    return this.#placeOf(this.#members[low]!, this.#numbers[row]!);
  }

  #placeOf({ name, noun }: Place, number: number): string {
    return noun === 'line' && !this.#settings.namesFiles ? `line ${number}` : `${noun} ${number} of ${name}`;
  }
}

type RejectedAs = Omit<Rejection, 'place'>;
type ShapedRecord = Shaped & { readonly ok: true };
interface Reading extends ShapeContext {
  readonly document: SourceDocument;
}
type FoundRecords = Records & { readonly ok: true };

/** A member that was read, and what is counted of its file. */
interface Place {
  readonly name: string;
  /** The first row that it added. */
  readonly firstRow: number;
  noun: 'line' | 'record';
  readonly summary: FileSummary;
}

/** The shape that was given, when one of the first records is of it: a file of something else is no list of bad records. */
function fitting(shape: Shape, sample: readonly unknown[]): Shape | undefined {
  const fits = sample.slice(0, SAMPLE_RECORDS).some((item) => {
    const record = objectOf(item);
    return record !== undefined && shape.recognises(record);
  });
  return fits ? shape : undefined;
}

/** As `fitting`, for a document, which may be an empty board. */
function fitted(shape: Shape, found: FoundRecords): Recognised | undefined {
  return found.records.length === 0 || fitting(shape, found.records) ? { shape, found } : undefined;
}

/** Objects of the first lines, for a look at their fields; lines that are cut or broken are left out. */
function objectsIn(head: string): unknown[] {
  const found: unknown[] = [];
  for (const line of head.split('\n')) {
    if (found.length === SAMPLE_RECORDS) break;
    if (line.trim() === '') continue;
    try {
      found.push(JSON.parse(line));
    } catch {
      // Told with its number when the lines are read.
    }
  }
  return found;
}

/** What a document holds, for the message that it was not recognised. */
function sampleOf(document: unknown): readonly unknown[] {
  return Array.isArray(document) ? document.slice(0, SAMPLE_RECORDS) : [document];
}

/** For JSON.stringify: Parquet has integers that JSON's writer refuses. */
function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
