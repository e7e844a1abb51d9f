/** What a board's rows say about its company. */
import { expect, it } from 'vitest';
import { sampleOfBoard } from '../../../src/ingest/boards/sample.ts';
import { CompanyList } from '../../../src/ingest/companies/company-list.ts';

const NO_LIST = new CompanyList([]);
const rows = (identifier: string, name?: string) => ({
  totalFound: 1,
  content: [
    {
      id: '1',
      name: 'Cook',
      company: { identifier, ...(name === undefined ? {} : { name }) },
      releasedDate: '2026-07-01T00:00:00Z',
    },
  ],
});

it.each([
  { because: 'the rows name it', token: 'acme1', document: rows('Acme1', 'Acme'), expected: ['Acme1', 'Acme'] },
  { because: 'its name is its token', token: 'Visa', document: rows('Visa', 'Visa'), expected: ['Visa', 'Visa'] },
  { because: 'the rows spell the token', token: 'visa', document: rows('Visa'), expected: ['Visa', 'Visa'] },
  { because: 'no row names it', token: 'acme', document: rows('acme'), expected: ['acme', null] },
])('a board has $expected.0 as its token and $expected.1 as its company: $because', ({ token, document, expected }) => {
  const board = { shape: 'smartrecruiters', token, address: `https://careers.smartrecruiters.com/${token}` } as const;
  const sample = sampleOfBoard(board, document, NO_LIST, Date.UTC(2026, 10, 25));
  expect([sample.token, sample.company]).toEqual(expected);
});
