/**
 * The jobs of a snapshot that is being built, as columns in order of their arrival. A job comes as a record, or as a
 * row of an earlier snapshot, whose texts are copied as bytes, a tenth of the work. Memory: for each job the bytes of
 * its new texts (id and URL always) and about 80 bytes of columns.
 */
import type { Job } from '../job.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../job.ts';
import { ROW_COUNT_MAX } from '../limits.ts';
import type { IndexedColumns } from '../whole/build-index.ts';
import { grown } from './column-arrays.ts';
import { Employers } from './employers.ts';
import { SnapshotError } from './snapshot-error.ts';
import { TextBytes, TextTable } from './text-table.ts';

/** The rows of an earlier snapshot, as the sections of its file (layout.ts). */
export interface EarlierRows extends Omit<IndexedColumns, 'employer' | 'employerNameOffsets' | 'employerNameText'> {
  readonly lastObserved: Float64Array;
  readonly firstObserved: Float64Array;
  readonly closedAt: Float64Array;
  readonly coldOffsets: Uint32Array;
  readonly coldText: Uint8Array;
  readonly rowsById: Uint32Array;
  /** Rows before the first closed one. */
  readonly activeCount: number;
  /** By row: the first 48 bits of the SHA-256 of its id. */
  readonly digestKeys: Float64Array;
}

/** The texts of an earlier dictionary that rows still use; each is added to a table at its first use. */
class CarriedTexts {
  readonly #table: TextTable;
  readonly #offsets: Uint32Array;
  readonly #text: Uint8Array;
  /** By earlier code: number in the table plus 1; 0 = not added. */
  readonly #numbers: Uint32Array;

  constructor(table: TextTable, offsets: Uint32Array, text: Uint8Array) {
    this.#table = table;
    this.#offsets = offsets;
    this.#text = text;
    this.#numbers = new Uint32Array(offsets.length);
  }

  numberOf(code: number): number {
    const known = this.#numbers[code]!;
    if (known !== 0) return known - 1;
    const number = this.#table.numberOfBytes(this.#text, this.#offsets[code]!, this.#offsets[code + 1]!);
    this.#numbers[code] = number + 1;
    return number;
  }
}

export class JobRows {
  /** The ordinal of a job is the number of its id. */
  readonly ids = new TextTable();
  readonly urls = new TextBytes();
  readonly titles = new TextTable();
  readonly employers = new Employers();
  readonly locations = new TextTable();
  readonly departments = new TextTable();
  readonly skillNames = new TextTable();

  // One element a job. Location and department: number in the table + 1, 0 = not recorded.
  lastObserved = new Float64Array(1024);
  firstObserved = new Float64Array(1024);
  /** NaN = active. */
  closedAt = new Float64Array(1024);
  /** The first 48 bits of the SHA-256 of the id; NaN = not computed yet. */
  digestKeys = new Float64Array(1024);
  title = new Uint32Array(1024);
  employer = new Uint32Array(1024);
  location = new Uint32Array(1024);
  department = new Uint32Array(1024);
  remoteStatus = new Uint8Array(1024);
  employmentType = new Uint8Array(1024);
  urlEnds = new Uint32Array(1024);
  skillEnds = new Uint32Array(1024);
  /** Skill numbers of all jobs, job after job. */
  skillNumbers = new Uint32Array(4096);
  skillCount = 0;
  activeCount = 0;

  get count(): number {
    return this.ids.size;
  }

  /** @returns the ordinal (0-based) of another job with its id, else undefined @throws SnapshotError past the limits */
  add(job: Job, group: number): number | undefined {
    const at = this.ids.size;
    const ordinal = this.ids.numberOf(job.id);
    if (ordinal < at) return ordinal;
    this.#makeRoom(at);
    this.lastObserved[at] = job.lastObservedMs;
    this.firstObserved[at] = job.firstObservedMs;
    this.closedAt[at] = job.closedAtMs ?? Number.NaN;
    this.digestKeys[at] = Number.NaN;
    this.title[at] = this.titles.numberOf(job.title);
    this.employer[at] = this.employers.numberOf(job, group);
    this.location[at] = job.location === null ? 0 : this.locations.numberOf(job.location) + 1;
    this.department[at] = job.department === null ? 0 : this.departments.numberOf(job.department) + 1;
    this.remoteStatus[at] = REMOTE_STATUSES.indexOf(job.remoteStatus);
    this.employmentType[at] = EMPLOYMENT_TYPES.indexOf(job.employmentType);
    if (job.status === 'active') this.activeCount++;
    this.urls.append(job.sourceUrl);
    this.urlEnds[at] = this.urls.length;
    for (const skill of job.skills) this.#addSkill(this.skillNames.numberOf(skill));
    this.skillEnds[at] = this.skillCount;
    return undefined;
  }

