/** The rules of the directory, rank by rank (decisions §8). */
import { describe, expect, it } from 'vitest';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import { comparedText } from '../../../src/catalogue/terms.ts';
import { CompanyList } from '../../../src/ingest/companies/company-list.ts';
import type { Employer } from '../../../src/ingest/companies/employer.ts';
import { nameKeyOf, type OperatorWord, OperatorWords } from '../../../src/ingest/companies/operator-words.ts';
import { resolveEmployers, shownCompanyOf } from '../../../src/ingest/companies/resolve.ts';

const domain = (text: string) => text as CompanyDomain;
const hosts = (...all: string[]) => all.map((host, place) => ({ host: domain(host), rows: all.length - place }));

interface Said {
  readonly board?: string;
  readonly names?: readonly string[];
  readonly stated?: readonly string[];
  readonly sites?: readonly string[];
  readonly links?: readonly string[];
}

function employer({
  board = 'greenhouse:acme',
  names = ['Acme'],
  stated = [],
  sites = [],
  links = [],
}: Said): Employer {
  const split = board.indexOf(':');
  return {
    shape: board.slice(0, split),
    board: board.slice(split + 1),
    name: names[0]!,
    names: names.map(comparedText),
    jobs: 1,
    activeJobs: 1,
    stated: hosts(...stated),
    sites: hosts(...sites),
    links: hosts(...links),
  };
}

const LIST = new CompanyList([
  { board: 'greenhouse:listed', name: 'Listed', domain: domain('listed.com') },
  { board: null, name: 'Twice', domain: domain('twice.com') },
  { board: 'lever:twice', name: 'Twice', domain: domain('twice.de') },
]);

function word(key: string, text: string | null, more: Partial<OperatorWord> = {}): OperatorWord {
  const kind = key.startsWith('name=') ? 'name' : 'board';
  const plain = kind === 'name' ? nameKeyOf(key.slice(5)) : key;
  return { kind, key: plain, name: null, domain: text === null ? null : domain(text), url: null, aliases: [], ...more };
}

const resolved = (all: readonly Employer[], words: readonly OperatorWord[] = []) =>
  resolveEmployers(all, { words: new OperatorWords(words), list: LIST });

