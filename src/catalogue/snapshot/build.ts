/**
 * Builds a snapshot from jobs (decisions §3, "Snapshot"). Jobs arrive in any order and go into columns at once
 * (job-rows.ts); at the end the builder sorts rows and renumbers codes, so that the file depends only on the set of
 * jobs, the events and the facts. Descriptions and the texts of events go to a spill. Parts of an earlier snapshot need
 * not be passed in again (earlier.ts): its rows, events and blocks of texts are copied, and the file is the same.
 *
 * Memory: for each job the bytes of its new texts (id and URL always) and about 80 bytes of columns, and briefly the index; no
 * objects. Bun peaks higher than Node, because it returns outgrown arrays late (bench/synthetic-catalogue.ts).
 */
import type { CompanyDomain } from '../company-domain.ts';
import type { Job } from '../job.ts';
import { PUBLIC_POOL_SIZE } from '../limits.ts';
import type { BlockFacts, EarlierBlocks } from '../packed/block-packer.ts';
import type { StoredTexts } from '../packed/distinct-texts.ts';
import {
  type CarriedEvent,
  derivedHistory,
  type EventCompanies,
  type EventJob,
  HistoryEvents,
  type HistorySections,
  type RecordedEvent,
} from '../packed/history-build.ts';
import { ItemTexts, type PackedItems, type StoredDescription } from '../packed/item-texts.ts';
import { MemorySpill, type Spill } from '../packed/spill.ts';
import { coldChunks } from './cold-text.ts';
import { bytesOf, type Column, gathered, inverseOf, typeOf } from './column-arrays.ts';
import type { EmployerIdentity } from './employers.ts';
import { type EarlierRows, JobRows } from './job-rows.ts';
import { SECTIONS, type SectionName } from './layout.ts';
import { type RowColumns, rowColumns } from './row-columns.ts';
import { byGroup, digestKeyOf, digestOrder, idOrder, newestFirst } from './row-order.ts';
import { type BuildFacts, type BuiltSnapshot, type Content, snapshotFile } from './snapshot-file.ts';

export interface BuilderSettings {
  /** Where descriptions wait; the caller closes it after writing the file. Default: memory. */
  readonly spill?: Spill;
  /** Default: true. */
  readonly keepsDescriptions?: boolean;
  /** Bytes of text in a block of descriptions; benches set it for comparison. */
  readonly blockBytes?: number;
  /** Source of descriptions that are only named. */
  readonly stored?: StoredTexts | undefined;
  /** Source of the texts of carried events. */
  readonly storedEvents?: StoredTexts | undefined;
  /** Blocks that are copied if the same texts are grouped again. */
  readonly earlier?: EarlierBlocks | undefined;
}

export interface FinishedSnapshot extends BuiltSnapshot {
  /** Aliases claimed by several companies, so that none gets them; ascending. */
  readonly disputedAliases: readonly string[];
  /** The blocks of descriptions, then those of events, in the order of the file. */
  readonly blocks: readonly BlockFacts[];
  /** By row: its ordinal. */
  readonly order: Uint32Array;
  /** By row: the first 48 bits of the SHA-256 of its id. */
  readonly digestKeys: Float64Array<ArrayBuffer>;
  /** By row, and by event, DIGEST_WORDS each: the digest of its text; empty if none has a text. */
  readonly descriptionDigests: Uint32Array<ArrayBuffer>;
  readonly eventDigests: Uint32Array<ArrayBuffer>;
}

/** The columns of one element a row or code, and of numbers. */
type ColumnName = Exclude<SectionName, 'coldText' | 'descriptionBlocks' | 'historyBlocks'>;

type Contents = Record<SectionName, Content>;

/** Ordinals in the orders that the file needs. */
interface Orders {
  /** By row. */
  readonly order: Uint32Array<ArrayBuffer>;
  readonly byId: Uint32Array<ArrayBuffer>;
  /** By ordinal: its place in `byId`. */
  readonly idRank: Uint32Array<ArrayBuffer>;
  /** By the digest of the id. */
  readonly byDigest: Uint32Array<ArrayBuffer>;
}

const NOTHING_SORTED = new Uint32Array(0);

export class SnapshotBuilder {
  readonly #spill: Spill;
  readonly #blockBytes: number | undefined;
  /** undefined: none are kept. */
  readonly #descriptions: ItemTexts | undefined;
  readonly #events: HistoryEvents;
  readonly #rows = new JobRows();
  /** Ordinals of the carried rows in the order of their ids. */
  #carriedById: Uint32Array = NOTHING_SORTED;

