/**
 * Finds the events of the history that meet a filter, without reading three million of them for each page: memory holds the
 * earliest and latest time and the kinds of each block of events, and only blocks that may have a match are read from the file.
 *
 * Memory: 17 bytes for 1024 events. Building reads all times and kinds once.
 */
import type { CompanyEvents, History } from '../packed/history.ts';

const BLOCK_EVENTS = 1024;
/** Blocks that are read together while the summary is built. */
const READ_BLOCKS = 64;
/** Elements of a company's list that are read together. */
const READ_POSITIONS = 4096;

/** `undefined` asks nothing. */
export interface EventFilter {
  /** Included; milliseconds. */
  readonly sinceMs: number | undefined;
  /** Excluded. */
  readonly untilMs: number | undefined;
  /** Index in HISTORY_KINDS. */
  readonly kind: number | undefined;
}

export class FeedBlocks {
  readonly #history: History;
  // One element a block.
  readonly #earliest: Float64Array;
  readonly #latest: Float64Array;
  /** Bit k: it has an event of kind k. */
  readonly #kinds: Uint8Array;

  constructor(history: History) {
    const blockCount = Math.ceil(history.count / BLOCK_EVENTS);
    this.#history = history;
    this.#earliest = new Float64Array(blockCount).fill(Number.POSITIVE_INFINITY);
    this.#latest = new Float64Array(blockCount).fill(Number.NEGATIVE_INFINITY);
    this.#kinds = new Uint8Array(blockCount);
    for (let block = 0; block < blockCount; block += READ_BLOCKS) this.#see(block * BLOCK_EVENTS);
    history.requireUnchanged();
  }

  #see(start: number): void {
    const count = Math.min(READ_BLOCKS * BLOCK_EVENTS, this.#history.count - start);
    const firstBlock = start / BLOCK_EVENTS;
    const times = this.#history.transientTimesAt(start, count);
    for (let i = 0; i < count; i++) {
      const block = firstBlock + Math.floor(i / BLOCK_EVENTS);
      const time = times[i]!;
      if (time < this.#earliest[block]!) this.#earliest[block] = time;
      if (time > this.#latest[block]!) this.#latest[block] = time;
    }
    const kinds = this.#history.transientKindsAt(start, count);
    for (let i = 0; i < count; i++) this.#kinds[firstBlock + Math.floor(i / BLOCK_EVENTS)]! |= 1 << kinds[i]!;
  }

  /**
   * The first `limit` positions from `start` on whose events match, ascending. Does not check whether the file changed.
   * @throws SnapshotChangedError when it finds that the file changed
   */
  matchesFrom(start: number, filter: EventFilter, limit: number): number[] {
    const { count } = this.#history;
    const matches: number[] = [];
    for (let from = start; from < count && matches.length < limit; ) {
      const block = Math.floor(from / BLOCK_EVENTS);
      const past = Math.min((block + 1) * BLOCK_EVENTS, count);
      if (this.#mayMatch(block, filter)) {
        const matchesAt = this.#matcherIn(block, filter);
        for (; from < past && matches.length < limit; from++) if (matchesAt(from)) matches.push(from);
      }
      from = past;
    }
    return matches;
  }

  /** The first `limit` matching events of a company, from a place in its list on. Otherwise as `matchesFrom`. */
  matchesAmong(events: CompanyEvents, firstPlace: number, filter: EventFilter, limit: number): number[] {
    const matches: number[] = [];
    /** Where the current block ends, and the test of its events; undefined = none matches. */
    let blockEnd = 0;
    let matchesAt: ((position: number) => boolean) | undefined;
    for (let place = firstPlace; place < events.count; place += READ_POSITIONS) {
      const positions = events.positionsAt(place, Math.min(READ_POSITIONS, events.count - place));
      for (let i = 0; i < positions.length; i++) {
        const position = positions[i]!;
        if (position >= blockEnd) {
          const block = Math.floor(position / BLOCK_EVENTS);
          blockEnd = (block + 1) * BLOCK_EVENTS;
          matchesAt = this.#mayMatch(block, filter) ? this.#matcherIn(block, filter) : undefined;
        }
        if (matchesAt?.(position) === true && matches.push(position) === limit) return matches;
      }
    }
    return matches;
  }

  #mayMatch(block: number, { kind, sinceMs, untilMs }: EventFilter): boolean {
    return (
      (kind === undefined || (this.#kinds[block]! & (1 << kind)) !== 0) &&
      (sinceMs === undefined || this.#latest[block]! >= sinceMs) &&
      (untilMs === undefined || this.#earliest[block]! < untilMs)
    );
  }

  /** A test for the events of a block; reads only the columns that the summary does not decide. */
  #matcherIn(block: number, { kind, sinceMs, untilMs }: EventFilter): (position: number) => boolean {
    const start = block * BLOCK_EVENTS;
    const count = Math.min(BLOCK_EVENTS, this.#history.count - start);
    const isTimed =
      (sinceMs !== undefined && this.#earliest[block]! < sinceMs) ||
      (untilMs !== undefined && this.#latest[block]! >= untilMs);
    const times = isTimed ? this.#history.timesAt(start, count) : undefined;
    const isKind = kind === undefined || this.#kinds[block] === 1 << kind;
    const kinds = isKind ? undefined : this.#history.kindsAt(start, count);
    const sinceTime = sinceMs ?? Number.NEGATIVE_INFINITY;
    const untilTime = untilMs ?? Number.POSITIVE_INFINITY;
    return (position) => {
      const at = position - start;
      if (kinds !== undefined && kinds[at] !== kind) return false;
      return times === undefined || (times[at]! >= sinceTime && times[at]! < untilTime);
    };
  }
}
