/**
 * The index over the whole catalogue against a plain filter over the same rows: catalogues of several chunks (two in `npm test`,
 * three in `npm run test:slow`), of texts that it leaves out, and of real postings.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSnapshotFile } from '../../../src/adapters/files/snapshot-file.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { type RowFilter, rowFilterOf } from '../../../src/catalogue/index/row-filter.ts';
import { EMPLOYMENT_TYPES, type Job, REMOTE_STATUSES } from '../../../src/catalogue/job.ts';
import { TOKEN_UNITS_MAX } from '../../../src/catalogue/limits.ts';
import { openSnapshot, type Snapshot } from '../../../src/catalogue/snapshot/snapshot.ts';
import { comparedText, TERM_COUNT_MAX, termsOf } from '../../../src/catalogue/terms.ts';
import { RowFinder, type RowRange } from '../../../src/catalogue/whole/row-finder.ts';
import { CHUNK_ROWS } from '../../../src/catalogue/whole/sections.ts';
import { selectRows } from '../../../src/catalogue/whole/select-rows.ts';
import { run } from '../../cli/captured-io.ts';
import { realDataMissing, realFile, skippedWithout } from '../../ingest/real-data.ts';
import { expectEqual } from '../../support/expect-equal.ts';
import { SeededChance } from '../../support/generated-catalogue.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { openedJobs } from '../../support/opened-jobs.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { IS_WHOLE, partOf } from '../../support/whole.ts';

interface PlainRow {
  readonly keyword: string;
  readonly location: string;
  readonly job: Job;
}

/** Compared texts of all rows, in order; a line feed keeps fields apart, and no term has one. */
function plainRows(snapshot: Snapshot): PlainRow[] {
  return Array.from({ length: snapshot.rowCount }, (_, row) => {
    const job = snapshot.job(row);
    const texts = [job.title, job.company, job.department ?? '', ...job.skills].map(comparedText);
    return { job, keyword: texts.join('\n'), location: comparedText(job.location ?? '') };
  });
}

function plainlyFound(
  rows: readonly PlainRow[],
  filter: RowFilter,
  { end, start }: RowRange,
  among: readonly Uint32Array[],
): number[] {
  const lists = among.map((list) => new Set(list));
  const matches = ({ job, keyword, location }: PlainRow): boolean =>
    filter.keyword.every((term) => keyword.includes(term)) &&
    filter.location.every((term) => location.includes(term)) &&
    (filter.remoteStatus === undefined || job.remoteStatus === filter.remoteStatus) &&
    (filter.employmentType === undefined || job.employmentType === filter.employmentType);
  const found: number[] = [];
  for (let row = start; row < end; row++) {
    if (lists.every((list) => list.has(row)) && matches(rows[row]!)) found.push(row);
  }
  return found;
}

const EVERY = { rows: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY };

/** Words from short to long and from everywhere to nowhere: word n is about 1 / n as frequent as the first. */
function wordOf(chance: SeededChance, wordCount: number): string {
  const n = Math.floor(wordCount ** (chance.below(1000) / 1000));
  return `${['en', 'ma', 'da', 'so', 'qu', 'xi'][n % 6]}${n.toString(36)}${['er', 'ing', 'a', 'ist'][n % 4]}`;
}

function jobsOfWords(chance: SeededChance, jobCount: number): Job[] {
  const titles = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 1 + chance.below(4) }, () => wordOf(chance, 4000)).join(' '),
  );
  const places = Array.from({ length: 500 }, () => `${wordOf(chance, 300)}, ${wordOf(chance, 20)}`);
  return Array.from({ length: jobCount }, (_, i) => {
    const isClosed = chance.is(10);
    return minimalJob({
      id: `job-${i}`,
      title: i % 100 === 0 ? `${chance.oneOf(titles)} r${i}` : chance.oneOf(titles),
      company: `Company ${chance.below(50)}`,
      companyDomain: (chance.is(20) ? 'large.com' : `c${chance.below(2000)}.com`) as CompanyDomain,
      location: chance.is(10) ? null : chance.oneOf(places),
      remoteStatus: chance.oneOf(REMOTE_STATUSES),
      employmentType: chance.oneOf(EMPLOYMENT_TYPES),
      status: isClosed ? 'closed' : 'active',
      closedAtMs: isClosed ? 0 : null,
      skills: chance.is(50) ? [] : [chance.oneOf(['Rust', 'C++', 'Go'])],
    });
  });
}

