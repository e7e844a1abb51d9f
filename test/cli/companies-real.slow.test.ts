/**
 * The real files imported and built: how many active jobs can be asked for by company (decisions §8), and what a buyer finds of
 * them (decisions §3: search looks at every active job).
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSnapshotFile } from '../../src/adapters/files/snapshot-file.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import { rowFilterOf } from '../../src/catalogue/index/row-filter.ts';
import { RowScan } from '../../src/catalogue/index/row-scan.ts';
import { changes } from '../../src/catalogue/questions/changes.ts';
import { companiesCalled } from '../../src/catalogue/questions/companies.ts';
import { companyActivity } from '../../src/catalogue/questions/company.ts';
import { observationPeriodEndingAt } from '../../src/catalogue/questions/period.ts';
import { search } from '../../src/catalogue/questions/search.ts';
import { openSnapshot, type Snapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { comparedText } from '../../src/catalogue/terms.ts';
import { selectRows } from '../../src/catalogue/whole/select-rows.ts';
import { realDataMissing, realFiles, skippedWithout } from '../ingest/real-data.ts';
import { SeededChance } from '../support/generated-catalogue.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { NOW_MS, run } from './captured-io.ts';

const folder = suiteFolder();

interface Listed {
  readonly board: string;
  readonly domain: string | null;
  readonly active_jobs: number;
}

const BOARDS = /^(?:ashby|greenhouse|lever):/;
const OKTA = 'okta.com' as CompanyDomain;

describe.skipIf(realDataMissing)(`every real file${skippedWithout}`, () => {
  const options = ['--catalogue', join(folder, 'catalogue')];
  let snapshot: Snapshot;
  let catalogue: Catalogue;
  let domainShare: number;
  beforeAll(async () => {
    const { undated, dated } = realFiles();
    await run(['import', ...options, '--observed-at', 'from-name', ...dated]);
    await run(['import', ...options, ...undated]);
    const out = join(folder, 'real.snapshot');
    const { exitCode, stdout } = await run(['snapshot', 'build', ...options, '--out', out, '--json']);
    expect(exitCode).toBe(0);
    domainShare = (JSON.parse(stdout) as { reach: { domain_share: number } }).reach.domain_share;
    snapshot = openSnapshot(openSnapshotFile(out));
    catalogue = new Catalogue(snapshot);
  }, 900_000);
  afterAll(() => snapshot.close());

  /** Active rows that match, read one by one without the index. */
  const scanned = (keyword: string): number => {
    const { activeCount } = snapshot;
    const rows = Uint32Array.from({ length: activeCount }, (_, row) => row);
    return new RowScan(snapshot, rowFilterOf({ keyword }), activeCount).matchesAmong(rows, activeCount).length;
  };

  it('have a domain for 60 % of the active jobs, and for 75 % on boards of Greenhouse, Lever and Ashby', async () => {
    expect(domainShare).toBeGreaterThanOrEqual(0.6);
    const listed = JSON.parse((await run(['companies', ...options, '--json'])).stdout) as Listed[];
    const active = (all: readonly Listed[]) => all.reduce((sum, { active_jobs: count }) => sum + count, 0);
    const boards = listed.filter(({ board }) => BOARDS.test(board));
    expect(active(boards)).toBeGreaterThan(60_000);
    expect(active(boards.filter(({ domain }) => domain !== null)) / active(boards)).toBeGreaterThanOrEqual(0.75);
  });

  it('a search for SpaceX or for nurses counts every job of theirs in the catalogue', () => {
    for (const [keyword, least] of [
      ['spacex', 2_000],
      ['nurse', 1_000],
    ] as const) {
      const { coverage, jobs } = search(catalogue, { keyword }, 10);
      expect(coverage.candidateJobs).toBe(scanned(keyword));
      expect(coverage.candidateJobs).toBeGreaterThan(least);
      expect(jobs).toHaveLength(10);
    }
    const spacex = companyActivity(catalogue, 'spacex.com' as CompanyDomain);
    expect(spacex?.activeJobCount).toBeGreaterThan(2_000);
  });

  it('Okta is found by its name, and asked for by its domain', () => {
    expect(companiesCalled(snapshot, 'okta', 10)[0]).toMatchObject({
      name: expect.stringMatching(/^okta$/i),
      domain: OKTA,
    });
    expect(companyActivity(catalogue, OKTA)?.activeJobCount).toBeGreaterThan(1_000);
    const found = changes(catalogue, OKTA, {}, 10, observationPeriodEndingAt(NOW_MS));
    expect(found?.firstObserved.length).toBe(10);
  });

  it('each of 1,000 drawn jobs is found by the words of its own title', () => {
    const chance = new SeededChance(14);
    const { activeCount } = snapshot;
    const everything = { start: 0, end: activeCount };
    const missing: string[] = [];
    for (let drawn = 0; drawn < 1_000; drawn++) {
      const row = chance.below(activeCount);
      const { id, title } = snapshot.job(row);
      // A keyword has at most eight terms and 120 characters.
      const words = comparedText(title)
        .split(' ')
        .filter((word) => word !== '')
        .slice(0, 8);
      while ([...words.join(' ')].length > 120) words.pop();
      const keyword = words.join(' ');
      const wanted = { rows: activeCount, count: activeCount };
      const found = selectRows(snapshot, catalogue.finder, rowFilterOf({ keyword }), everything, wanted);
      if (!found.rows.includes(row)) missing.push(`${id}: ${title}`);
    }
    expect(missing).toEqual([]);
  });
});
