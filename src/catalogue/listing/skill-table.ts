/**
 * Skills of some active jobs with how many of these jobs have each, and how many companies: as recorded, most jobs first, then
 * text ascending by code unit, which is the order of codes.
 */
import type { CodeCounts } from '../questions/top-codes.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** One element a skill, in order. */
export interface SkillTable {
  readonly codes: Uint32Array;
  readonly jobCounts: Uint32Array;
  readonly companyCounts: Uint32Array;
}

export const NO_SKILLS: SkillTable = {
  codes: new Uint32Array(0),
  jobCounts: new Uint32Array(0),
  companyCounts: new Uint32Array(0),
};

/** A department's share of the rows below which they are sorted by company rather than searched for in all rows. */
const SORTED_SHARE = 1 / 16;

/** Of one company. @param rows active, of that company @param counts empty between uses */
export function skillsOfCompany({ skillOffsets, skills }: Snapshot, rows: Uint32Array, counts: CodeCounts): SkillTable {
  counts.addAllOf(rows, skillOffsets, skills);
  const counted = counts.take().sort((a, b) => b.count - a.count || a.code - b.code);
  return {
    codes: Uint32Array.from(counted, ({ code }) => code),
    jobCounts: Uint32Array.from(counted, ({ count }) => count),
    companyCounts: new Uint32Array(counted.length).fill(1),
  };
}

/** Of the whole catalogue. */
export function skillsOfAll(snapshot: Snapshot): SkillTable {
  const { activeCount, companyCount, companyOffsets, companyRows } = snapshot;
  const counter = new CompanySkills(snapshot);
  for (let company = 0; company < companyCount; company++) {
    for (let i = companyOffsets[company]!; i < companyOffsets[company + 1]! && companyRows[i]! < activeCount; i++) {
      counter.add(companyRows[i]!, company);
    }
  }
  return counter.finish();
}

/** Of a department. @param rows all active ones of it, ascending @param isIn whether a row is among them */
export function skillsOfDepartment(snapshot: Snapshot, rows: Uint32Array, isIn: (row: number) => boolean): SkillTable {
  const { activeCount, companyCount, companyOffsets, companyRows, employer, employerCompany } = snapshot;
  const counter = new CompanySkills(snapshot);
  if (rows.length < activeCount * SORTED_SHARE) {
    // Company and row in one number: 2^24 rows at most (limits.ts).
    const keys = Float64Array.from(rows, (row) => employerCompany[employer[row]!]! * 2 ** 24 + row).sort();
    for (const key of keys) counter.add(key % 2 ** 24, Math.floor(key / 2 ** 24));
    return counter.finish();
  }
  for (let company = 0; company < companyCount; company++) {
    for (let i = companyOffsets[company]!; i < companyOffsets[company + 1]! && companyRows[i]! < activeCount; i++) {
      if (isIn(companyRows[i]!)) counter.add(companyRows[i]!, company);
    }
  }
  return counter.finish();
}

/** Counts skills of rows that come company after company. */
class CompanySkills {
  readonly #snapshot: Snapshot;
  // By code.
  readonly #jobs: Uint32Array;
  readonly #companies: Uint32Array;
  /** The company that had the skill last, plus 1. */
  readonly #last: Uint32Array;

  constructor(snapshot: Snapshot) {
    const { size } = snapshot.skillNames;
    this.#snapshot = snapshot;
    this.#jobs = new Uint32Array(size);
    this.#companies = new Uint32Array(size);
    this.#last = new Uint32Array(size);
  }

  add(row: number, company: number): void {
    const { skillOffsets, skills } = this.#snapshot;
    const past = skillOffsets[row + 1]!;
    for (let i = skillOffsets[row]!; i < past; i++) {
      const code = skills[i]!;
      this.#jobs[code]!++;
      if (this.#last[code] === company + 1) continue;
      this.#last[code] = company + 1;
      this.#companies[code]!++;
    }
  }

  finish(): SkillTable {
    const jobs = this.#jobs;
    const codes = Uint32Array.from(jobs.keys())
      .filter((code) => jobs[code]! > 0)
      .sort((a, b) => jobs[b]! - jobs[a]! || a - b);
    return {
      codes,
      jobCounts: codes.map((code) => jobs[code]!),
      companyCounts: codes.map((code) => this.#companies[code]!),
    };
  }
}