function filterOf(chance: SeededChance, rows: readonly PlainRow[]): RowFilter {
  const cut = (text: string): string => {
    const start = chance.below(Math.max(1, text.length - 2));
    return text.slice(start, start + 1 + chance.below(chance.is(60) ? 3 : 9)).trim() || 'zq';
  };
  const words = (text: () => string): string =>
    Array.from({ length: 1 + (chance.is(30) ? chance.below(4) : 0) }, () => cut(text()))
      .join(' ')
      .split(/\s+/u)
      .slice(0, TERM_COUNT_MAX)
      .join(' ');
  const row = (): PlainRow => chance.oneOf(rows);
  return rowFilterOf({
    keyword: chance.is(80) ? words(() => row().keyword) : undefined,
    location: chance.is(40) ? words(() => row().location || 'a') : undefined,
    remote: chance.is(20) ? chance.is(50) : undefined,
    employmentType: chance.is(20) ? chance.oneOf(EMPLOYMENT_TYPES) : undefined,
  });
}

describe('the index over the whole catalogue finds what a plain filter finds', () => {
  const chance = new SeededChance(5);
  const rowCount = partOf(2 * CHUNK_ROWS + 9000, 101_000);
  const chunkCount = Math.ceil(rowCount / CHUNK_ROWS);
  const snapshot = openedJobs(jobsOfWords(chance, rowCount));
  const rows = plainRows(snapshot);
  const finder = new RowFinder(snapshot.whole.sets);
  const large = snapshot.activeRowsIn(snapshot.companyOf('large.com' as CompanyDomain));

  it('in several chunks with lists, bitmaps and merged ranges', () => {
    const { keyword, location, sets } = snapshot.whole;
    expect([sets.chunkCount, keyword.sections.ranges.length > 0, location.sections.ranges.length > 0]).toEqual([
      chunkCount,
      true,
      true,
    ]);
    expect([sets.lists.length > 0, sets.bitmaps.length > 0, keyword.sections.rareRows.length > 0]).toEqual([
      true,
      true,
      true,
    ]);
  });

  const everyThird = Uint32Array.from({ length: Math.floor(snapshot.rowCount / 3) }, (_, i) => i * 3 + 1);

  for (const [title, start, end, among] of [
    ['among the active rows', 0, snapshot.activeCount, []],
    ['among all rows', 0, snapshot.rowCount, []],
    ['up to the end of a chunk', 0, CHUNK_ROWS, []],
    ['up to a row inside one', 0, CHUNK_ROWS + 777, []],
    ['from a row inside one to another', 777, CHUNK_ROWS + 1777, []],
    ['between two rows of one word of a bitmap', CHUNK_ROWS + 65, CHUNK_ROWS + 90, []],
    ['in a company of a tenth of them', 0, snapshot.activeCount, [large]],
    ['in both of two lists', CHUNK_ROWS - 40, snapshot.rowCount, [large, everyThird]],
  ] as const) {
    it(title, () => {
      for (let i = 0; i < partOf(60); i++) {
        const filter = filterOf(chance, rows);
        const expected = plainlyFound(rows, filter, { start, end }, among);
        const because = JSON.stringify(filter);
        const everything =
          among.length === 0 && Object.values(filter).every((part) => part === undefined || part.length === 0);
        if (everything) continue;
        const found = selectRows(snapshot, finder, filter, { start, end }, EVERY, among);
        expectEqual(found, { rows: expected, count: expected.length }, () => because);
        const few = selectRows(snapshot, finder, filter, { start, end }, { rows: 3, count: 100 }, among);
        expect(few.rows, because).toEqual(expected.slice(0, 3));
        if (expected.length <= 100) expect(few.count, because).toBe(expected.length);
        else expect(few.count, because).toBeGreaterThan(100);
      }
    });
  }
});

