/** The commands about boards, against a server that stands for the platforms. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseCompanyDomain } from '../../src/catalogue/company-domain.ts';
import { changeBoards } from '../../src/cli/boards/board-options.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { storedWords } from '../../src/storage/history/company-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { type BoardSite, openBoardSite } from '../adapters/boards/board-site.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { run as runWords } from './captured-io.ts';

let site: BoardSite;
let folder: string;
beforeAll(async () => {
  const page = '<iframe src="https://boards.greenhouse.io/embed/job_board?for=acmerobots"></iframe>';
  const posting = (title: string) => ({ '@type': 'JobPosting', title, url: `/${title}`, hiringOrganization: 'Markup' });
  const markup = `<script type="application/ld+json">${JSON.stringify([posting('Cook'), posting('Baker')])}</script>`;
  const pages = new Map([
    ['acme-robots.com/careers', { html: page }],
    ['markup.example.com/jobs', { html: markup }],
    ['markup.example.com/en', { html: markup }],
    ['long.example.com/jobs', { html: `<link rel="next" href="?page=2">${markup}` }],
  ]);
  site = await openBoardSite(['lever:palantir', 'greenhouse:acmerobots', 'ashby:notion'], pages);
});
afterAll(() => site.close());
beforeEach(() => {
  folder = testFolder();
});

async function run(...words: readonly string[]) {
  const env = { BOARD_ENDPOINTS: site.endpoints, TARGET_ALLOW: site.target };
  const { exitCode: code, ...output } = await runWords(['boards', ...words, '--catalogue', folder], { env });
  return { code, ...output };
}
const json = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const listed = async (): Promise<unknown[]> => json((await run('list', '--json')).stdout);

describe('boards', () => {
  it('add takes what people paste, says what it took it for, and adds the others when one is none', async () => {
    const addresses = [
      'https://jobs.lever.co/palantir/1/apply?x=1',
      'acme-robots.com/careers',
      'https://boards.greenhouse.io/none',
    ];
    const { code, stdout, stderr } = await run('add', ...addresses, '--json', '--host-pause-ms', '0');
    expect(code).toBe(1);
    expect(json(stdout)).toEqual([
      {
        ...{ address: addresses[0], shape: 'lever', board: 'lever:palantir', company: 'Palantir' },
        ...{ domain: 'palantir.com', jobs: expect.any(Number) },
      },
      {
        ...{ address: addresses[1], shape: 'greenhouse', board: 'greenhouse:acmerobots', company: null },
        ...{ domain: 'acme-robots.com', jobs: 1 },
      },
      { address: addresses[2], error: 'there is no board greenhouse:none (status 404)' },
    ]);
    expect(stderr).toMatch(/2 boards added, 0 changed, 0 known already, 1 not taken; `watch .*` fetches them\n$/);
    expect(await listed()).toMatchObject([
      { board: 'greenhouse:acmerobots', health: 'new', jobs: null, next_at: null },
      { board: 'lever:palantir', domain: 'palantir.com' },
    ]);
    // The page on the company's own site says whose the board is; the list of the package knows Palantir by itself.
    const history = HistoryDatabase.openForReading(folder);
    expect(storedWords(history)).toMatchObject([
      { kind: 'board', key: 'greenhouse:acmerobots', domain: 'acme-robots.com' },
    ]);
    history.close();
    const again = await run('add', 'lever:palantir', '--host-pause-ms', '0');
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringMatching(/0 boards added, 0 changed, 1 known already, 0 not taken\n$/),
    ]);
  });

  it('import adds the boards of a file with what it says about them, or nothing when a line is bad', async () => {
    const file = join(folder, 'boards.csv');
    writeFileSync(
      file,
      'company,address,domain\nPalantir Inc,https://jobs.lever.co/palantir,palantir.example\n,ashby:notion,\n',
    );
    expect((await run('import', file, '--host-pause-ms', '0')).code).toBe(0);
    expect(await listed()).toMatchObject([
      { board: 'ashby:notion', company: 'Notion' },
      { board: 'lever:palantir', company: 'Palantir Inc', domain: 'palantir.example' },
    ]);
    writeFileSync(file, 'address,domain\nlever:other,nodot\n,acme.com\n');
    const bad = await run('import', file);
    expect([bad.code, bad.stderr]).toEqual([
      1,
      expect.stringMatching(/line 2: domain must be[^\n]*\nline 3: address is blank\n/),
    ]);
    writeFileSync(file, 'name,place\na,b\n');
    expect((await run('import', file)).stderr).toContain('the header must name a column address or board or url; ');
    writeFileSync(file, 'https://jobs.lever.co/one\n# a remark\n\nlever:two\n');
    expect((await run('import', file, '--unchecked', '--json')).stdout).toContain('"board":"lever:two"');
    expect(await listed()).toHaveLength(4);
  });

  it('says of a board that was not asked what a build will say of it', async () => {
    const file = join(folder, 'unasked.csv');
    writeFileSync(file, 'address,company,domain\nlever:palantir,,\nlever:acme,,\nashby:notion,Notes,notes.example\n');
    expect((await run('import', file, '--unchecked')).stderr.split('\n').slice(0, 3)).toEqual([
      'lever:palantir: a company named by its postings, palantir.com; not asked; added',
      'lever:acme: a company named by its postings, domain unknown; not asked; added',
      'ashby:notion: Notes, notes.example; not asked; added',
    ]);
    await runWords(['companies', 'set', 'lever:acme', 'acme.com', '--catalogue', folder]);
    const again = await run('add', 'lever:palantir', 'lever:acme', 'ashby:notion', '--unchecked');
    expect(again.stderr.split('\n').slice(0, 3)).toEqual([
      'lever:palantir: a company named by its postings, palantir.com; not asked; known already',
      'lever:acme: a company named by its postings, acme.com; not asked; known already',
      'ashby:notion: Notes, notes.example; not asked; known already',
    ]);
    // What the list of the package says is not recorded with the board: every build reads the list of its day.
    expect(await listed()).toContainEqual(expect.objectContaining({ board: 'lever:palantir', domain: null }));
  });

  it('says of a board the domain of the list before the one that an earlier look found, as a build does', async () => {
    const found = {
      shape: 'lever',
      token: 'palantir',
      address: 'https://jobs.lever.co/palantir',
      company: null,
    } as const;
    await changeBoards(folder, (tables) => tables.put({ ...found, domain: parseCompanyDomain('earlier.example')! }, 0));
    expect((await run('add', 'lever:palantir', '--unchecked')).stderr).toContain(
      'lever:palantir: a company named by its postings, palantir.com;',
    );
  });

  it('names an address that it does not take without the password in it', async () => {
    const { code, stderr } = await run('add', 'https://me:secret@boards.greenhouse.io/acme', '--unchecked');
    expect(code).toBe(1);
    expect(stderr).toContain('https://…@boards.greenhouse.io/acme: an address with a user or a password is not taken');
    const { stdout } = await run('add', 'https://me:sec/ret@boards.greenhouse.io/acme', '--unchecked', '--json');
    expect(stdout).toContain('"address":"https://…@boards.greenhouse.io/acme","error":');
    expect(stderr + stdout).not.toMatch(/sec/);
  });

  it('check asks boards and changes nothing; remove forgets them, all or none', async () => {
    await run('add', 'lever:palantir', 'lever:lost', '--unchecked');
    const checked = await run('check', '--host-pause-ms', '0');
    expect(checked.code).toBe(1);
    expect(checked.stdout).toMatch(/lever:lost: there is no board[^\n]*\nlever:palantir: \d+ jobs? now\n/);
    const one = await run('check', 'jobs.lever.co/Palantir', '--json', '--host-pause-ms', '0');
    expect([one.code, json(one.stdout)]).toMatchObject([0, [{ board: 'lever:palantir' }]]);
    expect(one.stderr).toContain('1 board asked, 0 without');
    expect((await run('remove', 'lever:palantir', 'lever:unknown')).stderr).toContain(
      '"lever:unknown" is no watched board',
    );
    expect(await listed()).toHaveLength(2);
    expect((await run('remove', 'https://jobs.lever.co/palantir/', 'lever:lost')).code).toBe(0);
    expect(await listed()).toEqual([]);
  });

  it('remove --json gives one object an address, those that stay because of another included', async () => {
    await run('add', 'lever:palantir', 'lever:lost', '--unchecked');
    const address = 'https://jobs.lever.co/palantir/';
    const refused = await run('remove', '--json', address, 'lever:unknown');
    expect([refused.code, json(refused.stdout)]).toEqual([
      1,
      [
        { address, error: `not removed, because "lever:unknown" is no watched board of ${folder}` },
        { address: 'lever:unknown', error: `"lever:unknown" is no watched board of ${folder}` },
      ],
    ]);
    expect(await listed()).toHaveLength(2);
    const removed = await run('remove', '--json', address, 'lever:lost');
    expect([removed.code, json(removed.stdout)]).toEqual([
      0,
      [
        { address, shape: 'lever', board: 'lever:palantir', company: null, domain: null, jobs: null },
        { address: 'lever:lost', shape: 'lever', board: 'lever:lost', company: null, domain: null, jobs: null },
      ],
    ]);
    expect(await listed()).toEqual([]);
  });

  it('add asks for a page with markup once', async () => {
    const before = site.asked.length;
    expect((await run('add', 'https://markup.example.com/jobs', '--host-pause-ms', '0')).code).toBe(0);
    expect(site.asked.slice(before)).toEqual(['/robots.txt', '/markup.example.com/jobs']);
  });

  it('add and check say that they counted the first page, where it goes on and states no total', async () => {
    const address = 'https://long.example.com/jobs';
    const added = await run('add', address, '--json', '--host-pause-ms', '0');
    expect(json(added.stdout)).toMatchObject([{ board: 'jsonld:long.example.com', jobs: 2, is_first_page: true }]);
    expect((await run('add', address, '--host-pause-ms', '0')).stderr).toContain('; 2 jobs on its first page; known');
    const checked = await run('check', '--host-pause-ms', '0');
    expect(checked.stdout).toBe('jsonld:long.example.com: 2 jobs on its first page\n');
  });

  it('import --skip-known looks at no address whose board is watched, and remove takes one that was looked at', async () => {
    const file = join(folder, 'boards.csv');
    writeFileSync(file, 'address\nacme-robots.com/careers\nhttps://markup.example.com/jobs\n');
    expect((await run('import', file, '--host-pause-ms', '0')).code).toBe(0);
    writeFileSync(file, 'address\nacme-robots.com/careers\nhttps://markup.example.com/jobs\nlever:palantir\n');
    const before = site.asked.length;
    const again = await run('import', file, '--skip-known', '--json', '--host-pause-ms', '0');
    expect([again.code, json(again.stdout)]).toMatchObject([0, [{ address: 'lever:palantir' }]]);
    expect(site.asked.slice(before).map((path) => path.replace(/\?.*/, ''))).toEqual(['/v0/postings/palantir']);
    expect((await run('remove', 'acme-robots.com/careers')).stderr).toContain(
      'greenhouse:acmerobots: no longer watched',
    );
    expect(await listed()).toHaveLength(2);
  });

  it('add refuses another page of a host whose page is watched, which would push that one out', async () => {
    await run('add', 'https://markup.example.com/jobs', '--host-pause-ms', '0');
    const { code, stdout } = await run('add', 'https://markup.example.com/en', '--host-pause-ms', '0', '--json');
    expect([code, json(stdout)]).toEqual([
      1,
      [
        {
          address: 'https://markup.example.com/en',
          error: expect.stringContaining('is watched already at https://markup'),
        },
      ],
    ]);
    expect(await listed()).toMatchObject([
      { board: 'jsonld:markup.example.com', address: 'https://markup.example.com/jobs' },
    ]);
  });

  it('add --starter adds the boards of the package’s list, asking nothing', async () => {
    const { code, stderr } = await run('add', '--starter');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/25 boards of the list are left out[^\n]*Workday/)]);
    const history = HistoryDatabase.openForGlance(folder);
    const boards = new BoardTables(history).list();
    expect(boards.length).toBeGreaterThan(1000);
    expect(storedWords(history)).toEqual([]);
    history.close();
    expect(boards.find(({ token }) => token === 'nvidia/NVIDIAExternalCareerSite')).toMatchObject({
      ...{ shape: 'workday', company: 'NVIDIA', domain: 'nvidia.com' },
      address: 'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite',
    });
    expect(boards.find(({ name }) => name === 'ashby:notion')).toMatchObject({
      company: 'Notion',
      domain: 'notion.com',
    });
  });

  it.each([
    [['add'], 'a URL is missing'],
    [['add', 'lever:a', '--starter'], '--starter takes no URL'],
    [['add', 'lever:a', 'lever:b', '--company', 'X'], 'go with one URL'],
    [['add', 'lever:a', '--domain', 'nodot'], '--domain must be a domain name'],
    [['list', '--health', 'sick'], '--health must be one of'],
    [['remove'], 'BOARD is missing'],
  ])('%j is a usage error', async (words, message) => {
    expect(await run(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});
