/** Made-up Greenhouse boards, with lists like those of its API. */
import type { Board } from '../../src/ingest/boards/board.ts';

export const greenhouseBoard = (token: string): Board => ({
  shape: 'greenhouse',
  token,
  company: null,
  domain: null,
  address: `https://job-boards.greenhouse.io/${token}`,
});

/** @param jobs how many */
export function greenhouseListing(token: string, jobs: number, company = token): unknown {
  return {
    jobs: Array.from({ length: jobs }, (_, id) => ({
      id,
      title: `Cook ${id}`,
      company_name: company,
      updated_at: '2026-07-01T00:00:00Z',
      first_published: '2026-06-01T00:00:00Z',
      absolute_url: `https://boards.greenhouse.io/${token}/jobs/${id}`,
      location: { name: 'Bern' },
      content: `<p>${company} looks for a cook who knows Python, number ${id}.</p>`,
    })),
    meta: { total: jobs },
  };
}
