/**
 * Data of jobs beyond the columns, half of their bytes: titles, skills and the order of ids. Like the columns, views of
 * the bytes; a start reads them once the server listens (unchecked.ts).
 */
import type { OpenedHeader } from './header.ts';
import { DETAILS, hotSectionsIn } from './hot-sections.ts';
import type { Refuse } from './snapshot-error.ts';
import type { TextColumn } from './text-column.ts';

export class SnapshotDetails {
  readonly titles: TextColumn;
  /** Skills of row r are `skills[skillOffsets[r]] .. skills[skillOffsets[r + 1] - 1]`, in the order recorded. */
  readonly skillOffsets: Uint32Array;
  readonly skills: Uint16Array | Uint32Array;
  /** One element a row: the place of its id among all ids, by code unit, so that comparing ranks compares ids. */
  readonly idRank: Uint32Array;
  readonly bytes: Uint8Array;

  /** @param bytes of `readingHot` @throws SnapshotError when one has a wrong number of elements */
  constructor(bytes: Uint8Array, opened: OpenedHeader, refuse: Refuse) {
    const hot = hotSectionsIn(bytes, opened, DETAILS, refuse);
    const { rows } = opened.header;
    this.titles = hot.texts('titleOffsets', 'titleText');
    this.skills = hot.codes('skills');
    this.skillOffsets = hot.offsets('skillOffsets', this.skills.length, rows);
    this.idRank = hot.u32('idRank', rows);
    this.bytes = bytes;
  }
}
