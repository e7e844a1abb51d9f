/** The list of the package, and the file of `companies import`. */
import { describe, expect, it } from 'vitest';
import { parseCompanyFile } from '../../../src/ingest/companies/company-file.ts';
import { CompanyList, parseCompanyList } from '../../../src/ingest/companies/company-list.ts';
import { registrableOf } from '../../../src/ingest/companies/hosts.ts';
import { NAME_LENGTH_MAX } from '../../../src/ingest/native.ts';
import { readPackageText } from '../../../src/ingest/package-data.ts';
import { SHAPES } from '../../../src/ingest/shapes/shapes.ts';

describe('data/companies.csv', () => {
  const companies = parseCompanyList(readPackageText('companies.csv'));

  it('has at least 400 boards', () => {
    expect(companies.filter(({ board }) => board !== null).length).toBeGreaterThanOrEqual(400);
  });

  it('names each board once, of a shape that exists, with a domain under a public suffix', () => {
    const shapes = new Set(SHAPES.map(({ name }) => name));
    const boards = companies.map(({ board }) => board).filter((board) => board !== null);
    expect(boards.filter((board) => !shapes.has(board.slice(0, board.indexOf(':'))))).toEqual([]);
    expect(boards.filter((board, place) => boards.indexOf(board) !== place)).toEqual([]);
    expect(companies.filter(({ domain }) => registrableOf(domain) === null)).toEqual([]);
  });

  it.each([
    ['board,name', 'a column is missing'],
    ['board,name,domain\nacme,Acme,acme.com', 'the board has no shape'],
    ['board,name,domain\ngreenhouse:acme,,acme.com', 'the name is blank'],
    ['board,name,domain\ngreenhouse:acme,Acme,acme', 'the domain is none'],
  ])('is refused as %j, because %s', (text) => {
    expect(() => parseCompanyList(text)).toThrow('the list of companies');
  });
});

describe('a list of companies', () => {
  const list = new CompanyList(
    parseCompanyList(
      'board,name,domain\nlever:acme,Acme,acme.com\n,Acme,acme.com\n,Bee,bee.com\n,Twin,twin.de\ngreenhouse:Twin,TWIN,twin.com\nworkday:tenant,Tenant,tenant.com\nworkday:tenant/second,Second,second.com\n',
    ),
  );
  const domainOf = (shape: string, board: string | null, ...names: readonly string[]) =>
    list.domainOf({ shape, board, names } as Parameters<typeof list.domainOf>[0]);

  it('knows a company by the token of its board, whatever its case, and not by another', () => {
    expect(domainOf('lever', 'ACME')).toBe('acme.com');
    expect(domainOf('greenhouse', 'twin')).toBe('twin.com');
    expect(domainOf('greenhouse', 'acme', 'acme')).toBeUndefined();
  });

  it('knows a Workday site by its own name before that of its tenant', () => {
    expect(domainOf('workday', 'Tenant/First')).toBe('tenant.com');
    expect(domainOf('workday', 'Tenant/Second')).toBe('second.com');
  });

  it('knows one by its names where no board has a token, and only when they have one domain', () => {
    expect(domainOf('remoteok', '', 'bee')).toBe('bee.com');
    expect(domainOf('remoteok', '', 'acme')).toBe('acme.com');
    expect(domainOf('remoteok', '', 'twin')).toBeUndefined();
    expect(domainOf('remoteok', '', 'bee', 'acme')).toBeUndefined();
    expect(domainOf('remoteok', '', 'bee', 'unknown')).toBeUndefined();
  });

  it('says that a name of several domains is ambiguous', () => {
    expect(list.isAmbiguous(['unknown', 'twin'])).toBe(true);
    expect(list.isAmbiguous(['acme', 'bee', 'unknown'])).toBe(false);
  });
});

describe('the file of companies import', () => {
  const wordsIn = (text: string) =>
    parseCompanyFile(text).words.map(({ kind, key, domain, aliases }) => [kind, key, domain, aliases]);

  it('has names and boards, aliases where wanted, in any order of columns', () => {
    const text =
      '\uFEFFaliases,Domain,company\r\nacme.jobs old.com,ACME.com,"Acme, Inc."\r\n,b.com,greenhouse:Bee\r\n\r\n,c.com,see: here\r\n';
    expect(wordsIn(text)).toEqual([
      ['name', 'acme, inc.', 'acme.com', ['acme.jobs', 'old.com']],
      ['board', 'greenhouse:Bee', 'b.com', []],
      ['name', 'see: here', 'c.com', []],
    ]);
  });

  it('needs no aliases, and takes one line of a company that stands twice', () => {
    expect(wordsIn('company,domain\nAcme,acme.com\nacme,acme.com\n')).toEqual([['name', 'acme', 'acme.com', []]]);
  });

  it.each([
    ['', 1, 'the header', 'must name the columns company and domain: company and domain are missing'],
    ['company\nAcme', 1, 'the header', 'must name the columns company and domain: domain is missing'],
    [
      'Company;Domain\nAcme;acme.com',
      1,
      'the header',
      'must have commas between its columns, not semicolons, and so must every line',
    ],
    ['company,domain\nAcme,acme.com\n,b.com', 3, 'company', 'is blank'],
    [
      `company,domain\n${'x'.repeat(NAME_LENGTH_MAX + 1)},a.com`,
      2,
      'company',
      `is longer than ${NAME_LENGTH_MAX} characters`,
    ],
    ['company,domain\nAcme,', 2, 'domain', 'must be a domain name such as example.com'],
    ['company,domain\nAcme,https://acme.com', 2, 'domain', 'must be a domain name such as example.com'],
    [
      'company,domain,aliases\nAcme,acme.com,a.com b',
      2,
      'aliases',
      'must be domain names such as example.com, separated by blanks',
    ],
    ['company,domain\nAcme,acme.com\n"Bee,b.com\nCee,c.com\n', 3, 'the record', 'has a quote that does not end'],
    ['company,domain\nAcme,acme.com\nACME,acme.de', 3, 'domain', 'differs from that of an earlier line, acme.com'],
  ])('%j is refused in line %i for its %s', (text, line, field, reason) => {
    const { refused, words } = parseCompanyFile(text);
    expect(refused).toEqual([{ line, field, reason }]);
    expect(words.map(({ domain }) => domain)).toEqual(line > 2 ? ['acme.com'] : []);
  });
});
