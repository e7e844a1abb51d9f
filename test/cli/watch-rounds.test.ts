/**
 * Rounds of `watch` in virtual time: no host is asked twice within a second. A thousand boards in `npm run test:slow`, a quarter
 * of them in `npm test`.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Board } from '../../src/ingest/boards/board.ts';
import type { OutboundResult } from '../../src/outbound/outbound.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { answer } from '../support/targets-by-host.ts';
import { type Asked, virtualRounds } from '../support/virtual-rounds.ts';
import { partOf } from '../support/whole.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

/** Two pages of a list that has two postings. */
function pageOf(url: URL): OutboundResult {
  const company = url.pathname.split('/')[3]!;
  const offset = Number(url.searchParams.get('offset'));
  const row = {
    id: `${offset}`,
    name: 'Cook',
    jobAd: {},
    company: { identifier: company, name: company },
    releasedDate: '2026-07-01T00:00:00Z',
    location: { city: 'Bern' },
  };
  return answer(200, JSON.stringify({ offset, limit: 1, totalFound: 2, content: [row] }));
}

function oneOf(url: URL): OutboundResult {
  if (url.pathname === '/robots.txt') return answer(404);
  const { host } = url;
  const items = [0, 1].map((id) => ({
    id: `${id}`,
    title: 'Cook',
    url: `https://${host}/jobs/${id}-cook`,
    date_published: '2026-07-01T00:00:00Z',
    _jobposting: { '@type': 'JobPosting', title: 'Cook', hiringOrganization: { name: host } },
  }));
  const page = Number(url.searchParams.get('page') ?? 0);
  const next = page === 0 ? { next_url: `https://${host}/jobs.json?page=1` } : {};
  return answer(
    200,
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: host,
      home_page_url: `https://${host}/jobs`,
      ...next,
      items: [items[page]],
    }),
  );
}

/** The shortest time between two requests to one host. */
function shortestGapMs(asked: readonly Asked[]): number {
  const times = Map.groupBy(asked, ({ host }) => host);
  let shortest = Number.POSITIVE_INFINITY;
  for (const ofHost of times.values()) {
    const sorted = ofHost.map(({ atMs }) => atMs).sort((a, b) => a - b);
    for (let i = 1; i < sorted.length; i++) shortest = Math.min(shortest, sorted[i]! - sorted[i - 1]!);
  }
  return shortest;
}

const BOARD_COUNT = partOf(1000, 250);

describe(`a round over ${BOARD_COUNT} boards`, () => {
  it('sends two requests for each, nothing twice, and no two to one host within a second', async () => {
    const boards = Array.from({ length: BOARD_COUNT }, (_, i): Board => {
      const rest = { company: null, domain: null };
      return i < 0.4 * BOARD_COUNT
        ? { shape: 'smartrecruiters', token: `C${i}`, address: `https://careers.smartrecruiters.com/C${i}`, ...rest }
        : { shape: 'teamtailor', token: `c${i}`, address: `https://c${i}.teamtailor.com`, ...rest };
    });
    const { asked, reports } = await virtualRounds(folder, boards, 1, (url) =>
      url.host === 'api.smartrecruiters.com' ? pageOf(url) : oneOf(url),
    );
    expect(
      reports.filter(({ status, rows }) => status === 'ok' && rows === 2).length,
      JSON.stringify(reports.find(({ status }) => status !== 'ok')),
    ).toBe(BOARD_COUNT);
    expect(asked.length).toBe(2 * BOARD_COUNT);
    expect(new Set(asked.map(({ url }) => url)).size).toBe(2 * BOARD_COUNT);
    expect(shortestGapMs(asked)).toBeGreaterThanOrEqual(1000);
  }, 30_000);
});
