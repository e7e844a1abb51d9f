/** A page's records as text beside JSON.stringify of the same jobs, for catalogues of awkward texts. */
import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { listJobs } from '../../../src/catalogue/listing/list-jobs.ts';
import { RecordTexts, recordTextsOf } from '../../../src/modules/data/records-text.ts';
import { jobRecordOf } from '../../../src/modules/job-answer.ts';
import { generatedJobs, SeededChance } from '../../support/generated-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';
import { partOf } from '../../support/whole.ts';

const AWKWARD = [
  '"',
  '\\',
  '\\"',
  '\u0000',
  '\b\f\n\r\t',
  '\u001f\u007f',
  '\u2028',
  '\ufeff',
  '😀',
  'é"é',
  '\ufffd',
  '/',
  '',
];

/** The job with such texts in every place that an answer shows. */
function awkward(chance: SeededChance, job: Job): Job {
  const text = (before: string): string => `${before}${chance.oneOf(AWKWARD)}${chance.oneOf(AWKWARD)}`;
  return {
    ...job,
    id: text(job.id),
    title: text(job.title),
    company: text(job.company),
    companyDomain: chance.is(70) ? (`${chance.oneOf(['a', 'b', '"'])}.example` as CompanyDomain) : null,
    location: chance.is(60) ? text('Berlin') : null,
    department: chance.is(60) ? text('Sales') : null,
    sourceUrl: `${job.sourceUrl}${text('#')}${'x'.repeat(chance.oneOf([0, 0, 0, 900, 9000]))}`,
    skills: Array.from({ length: chance.below(4) }, () => text('c')),
    firstObservedMs: chance.oneOf([0, -1, 1, 999, 86_399_999, -62_167_219_200_001, job.firstObservedMs]),
  };
}

/** Of rows that need not be a page of any list. */
function textOf({ foundJobs }: Catalogue, records: RecordTexts, rows: readonly number[]): string {
  const read = rows.filter((row) => !records.has(row));
  return records.textOf({ rows, read, texts: foundJobs.textsAt(read), next: null });
}

const plainly = ({ snapshot }: Catalogue, rows: readonly number[]): string =>
  JSON.stringify(rows.map((row) => jobRecordOf(snapshot.job(row)))).slice(1, -1);

describe.each([
  ['in the file', false],
  ['in memory', true],
])('records of a page, their ids and URLs %s', (_, isLoaded) => {
  const chance = new SeededChance(53);
  const jobs = generatedJobs(chance, { jobCount: 400, closedPercent: 30 }).map((job) => awkward(chance, job));
  const catalogue = new Catalogue(openedJobs(jobs));
  const { snapshot } = catalogue;
  if (isLoaded) catalogue.foundJobs.loadFirst(300, snapshot.cold.readFirst(300));

  it('are what JSON.stringify makes of them, for any rows in any order', () => {
    const few = new RecordTexts(snapshot, 20_000, 8);
    for (let i = 0; i < partOf(300, 60); i++) {
      const bound = chance.oneOf([300, 400]);
      const rows = Array.from({ length: chance.below(30) }, () => chance.below(bound));
      if (chance.is(70)) rows.sort((a, b) => a - b);
      expect(textOf(catalogue, recordTextsOf(snapshot), rows)).toBe(plainly(catalogue, rows));
      expect(textOf(catalogue, few, rows)).toBe(plainly(catalogue, rows));
    }
  });

  it('come with a page of the list', () => {
    for (const status of ['active', 'closed', 'any'] as const) {
      for (const records of [new RecordTexts(snapshot), recordTextsOf(snapshot)]) {
        const page = listJobs(catalogue, { status }, undefined, 100, records.has)!;
        expect(page.rows).toHaveLength(100);
        expect(records.textOf(page)).toBe(plainly(catalogue, page.rows));
      }
    }
  });
});
