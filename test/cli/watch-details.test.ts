/** Descriptions that `watch` asks for one by one. */
import { expect, it } from 'vitest';
import type { BoardClient } from '../../src/adapters/boards/board-client.ts';
import { fetchDetails } from '../../src/cli/watch/details.ts';
import type { Board } from '../../src/ingest/boards/board.ts';

const BOARD: Board = {
  ...{ shape: 'smartrecruiters', token: 'Acme', company: null, domain: null },
  address: 'https://careers.smartrecruiters.com/Acme',
};

it('asks for no more descriptions after three failures in a row', async () => {
  const asked: string[] = [];
  const answersTo = new Set(['2', '3']);
  const client = {
    async ask({ url }: { readonly url: string }) {
      asked.push(url);
      return answersTo.has(url)
        ? { kind: 'page', status: 200, body: Buffer.from(`{"jobAd":"${url}"}`), validators: null, url }
        : { kind: 'failed', status: 500, reason: 'status 500', retryAfterMs: null };
    },
  } as unknown as BoardClient;
  const wanted = ['0', '1', '2', '3', '4', '5', '6', '7', '8'].map((url) => ({
    row: { id: url },
    request: { method: 'GET', url, body: null, accept: 'application/json' } as const,
  }));
  const page = await fetchDetails(BOARD, wanted, client, new AbortController().signal);
  expect(JSON.parse(Buffer.from(page!).toString())).toEqual([
    { id: '2', jobAd: '2' },
    { id: '3', jobAd: '3' },
  ]);
  expect(asked).toEqual(['0', '1', '2', '3', '4', '5', '6']);
});
