/**
 * The indexes behind the lists and counts of the Jobs Data API (siblings §4). Each is built on first use and lives as
 * long as the catalogue; those of companies and departments are in an LRU cache.
 *
 * Cost and memory: bench/listing.ts.
 */
import { LRUCache } from 'lru-cache';
import { KEPT_COMPANY_ROWS_MAX, KEPT_ROWS_MIN, KEPT_SKILLS_MAX } from '../limits.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { overviewOf } from './active-counts.ts';
import { type CompanyFacts, type CountingTools, companyFactsOf } from './company-facts.ts';
import { FeedBlocks } from './feed-blocks.ts';
import { HiringCounts } from './hiring-counts.ts';
import type { Overview } from './listing-answers.ts';
import { activeRows, rowsBetween } from './rows-between.ts';
import { NO_SKILLS, type SkillTable, skillsOfCompany, skillsOfRows } from './skill-table.ts';
import { TextGroups } from './text-groups.ts';

export class ListingIndexes {
  readonly #snapshot: Snapshot;
  readonly #tools: CountingTools;
  #departments: TextGroups | undefined;
  #skills: TextGroups | undefined;
  #overview: Overview | undefined;
  #feedBlocks: FeedBlocks | undefined;
  #skillTable: SkillTable | undefined;
  #hiring: HiringCounts | undefined;
  readonly #companies = new LRUCache<number, CompanyFacts>({
    maxSize: KEPT_COMPANY_ROWS_MAX,
    sizeCalculation: ({ activeCount, closedCount }) => activeCount + closedCount,
  });
  /** By company, and group of departments. */
  readonly #skillTables = new LRUCache<string, SkillTable>({
    maxSize: KEPT_SKILLS_MAX,
    sizeCalculation: ({ codes }) => codes.length + 1,
  });

  /** @param tools of the catalogue, used while something is counted */
  constructor(snapshot: Snapshot, tools: CountingTools) {
    this.#snapshot = snapshot;
    this.#tools = tools;
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

  /** @throws SnapshotChangedError when the snapshot's file changed after it was opened */
  get feedBlocks(): FeedBlocks {
    this.#feedBlocks ??= new FeedBlocks(this.#snapshot.history);
    return this.#feedBlocks;
  }

  get hiring(): HiringCounts {
    this.#hiring ??= new HiringCounts(this.#snapshot, this.departments);
    return this.#hiring;
  }

  /** @param company that the snapshot has */
  companyFacts(company: number): CompanyFacts {
    const known = this.#companies.get(company);
    if (known !== undefined) return known;
    const rows = this.#snapshot.rowsIn(company);
    const facts = companyFactsOf(this.#snapshot, rows, this.departments, this.#tools);
    if (rows.length >= KEPT_ROWS_MIN) this.#companies.set(company, facts);
    return facts;
  }

  /** Of all active jobs. */
  get skillTable(): SkillTable {
    this.#skillTable ??= skillsOfRows(this.#snapshot, activeRows(this.#snapshot));
    return this.#skillTable;
  }

  /**
   * Of the active jobs of a company, of a department or of both.
   * @param company `undefined` = of every company
   * @param department in compared form; `undefined` = of every department or none
   */
  skillTableOf(company: number | undefined, department: string | undefined): SkillTable {
    const group = department === undefined ? undefined : this.departments.find(department);
    if (department !== undefined && group === undefined) return NO_SKILLS;
    if (company !== undefined) {
      const rows = this.#snapshot.activeRowsIn(company);
      const count = (): SkillTable => this.#skillsIn(rows, group);
      return rows.length < KEPT_ROWS_MIN ? count() : this.#kept(`${company} ${group}`, count);
    }
    if (department === undefined) return this.skillTable;
    return this.#kept(`every ${group}`, () => {
      const rows = rowsBetween(this.departments.rowsOf(department), 0, this.#snapshot.activeCount);
      return skillsOfRows(this.#snapshot, rows);
    });
  }

  #kept(name: string, count: () => SkillTable): SkillTable {
    const known = this.#skillTables.get(name);
    if (known !== undefined) return known;
    const table = count();
    this.#skillTables.set(name, table);
    return table;
  }

  /** @param rows active ones of one company */
  #skillsIn(rows: Uint32Array, group: number | undefined): SkillTable {
    const { department } = this.#snapshot;
    const { groupOf } = this.departments;
    const among = group === undefined ? rows : rows.filter((row) => groupOf[department[row]!] === group);
    return skillsOfCompany(this.#snapshot, among, this.#tools.skillCounts);
  }
}
