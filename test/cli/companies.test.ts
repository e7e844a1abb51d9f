/** `companies`, and what a build makes of the directory: manifests remembered, words, aliases, reach (decisions §8). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSnapshotFile } from '../../src/adapters/files/snapshot-file.ts';
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import { openSnapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const at = (name: string) => join(folder, name);
function file(name: string, content: unknown): string {
  writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content));
  return at(name);
}

interface Posting {
  readonly url?: string;
  readonly content?: string;
  readonly name?: string;
}

const board = (token: string, postings: readonly Posting[]) => ({
  jobs: postings.map(({ url, content, name }, place) => ({
    id: place + 1,
    title: `Cook ${place + 1}`,
    absolute_url: `${url ?? `https://boards.greenhouse.io/${token}/jobs`}/${place + 1}`,
    updated_at: '2026-08-01T00:00:00Z',
    company_slug: token,
    ...(name === undefined ? {} : { company_name: name }),
    ...(content === undefined ? {} : { content }),
  })),
});

const catalogue = () => ['--catalogue', at('catalogue')];
async function imported(day: number, ...words: string[]) {
  const ran = await run(['import', ...catalogue(), '--observed-at', `2026-08-0${day}`, ...words]);
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.any(String)]);
  return ran;
}

interface Listed {
  readonly name: string;
  readonly board: string;
  readonly domain: string | null;
  readonly evidence: string | null;
  readonly aliases: readonly string[];
  readonly jobs: number;
  readonly active_jobs: number;
}

async function listed(...words: string[]): Promise<Listed[]> {
  const { exitCode, stdout } = await run(['companies', ...catalogue(), '--json', ...words]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as Listed[];
}

const domains = async () => (await listed()).map(({ board: of, domain, evidence }) => [of, domain, evidence]);

async function built() {
  const ran = await run(['snapshot', 'build', ...catalogue(), '--out', at('c.snapshot'), '--json']);
  expect(ran.exitCode).toBe(0);
  return { ...ran, report: JSON.parse(ran.stdout) as { reach: object; disputed_aliases: string[] } };
}

const opened = (path = at('c.snapshot')) => openSnapshot(openSnapshotFile(path));

describe('companies', () => {
  it('lists every company with its evidence, most active jobs first', async () => {
    await imported(
      1,
      file('acme.json', board('acme', [{}, {}])),
      file('beta.json', board('beta', [{ url: 'https://careers.beta.example.com/jobs', name: 'Beta' }])),
      file('gamma.json', board('gammaray', [{ content: '<a href="https://www.gammaray.io">us</a>' }, {}, {}])),
    );
    expect(await listed()).toEqual([
      {
        name: 'gammaray',
        board: 'greenhouse:gammaray',
        domain: 'gammaray.io',
        evidence: 'links',
        aliases: [],
        jobs: 3,
        active_jobs: 3,
      },
      { name: 'acme', board: 'greenhouse:acme', domain: null, evidence: null, aliases: [], jobs: 2, active_jobs: 2 },
      {
        name: 'Beta',
        board: 'greenhouse:beta',
        domain: 'example.com',
        evidence: 'site',
        aliases: ['careers.beta.example.com'],
        jobs: 1,
        active_jobs: 1,
      },
    ]);
    expect((await listed('--missing')).map(({ name }) => name)).toEqual(['acme']);
    const { stdout } = await run(['companies', ...catalogue(), '--missing']);
    expect(stdout).toContain('acme');
    expect(stdout).not.toContain('gammaray');
  });

  it('needs a catalogue', async () => {
    expect(await run(['companies'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--catalogue is missing'),
    });
    expect(await run(['companies', ...catalogue()])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('holds no catalogue'),
    });
    expect((await run(['companies', '--help'])).stdout).toMatch(/--missing[\s\S]*companies set /);
  });
});

describe('the operator’s word', () => {
  beforeEach(() => imported(1, file('acme.json', board('acme', [{ name: 'Acme' }, { name: 'Acme' }]))));

  it('is set by name or by board, with aliases, and holds for the next build', async () => {
    expect(await run(['companies', 'set', ...catalogue(), ' ACME ', 'Acme.COM', 'acme.jobs'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('acme.com, for 2 jobs'),
    });
    expect((await listed())[0]).toMatchObject({ domain: 'acme.com', evidence: 'manifest', aliases: ['acme.jobs'] });
    await run(['companies', 'set', ...catalogue(), 'greenhouse:acme', 'acme.io']);
    expect((await listed())[0]).toMatchObject({ domain: 'acme.io' });
    await built();
    const snapshot = opened();
    expect(snapshot.companyOf('acme.io' as CompanyDomain)).toBe(0);
    snapshot.close();
  });

  it('about a company’s name says where a word about the board holds instead', async () => {
    await run(['companies', 'set', ...catalogue(), 'greenhouse:acme', 'acme.io']);
    const { exitCode, stderr } = await run(['companies', 'set', ...catalogue(), 'Acme', 'acme.com']);
    expect([exitCode, stderr.split('\n')]).toEqual([
      0,
      [
        'Acme: acme.com, for 0 jobs from the next build on',
        'greenhouse:acme keeps acme.io, which was stated before and counts first: `companies set greenhouse:acme acme.com` changes that',
        '',
      ],
    ]);
    expect(await domains()).toEqual([['greenhouse:acme', 'acme.io', 'manifest']]);
    const csv = file('c.csv', 'company,domain\nAcme,acme.org\n');
    expect((await run(['companies', 'import', ...catalogue(), csv])).stderr).toContain('greenhouse:acme keeps acme.io');
  });

  it('about a board replaces the one that names it in another spelling', async () => {
    for (const [name, domain] of [
      ['greenhouse:acme', 'acme.io'],
      ['greenhouse:ACME', 'acme.com'],
    ] as const) {
      const { stderr } = await run(['companies', 'set', ...catalogue(), name, domain]);
      expect(stderr).toBe(`${name}: ${domain}, for 2 jobs from the next build on\n`);
      expect(await domains()).toEqual([['greenhouse:acme', domain, 'manifest']]);
    }
    expect((await built()).stderr).not.toContain('fits no board');
    const both = file('both.csv', 'company,domain\nlever:One,one.com\nlever:one,two.com\n');
    expect((await run(['companies', 'import', ...catalogue(), both])).stderr).toContain(
      'line 3: domain differs from that of an earlier line, one.com',
    );
    const spellings = ['lever:One', 'lever:one'].map((key) => [key, { company: key }]);
    await imported(
      2,
      '--manifest',
      file('both.json', Object.fromEntries(spellings)),
      file('one.json', board('one', [{}])),
    );
    expect((await built()).stderr.match(/fits no board/g)).toHaveLength(1);
  });

  it.each([
    [['Acne', 'acme.com'], 1, 'no company or board "Acne"'],
    [['greenhouse:acne', 'acme.com'], 1, 'no company or board "greenhouse:acne"'],
    [['Acme', 'https://acme.com'], 2, 'DOMAIN must be a domain name such as example.com, not "https://acme.com"'],
    [['Acme', 'acme.com', 'jobs'], 2, 'ALIAS must be a domain name such as example.com, not "jobs"'],
    [['Acme'], 2, 'the argument DOMAIN is missing'],
    [[' ', 'acme.com'], 2, 'NAME-OR-BOARD is blank'],
  ])('is refused as %j', async (words, exitCode, message) => {
    expect(await run(['companies', 'set', ...catalogue(), ...words])).toMatchObject({
      exitCode,
      stderr: expect.stringContaining(message),
    });
    expect(await domains()).toEqual([['greenhouse:acme', null, null]]);
  });

  it('comes from a file, all lines or none', async () => {
    const bad = file('bad.csv', 'company,domain\nAcme,acme.com\nBeta,beta\n');
    expect(await run(['companies', 'import', ...catalogue(), bad])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/line 3: domain must be a domain name.*\n.*1 bad line; nothing was kept/),
    });
    expect(await domains()).toEqual([['greenhouse:acme', null, null]]);
    const good = file(
      'good.csv',
      'company,domain,aliases\ngreenhouse:acme,acme.com,acme.jobs careers.acme.com\nNobody,n.com,\n',
    );
    expect(await run(['companies', 'import', ...catalogue(), good])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/"nobody" fits no board.*\n2 companies kept, 1 without a job/),
    });
    expect((await listed())[0]).toMatchObject({ domain: 'acme.com', aliases: ['acme.jobs', 'careers.acme.com'] });
    expect(await run(['companies', 'import', ...catalogue(), at('none.csv')])).toMatchObject({ exitCode: 1 });
  });

  it('as a manifest is remembered by imports that do not mention it, also by the name of a file', async () => {
    const manifest = file('m.json', {
      acme: { domain: 'acme.com' },
      'beta-board': { company: 'Beta, Inc.', domain: 'beta.com', aliases: ['beta.jobs'] },
      'late-board': { domain: 'late.com' },
      typo: { domain: 'typo.com' },
    });
    const beta = file('beta-board.json', board('b', [{}]));
    const { stderr } = await imported(2, '--manifest', manifest, beta);
    expect(stderr).toContain('"typo" fits no board');
    expect(stderr).not.toContain('"acme" fits');
    await imported(3, file('acme.json', board('acme', [{ name: 'Acme' }])), file('other.json', board('b', [{}, {}])));
    expect(await domains()).toEqual([
      ['greenhouse:acme', 'acme.com', 'manifest'],
      ['greenhouse:b', 'beta.com', 'manifest'],
    ]);
    expect((await listed())[1]).toMatchObject({ name: 'Beta, Inc.', aliases: ['beta.jobs'] });
    // The name of the file is all that is new in a feed that was imported before.
    for (const name of ['plain.json', 'late-board.json']) await imported(3, file(name, board('late', [{}])));
    expect(await domains()).toContainEqual(['greenhouse:late', 'late.com', 'manifest']);
    expect((await built()).stderr).toContain('"typo" fits no board');
  });
});

describe('a build', () => {
  it('says nothing about words for a watched board that has no job yet', async () => {
    await imported(
      1,
      '--manifest',
      file('m.json', { typo: { domain: 'typo.com' } }),
      file('acme.json', board('acme', [{}])),
    );
    const boards = file('boards.csv', 'address,company,domain\nhttps://jobs.lever.co/Later,Later AG,later.com\n');
    expect((await run(['boards', 'import', ...catalogue(), '--unchecked', boards])).exitCode).toBe(0);
    for (const text of [(await built()).stderr, (await run(['companies', ...catalogue()])).stdout]) {
      const notes = text.split('\n').filter((line) => line.includes('fits no board'));
      expect(notes).toEqual([expect.stringContaining('"typo"')]);
    }
    const set = await run(['companies', 'set', ...catalogue(), 'lever:Later', 'later.io']);
    expect(set).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('lever:Later: later.io') });
    const file2 = file('later.csv', 'company,domain\nlever:later,later.io\n');
    expect((await run(['companies', 'import', ...catalogue(), file2])).stderr).not.toContain('fits no board');
    const manifest = file('later.json', { 'lever:later': { domain: 'later.io' } });
    expect((await imported(2, '--manifest', manifest, file('b.json', board('b', [{}])))).stderr).not.toContain('fits');
  });

  it('finds a company by its aliases, and says its reach and what to do', async () => {
    await imported(1, file('acme.json', board('acme', [{}, {}, {}])), file('beta.json', board('beta', [{}])));
    await run(['companies', 'set', ...catalogue(), 'beta', 'beta.com', 'shared.com', 'beta.jobs', 'acme.com']);
    const before = await built();
    expect(before.report.reach).toEqual({
      active: 4,
      with_domain: 1,
      domain_share: 0.25,
      cohort: 4,
      cohort_share: 1,
      observation_days: 1,
    });
    expect(before.stderr).toMatch(/reach: 4 active jobs, 25\.0 % with a company's domain.*\n-> .*companies --missing/);
    await run(['companies', 'set', ...catalogue(), 'acme', 'acme.com', 'shared.com']);
    const { report, stderr } = await built();
    expect(report.disputed_aliases).toEqual(['shared.com']);
    expect(stderr).toContain('several companies would have the alias shared.com: none has it');
    const snapshot = opened();
    const shown = (text: string) => {
      const company = snapshot.companyOf(text as CompanyDomain);
      return company === undefined ? undefined : snapshot.domainOf(company);
    };
    expect(['beta.com', 'beta.jobs', 'acme.com', 'shared.com', 'x.com'].map(shown)).toEqual([
      ...['beta.com', 'beta.com', 'acme.com', undefined, undefined],
    ]);
    snapshot.close();
  });

  it('gives the same file from its export, with evidence and aliases', async () => {
    const url = 'https://careers.acme.com/jobs';
    const inputs = [
      file('acme.json', board('acme', [{ url }, { url }])),
      file('beta.json', board('beta', [{ content: 'beta.io' }])),
    ];
    await run(['snapshot', 'build', '--format', 'auto', '--out', at('c.snapshot'), ...inputs]);
    const { stdout } = await run(['snapshot', 'export', at('c.snapshot')]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map((line) => [line.company_domain, line.company_domain_evidence, line.company_aliases])).toEqual([
      ['acme.com', 'site', ['careers.acme.com']],
      ['beta.io', 'links', undefined],
      ['acme.com', 'site', undefined],
    ]);
    const again = await run(['snapshot', 'build', '--out', at('again.snapshot')], { stdin: stdout });
    expect(again.exitCode).toBe(0);
    expect(readFileSync(at('again.snapshot')).equals(readFileSync(at('c.snapshot')))).toBe(true);
  });

  it('of feeds follows the same rules, and takes native lines as they stand', async () => {
    const native = {
      ...{ id: 'n', title: 'Cook', company: 'Acme', source_url: 'https://acme.com/1' },
      ...{ first_observed_at: '2026-08-01', last_observed_at: '2026-08-01' },
    };
    const inputs = [
      file('acme.json', board('acme', [{ url: 'https://careers.acme.com/jobs' }])),
      file('beta.json', board('beta', [{}])),
      file('native.jsonl', `${JSON.stringify(native)}\n`),
    ];
    const manifest = file('m.json', { beta: { domain: 'beta.com' }, typo: { domain: 'typo.com' } });
    const words = [
      'snapshot',
      'build',
      '--format',
      'auto',
      '--out',
      at('f.snapshot'),
      '--manifest',
      manifest,
      ...inputs,
    ];
    const { exitCode, stderr } = await run(words);
    expect([exitCode, stderr.includes('"typo" fits no board')]).toEqual([0, true]);
    const snapshot = opened(at('f.snapshot'));
    const jobs = Array.from({ length: 3 }, (_, row) => snapshot.job(row));
    const shown = jobs.map(({ id, companyDomain, companyDomainEvidence }) => [
      id,
      companyDomain,
      companyDomainEvidence ?? null,
    ]);
    expect(shown.sort()).toEqual([
      ['greenhouse:acme:1', 'acme.com', 'site'],
      ['greenhouse:beta:1', 'beta.com', 'manifest'],
      ['n', null, null],
    ]);
    snapshot.close();
  });
});
