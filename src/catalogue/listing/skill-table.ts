/**
 * The skills of some active jobs, each with its number of jobs and of companies: as recorded, most jobs first, then
 * text ascending by code unit, which is the order of codes.
 */
import { BitSet } from '../../base/bitset.ts';
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

/** Bits of the bitmap that marks pairs of company and skill during counting: 32 MiB. */
const MARKED_PAIRS_MAX = 2 ** 28;

/** Skills of one company. @param rows active, of that company @param counts empty between uses */
export function skillsOfCompany({ skillOffsets, skills }: Snapshot, rows: Uint32Array, counts: CodeCounts): SkillTable {
  counts.addAllOf(rows, skillOffsets, skills);
  const counted = counts.take().sort((a, b) => b.count - a.count || a.code - b.code);
  return {
    codes: Uint32Array.from(counted, ({ code }) => code),
    jobCounts: Uint32Array.from(counted, ({ count }) => count),
    companyCounts: new Uint32Array(counted.length).fill(1),
  };
}

/**
 * Skills of several companies. Reads the rows in order and marks pairs of company and skill in a bitmap. Where that
 * would be too large, reads them company after company, which takes several times as long.
 * @param rows active ones, ascending
 * @param markedPairsMax bits of the largest bitmap; tests and benches set it for comparison
 */
export function skillsOfRows(snapshot: Snapshot, rows: Uint32Array, markedPairsMax = MARKED_PAIRS_MAX): SkillTable {
  const counts = new SkillCounts(snapshot);
  const isMarked = snapshot.companyCount * snapshot.skillNames.size <= markedPairsMax;
  if (isMarked) counts.addMarking(rows);
  else counts.addByCompany(rows);
  return counts.finish();
}

class SkillCounts {
  readonly #snapshot: Snapshot;
  // By code.
  readonly #jobs: Uint32Array;
  readonly #companies: Uint32Array;

  constructor(snapshot: Snapshot) {
    const { size } = snapshot.skillNames;
    this.#snapshot = snapshot;
    this.#jobs = new Uint32Array(size);
    this.#companies = new Uint32Array(size);
  }

  addMarking(rows: Uint32Array): void {
    const { companyCount, employer, employerCompany, skillNames, skillOffsets, skills } = this.#snapshot;
    const jobs = this.#jobs;
    const companies = this.#companies;
    const skillCount = skillNames.size;
    const marks = new Int32Array(Math.ceil((companyCount * skillCount) / 32));
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      const first = employerCompany[employer[row]!]! * skillCount;
      const past = skillOffsets[row + 1]!;
      for (let place = skillOffsets[row]!; place < past; place++) {
        const code = skills[place]!;
        jobs[code]!++;
        const pair = first + code;
        const bit = 1 << (pair & 31);
        const word = marks[pair >>> 5]!;
        if ((word & bit) !== 0) continue;
        marks[pair >>> 5] = word | bit;
        companies[code]!++;
      }
    }
  }

  addByCompany(rows: Uint32Array): void {
    const { activeCount, companyCount, companyOffsets, companyRows, skillOffsets, skills } = this.#snapshot;
    const isIn = new BitSet(activeCount);
    for (let i = 0; i < rows.length; i++) isIn.add(rows[i]!);
    /** By code: the company that had the skill last, plus 1. */
    const last = new Uint32Array(this.#jobs.length);
    for (let company = 0; company < companyCount; company++) {
      for (let i = companyOffsets[company]!; i < companyOffsets[company + 1]! && companyRows[i]! < activeCount; i++) {
        const row = companyRows[i]!;
        if (((isIn.words[row >>> 5]! >>> (row & 31)) & 1) === 0) continue;
        for (let place = skillOffsets[row]!; place < skillOffsets[row + 1]!; place++) {
          const code = skills[place]!;
          this.#jobs[code]!++;
          if (last[code] === company + 1) continue;
          last[code] = company + 1;
          this.#companies[code]!++;
        }
      }
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
