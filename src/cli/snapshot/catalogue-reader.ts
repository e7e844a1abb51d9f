/**
 * Passes the jobs and events of a catalogue to a builder: all of them, or only those written since the last build and
 * the rest from the earlier snapshot. The result is the same. Both yield after every few tens of milliseconds.
 */
import { DIGEST_WORDS } from '../../catalogue/packed/distinct-texts.ts';
import { NO_ROW } from '../../catalogue/packed/history-event.ts';
import { PLACE_ELEMENTS } from '../../catalogue/packed/packed-blocks.ts';
import type { SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import type { EarlierEvents } from '../../catalogue/snapshot/earlier.ts';
import type { EmployerIdentity } from '../../catalogue/snapshot/employers.ts';
import type { EarlierRows } from '../../catalogue/snapshot/job-rows.ts';
import { shownCompanyOf } from '../../ingest/companies/resolve.ts';
import type { BuildDirectory } from '../../storage/history/company-directory.ts';
import type { HistoryDatabase } from '../../storage/history/database.ts';
import { type JobToBuild, jobsOf, jobsToBuild, repeatsIn, writtenSince } from '../../storage/history/jobs-to-build.ts';
import { type CatalogueEvent, recordedEvents, retitledSince } from '../../storage/history/recorded-events.ts';
import { AddedJobs, type KeptBuild, type Origin } from './kept-build.ts';
import type { JobSelection } from './left-out.ts';

/** Jobs, carried rows, and events between two yields. */
const TURN_JOBS = 256;
const TURN_ROWS = 8192;
const TURN_EVENTS = 4096;

/** What is taken over from the earlier snapshot, read and compared with its checksums. */
export interface TakenOver {
  readonly kept: KeptBuild;
  /** Serials of the jobs that were written since. */
  readonly written: Uint32Array;
  readonly rows: EarlierRows;
  readonly events: EarlierEvents;
  readonly descriptionPlaces: Uint32Array;
}

/** @returns undefined when the catalogue is not a later state of the one that was built @throws EarlierSnapshotError, HistoryError */
export function takenOver(kept: KeptBuild, history: HistoryDatabase): TakenOver | undefined {
  const written = writtenSince(history, kept.change);
  if (written === undefined) return undefined;
  const { snapshot } = kept;
  return {
    kept,
    written,
    rows: snapshot.rows(kept.rows.digestKeys),
    events: snapshot.events(),
    descriptionPlaces: snapshot.descriptionPlaces(),
  };
}

export class CatalogueReader {
  readonly added = new AddedJobs();
  readonly #builder: SnapshotBuilder;
  readonly #history: HistoryDatabase;
  readonly #selection: JobSelection;
  readonly #directory: BuildDirectory;
  /** By number of a text of a carried event: the event's place in the earlier snapshot. */
  readonly #positions: Map<number, number>;

  constructor(
    builder: SnapshotBuilder,
    {
      directory,
      history,
      selection,
    }: {
      readonly history: HistoryDatabase;
      readonly selection: JobSelection;
      readonly directory: BuildDirectory;
    },
    positions: Map<number, number>,
  ) {
    this.#builder = builder;
    this.#history = history;
    this.#selection = selection;
    this.#directory = directory;
    this.#positions = positions;
  }

  /** All jobs and events of the catalogue. */
  *all(): Generator<void, void, void> {
    yield* this.#addJobs(jobsToBuild(this.#history));
    yield* this.#addEvents(recordedEvents(this.#history));
  }

  /** The same, where an earlier snapshot has most of them. */
  *next(earlier: TakenOver): Generator<void, void, void> {
    const others = yield* this.#carryRows(earlier);
    yield* this.#addJobs(jobsOf(this.#history, others));
    yield* this.#carryEvents(earlier);
  }

  *#addJobs(jobs: Iterable<JobToBuild>): Generator<void, void, void> {
    let count = 0;
    for (const { board, job, presentMs, serial, stored } of jobs) {
      if (++count % TURN_JOBS === 0) yield;
      if (!this.#selection.has(serial, job)) {
        this.added.leftOut.push(serial);
        continue;
      }
      const ordinal = this.#builder.rowCount;
      const origin = this.added.originOf(board, job.company, job.companyDomain);
      this.#builder.add({ ...job, ...this.#identityOf([board, job.company, job.companyDomain]) }, 0, stored);
      this.added.add(ordinal, serial, origin, presentMs);
    }
  }

  *#addEvents(events: Iterable<CatalogueEvent>): Generator<void, void, void> {
    let count = 0;
    for (const each of events) {
      this.#addEvent(each);
      if (++count % TURN_EVENTS === 0) yield;
    }
  }

  #addEvent({ board, event, job }: CatalogueEvent): void {
    const shown = shownCompanyOf(job, this.#directory.identityOf(board, job.company));
    this.#builder.addEvent(event, { ...job, ...shown });
  }

  #identityOf([board, company, companyDomain]: Origin): Required<EmployerIdentity> {
    const identity = this.#directory.identityOf(board, company);
    const shown = shownCompanyOf({ company, companyDomain }, identity);
    return { ...shown, companyAliases: shown.companyDomain === identity.domain ? identity.aliases : [] };
  }

  /** @returns serials of the jobs that must be read from the catalogue */
  *#carryRows({ descriptionPlaces, kept, rows, written }: TakenOver): Generator<void, Set<number>, void> {
    const { origins, rows: keptRows } = kept;
    const others = new Set([...kept.leftOut, ...written]);
    const repeats = repeatsIn(this.#history);
    /** By origin; -1 = not met yet. */
    const employers = new Int32Array(origins.length).fill(-1);
    const numbers = new Uint32Array(origins.length);
    const carry = this.#builder.carrier(rows);
    const ordinals = new Int32Array(kept.snapshot.rowCount).fill(-1);
    for (let row = 0; row < ordinals.length; row++) {
      if (row % TURN_ROWS === TURN_ROWS - 1) yield;
      const serial = keptRows.serials[row]!;
      const lengthAndFlag = descriptionPlaces[row * PLACE_ELEMENTS + 2] ?? 0;
      // A truncated description has another digest in the catalogue, so it is read from there.
      if ((lengthAndFlag & 1) === 1) others.add(serial);
      if (others.has(serial)) continue;
      const origin = keptRows.origins[row]!;
      const presentMs = keptRows.presentMs[row]!;
      const isActive = row < rows.activeCount;
      const repeatedMs = repeats.get(origins[origin]![0])?.get(presentMs);
      let lastObservedMs = rows.lastObserved[row]!;
      if (isActive && repeatedMs !== undefined) lastObservedMs = Math.max(lastObservedMs, repeatedMs);
      if (!this.#selection.has(serial, { status: isActive ? 'active' : 'closed', lastObservedMs })) {
        this.added.leftOut.push(serial);
        continue;
      }
      if (employers[origin] === -1) {
        employers[origin] = this.#builder.employerOf(this.#identityOf(origins[origin]!));
        numbers[origin] = this.added.originOf(...origins[origin]!);
      }
      const ordinal = carry(row, lastObservedMs, employers[origin]!);
      ordinals[row] = ordinal;
      const byteLength = lengthAndFlag >>> 1;
      if (byteLength > 0) {
        this.#builder.carryDescription(ordinal, keptRows.descriptionDigests, row * DIGEST_WORDS, byteLength);
      }
      this.added.add(ordinal, serial, numbers[origin]!, presentMs);
    }
    const byId = rows.rowsById.filter((row) => ordinals[row] !== -1);
    this.#builder.carryOrder(byId.map((row) => ordinals[row]!));
    return others;
  }

  *#carryEvents({ events, kept }: TakenOver): Generator<void, void, void> {
    const { kinds, places, rows, serials, times } = events;
    // More changes of the last event may have been recorded since, so it is read again, with all after it.
    const lastSerial = serials.at(-1) ?? 0;
    const retitled = retitledSince(this.#history, lastSerial);
    for (let position = 0; position < serials.length - 1; position++) {
      if (position % TURN_EVENTS === TURN_EVENTS - 1) yield;
      const row = rows[position]!;
      const job = row === NO_ROW ? undefined : kept.rows.serials[row]!;
      const ordinal = job === undefined ? undefined : this.added.ordinalOf(job);
      if (ordinal === undefined || retitled.has(job!)) {
        // The event's texts about its job have changed.
        for (const each of recordedEvents(this.#history, serials[position]!, serials[position + 1]!))
          this.#addEvent(each);
        continue;
      }
      const byteLength = (places[position * PLACE_ELEMENTS + 2] ?? 0) >>> 1;
      const event = { observedMs: times[position]!, kind: kinds[position]!, serial: serials[position]!, byteLength };
      const text = this.#builder.carryEvent(event, ordinal, kept.eventDigests, position * DIGEST_WORDS);
      if (text !== -1 && !this.#positions.has(text)) this.#positions.set(text, position);
    }
    yield* this.#addEvents(recordedEvents(this.#history, lastSerial));
  }
}