  /**
   * A function that adds a row of an earlier snapshot, in which only the last observation and the company may have
   * changed. No job may have been added before. @returns its ordinal
   */
  carrier(earlier: EarlierRows): (row: number, lastObservedMs: number, employer: number) => number {
    const titles = new CarriedTexts(this.titles, earlier.titleOffsets, earlier.titleText);
    const locations = new CarriedTexts(this.locations, earlier.locationOffsets, earlier.locationText);
    const departments = new CarriedTexts(this.departments, earlier.departmentOffsets, earlier.departmentText);
    const skillNames = new CarriedTexts(this.skillNames, earlier.skillTextOffsets, earlier.skillText);
    const { activeCount, coldOffsets, coldText, skillOffsets, skills } = earlier;
    return (row, lastObservedMs, employer) => {
      const at = this.ids.size;
      const idEnd = coldOffsets[row * 2 + 1]!;
      this.ids.numberOfBytes(coldText, coldOffsets[row * 2]!, idEnd);
      if (this.ids.size === at) throw new SnapshotError('the earlier snapshot has a job twice');
      this.#makeRoom(at);
      this.lastObserved[at] = lastObservedMs;
      this.firstObserved[at] = earlier.firstObserved[row]!;
      this.closedAt[at] = row < activeCount ? Number.NaN : earlier.closedAt[row - activeCount]!;
      this.digestKeys[at] = earlier.digestKeys[row]!;
      this.title[at] = titles.numberOf(earlier.title[row]!);
      this.employer[at] = employer;
      const location = earlier.location[row]!;
      this.location[at] = location === 0 ? 0 : locations.numberOf(location) + 1;
      const department = earlier.department[row]!;
      this.department[at] = department === 0 ? 0 : departments.numberOf(department) + 1;
      this.remoteStatus[at] = earlier.remoteStatus[row]!;
      this.employmentType[at] = earlier.employmentType[row]!;
      if (row < activeCount) this.activeCount++;
      this.urls.appendBytes(coldText, idEnd, coldOffsets[row * 2 + 2]!);
      this.urlEnds[at] = this.urls.length;
      const past = skillOffsets[row + 1]!;
      for (let i = skillOffsets[row]!; i < past; i++) this.#addSkill(skillNames.numberOf(skills[i]!));
      this.skillEnds[at] = this.skillCount;
      return at;
    };
  }

  isActive(ordinal: number): boolean {
    return Number.isNaN(this.closedAt[ordinal]!);
  }

  urlStart(ordinal: number): number {
    return ordinal === 0 ? 0 : this.urlEnds[ordinal - 1]!;
  }

  skillStart(ordinal: number): number {
    return ordinal === 0 ? 0 : this.skillEnds[ordinal - 1]!;
  }

  #addSkill(number: number): void {
    if (this.skillCount === this.skillNumbers.length) this.skillNumbers = grown(this.skillNumbers);
    this.skillNumbers[this.skillCount++] = number;
  }

  #makeRoom(at: number): void {
    if (at === ROW_COUNT_MAX) throw new SnapshotError(`the catalogue has more than ${ROW_COUNT_MAX} jobs`);
    if (at < this.title.length) return;
    this.lastObserved = grown(this.lastObserved);
    this.firstObserved = grown(this.firstObserved);
    this.closedAt = grown(this.closedAt);
    this.digestKeys = grown(this.digestKeys);
    this.title = grown(this.title);
    this.employer = grown(this.employer);
    this.location = grown(this.location);
    this.department = grown(this.department);
    this.remoteStatus = grown(this.remoteStatus);
    this.employmentType = grown(this.employmentType);
    this.urlEnds = grown(this.urlEnds);
    this.skillEnds = grown(this.skillEnds);
  }
}
