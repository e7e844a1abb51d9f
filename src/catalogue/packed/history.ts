/**
 * The history in a snapshot: its events, by job and in the order in which they were recorded, read from the file one at
 * a time. `columnsAt` reads many events without their texts, for a reader that searches them.
 */
import type { Section, SectionName } from '../snapshot/layout.ts';
import { float64At, float64sIn, uint32At, uint32sIn } from '../snapshot/numbers-at.ts';
import { SnapshotChangedError } from '../snapshot/snapshot-error.ts';
import type { SnapshotSource } from '../snapshot/source.ts';
import {
  decodedEventTexts,
  derivedEventId,
  type EventTexts,
  HISTORY_KINDS,
  type HistoryEvent,
  NO_ROW,
  recordedEventId,
} from './history-event.ts';
import { PackedTexts } from './packed-texts.ts';
import { runsOf } from './runs.ts';

/** What an event takes from its job. */
export interface JobTexts {
  titleOf(row: number): string;
  /** In the order of the rows. */
  idsOf(rows: readonly number[]): string[];
}

/** The events of a company, in the order in which they were recorded. */
export interface CompanyEvents {
  readonly count: number;
  /** Positions of `count` of them from the one at place `first` on, ascending. */
  positionsAt(first: number, count: number): Uint32Array;
}

/** Events without their texts, one element each. */
export interface EventColumns {
  /** Observed, milliseconds since the epoch. */
  readonly times: Float64Array;
  /** Of the job; NO_ROW = the snapshot does not hold it. */
  readonly rows: Uint32Array;
  /** Index in HISTORY_KINDS. */
  readonly kinds: Uint8Array;
  /** Numbers in the catalogue, ascending; empty if the events are derived from the jobs themselves. */
  readonly serials: Uint32Array;
}

const NOTHING: EventTexts = { title: null, changes: [], absentJob: null };

export class History {
  /** Number of events. */
  readonly count: number;
  readonly #source: SnapshotSource;
  readonly #sections: Readonly<Record<SectionName, Section>>;
  readonly #texts: PackedTexts;
  readonly #jobs: JobTexts;

