/**
 * What the lists and counts of the Jobs Data API are answered from beyond the columns (siblings §4). Each part is built on first
 * use and kept with the catalogue.
 */
import type { Snapshot } from '../snapshot/snapshot.ts';
import { overviewOf } from './active-counts.ts';
import type { Overview } from './listing-answers.ts';
import { TextGroups } from './text-groups.ts';

export class ListingIndexes {
  readonly #snapshot: Snapshot;
  #departments: TextGroups | undefined;
  #skills: TextGroups | undefined;
  #overview: Overview | undefined;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  get departments(): TextGroups {
    const { department, departments } = this.#snapshot;
    this.#departments ??= new TextGroups({ texts: departments, firstCode: 1, codes: department });
    return this.#departments;
  }

  get skills(): TextGroups {
    const { skillNames, skillOffsets, skills } = this.#snapshot;
    this.#skills ??= new TextGroups({ texts: skillNames, firstCode: 0, codes: skills, offsets: skillOffsets });
    return this.#skills;
  }

  get overview(): Overview {
    this.#overview ??= overviewOf(this.#snapshot);
    return this.#overview;
  }
}