  constructor(settings: BuilderSettings = {}) {
    const { blockBytes, earlier, keepsDescriptions = true, spill = new MemorySpill(), stored, storedEvents } = settings;
    this.#spill = spill;
    this.#blockBytes = blockBytes;
    this.#descriptions = keepsDescriptions ? new ItemTexts(spill, { earlier, stored }) : undefined;
    this.#events = new HistoryEvents(spill, { earlier, stored: storedEvents });
  }

  /** Jobs added so far. */
  get rowCount(): number {
    return this.#rows.count;
  }

  /**
   * Adds a job, unless one with the same id was added before.
   * @param group of jobs for which `reassignCompanies` finds the company; 0 = the job's own company is final
   * @param stored in place of the job's description
   * @returns undefined when it was added; otherwise the ordinal (0-based, in order of additions) of the other job
   * @throws SnapshotError past the limits of a snapshot
   */
  add(job: Job, group = 0, stored?: StoredDescription): number | undefined {
    const ordinal = this.#rows.count;
    const other = this.#rows.add(job, group);
    if (other !== undefined) return other;
    if (stored !== undefined) this.#descriptions?.addDescription(ordinal, stored);
    else if (job.description !== null) this.#descriptions?.add(ordinal, job.description, job.descriptionTruncated);
    return undefined;
  }

  /** The number of an employer, for carried rows. */
  employerOf(identity: EmployerIdentity): number {
    return this.#rows.employers.numberOf(identity, 0);
  }

  /** A function that adds rows of an earlier snapshot (`JobRows.carrier`), before any other job. */
  carrier(earlier: EarlierRows): (row: number, lastObservedMs: number, employer: number) => number {
    return this.#rows.carrier(earlier);
  }

  /** The description of a carried row. @param digests three words from `at` on @param byteLength of its UTF-8, not 0 */
  carryDescription(ordinal: number, digests: Uint32Array, at: number, byteLength: number): void {
    this.#descriptions?.addStored(ordinal, digests, at, byteLength);
  }

  /** @param sorted all carried ordinals in the order of their ids */
  carryOrder(sorted: Uint32Array): void {
    this.#carriedById = sorted;
  }

  /** Assigns a company to the jobs of every group but 0. Never throws; call it once, before `finish` */
  reassignCompanies(
    identityOf: (group: number, company: string, domain: CompanyDomain | null) => EmployerIdentity,
  ): void {
    this.#rows.employers.reassign(identityOf, this.#rows.employer.subarray(0, this.rowCount));
  }

  /**
   * Adds the next event that a catalogue recorded, in that order, after all jobs. Without any, each job's history is
   * derived from the job.
   * @param job a job that was added, or one that the snapshot names without holding it
   * @throws SnapshotError past the limits of a snapshot
   */
  addEvent(event: RecordedEvent, job: EventJob): void {
    this.#events.add(event, this.#rows.ids.find(job.id) ?? job);
  }

  /** As `addEvent`, for an event of an earlier snapshot (`HistoryEvents.carry`). @param ordinal of its job */
  carryEvent(event: CarriedEvent, ordinal: number, digests: Uint32Array, at: number): number {
    return this.#events.carry(event, ordinal, digests, at);
  }

  /**
   * The finished file. Call it once, after the last job.
   * @param factsOf gets the content digest, which is the same for the same set of jobs
   * @throws SnapshotError when the columns are larger than a reader accepts
   */
  finish(factsOf: (contentDigest: string) => BuildFacts): FinishedSnapshot {
    const pieces = this.finishing(factsOf);
    for (;;) {
      const { done, value } = pieces.next();
      if (done) return value;
    }
  }

