/**
 * Inputs into jobs: reads members one after another, turns each record into a job or a rejection, and hands jobs at once to
 * their sink, the builder of a snapshot or the history of a catalogue. It remembers only the place of each record.
 *
 * Native lines and source shapes fail differently, because different people write them. A bad native line is the
 * operator's own mistake: without a file for rejects the build is refused (by `Intake.tally.rejectedNative`). A feed's
 * records belong to others: the intake leaves out a refused record and counts repeated ids separately, because feeds
 * repeat themselves. A document that has no known shape or is not JSON is always an InputError, so that a broken
 * download never silently empties a board.
 */
import type { BuildFacts } from '../catalogue/snapshot/snapshot-file.ts';
import { type AdoptableFacts, adoptableFacts } from './export-facts.ts';
import { BrokenOffError, type Bytes, CutShortError, InputError, type Member } from './input/input.ts';
import { exactJson } from './input/lenient-json.ts';
import { isWholeRecord, type LineItem, LineSplitter } from './input/lines.ts';
import {
  type FoundRecords,
  fitting,
  fittingDocument,
  objectsIn,
  recordsIn,
  SAMPLE_RECORDS,
  sampleOf,
  shapeOfDocument,
  shapeOfRecords,
  unrecognised,
} from './input/recognise.ts';
import { contentOf } from './input/source-content.ts';
import type { SourceRecord } from './input/source-field.ts';
import { type CurrentMember, type FileSummary, type IntakeCounts, IntakeReport } from './intake-report.ts';
import type { JobSink, Rejection, RejectSink, SourceDocument } from './job-sink.ts';
import { parseNative } from './native.ts';
import { recordJson } from './record-json.ts';
import { shapedFor } from './shaped-record.ts';
import { boardOfFileName } from './shapes/board.ts';
import type { BoardEntry, WatchedEntries } from './shapes/board-manifest.ts';
import { slugOf, sourceIdOf } from './shapes/job-id.ts';
import { nativeShape } from './shapes/native.ts';
import { type Envelope, NO_ENVELOPE, type Shape, type ShapeContext, type Shaped } from './shapes/shape.ts';
import type { SkillExtractor } from './skills/skills.ts';

const REPEATED = 'was seen before';
const BROKEN_OFF = 'stands in a file that breaks off';
const LF = new Uint8Array([0x0a]);

/** Records between two reports of the progress. */
const PROGRESS_RECORDS = 512;

export interface IntakeSettings {
  readonly sink: JobSink;
  readonly skills: SkillExtractor;
  /** The shape of all inputs, or all known ones, in the order to try them, when the content of an input decides. */
  readonly shape: Shape | readonly Shape[];
  readonly context: Omit<ShapeContext, 'fileName' | 'envelope' | 'watched'>;
  readonly watchedOf?: WatchedEntries;
  /** When a member was fetched, in place of the context's time. Throws InputError if it cannot tell. */
  readonly observedAtOf?: (member: Member) => number;
  /** The operator stated the observation time, so a document's own does not count. */
  readonly observedAtGiven: boolean;
  /** More than one member is read, so a place needs its file's name too. */
  readonly namesFiles: boolean;
  readonly nowMs: number;
  readonly onRejection: (rejection: Rejection) => void;
  readonly rejects: RejectSink | null;
  /** Called once for each member, with the shape that its records have. */
  readonly onShape?: (member: Member, shape: Shape) => void;
  /** Called every few hundred records. */
  readonly onProgress: () => void;
}

type RejectedAs = Omit<Rejection, 'place'>;

/** A member that is read, and the shape of its records. */
interface Reading {
  readonly current: CurrentMember;
  readonly shape: Shape;
  /** What the shape learns about the member. */
  readonly context: ShapeContext;
  /** What the sink learns. */
  readonly document: SourceDocument;
}

export class Intake {
  readonly #settings: IntakeSettings;
  /** The shape of all inputs; undefined: the content of an input decides. */
  readonly #given: Shape | undefined;
  readonly #shapes: readonly Shape[];
  readonly #report: IntakeReport;
  #adoptable: AdoptableFacts | undefined;

