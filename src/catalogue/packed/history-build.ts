/**
 * The history sections of a snapshot: the events in the order in which a catalogue recorded them, with an index by job.
 * Events are columns; their texts are in packed blocks. Memory: about 30 bytes an event.
 */
import { EVENT_COUNT_MAX } from '../limits.ts';
import { gathered, grown } from '../snapshot/column-arrays.ts';
import { SnapshotError } from '../snapshot/snapshot-error.ts';
import { TextTable } from '../snapshot/text-table.ts';
import {
  type AbsentJob,
  encodedEventTexts,
  HISTORY_KINDS,
  type HistoryChange,
  type HistoryKind,
  NO_ROW,
} from './history-event.ts';
import { ItemTexts, type PackedItems, type TextSources } from './item-texts.ts';
import { NO_BLOCKS } from './packed-blocks.ts';
import type { Spill } from './spill.ts';

/** An event as a catalogue recorded it. */
export interface RecordedEvent {
  /** Its number in the catalogue; ascending from event to event. */
  readonly serial: number;
  readonly kind: HistoryKind;
  readonly observedMs: number;
  /** As of the event; null: as the job has it now. */
  readonly title: string | null;
  readonly changes: readonly HistoryChange[];
}

/** The job of an event, as its catalogue has it now. */
export interface EventJob extends AbsentJob {
  readonly title: string;
}

/** Stands for a company: no job of the snapshot has the absent job's domain. */
const NO_COMPANY = 0xffffffff;

export interface HistorySections {
  readonly historyTimes: Float64Array<ArrayBuffer>;
  readonly historyRows: Uint32Array<ArrayBuffer>;
  readonly historyKinds: Uint8Array<ArrayBuffer>;
  readonly historySerials: Uint32Array<ArrayBuffer>;
  readonly historyOffsets: Uint32Array<ArrayBuffer>;
  readonly historyPositions: Uint32Array<ArrayBuffer>;
  readonly historyCompanyOffsets: Uint32Array<ArrayBuffer>;
  readonly historyCompanyPositions: Uint32Array<ArrayBuffer>;
  readonly texts: PackedItems;
}

type CompanySections = Pick<HistorySections, 'historyCompanyOffsets' | 'historyCompanyPositions'>;

/** Columns from which events are derived for jobs without a recorded history; one element a job, in any order. */
export interface DerivedFrom {
  readonly firstObserved: Float64Array;
  /** NaN = not closed. */
  readonly closedAt: Float64Array;
  /** Comparing ranks compares ids. */
  readonly idRank: Uint32Array;
}

/** The companies of a finished snapshot. */
export interface EventCompanies {
  readonly companyCount: number;
  /** By row: its company. */
  readonly companyOf: Uint32Array;
  /** By domain; aliases are not among them. */
  readonly companyOfDomain: ReadonlyMap<string, number>;
}

/** An unchanged event of an earlier snapshot. */
export interface CarriedEvent {
  readonly observedMs: number;
  /** Index in HISTORY_KINDS. */
  readonly kind: number;
  readonly serial: number;
  /** Of its text's UTF-8; 0 = none. */
  readonly byteLength: number;
}

export class HistoryEvents {
  #times = new Float64Array(1024);
  #kinds = new Uint8Array(1024);
  #serials = new Uint32Array(1024);
  /** Number of the job in the builder, or NO_ROW. */
  #jobs = new Uint32Array(1024);
  readonly #texts: ItemTexts;
  /** Domains of absent jobs' companies; by event: number in the table plus 1, 0 = none or not absent. */
  readonly #absentDomains = new TextTable();
  #domains = new Uint32Array(1024);
  #count = 0;

