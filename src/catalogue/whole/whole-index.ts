/**
 * The index over the whole catalogue, as a view of the snapshot's bytes (sections.ts). It is in memory with the
 * columns: a question reads some hundred kibibytes of it at unpredictable places, and a file read would cost more than
 * the work on its result. Making the views takes microseconds, checking them one pass over all but lists and bitmaps.
 */
import { EMPLOYMENT_TYPES, type EmploymentType, REMOTE_STATUSES, type RemoteStatus } from '../job.ts';
import type { OpenedHeader } from '../snapshot/header.ts';
import { type HotSections, hotSectionsIn, INDEX } from '../snapshot/hot-sections.ts';
import type { Refuse } from '../snapshot/snapshot-error.ts';
import { RowSets } from './row-sets.ts';
import { LIST_SET_COUNT } from './sections.ts';
import { faultInTokens, TokenIndex, type TokenSections } from './token-index.ts';

export class WholeIndex {
  readonly sets: RowSets;
  /** Over title, company, department and skills. */
  readonly keyword: TokenIndex;
  readonly location: TokenIndex;
  /** Rows that the tokens leave out, ascending: to be scanned. Nearly always none. */
  readonly unindexedRows: Uint32Array;
  readonly #rowCount: number;
  readonly #frequentTokens: Uint32Array;

  /** @param indexBytes of `readingHot` @throws SnapshotError when a section has a wrong number of elements */
  constructor(indexBytes: Uint8Array, opened: OpenedHeader, refuse: Refuse) {
    const hot = hotSectionsIn(indexBytes, opened, INDEX, refuse);
    this.#rowCount = opened.header.rows;
    this.#frequentTokens = hot.u32('frequentTokens', 2);
    this.unindexedRows = hot.u32('unindexedRows');
    this.sets = new RowSets(this.#rowCount, hot.u32('setChunks'), hot.u16('setLists'), hot.u32('setBitmaps'));
    this.keyword = new TokenIndex(tokenSections(hot, 'keyword'), this.#frequentTokens[0]!, LIST_SET_COUNT);
    const firstPlaceSet = LIST_SET_COUNT + this.keyword.setCount;
    this.location = new TokenIndex(tokenSections(hot, 'place'), this.#frequentTokens[1]!, firstPlaceSet);
  }

  /** Number of the set of a workplace type. */
  remoteSet(status: RemoteStatus): number {
    return REMOTE_STATUSES.indexOf(status);
  }

  /** Number of the set of an employment type. */
  employmentSet(type: EmploymentType): number {
    return REMOTE_STATUSES.length + EMPLOYMENT_TYPES.indexOf(type);
  }

  /** Compares every number with what it points into, in steps. @throws SnapshotError when one is wrong */
  *checking(refuse: Refuse): Generator<void, void> {
    const { keyword, location, sets, unindexedRows } = this;
    const require = (fault: string | undefined): void => {
      if (fault !== undefined) throw refuse(fault);
    };
    require(faultInTokens('keyword', keyword.sections, this.#frequentTokens[0]!, this.#rowCount));
    yield;
    require(faultInTokens('place', location.sections, this.#frequentTokens[1]!, this.#rowCount));
    yield;
    require(sets.fault(LIST_SET_COUNT + keyword.setCount + location.setCount, this.#rowCount));
    for (let i = 0; i < unindexedRows.length; i++) {
      const isInOrder = i === 0 || unindexedRows[i - 1]! < unindexedRows[i]!;
      if (!isInOrder || unindexedRows[i]! >= this.#rowCount) throw refuse('has unindexedRows out of order');
    }
  }
}

function tokenSections(hot: HotSections, group: 'keyword' | 'place'): TokenSections {
  return {
    text: hot.u8(`${group}Text`),
    suffixes: hot.u32(`${group}Suffixes`),
    tokens: hot.u32(`${group}Tokens`),
    rareOffsets: hot.u32(`${group}RareOffsets`),
    rareRows: hot.u32(`${group}RareRows`),
    ranges: hot.u32(`${group}Ranges`),
  };
}
