/**
 * The work left once a snapshot's columns are read and compared with their checksums: reading details and the index over all
 * jobs, comparing every number with what it points into, and checking the sections that stay in the file. A reload does all of
 * it before the catalogue is served. A start does it one step a turn once the server listens; a question that needs a part
 * earlier does that part at once, so that no answer uses bytes not compared with their checksum.
 *
 * If a column matches its checksum but a number in it points nowhere, the cause is a faulty builder, not damage. Until
 * its step comes, such a number does no harm, because typed arrays return undefined there: counts may miss its row, and
 * a question that shows its text fails, uncharged (text-column.ts). Its step then ends the server as for damage.
 */
import { checkingHistory } from '../packed/history-checks.ts';
import { checkingPacked } from '../packed/packed-checks.ts';
import { WholeIndex } from '../whole/whole-index.ts';
import { checkingCold } from './cold-rows.ts';
import { checkingColdGaps } from './cold-sections.ts';
import { checkingColumns, checkingDetails, groupingByCompany, type RowsByCompany } from './column-checks.ts';
import type { SnapshotColumns } from './columns.ts';
import { SnapshotDetails } from './details.ts';
import type { OpenedHeader } from './header.ts';
import { DETAILS, INDEX, readingHot } from './hot-sections.ts';
import { checkingRowsById } from './rows-by-id.ts';
import { type Refuse, SnapshotChangedError } from './snapshot-error.ts';
import type { SnapshotSource } from './source.ts';

/** The index over all jobs, and the bytes that it is a view of. */
export interface ReadIndex {
  readonly bytes: Uint8Array;
  readonly index: WholeIndex;
}

/** The results of all parts. */
interface Finished {
  readonly details: SnapshotDetails;
  readonly byCompany: RowsByCompany;
  readonly index: ReadIndex;
}

/** Work that is done once: step by step, or all the rest when its value is needed. */
class Part<T> {
  readonly #steps: Generator<void, T>;
  #end: { readonly value: T } | { readonly failure: unknown } | undefined;

  constructor(steps: Generator<void, T>) {
    this.#steps = steps;
  }

  get isDone(): boolean {
    return this.#end !== undefined;
  }

  step(): void {
    if (this.#end !== undefined) return;
    try {
      const step = this.#steps.next();
      if (step.done === true) this.#end = { value: step.value };
    } catch (failure) {
      this.#end = { failure };
    }
  }

  /** Does the remaining work. @throws SnapshotError when something is wrong, on every call */
  value(): T {
    while (this.#end === undefined) this.step();
    if ('failure' in this.#end) throw this.#end.failure;
    return this.#end.value;
  }
}

function* readingDetails(
  source: SnapshotSource,
  opened: OpenedHeader,
  refuse: Refuse,
): Generator<void, SnapshotDetails> {
  return new SnapshotDetails(yield* readingHot(source, opened, DETAILS, refuse), opened, refuse);
}

function* readingIndex(source: SnapshotSource, opened: OpenedHeader, refuse: Refuse): Generator<void, ReadIndex> {
  const bytes = yield* readingHot(source, opened, INDEX, refuse);
  const index = new WholeIndex(bytes, opened, refuse);
  yield* index.checking(refuse);
  return { bytes, index };
}

function* checkingIds(
  source: SnapshotSource,
  opened: OpenedHeader,
  details: Part<SnapshotDetails>,
  refuse: Refuse,
): Generator<void, void> {
  yield* checkingCold(source, opened, refuse);
  yield* checkingRowsById(source, opened.sections.rowsById, details.value().idRank, refuse);
}

function* checkingNumbers(
  columns: SnapshotColumns,
  details: Part<SnapshotDetails>,
  refuse: Refuse,
): Generator<void, void> {
  yield* checkingColumns(columns, refuse);
  yield* checkingDetails(columns, details.value(), refuse);
}

export class Unchecked {
  /** For sections that stay in the file: reads only checked bytes. */
  readonly source: SnapshotSource;
  readonly #raw: SnapshotSource;
  readonly #details: Part<SnapshotDetails>;
  readonly #byCompany: Part<RowsByCompany>;
  readonly #index: Part<ReadIndex>;
  /** Sections that stay in the file: from this offset on, up to the next part. */
  readonly #cold: readonly { readonly start: number; readonly part: Part<void> }[];
  readonly #parts: readonly Part<unknown>[];
  #isDone = false;
  #hasFailed = false;

  constructor(source: SnapshotSource, opened: OpenedHeader, columns: SnapshotColumns, refuse: Refuse) {
    const { sections } = opened;
    const { descriptionBlockOffsets, descriptionBlocks, descriptionPlaces } = sections;
    const descriptions = {
      places: descriptionPlaces,
      blockOffsets: descriptionBlockOffsets,
      blocks: descriptionBlocks,
    };
    this.#raw = source;
    this.#details = new Part(readingDetails(source, opened, refuse));
    this.#byCompany = new Part(groupingByCompany(columns, refuse));
    this.#index = new Part(readingIndex(source, opened, refuse));
    this.#cold = [
      { start: sections.coldOffsets.offset, part: new Part(checkingIds(source, opened, this.#details, refuse)) },
      {
        start: descriptionPlaces.offset,
        part: new Part(checkingPacked(source, descriptions, columns.rowCount, refuse)),
      },
      { start: sections.historyTimes.offset, part: new Part(checkingHistory(source, sections, columns, refuse)) },
    ];
    this.#parts = [
      this.#details,
      new Part(checkingNumbers(columns, this.#details, refuse)),
      this.#byCompany,
      ...this.#cold.map(({ part }) => part),
      this.#index,
      new Part(checkingColdGaps(source, opened, refuse)),
    ];
    this.source = {
      ...source,
      read: (offset, length) => {
        this.#requireAt(offset);
        return source.read(offset, length);
      },
      readTransient: (offset, length) => {
        this.#requireAt(offset);
        return source.readTransient(offset, length);
      },
      isUnchanged: () => !this.#hasFailed && source.isUnchanged(),
    };
  }

  /** @throws SnapshotError when they are damaged, SnapshotChangedError when their file changed meanwhile */
  details(): SnapshotDetails {
    return this.#needed(this.#details);
  }

  /** Errors as `details`. */
  byCompany(): RowsByCompany {
    return this.#needed(this.#byCompany);
  }

  /** Errors as `details`. */
  index(): ReadIndex {
    return this.#needed(this.#index);
  }

  /** All that is left, a part a step. Errors as `details`, at the first of them. */
  *checking(): Generator<void, void> {
    for (const part of this.#parts) {
      while (!part.isDone) {
        part.step();
        yield;
      }
      this.#needed(part);
    }
    this.#isDone = true;
  }

  /** The same at once. @throws SnapshotError when anything is wrong */
  finish(): Finished {
    for (const part of this.#parts) part.value();
    this.#isDone = true;
    return { details: this.#details.value(), byCompany: this.#byCompany.value(), index: this.#index.value() };
  }

  #requireAt(offset: number): void {
    if (this.#isDone) return;
    const found = this.#cold.findLast(({ start }) => start <= offset);
    if (found !== undefined) this.#needed(found.part);
  }

  #needed<T>(part: Part<T>): T {
    try {
      return part.value();
    } catch (failure) {
      this.#hasFailed = true;
      // A file overwritten while the server runs is no sign of damage in the file with which it started.
      if (!this.#raw.isUnchanged()) {
        throw new SnapshotChangedError(`${this.#raw.name}: the file changed while it was in use`);
      }
      throw failure;
    }
  }
}