  constructor(spill: Spill, sources: TextSources) {
    this.#texts = new ItemTexts(spill, sources);
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Adds the next event in the order in which they were recorded.
   * @param job its number in the builder, or its texts when the builder lacks it
   * @throws SnapshotError past the limits of a snapshot
   */
  add({ changes, kind, observedMs, serial, title }: RecordedEvent, job: number | EventJob): void {
    const texts =
      typeof job === 'number'
        ? { title, changes, absentJob: null }
        : { title: title ?? job.title, changes, absentJob: job };
    const text = encodedEventTexts(texts);
    const at = this.#next(serial);
    this.#times[at] = observedMs;
    this.#kinds[at] = HISTORY_KINDS.indexOf(kind);
    this.#jobs[at] = typeof job === 'number' ? job : NO_ROW;
    if (text !== null) this.#texts.add(at, text);
    const domain = typeof job === 'number' ? null : job.companyDomain;
    this.#domains[at] = domain === null ? 0 : this.#absentDomains.numberOf(domain) + 1;
  }

  /**
   * Adds the next event as an earlier snapshot has it.
   * @param job its number in the builder @param digests of its text, three words from `digest` on
   * @returns the number by which the source of texts is asked for its text; -1 = it has none
   */
  carry(
    { byteLength, kind, observedMs, serial }: CarriedEvent,
    job: number,
    digests: Uint32Array,
    digest: number,
  ): number {
    const at = this.#next(serial);
    this.#times[at] = observedMs;
    this.#kinds[at] = kind;
    this.#jobs[at] = job;
    this.#domains[at] = 0;
    return byteLength === 0 ? -1 : this.#texts.addStored(at, digests, digest, byteLength);
  }

  #next(serial: number): number {
    const at = this.#count;
    if (at === EVENT_COUNT_MAX) throw new SnapshotError(`the history has more than ${EVENT_COUNT_MAX} events`);
    if (serial > 0xffffffff) throw new SnapshotError('the history has an event number above 2^32');
    if (at === this.#times.length) this.#grow();
    this.#serials[at] = serial;
    this.#count = at + 1;
    return at;
  }

  /** Yields between pieces of the work. @param rowOf row of each job of the builder */
  *sections(rowOf: Uint32Array, companies: EventCompanies): Generator<void, HistorySections, void> {
    const count = this.#count;
    const rows = new Uint32Array(count);
    for (let at = 0; at < count; at++) rows[at] = this.#jobs[at] === NO_ROW ? NO_ROW : rowOf[this.#jobs[at]!]!;
    const times = this.#times.slice(0, count);
    const order = Uint32Array.from({ length: count }, (_, at) => at);
    yield;
    const byRow = eventsByRow(rows, times, rowOf.length);
    yield;
    const byCompany = this.#byCompany(rows, companies);
    yield;
    return {
      historyTimes: times,
      historyRows: rows,
      historyKinds: this.#kinds.slice(0, count),
      historySerials: this.#serials.slice(0, count),
      ...byRow,
      ...byCompany,
      texts: yield* this.#texts.packed(order, count, (at) => at),
    };
  }

  #byCompany(rows: Uint32Array, { companyCount, companyOf, companyOfDomain }: EventCompanies): CompanySections {
    const domains = this.#absentDomains;
    const ofDomain = Uint32Array.from(
      { length: domains.size },
      (_, number) => companyOfDomain.get(domains.textOf(number)) ?? NO_COMPANY,
    );
    return eventsByCompany(rows.length, companyCount, (position) => {
      if (rows[position] !== NO_ROW) return companyOf[rows[position]!]!;
      const domain = this.#domains[position]!;
      return domain === 0 ? NO_COMPANY : ofDomain[domain - 1]!;
    });
  }

  #grow(): void {
    this.#times = grown(this.#times);
    this.#kinds = grown(this.#kinds);
    this.#serials = grown(this.#serials);
    this.#jobs = grown(this.#jobs);
    this.#domains = grown(this.#domains);
  }
}

/**
 * Derived events of jobs without a history: `first_observed`, and `closed` if the job is, ordered by time, then by job id.
 */