  constructor(settings: IntakeSettings) {
    const { shape } = settings;
    this.#settings = settings;
    this.#given = 'nativeOf' in shape ? shape : undefined;
    this.#shapes = 'nativeOf' in shape ? [shape] : shape;
    this.#report = new IntakeReport(settings.namesFiles);
  }

  get tally(): IntakeCounts {
    return this.#report.tally;
  }

  /** The outcome of each file so far, archives as one, in the order of their first member. */
  get files(): readonly FileSummary[] {
    return this.#report.files;
  }

  /** The facts of the build: those of an identical export, else its own. */
  factsOf(contentDigest: string): BuildFacts {
    if (this.#adoptable?.content === contentDigest) return this.#adoptable.facts;
    const { nowMs, skills } = this.#settings;
    const { source, rejected } = this.tally;
    return { builtAtMs: nowMs, sourceRows: source, rejectedRows: rejected, skillsVersion: skills.version };
  }

  /** A file broke off: what was taken stays, but the file lists more. @param name as in {@link files} */
  breakOff(name: string): void {
    this.#settings.sink.breakOff?.(name);
  }

  /**
   * Reads one member to its end.
   * @throws InputError when it cannot be read or has none of the shapes: it has then added nothing, unless the sink cannot undo
   * @throws BrokenOffError when it is lines or a table and is truncated: what precedes the cut was added
   */
  async take(member: Member): Promise<void> {
    const { sink } = this.#settings;
    const current = this.#report.startMember(member.name, member.archive ?? member.name, sink.rowCount);
    const { summary } = current;
    const { read, taken, repeated } = summary;
    sink.begin?.(this.#observedAtMsOf(member));
    try {
      await this.#read(member, current);
      // A source's document may list no jobs.
      const isEmpty = current.shape === nativeShape.name && summary.read === read;
      if (isEmpty) throw new InputError(`${member.name}: is empty`);
    } catch (error) {
      const takenCount = summary.taken - taken;
      if (error instanceof CutShortError) {
        this.breakOff(member.archive ?? member.name);
        const place = `${current.noun} ${current.reached + 1} of ${member.name}`;
        if (takenCount > 0) throw new BrokenOffError(place, error.reason, takenCount);
      }
      if (sink.undo === undefined) throw error;
      sink.undo();
      const lost = takenCount + summary.repeated - repeated;
      if (lost > 0) summary.refused.set(BROKEN_OFF, (summary.refused.get(BROKEN_OFF) ?? 0) + lost);
      summary.taken = taken;
      summary.repeated = repeated;
      throw error;
    }
  }

  async #read(member: Member, current: CurrentMember): Promise<void> {
    const given = this.#given;
    if (given === nativeShape) return this.#takeLines(member, current, nativeShape, member.bytes);
    const content = await contentOf(member);
    switch (content.kind) {
      case 'nothing':
        throw new InputError(`${member.name}: is empty`);
      case 'unreadable':
        throw new InputError(`${member.name}: ${content.reason}`);
      case 'lines':
        return this.#takeLines(member, current, this.#shapeOf(member, objectsIn(content.head)), content.bytes);
      case 'table':
        return this.#takeTable(member, current, content.rows);
      case 'document':
      case 'page': {
        const found = given && recordsIn(content.document, given);
        if (found?.ok === false) throw new InputError(`${member.name}: ${found.reason}`);
        const fits = given && found ? fittingDocument(given, found) : shapeOfDocument(content.document, this.#shapes);
        const recognised = this.#requireRecognised(member, found?.records ?? sampleOf(content.document), fits);
        // A page's address is that of its posting only when it has exactly one.
        const url = content.kind === 'page' && recognised.found.records.length === 1 ? content.url : null;
        return this.#takeRecords(member, current, recognised.shape, recognised.found, url);
      }
    }
  }

  #reading(member: Member, current: CurrentMember, shape: Shape, envelope: Envelope): Reading {
    current.shape = shape.name;
    current.summary.shapes.add(shape.name);
    this.#settings.onShape?.(member, shape);
    const { context, observedAtGiven, watchedOf } = this.#settings;
    const watched = (token: string): BoardEntry | undefined => watchedOf?.(shape.name, token);
    const { fetchedAtMs } = envelope;
    const observedAtMs = (observedAtGiven ? null : fetchedAtMs) ?? this.#observedAtMsOf(member);
    return {
      current,
      shape,
      context: { ...context, observedAtMs, watched, fileName: member.fileName, envelope },
      document: { member, fetchedAtMs },
    };
  }

  /** @throws InputError when nothing was found; the message names the marks that the first records lack */
  #requireRecognised<Found>(member: Member, sample: readonly unknown[], found: Found | undefined): Found {
    if (found !== undefined) return found;
    throw new InputError(`${member.name}: ${unrecognised(sample, this.#shapes)}`);
  }

