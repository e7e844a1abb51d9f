/** What the history keeps about companies: the operator's words, and the employers that its jobs name. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseCompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { wordOfCompany } from '../../../src/ingest/companies/company-file.ts';
import { leverShape } from '../../../src/ingest/shapes/lever.ts';
import { StoredEmployers, storedWords, storeWords } from '../../../src/storage/history/company-tables.ts';
import { HistoryDatabase } from '../../../src/storage/history/database.ts';
import { HistoryImport } from '../../../src/storage/history/import.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { testFolder } from '../../support/scratch-folder.ts';

const ACME = parseCompanyDomain('acme.example')!;
const OTHER = parseCompanyDomain('other.example')!;

let history: HistoryDatabase;
beforeEach(() => {
  history = HistoryDatabase.openForImport(testFolder());
});
afterEach(() => history.close());

it('a word replaces only what it has, and says whether it changed anything', () => {
  const word = { ...wordOfCompany('Acme', ACME, [OTHER]), name: 'Acme, Inc.', url: 'https://acme.example/' };
  const onlyKey = { ...word, name: null, domain: null, url: null, aliases: [] };
  expect([storeWords(history, [word]), storeWords(history, [word, onlyKey])]).toEqual([true, false]);
  expect(storedWords(history)).toEqual([word]);
  expect(storeWords(history, [{ ...onlyKey, domain: OTHER }])).toBe(true);
  expect(storedWords(history)).toEqual([{ ...word, domain: OTHER }]);
});

it('an employer has the name of its latest active job, and all that its jobs state', () => {
  async function* nothing(): AsyncGenerator<Uint8Array> {}
  const document = { member: { name: 'm', fileName: 'm', bytes: nothing() }, fetchedAtMs: null };
  const importing = new HistoryImport(history, { mayHaveDays: true, skillsVersion: 'v' });
  for (const [at, company, companyDomain, status] of [
    [1, 'Zenith', ACME, 'active'],
    [2, 'Acme', ACME, 'active'],
    [3, 'Nobody', null, 'active'],
    [4, 'Middle', OTHER, 'active'],
    [5, 'Closed', OTHER, 'closed'],
  ] as const) {
    importing.begin(at);
    const texts = { description: null, descriptionText: null };
    const source = { shape: leverShape, board: 'acme', ...texts, hasOwnSkills: false, document };
    importing.add(minimalJob({ id: company, company, companyDomain, status }), source);
  }
  importing.merge(false, true, () => {});
  const { all } = new StoredEmployers(history);
  expect(all).toMatchObject([{ shape: 'lever', board: 'acme', name: 'Middle', jobs: 5, activeJobs: 4 }]);
  expect(all[0]!.names.toSorted()).toEqual(['acme', 'closed', 'middle', 'nobody', 'zenith']);
  expect(new Map(all[0]!.stated.map(({ host, rows }) => [host, rows]))).toEqual(
    new Map([
      [ACME, 2],
      [OTHER, 2],
    ]),
  );
});
