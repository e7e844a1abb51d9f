/** What `doctor` says about watched boards. */
import { beforeEach, expect, it } from 'vitest';
import { checkBoards } from '../../../src/cli/doctor/board-checks.ts';
import { type Finding, Findings } from '../../../src/cli/doctor/finding.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { watchedFolder } from '../../support/watched-boards.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
let folder: string;
function found(catalogue: string | null, nowMs = NOW_MS): readonly Finding[] {
  const findings = new Findings('boards');
  checkBoards(findings, { catalogue }, nowMs);
  return findings.all;
}

beforeEach(() => {
  folder = testFolder();
});

it('names the boards that are stale, shrinking or gone, and those that nothing fetches', () => {
  watchedFolder(folder, NOW_MS);
  const findings = found(folder);
  expect(findings.map(({ verdict, found }) => `${verdict}: ${found}`)).toEqual([
    'ok: 5 boards, 1 of them well at the last fetch',
    'note: 1 board due for an hour or more: ashby:<img src=x onerror=alert(1)> (status 503)',
    'note: 1 board gone: lever:away (status 404)',
    'note: 1 board shrinking, left as they were: greenhouse:shrunk (3 jobs, where 100 are usual)',
    'note: 1 board stale, without a whole list for three days: ashby:<img src=x onerror=alert(1)> (status 503)',
  ]);
  for (const { verdict, mend } of findings.slice(1)) expect([verdict, mend]).toEqual(['note', expect.any(String)]);
});

it('calls a board stale once three days have passed since its last whole list', () => {
  watchedFolder(folder, NOW_MS);
  const isStale = (afterMs: number): boolean =>
    found(folder, NOW_MS + afterMs).some((finding) => /stale.*greenhouse:acme/.test(finding.found));
  const threeDaysMs = 3 * 86_400_000;
  expect(isStale(threeDaysMs - 3_600_000)).toBe(false);
  expect(isStale(threeDaysMs - 3_600_000 + 1)).toBe(true);
});

it('says that there is nothing to check without CATALOGUE, and that a folder holds no catalogue', () => {
  expect(found(null)).toMatchObject([{ verdict: 'skipped' }]);
  expect(found(folder)).toMatchObject([{ verdict: 'note', found: expect.stringContaining('holds no catalogue') }]);
});