  /** As `finish`, but yields between pieces of work of some hundred milliseconds each for a million jobs. */
  *finishing(factsOf: (contentDigest: string) => BuildFacts): Generator<void, FinishedSnapshot, void> {
    const orders = yield* this.#orders();
    const { order } = orders;
    const { columns, companyOfDomain, disputedAliases } = yield* rowColumns(this.#rows, order);
    const companies = gathered(columns.employerCompany, columns.employer);
    const rowOf = inverseOf(order);
    const companyCount = columns.companyOrder.length;
    yield;
    const descriptions = yield* this.#packedDescriptions(orders, rowOf, companies, companyCount);
    const eventCompanies = { companyCount, companyOf: companies, companyOfDomain };
    const history = yield* this.#history(rowOf, orders.idRank, eventCompanies);
    const contents = this.#contents(orders, rowOf, columns, descriptions, history);
    const built = yield* snapshotFile(contents, this.rowCount, this.#rows.activeCount, factsOf);
    return {
      ...built,
      disputedAliases,
      blocks: [...descriptions.blockFacts, ...history.texts.blockFacts],
      order,
      digestKeys: gathered(this.#rows.digestKeys, order),
      descriptionDigests: descriptions.digests,
      eventDigests: history.texts.digests,
    };
  }

  /** Ordinals in the order of the file (active first, then as row-order.ts says), of their ids, and of the ids' digests. */
  *#orders(): Generator<void, Orders, void> {
    const { activeCount, count, digestKeys, ids, lastObserved } = this.#rows;
    for (let ordinal = 0; ordinal < count; ordinal++) {
      if (Number.isNaN(digestKeys[ordinal]!)) digestKeys[ordinal] = digestKeyOf(ids, ordinal);
      if ((ordinal & 0xffff) === 0xffff) yield;
    }
    const byDigest = digestOrder(ids, digestKeys.subarray(0, count));
    yield;
    const grouped = byGroup(byDigest, 2, (ordinal) => Number(!this.#rows.isActive(ordinal)));
    const order = new Uint32Array(count);
    order.set(newestFirst(grouped.subarray(0, activeCount), lastObserved));
    order.set(newestFirst(grouped.subarray(activeCount), lastObserved), activeCount);
    yield;
    const byId = idOrder(ids, this.#carriedById);
    return { order, byId, idRank: inverseOf(byId), byDigest };
  }

  /**
   * Packs company by company, because one company's descriptions resemble each other; within a company in an order that
   * no observation changes.
   */
  *#packedDescriptions(
    { byDigest, order }: Orders,
    rowOf: Uint32Array,
    companies: Uint32Array,
    companyCount: number,
  ): Generator<void, PackedItems, void> {
    const jobs = byGroup(byDigest, companyCount, (ordinal) => companies[rowOf[ordinal]!]!);
    const texts = this.#descriptions ?? new ItemTexts(this.#spill);
    return yield* texts.packed(jobs, order.length, (ordinal) => rowOf[ordinal]!, this.#blockBytes);
  }

  #contents(
    orders: Orders,
    rowOf: Uint32Array<ArrayBuffer>,
    codes: RowColumns,
    descriptions: PackedItems,
    { texts, ...history }: HistorySections,
  ): Contents {
    const { byDigest, byId, idRank, order } = orders;
    const columns: Record<ColumnName, Column> = {
      ...codes,
      ...this.#closings(orders, rowOf),
      idRank: gathered(idRank, order),
      publicPool: this.#publicPool(byDigest, rowOf),
      rowsById: gathered(rowOf, byId),
      ...history,
      descriptionPlaces: descriptions.places,
      descriptionBlockOffsets: descriptions.blocks.offsets,
      historyPlaces: texts.places,
      historyBlockOffsets: texts.blocks.offsets,
    };
    const contents: Partial<Record<SectionName, Content>> = {
      coldText: {
        type: 'u8',
        chunks: { [Symbol.iterator]: () => coldChunks(this.#rows, order, false) },
        reusedChunks: { [Symbol.iterator]: () => coldChunks(this.#rows, order, true) },
      },
      descriptionBlocks: { type: 'u8', chunks: descriptions.blocks.chunks, blocks: descriptions.blocks },
      historyBlocks: { type: 'u8', chunks: texts.blocks.chunks, blocks: texts.blocks },
    };
    for (const { name, types } of SECTIONS) {
      if (name === 'coldText' || name === 'descriptionBlocks' || name === 'historyBlocks') continue;
      contents[name] = { type: typeOf(columns[name], types), chunks: [bytesOf(columns[name])] };
    }
    return contents as Contents;
  }

  /** The active rows with the smallest digests of their ids (`/v1/public/search`, siblings §4). */
  #publicPool(byDigest: Uint32Array, rowOf: Uint32Array): Uint32Array<ArrayBuffer> {
    const rows: number[] = [];
    for (let place = 0; place < byDigest.length && rows.length < PUBLIC_POOL_SIZE; place++) {
      const row = rowOf[byDigest[place]!]!;
      if (row < this.#rows.activeCount) rows.push(row);
    }
    return Uint32Array.from(rows);
  }

  #closings({ byId, order }: Orders, rowOf: Uint32Array): Record<'closedAt' | 'closings', Column> {
    const { activeCount, closedAt } = this.#rows;
    const closed = byId.filter((ordinal) => rowOf[ordinal]! >= activeCount);
    const closings = newestFirst(closed, closedAt).map((ordinal) => rowOf[ordinal]!);
    return { closedAt: gathered(closedAt, order.subarray(activeCount)), closings };
  }

  *#history(
    rowOf: Uint32Array,
    idRank: Uint32Array,
    companies: EventCompanies,
  ): Generator<void, HistorySections, void> {
    if (this.#events.count > 0) return yield* this.#events.sections(rowOf, companies);
    const count = rowOf.length;
    const firstObserved = this.#rows.firstObserved.subarray(0, count);
    const closedAt = this.#rows.closedAt.subarray(0, count);
    return derivedHistory({ firstObserved, closedAt, idRank }, rowOf, companies);
  }
}
