import { describe, expect, it } from 'vitest';
import { companyRunsOf } from '../../../src/catalogue/index/company-runs.ts';
import { generatedJobs, SeededChance } from '../../support/generated-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';

describe('the runs of companies', () => {
  for (const jobCount of [0, 1, 700]) {
    it(`of ${jobCount} jobs have every row once, largest company first, each newest first`, () => {
      const snapshot = openedJobs(generatedJobs(new SeededChance(5), { jobCount, moreCompanies: 60 }));
      const { companies, offsets, positionOf, rows } = companyRunsOf(snapshot, snapshot.activeCount);
      const companyAt = (position: number): number => snapshot.employerCompany[snapshot.employer[rows[position]!]!]!;
      expect([...rows].sort((a, b) => a - b)).toEqual(Array.from({ length: snapshot.activeCount }, (_, row) => row));
      for (const [position, row] of rows.entries()) expect(positionOf[row]).toBe(position);
      expect(offsets[companies.length]).toBe(rows.length);
      const runs = Array.from(companies, (code, place) => {
        const run = rows.subarray(offsets[place], offsets[place + 1]);
        for (let position = offsets[place]!; position < offsets[place + 1]!; position++) {
          expect(companyAt(position)).toBe(code);
        }
        expect([...run]).toEqual([...run].sort((a, b) => a - b));
        return { code, size: run.length };
      });
      expect(runs).toEqual([...runs].sort((a, b) => b.size - a.size || a.code - b.code));
      expect(new Set(companies).size).toBe(companies.length);
    });
  }
});