describe('the domain of an employer', () => {
  it.each<{ because: string; said: Said; words?: OperatorWord[]; expected: readonly [string | null, string | null] }>([
    { because: 'nothing says one', said: {}, expected: [null, null] },
    {
      because: 'the operator beats every other evidence',
      said: { board: 'greenhouse:listed', stated: ['b.com'] },
      words: [word('listed', 'word.com')],
      expected: ['word.com', 'manifest'],
    },
    {
      because: 'the operator may name the board with its shape',
      said: {},
      words: [word('greenhouse:acme', 'word.com'), word('acme', 'other.com')],
      expected: ['word.com', 'manifest'],
    },
    {
      because: 'a word about a board beats one about a name',
      said: {},
      words: [word('name=ACME', 'name.com'), word('acme', 'board.com')],
      expected: ['board.com', 'manifest'],
    },
    {
      because: 'a word about a name compares names',
      said: {},
      words: [word('name= acme ', 'n.com')],
      expected: ['n.com', 'manifest'],
    },
    { because: 'keys of boards are matched exactly', said: {}, words: [word('Acme', 'w.com')], expected: [null, null] },
    {
      because: 'the list of the package comes next',
      said: { board: 'greenhouse:Listed', stated: ['b.com'], sites: ['c.com'] },
      expected: ['listed.com', 'directory'],
    },
    {
      because: 'the list is no evidence for a namesake of another board',
      said: { board: 'ashby:listed', names: ['Listed'] },
      expected: [null, null],
    },
    {
      because: 'a board without a token is listed by its name',
      said: { board: 'linkedin:jobs', names: ['LISTED'] },
      expected: ['listed.com', 'directory'],
    },
    {
      because: 'a name that the list has twice decides nothing',
      said: { board: 'linkedin:jobs', names: ['Twice'] },
      expected: [null, null],
    },
    { because: 'the feed says so', said: { stated: ['a.com'], sites: ['b.acme.com'] }, expected: ['a.com', 'source'] },
    {
      because: 'a job site in the feed is nothing',
      said: { stated: ['boards.greenhouse.io'] },
      expected: [null, null],
    },
    {
      because: 'a host of job pages in the feed counts as the address of a posting',
      said: { stated: ['careers.acme.com'] },
      expected: ['acme.com', 'site'],
    },
    {
      because: 'two domains in the feed end the search',
      said: { stated: ['a.com', 'b.com'], sites: ['acme.com'] },
      expected: [null, null],
    },
    {
      because: 'two hosts of one domain are one candidate, the more frequent',
      said: { stated: ['acme.com', 'uk.acme.com'] },
      expected: ['acme.com', 'source'],
    },
    {
      because: 'the postings are on the own site',
      said: { sites: ['careers.acme.com'] },
      expected: ['acme.com', 'site'],
    },
    {
      because: 'a board of its own may have a site of another name',
      said: { sites: ['navan.com'] },
      expected: ['navan.com', 'site'],
    },
    {
      because: 'where many publish, only a related name proves a site',
      said: { board: 'listing:acme', sites: ['ats-of-many.com'] },
      expected: [null, null],
    },
    {
      because: 'where many publish, a related name proves a site',
      said: { board: 'listing:acme', sites: ['www2.acme.com'] },
      expected: ['acme.com', 'site'],
    },
    {
      because: 'two sites end the search',
      said: { sites: ['acme.com', 'b.com'], links: ['acme.com'] },
      expected: [null, null],
    },
    {
      because: 'a domain bought for job pages is no domain',
      said: { sites: ['acme.jobs', 'acmecareers.com'] },
      expected: [null, null],
    },
    {
      because: 'one host in the descriptions is called like the company',
      said: { links: ['acme.io'] },
      expected: ['acme.io', 'links'],
    },
    { because: 'a link of another name is nothing', said: { links: ['acme-partner.io'] }, expected: [null, null] },
    { because: 'a link to a domain for job pages is none', said: { links: ['acme.jobs'] }, expected: [null, null] },
    {
      because: 'a token may be the name',
      said: { names: ['A. C. M. E. Ltd'], links: ['acme.io'] },
      expected: ['acme.io', 'links'],
    },
    { because: 'two links end the search', said: { links: ['acme.io', 'acme.dev'] }, expected: [null, null] },
  ])('is $expected, because $because', ({ said, words, expected }) => {
    const [identity] = resolved([employer(said)], words);
    expect([identity!.domain, identity!.evidence]).toEqual(expected);
  });

  it('is no site where employers of three names post on one host', () => {
    const shared = ['a', 'b', 'c'].map((name) =>
      employer({ board: `greenhouse:${name}`, names: [name], sites: ['ats-of-many.com'] }),
    );
    expect(resolved(shared).map(({ domain: found }) => found)).toEqual([null, null, null]);
    expect(resolved(shared.slice(0, 2)).map(({ domain: found }) => found)).toEqual([
      'ats-of-many.com',
      'ats-of-many.com',
    ]);
  });

  describe('by a namesake', () => {
    const unknown = employer({ board: 'lever:acme' });

    it('is that of another board whose company has the name, when there is one', () => {
      const all = [
        unknown,
        employer({ stated: ['acme.com'] }),
        employer({ board: 'ashby:other', names: ['Other'], stated: ['o.com'] }),
      ];
      expect(resolved(all)[0]).toMatchObject({ domain: 'acme.com', evidence: 'namesake' });
    });

    it('is none when two domains are stated for the name', () => {
      const all = [unknown, employer({ stated: ['acme.com'] }), employer({ board: 'ashby:acme', stated: ['acme.de'] })];
      expect(resolved(all)[0]).toMatchObject({ domain: null, evidence: null });
    });

    it('is one when two boards state the same domain', () => {
      const all = [unknown, employer({ stated: ['acme.com'] }), employer({ board: 'ashby:acme', links: ['acme.com'] })];
      expect(resolved(all)[0]).toMatchObject({ domain: 'acme.com', evidence: 'namesake' });
    });

    it('is none for a name that the list has for two domains', () => {
      const all = [
        employer({ board: 'linkedin:jobs', names: ['Twice'] }),
        employer({ board: 'lever:twice', names: ['Twice'] }),
      ];
      expect(resolved(all).map(({ domain: found }) => found)).toEqual([null, 'twice.de']);
    });

    it('is none when the own evidence is in dispute', () => {
      const all = [employer({ board: 'lever:acme', sites: ['a1.com', 'b1.com'] }), employer({ stated: ['acme.com'] })];
      expect(resolved(all)[0]!.domain).toBeNull();
    });
  });
});