it('finds rows with a word too long for the index, whatever else the filter names', () => {
  const long = 'abc'.repeat(TOKEN_UNITS_MAX);
  const jobs = Array.from({ length: 500 }, (_, i) =>
    minimalJob({
      id: `job-${i}`,
      title: i % 7 === 0 ? `Engineer ${long}${i}` : `Engineer ${i}`,
      location: i % 11 === 0 ? `Berlin ${long}` : 'Berlin',
      remoteStatus: i % 2 === 0 ? 'remote' : 'on_site',
      companyDomain: (i % 3 === 0 ? 'three.com' : 'acme.com') as CompanyDomain,
    }),
  );
  const snapshot = openedJobs(jobs);
  const rows = plainRows(snapshot);
  const finder = new RowFinder(snapshot.whole.sets);
  expect(snapshot.whole.unindexedRows).toHaveLength(jobs.filter((_, i) => i % 7 === 0 || i % 11 === 0).length);
  const three = snapshot.activeRowsIn(snapshot.companyOf('three.com' as CompanyDomain));
  for (const filters of [
    { keyword: 'engineer' },
    { keyword: 'cabca' },
    { keyword: 'cabca 49' },
    { keyword: 'engineer', location: 'berlin abc' },
    { location: 'erl', remote: true },
    { remote: true },
    { keyword: 'nowhere' },
  ]) {
    for (const among of [[], [three]]) {
      const filter = rowFilterOf(filters);
      const expected = plainlyFound(rows, filter, { start: 0, end: 500 }, among);
      const found = selectRows(snapshot, finder, filter, { start: 0, end: 500 }, EVERY, among);
      expect(found, JSON.stringify(filters)).toEqual({ rows: expected, count: expected.length });
    }
  }
});

/** @returns the path of the new file */
function firstLines(packed: string, count: number, out: string): string {
  const lines = gunzipSync(readFileSync(packed)).toString().split('\n');
  writeFileSync(out, `${lines.slice(0, count).join('\n')}\n`);
  return out;
}

it.skipIf(realDataMissing)(
  `finds each of many real jobs by the words of its title${skippedWithout}`,
  async () => {
    const folder = testFolder();
    const out = join(folder, 'real.snapshot');
    const files = IS_WHOLE
      ? ['aggregator-open-jobs-data.2026-08-04.csv.gz', 'aggregator-ece-internships.csv.gz'].map(realFile)
      : [firstLines(realFile('aggregator-ece-internships.csv.gz'), 4000, join(folder, 'ece.csv'))];
    expect((await run(['snapshot', 'build', '--format', 'auto', '--out', out, ...files])).exitCode).toBe(0);
    const snapshot = openSnapshot(openSnapshotFile(out));
    onTestFinished(() => snapshot.close());
    const finder = new RowFinder(snapshot.whole.sets);
    const chance = new SeededChance(14);
    expect(snapshot.activeCount).toBeGreaterThan(partOf(10_000, 1000));
    for (let i = 0; i < partOf(1000); i++) {
      const row = chance.below(snapshot.activeCount);
      const title = snapshot.titles.textOf(snapshot.title[row]!);
      const keyword = termsOf(title).slice(0, TERM_COUNT_MAX).join(' ');
      const { rows } = selectRows(
        snapshot,
        finder,
        rowFilterOf({ keyword }),
        { start: 0, end: snapshot.activeCount },
        EVERY,
      );
      expect(rows.includes(row), title).toBe(true);
    }
  },
  120_000,
);