export function derivedHistory(
  from: DerivedFrom,
  rowOf: Uint32Array,
  { companyCount, companyOf }: EventCompanies,
): HistorySections {
  const { closedAt, firstObserved, idRank } = from;
  let count = firstObserved.length;
  for (let job = 0; job < closedAt.length; job++) if (!Number.isNaN(closedAt[job]!)) count++;
  // Twice the job, plus 1 for its closing: in order of numbers, a job's first observation comes before it.
  const events = new Uint32Array(count);
  const timeOf = (event: number): number => (event % 2 === 0 ? firstObserved[event >>> 1]! : closedAt[event >>> 1]!);
  let filled = 0;
  for (let job = 0; job < firstObserved.length; job++) {
    events[filled++] = job * 2;
    if (!Number.isNaN(closedAt[job]!)) events[filled++] = job * 2 + 1;
  }
  events.sort((a, b) => timeOf(a) - timeOf(b) || idRank[a >>> 1]! - idRank[b >>> 1]! || a - b);
  const times = Float64Array.from(events, timeOf);
  const rows = gathered(
    rowOf as Uint32Array<ArrayBuffer>,
    Uint32Array.from(events, (event) => event >>> 1),
  );
  const closing = HISTORY_KINDS.indexOf('closed');
  const opening = HISTORY_KINDS.indexOf('first_observed');
  return {
    historyTimes: times,
    historyRows: rows,
    historyKinds: Uint8Array.from(events, (event) => (event % 2 === 0 ? opening : closing)),
    historySerials: new Uint32Array(0),
    ...eventsByRow(rows, times, rowOf.length),
    ...eventsByCompany(count, companyCount, (position) => companyOf[rows[position]!]!),
    texts: { places: new Uint32Array(0), blocks: NO_BLOCKS, blockFacts: [], digests: new Uint32Array(0) },
  };
}

/** The positions of each row's events, by observed time, then as recorded. */
function eventsByRow(
  rows: Uint32Array,
  times: Float64Array,
  rowCount: number,
): Pick<HistorySections, 'historyOffsets' | 'historyPositions'> {
  const offsets = new Uint32Array(rowCount + 1);
  for (const row of rows) if (row !== NO_ROW) offsets[row + 1] = offsets[row + 1]! + 1;
  for (let row = 0; row < rowCount; row++) offsets[row + 1] = offsets[row + 1]! + offsets[row]!;
  const ends = offsets.slice(0, rowCount);
  const positions = new Uint32Array(offsets[rowCount]!);
  for (let position = 0; position < rows.length; position++) {
    const row = rows[position]!;
    if (row === NO_ROW) continue;
    // Sorted by insertion: a job has few events, and most come in order.
    const start = offsets[row]!;
    let place = ends[row]!;
    ends[row] = place + 1;
    for (; place > start && times[positions[place - 1]!]! > times[position]!; place--) {
      positions[place] = positions[place - 1]!;
    }
    positions[place] = position;
  }
  return { historyOffsets: offsets, historyPositions: positions };
}

/** The positions of each company's events, as recorded. @param companyAt by position; NO_COMPANY = no company */
function eventsByCompany(
  count: number,
  companyCount: number,
  companyAt: (position: number) => number,
): CompanySections {
  const offsets = new Uint32Array(companyCount + 1);
  for (let position = 0; position < count; position++) {
    const company = companyAt(position);
    if (company !== NO_COMPANY) offsets[company + 1] = offsets[company + 1]! + 1;
  }
  for (let company = 0; company < companyCount; company++) {
    offsets[company + 1] = offsets[company + 1]! + offsets[company]!;
  }
  const ends = offsets.slice(0, companyCount);
  const positions = new Uint32Array(offsets[companyCount]!);
  for (let position = 0; position < count; position++) {
    const company = companyAt(position);
    if (company === NO_COMPANY) continue;
    positions[ends[company]!] = position;
    ends[company] = ends[company]! + 1;
  }
  return { historyCompanyOffsets: offsets, historyCompanyPositions: positions };
}