describe('the aliases of an employer', () => {
  it('are what lower ranks say, other hosts of any of its domains, and domains for its job pages', () => {
    const said = { stated: ['acme.com', 'uk.acme.com'], sites: ['careers.acme.dev', 'acme.jobs'], links: ['acme.io'] };
    const [identity] = resolved([employer(said)]);
    expect([identity!.domain, [...identity!.aliases].sort()]).toEqual([
      'acme.com',
      ['acme.dev', 'acme.io', 'acme.jobs', 'careers.acme.dev', 'uk.acme.com'],
    ]);
  });

  it('are the operator’s too, and never the domain or a job site', () => {
    const aliases = [domain('old-acme.com'), domain('acme.com')];
    const [identity] = resolved(
      [employer({ stated: ['boards.greenhouse.io'], sites: ['acme.com'] })],
      [word('acme', 'acme.com', { aliases })],
    );
    expect(identity!.aliases).toEqual(['old-acme.com']);
  });

  it('keep the hosts of the domain that the operator’s word replaces', () => {
    const said = { sites: ['careers.acme.com'] };
    const aliasesOf = (words: readonly OperatorWord[]) => resolved([employer(said)], words)[0]!.aliases;
    expect([aliasesOf([]), aliasesOf([word('acme', 'acme-group.com')])]).toEqual([
      ['careers.acme.com'],
      ['acme.com', 'careers.acme.com'],
    ]);
  });

  it('do not hold a host under the domain of another company, on which its postings are', () => {
    const parent = {
      board: 'greenhouse:parent',
      names: ['Parent'],
      stated: ['parent.com'],
      sites: ['careers.parent.com'],
    };
    const daughter = { ...parent, board: 'greenhouse:daughter', names: ['Daughter'], stated: ['daughter.com'] };
    const identities = resolved([employer(parent), employer(daughter)]);
    expect(identities.map(({ domain, aliases }) => [domain, aliases])).toEqual([
      ['parent.com', ['careers.parent.com']],
      ['daughter.com', ['parent.com']],
    ]);
  });

  it('do not hold a host under the domain of another company that is itself under their own', () => {
    const whole = { names: ['Acme'], stated: ['acme.com'], sites: ['careers.eu.acme.com', 'careers.acme.com'] };
    const part = { board: 'greenhouse:eu', names: ['Acme Europe'], stated: ['eu.acme.com'], sites: whole.sites };
    const identities = resolved([employer({ ...whole, board: 'greenhouse:acme' }), employer(part)]);
    expect(identities.map(({ domain, aliases }) => [domain, aliases])).toEqual([
      ['acme.com', ['careers.acme.com']],
      ['eu.acme.com', ['acme.com', 'careers.eu.acme.com']],
    ]);
  });

  it('hold the hosts under an alias that the operator states', () => {
    const said = { sites: ['careers.acme.com', 'careers.acme.dev'] };
    const [identity] = resolved([employer(said)], [word('acme', 'acme-group.com', { aliases: [domain('acme.dev')] })]);
    expect(identity!.aliases).toEqual(['acme.dev', 'careers.acme.dev']);
  });

  it('do not hold what ranks in dispute say', () => {
    const [identity] = resolved([employer({ stated: ['acme.com'], links: ['acme.io', 'acme.dev'] })]);
    expect(identity!.aliases).toEqual([]);
  });
});

describe('the company of a job', () => {
  const job = (companyDomain: string | null) => ({
    company: 'acme',
    companyDomain: companyDomain as CompanyDomain | null,
  });
  const identity = (found: string | null, evidence: 'manifest' | 'links' | null, name: string | null = null) => ({
    name,
    domain: found as CompanyDomain | null,
    evidence,
    aliases: [],
  });

  it.each([
    [null, 'acme.com', 'links', 'acme.com', 'links', 'it states none'],
    ['own.com', 'acme.com', 'links', 'own.com', 'source', 'it keeps its own'],
    ['own.com', 'acme.com', 'manifest', 'acme.com', 'manifest', 'the operator names another'],
    ['jobs.lever.co', 'acme.com', 'links', 'acme.com', 'links', 'its own is a job site'],
    ['jobs.lever.co', null, null, null, null, 'its own is a job site and nothing is known'],
    ['careers.acme.com', 'acme.com', 'links', 'acme.com', 'links', 'its own is a host of job pages'],
    ['acme.jobs', null, null, 'acme.jobs', 'source', 'its own is all that is known'],
    [null, null, null, null, null, 'nothing is known'],
  ] as const)(
    'of a row with %s, whose employer has %s by %s, has %s by %s, because %s',
    (...[own, found, evidence, expected, by]) => {
      const shown = shownCompanyOf(job(own), identity(found, evidence));
      expect([shown.companyDomain, shown.companyDomainEvidence, shown.company]).toEqual([expected, by, 'acme']);
    },
  );

  it('has the operator’s name', () => {
    expect(shownCompanyOf(job(null), identity(null, null, 'Acme, Inc.')).company).toBe('Acme, Inc.');
  });
});

describe('words of the operator', () => {
  it('are named when they hold for nothing', () => {
    const words = [
      word('acme', 'a.com'),
      word('amce', 'b.com'),
      word('name=Nobody', 'c.com'),
      word('acme.json', 'd.com'),
    ];
    const files = new Map([['greenhouse:acme', ['acme.json']]]);
    expect(new OperatorWords(words, files).unfitting([employer({})]).map(({ key }) => key)).toEqual(['amce', 'nobody']);
  });

  it('give each field from the most specific word that has it', () => {
    const words = [
      word('greenhouse:acme', null, { name: 'Acme, Inc.' }),
      word('acme', 'a.com'),
      word('name=acme', 'b.com', { name: 'B' }),
    ];
    expect(new OperatorWords(words).wordOf(employer({}))).toEqual({ name: 'Acme, Inc.', domain: 'a.com', aliases: [] });
  });
});