  /** The shape of records by the first of them. @throws InputError */
  #shapeOf(member: Member, sample: readonly unknown[]): Shape {
    const found = this.#given ? fitting(this.#given, sample) : shapeOfRecords(sample, this.#shapes);
    return this.#requireRecognised(member, sample, found);
  }

  async #takeLines(member: Member, current: CurrentMember, shape: Shape, bytes: Bytes): Promise<void> {
    const reading = this.#reading(member, current, shape, NO_ENVELOPE);
    current.noun = 'line';
    const lines = new LineSplitter();
    for await (const chunk of bytes) {
      for (const item of lines.push(chunk)) this.#takeLine(reading, item);
      current.reached = lines.lineNumber;
      this.#settings.onProgress();
    }
    for (const item of lines.finish()) {
      if (this.#settings.sink.breakOff !== undefined && !isWholeRecord(item)) {
        throw new CutShortError(member.name, 'the last line does not end');
      }
      this.#takeLine(reading, item);
    }
  }

  #takeLine(reading: Reading, item: LineItem): void {
    const { rejects, sink } = this.#settings;
    if (item.kind === 'part') {
      rejects?.write(item.bytes);
      return;
    }
    this.#report.countRead(reading.current);
    const refused =
      item.kind === 'unreadable'
        ? { field: '', reason: item.reason, id: undefined, detail: undefined }
        : this.#addLine(reading, item.text, item.number);
    if (refused === undefined) return;
    if (item.kind === 'unreadable') sink.addRefused?.(reading.shape, undefined, undefined);
    this.#reject(reading, item.number, refused);
    rejects?.write(item.bytes);
    rejects?.write(LF);
  }

  #addLine(reading: Reading, text: string, number: number): RejectedAs | undefined {
    const { shape } = reading;
    let value: unknown;
    try {
      value = exactJson(text);
    } catch {
      this.#settings.sink.addRefused?.(shape, undefined, undefined);
      return { field: '', reason: 'is not JSON', id: undefined, detail: undefined };
    }
    if (shape === nativeShape && this.tally.source === 1) this.#adoptable = adoptableFacts(value);
    const refused = this.#addRecord(reading, value, number);
    // The line number identifies the record; its id would add nothing.
    return refused === undefined ? undefined : { ...refused, id: undefined };
  }

  async #takeTable(member: Member, current: CurrentMember, rows: AsyncIterable<SourceRecord>): Promise<void> {
    let reading: Reading | undefined;
    let number = 0;
    const sample: SourceRecord[] = [];
    const settle = (): Reading => {
      const settled = this.#reading(member, current, this.#shapeOf(member, sample), NO_ENVELOPE);
      for (const row of sample) this.#takeRecord(settled, row, ++number);
      sample.length = 0;
      return settled;
    };
    try {
      for await (const row of rows) {
        if (reading !== undefined) {
          this.#takeRecord(reading, row, ++number);
          continue;
        }
        sample.push(row);
        if (sample.length === SAMPLE_RECORDS) reading = settle();
      }
    } catch (error) {
      if (error instanceof CutShortError && reading === undefined && sample.length > 0) settle();
      throw error;
    }
    if (reading === undefined) settle();
    this.#settings.onProgress();
  }

  #takeRecords(
    member: Member,
    current: CurrentMember,
    shape: Shape,
    found: FoundRecords,
    pageUrl: string | null,
  ): void {
    const envelope = found.envelope ?? NO_ENVELOPE;
    const located = pageUrl === null ? envelope : { ...envelope, url: pageUrl };
    const reading = this.#reading(member, current, shape, located);
    for (let joined = found.joinedRows ?? 0; joined > 0; joined--) {
      this.#report.countRead(current);
      this.#report.countRepeated(current);
      current.summary.joined++;
    }
    if (found.records.length === 0) {
      const { board, company } = envelope;
      const token =
        reading.context.token ??
        board?.toLowerCase() ??
        (company === null ? boardOfFileName(member.fileName, shape.name) : slugOf(company));
      this.#settings.sink.addEmpty?.(shape, token, reading.document);
    }
    for (const [index, record] of found.records.entries()) {
      if (shape === nativeShape && this.tally.source === 0) this.#adoptable = adoptableFacts(record);
      this.#takeRecord(reading, record, index + 1);
    }
    this.#settings.onProgress();
  }

  #takeRecord(reading: Reading, record: unknown, number: number): void {
    this.#report.countRead(reading.current);
    reading.current.reached = number;
    const refused = this.#addRecord(reading, record, number);
    if (refused !== undefined) {
      this.#reject(reading, number, { ...refused, id: sourceIdOf(record) });
      this.#settings.rejects?.write(Buffer.from(`${recordJson(record)}\n`));
    }
    if (number % PROGRESS_RECORDS === 0) this.#settings.onProgress();
  }

  /** @throws InputError */
  #observedAtMsOf(member: Member): number {
    const { context, observedAtOf } = this.#settings;
    return observedAtOf === undefined ? context.observedAtMs : observedAtOf(member);
  }

  #addRecord(reading: Reading, record: unknown, number: number): Omit<RejectedAs, 'id'> | undefined {
    const { context, current, shape } = reading;
    const shaped = shapedFor(this.#settings.sink, shape, record, context);
    const refused = shaped.ok
      ? this.#add(shaped, reading, number)
      : { field: shaped.field, reason: shaped.reason, detail: undefined };
    if (!shaped.ok && !shaped.isUnlisted) this.#settings.sink.addRefused?.(shape, shaped.board, shaped.id);
    if (refused === undefined) current.summary.taken++;
    else if (refused.reason === REPEATED && shape !== nativeShape) {
      this.#report.countRepeated(current);
      return undefined;
    }
    return refused;
  }

  #add(
    { record, board, applyUrl }: Shaped & { readonly ok: true },
    { document, shape }: Reading,
    number: number,
  ): Omit<RejectedAs, 'id'> | undefined {
    const { sink, nowMs, skills } = this.#settings;
    const parsed = parseNative(record, {
      descriptionText: skills.descriptionText,
      extract(title, description) {
        const known = description === null ? undefined : sink.knownSkills?.(record.id, title, description);
        return known === undefined ? skills.extract(title, description) : [...known];
      },
    });
    if (!parsed.ok) {
      // The types do not hold for a native record: its fields are as its writer made them.
      const id: unknown = record.id;
      sink.addRefused?.(shape, board, typeof id === 'string' ? id : undefined);
      return { field: parsed.field, reason: parsed.reason, detail: undefined };
    }
    const row = sink.rowCount;
    const earlier = sink.add(parsed.job, {
      shape,
      board,
      applyUrl: applyUrl ?? null,
      description: record.description ?? null,
      descriptionText: parsed.description,
      hasOwnSkills: Array.isArray(record.skills),
      document,
    });
    if (earlier !== undefined) {
      return { field: 'id', reason: REPEATED, detail: `on ${this.#report.placeOfRow(earlier)}` };
    }
    this.#report.addRow(row, number);
    if (parsed.job.lastObservedMs > nowMs) this.tally.future++;
    return undefined;
  }

  #reject({ current, shape }: Reading, number: number, rejected: RejectedAs): void {
    this.#report.countRejected(current, rejected.field, rejected.reason, shape === nativeShape);
    this.#settings.onRejection({ place: this.#report.placeOf(current, number), ...rejected });
  }
}
