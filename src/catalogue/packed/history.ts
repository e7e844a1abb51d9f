/**
 * The history in a snapshot: its events in the order in which they were recorded, read from the file an event at a time, and
 * by job. `columnsAt` reads many events without their texts, for a reader that looks for some of them.
 */
import type { Section, SectionName } from '../snapshot/layout.ts';
import { float64sIn, uint32At, uint32sIn } from '../snapshot/numbers-at.ts';
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

/** What an event takes from its job. */
export interface JobTexts {
  titleOf(row: number): string;
  idOf(row: number): string;
}

/** Events without their texts, one element each. */
export interface EventColumns {
  /** Observed, milliseconds since the epoch. */
  readonly times: Float64Array;
  /** Of the job; NO_ROW = the snapshot does not hold it. */
  readonly rows: Uint32Array;
  /** Index in HISTORY_KINDS. */
  readonly kinds: Uint8Array;
  /** Numbers in the catalogue, ascending; empty where the events follow from the jobs themselves. */
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

  /** Sections of a source that `checkHistory` let pass. */
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

  /** @param position 0 .. count - 1 @throws SnapshotChangedError when the file changed after it was opened */
  eventAt(position: number): HistoryEvent {
    const { kinds, rows, serials, times } = this.columnsAt(position, 1);
    const kind = HISTORY_KINDS[kinds[0]!];
    if (kind === undefined) throw this.#changed();
    const row = rows[0] === NO_ROW ? null : rows[0]!;
    const observedMs = times[0]!;
    const stored = this.#texts.at(position);
    const { absentJob, changes, title } = stored === null ? NOTHING : decodedEventTexts(stored.text);
    if (row === null && (absentJob === null || title === null)) throw this.#changed();
    return {
      position,
      id: serials.length === 0 ? derivedEventId(this.#jobs.idOf(row!), kind, observedMs) : recordedEventId(serials[0]!),
      kind,
      observedMs,
      row,
      absentJob,
      title: title ?? this.#jobs.titleOf(row!),
      changes,
    };
  }

  /** The events of a job, by observed time, then as recorded. @throws SnapshotChangedError as `eventAt` */
  eventsOfJob(row: number): HistoryEvent[] {
    const { historyOffsets, historyPositions } = this.#sections;
    const ends = this.#read(historyOffsets, row * 4, 8);
    const start = uint32At(ends, 0);
    const end = uint32At(ends, 4);
    if (start > end || end * 4 > historyPositions.byteLength) throw this.#changed();
    return Array.from(uint32sIn(this.#read(historyPositions, start * 4, (end - start) * 4)), (position) => {
      if (position >= this.count) throw this.#changed();
      return this.eventAt(position);
    });
  }

  /**
   * @param start position of the first event @param count number of events, all of them below `this.count`
   * @throws SnapshotChangedError when the file changed after it was opened
   */
  columnsAt(start: number, count: number): EventColumns {
    const { historyKinds, historyRows, historySerials, historyTimes } = this.#sections;
    const columns = {
      times: float64sIn(this.#read(historyTimes, start * 8, count * 8)),
      rows: uint32sIn(this.#read(historyRows, start * 4, count * 4)),
      kinds: this.#read(historyKinds, start, count),
      serials:
        historySerials.byteLength === 0
          ? new Uint32Array(0)
          : uint32sIn(this.#read(historySerials, start * 4, count * 4)),
    };
    // Checked afterwards: a write before or between the reads shows by now.
    if (!this.#source.isUnchanged()) throw this.#changed();
    return columns;
  }

  #read(section: Section, at: number, length: number): Uint8Array {
    if (at + length > section.byteLength) throw this.#changed();
    const bytes = this.#source.read(section.offset + at, length);
    if (bytes.length !== length) throw this.#changed();
    return bytes;
  }

  #changed(): SnapshotChangedError {
    return new SnapshotChangedError(`${this.#source.name}: the file changed while it was in use`);
  }
}