  /** Sections of a source that `checkingHistory` lets pass. */
  constructor(source: SnapshotSource, sections: Readonly<Record<SectionName, Section>>, jobs: JobTexts) {
    this.#source = source;
    this.#sections = sections;
    this.#jobs = jobs;
    this.count = sections.historyKinds.byteLength;
    this.#texts = new PackedTexts(source, {
      places: sections.historyPlaces,
      blockOffsets: sections.historyBlockOffsets,
      blocks: sections.historyBlocks,
    });
  }

  /** Bytes of all history sections in the file. */
  get byteLength(): number {
    return Object.values(this.#sections).reduce(
      (sum, { byteLength, name }) => sum + (name.startsWith('history') ? byteLength : 0),
      0,
    );
  }

  /** Whether a catalogue recorded the events; otherwise they are derived from the jobs, or there are none. */
  get isRecorded(): boolean {
    return this.#sections.historySerials.byteLength > 0;
  }

  /**
   * The events at some positions, in their order; neighbours are read together.
   * @param positions 0 .. count - 1 @throws SnapshotChangedError when the file changed after it was opened
   */
  eventsAt(positions: readonly number[]): HistoryEvent[] {
    const texts = this.#texts
      .allAt(positions)
      .map((stored) => (stored === null ? NOTHING : decodedEventTexts(stored.text)));
    const columns = this.columnsOf(positions);
    const rows = [...columns.rows].filter((row) => row !== NO_ROW);
    const ids = this.#jobs.idsOf(rows).values();
    return texts.map(({ absentJob, changes, title }, i) => {
      const row = columns.rows[i] === NO_ROW ? null : columns.rows[i]!;
      const kind = HISTORY_KINDS[columns.kinds[i]!];
      if (kind === undefined || (row === null && (absentJob === null || title === null))) throw this.changed();
      const jobId = row === null ? absentJob!.id : ids.next().value!;
      const observedMs = columns.times[i]!;
      return {
        id: this.isRecorded ? recordedEventId(columns.serials[i]!) : derivedEventId(jobId, kind, observedMs),
        jobId,
        kind,
        observedMs,
        row,
        absentJob,
        title: title ?? this.#jobs.titleOf(row!),
        changes,
      };
    });
  }

  /** The positions of a job's events, by observed time, then as recorded. Errors as `eventsAt`. */
  positionsOfJob(row: number): Uint32Array {
    const { historyOffsets, historyPositions } = this.#sections;
    const { end, start } = this.#placesIn(historyOffsets, historyPositions, row);
    return this.#positionsIn(historyPositions, start, end - start);
  }

  /** The events of a company's jobs, and of absent jobs with its domain. Errors as `eventsAt`. */
  eventsOfCompany(company: number): CompanyEvents {
    const { historyCompanyOffsets, historyCompanyPositions } = this.#sections;
    const { end, start } = this.#placesIn(historyCompanyOffsets, historyCompanyPositions, company);
    return {
      count: end - start,
      positionsAt: (first, count) => this.#positionsIn(historyCompanyPositions, start + first, count),
    };
  }

  #placesIn(offsets: Section, positions: Section, item: number): { start: number; end: number } {
    const ends = this.#readTransient(offsets, item * 4, 8);
    const start = uint32At(ends, 0);
    const end = uint32At(ends, 4);
    if (start > end || end * 4 > positions.byteLength) throw this.changed();
    return { start, end };
  }

  #positionsIn(section: Section, start: number, count: number): Uint32Array {
    const positions = uint32sIn(this.#read(section, start * 4, count * 4));
    for (let i = 0; i < positions.length; i++) if (positions[i]! >= this.count) throw this.changed();
    return positions;
  }

  /** Columns of events at some positions, in their order. Errors as `columnsAt`. */
  columnsOf(positions: readonly number[]): EventColumns {
    const count = positions.length;
    const runs = runsOf(positions);
    if (runs.length === 1) return this.columnsAt(runs[0]!.first, count);
    const columns = {
      times: new Float64Array(count),
      rows: new Uint32Array(count),
      kinds: new Uint8Array(count),
      serials: new Uint32Array(this.isRecorded ? count : 0),
    };
    let filled = 0;
    for (const run of runs) {
      const { kinds, rows, serials, times } = this.#columns(run.first, run.count);
      columns.times.set(times, filled);
      columns.rows.set(rows, filled);
      columns.kinds.set(kinds, filled);
      if (this.isRecorded) columns.serials.set(serials, filled);
      filled += run.count;
    }
    this.requireUnchanged();
    return columns;
  }

  /**
   * @param start position of the first event @param count number of events, all of them below `this.count`
   * @throws SnapshotChangedError when the file changed after it was opened
   */
  columnsAt(start: number, count: number): EventColumns {
    const columns = this.#columns(start, count);
    this.requireUnchanged();
    return columns;
  }

  #columns(start: number, count: number): EventColumns {
    const { historyRows, historySerials } = this.#sections;
    return {
      times: this.timesAt(start, count),
      rows: uint32sIn(this.#read(historyRows, start * 4, count * 4)),
      kinds: this.kindsAt(start, count),
      serials: this.isRecorded ? uint32sIn(this.#read(historySerials, start * 4, count * 4)) : new Uint32Array(0),
    };
  }

  /** Observed times of neighbouring events, as `columnsAt`. Does not check whether the file changed. */
  timesAt(start: number, count: number): Float64Array {
    return float64sIn(this.#read(this.#sections.historyTimes, start * 8, count * 8));
  }

  /** The same times (and below, the same kinds), valid only until the next read of a value or of such a run. */
  transientTimesAt(start: number, count: number): Float64Array {
    return float64sIn(this.#readTransient(this.#sections.historyTimes, start * 8, count * 8));
  }

  transientKindsAt(start: number, count: number): Uint8Array {
    return this.#readTransient(this.#sections.historyKinds, start, count);
  }

  /** Kinds of neighbouring events, as `columnsAt`. Does not check whether the file changed. */
  kindsAt(start: number, count: number): Uint8Array {
    return this.#read(this.#sections.historyKinds, start, count);
  }

  // Single values, for a search. These do not check whether the file changed.

  timeAt(position: number): number {
    return float64At(this.#readTransient(this.#sections.historyTimes, position * 8, 8), 0);
  }

  kindAt(position: number): number {
    return this.#readTransient(this.#sections.historyKinds, position, 1)[0]!;
  }

  /** Its number in the catalogue, where it was recorded. */
  serialAt(position: number): number {
    return uint32At(this.#readTransient(this.#sections.historySerials, position * 4, 4), 0);
  }

  /** The row of its job; NO_ROW = the snapshot does not hold it. */
  rowAt(position: number): number {
    return uint32At(this.#readTransient(this.#sections.historyRows, position * 4, 4), 0);
  }

  /** Call after the reads, to notice a write before or between. @throws SnapshotChangedError when the file changed */
  requireUnchanged(): void {
    if (!this.#source.isUnchanged()) throw this.changed();
  }

  /** Valid until the next call. */
  #readTransient(section: Section, at: number, length: number): Uint8Array {
    if (at + length > section.byteLength) throw this.changed();
    const bytes = this.#source.readTransient(section.offset + at, length);
    if (bytes.length !== length) throw this.changed();
    return bytes;
  }

  #read(section: Section, at: number, length: number): Uint8Array {
    if (at + length > section.byteLength) throw this.changed();
    const bytes = this.#source.read(section.offset + at, length);
    if (bytes.length !== length) throw this.changed();
    return bytes;
  }

  /** The error of a file that is not as it was when it was opened. */
  changed(): SnapshotChangedError {
    return new SnapshotChangedError(`${this.#source.name}: the file changed while it was in use`);
  }
}
