/** Addresses as people paste them, through the guarded client and a server that stands for the platforms and the companies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BoardLook } from '../../../src/adapters/boards/board-look.ts';
import { awakeTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { openWayOut } from '../../../src/cli/watch/way-out.ts';
import { targetList } from '../../../src/config/parsers.ts';
import { nameOfBoard } from '../../../src/ingest/boards/board.ts';
import { loadCompanyList } from '../../../src/ingest/companies/company-list.ts';
import { FURTHER_PAGES, PASTED, type Pasted, REFUSED } from '../../ingest/boards/pasted-addresses.ts';
import { realDataMissing } from '../../ingest/real-data.ts';
import { type BoardSite, openBoardSite, type SitePage } from './board-site.ts';

const keyOf = (address: string): string =>
  address
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '');

function pagesOf(pasted: readonly Omit<Pasted, 'board'>[]): Map<string, SitePage> {
  const pages = new Map<string, SitePage>([...FURTHER_PAGES].map(([key, html]) => [key, { html }] as const));
  for (const { text, page, to } of pasted) {
    if (page !== undefined) pages.set(keyOf(text), { html: page });
    if (to !== undefined) pages.set(keyOf(text), { to });
    if (to !== undefined) pages.set(keyOf(to), { html: '<p>The platform shows its board with scripts.</p>' });
  }
  return pages;
}

let site: BoardSite;
let look: BoardLook;

beforeAll(async () => {
  site = await openBoardSite(
    PASTED.map(({ board }) => board),
    pagesOf([...PASTED, ...REFUSED]),
  );
  const { client } = openWayOut({
    contact: null,
    targetAllow: targetList(site.target),
    pauseMs: 0,
    draw: Math.random,
    clock: systemClock,
    timers: awakeTimers,
  });
  const signal = new AbortController().signal;
  look = new BoardLook({ client, origins: site.origins, list: loadCompanyList(), clock: systemClock, signal });
});
afterAll(() => site.close());

describe('an address as a person pastes it', () => {
  it('is recognised in at least 115 of 120 cases, is never taken for another board, and otherwise says why', async () => {
    const missed: string[] = [];
    const wrong: string[] = [];
    for (const { text, board } of PASTED) {
      const looked = await look.look(text);
      if (!looked.ok) missed.push(`${text}: ${looked.reason}`);
      else if (nameOfBoard(looked.board) !== board) wrong.push(`${text}: ${nameOfBoard(looked.board)}, not ${board}`);
    }
    expect(wrong).toEqual([]);
    expect(PASTED.length).toBeGreaterThanOrEqual(120);
    expect(PASTED.length - missed.length, missed.join('\n')).toBeGreaterThanOrEqual(PASTED.length - 5);
    for (const line of missed) expect(line).toMatch(/: .{20,}/);
  }, 60_000);

  it.each(REFUSED)('$text is refused: $because', async ({ text, because }) => {
    const looked = await look.look(text);
    expect(looked).toMatchObject({ ok: false, reason: expect.stringMatching(because) });
  });
});

describe.skipIf(realDataMissing)('what is known of a board', () => {
  it.each([
    ['https://boards.greenhouse.io/anthropic/jobs/1', { company: 'Anthropic', domain: 'anthropic.com' }, 449],
    ['https://jobs.lever.co/palantir', { company: 'Palantir', domain: 'palantir.com' }, 10],
    ['https://jobs.ashbyhq.com/notion', { company: 'Notion', domain: 'notion.com' }, 135],
    ['https://jobs.smartrecruiters.com/westerndigital', { token: 'WesternDigital', domain: 'westerndigital.com' }, 359],
    [
      'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite',
      { company: 'NVIDIA', domain: 'nvidia.com' },
      2000,
    ],
  ])('%s', async (address, board, jobs) => {
    expect(await look.look(address)).toMatchObject({ ok: true, board, jobs });
  });

  it('has the domain of the company’s own page that shows it', async () => {
    const looked = await look.look('https://www.globex.io/company/careers');
    expect(looked).toMatchObject({ ok: true, siteDomain: 'globex.io', board: { domain: 'globex.io' } });
  });
});
