/** The real files imported and built: how many active jobs can be asked for by company (decisions §8). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { realDataMissing, realFiles, skippedWithout } from '../ingest/real-data.ts';
import { run } from './captured-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'paygrade-companies-real-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Listed {
  readonly board: string;
  readonly domain: string | null;
  readonly active_jobs: number;
}

const BOARDS = /^(?:ashby|greenhouse|lever):/;

describe.skipIf(realDataMissing)(`companies of every real file${skippedWithout}`, () => {
  it('have a domain for 60 % of the active jobs, and for 75 % on boards of Greenhouse, Lever and Ashby', {
    timeout: 900_000,
  }, async () => {
    const { undated, dated } = realFiles();
    const catalogue = ['--catalogue', join(folder, 'catalogue')];
    await run(['import', ...catalogue, '--observed-at', 'from-name', ...dated]);
    await run(['import', ...catalogue, ...undated]);
    const { report } = await built(catalogue, join(folder, 'real.snapshot'));
    expect(report.reach.domain_share).toBeGreaterThanOrEqual(0.6);
    const listed = JSON.parse((await run(['companies', ...catalogue, '--json'])).stdout) as Listed[];
    const active = (all: readonly Listed[]) => all.reduce((sum, { active_jobs: count }) => sum + count, 0);
    const boards = listed.filter(({ board }) => BOARDS.test(board));
    expect(active(boards)).toBeGreaterThan(60_000);
    expect(active(boards.filter(({ domain }) => domain !== null)) / active(boards)).toBeGreaterThanOrEqual(0.75);
  });

  async function built(catalogue: readonly string[], out: string) {
    const { exitCode, stdout } = await run(['snapshot', 'build', ...catalogue, '--out', out, '--json']);
    expect(exitCode).toBe(0);
    return { report: JSON.parse(stdout) as { reach: { domain_share: number } } };
  }
});
