/** `watch` against stubs of the board APIs that serve real postings. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FEED_BYTES_MAX } from '../../src/adapters/boards/limits.ts';
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import { type Board, type BoardShape, nameOfBoard } from '../../src/ingest/boards/board.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { jobsToBuild } from '../../src/storage/history/jobs-to-build.ts';
import { realDataMissing, realFile, skippedWithout } from '../ingest/real-data.ts';
import { BoardStub, type Fault } from '../support/board-stub.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { storedJobs } from '../support/stored-jobs.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { NOW_MS, run } from './captured-io.ts';

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

let folder: string;
let stub: BoardStub;
beforeEach(async () => {
  folder = testFolder();
  stub = await BoardStub.open();
});
afterEach(() => {
  stub.close();
});

const at = (name: string): string => join(folder, name);

function board(shape: BoardShape, token: string, address: string): Board {
  return { shape, token, company: null, domain: null, address };
}

const acme = board('greenhouse', 'acme', 'https://job-boards.greenhouse.io/acme');

function addBoards(...boards: readonly Board[]): void {
  const history = HistoryDatabase.openForSettings(at('watched'));
  const tables = new BoardTables(history);
  for (const one of boards) tables.put(one, NOW_MS);
  history.commit();
  history.close();
}

interface Visit {
  readonly board: string;
  readonly status: string;
  readonly http_status: number | null;
  readonly rows: number;
  readonly new: number;
  readonly changed: number;
  readonly closed: number;
  readonly reopened: number;
  readonly next_at: string;
  readonly refused?: number;
  readonly reason?: string;
}

/** One round, so many hours after the first, over every board. */
async function round(hours = 0, ...words: string[]) {
  const ran = await run(
    [
      'watch',
      '--catalogue',
      at('watched'),
      '--out',
      at('jobs.snapshot'),
      '--once',
      '--all',
      '--host-pause-ms',
      '0',
      ...words,
    ],
    { nowMs: NOW_MS + hours * HOUR_MS, env: stub.env },
  );
  const visits = ran.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Visit);
  return { ...ran, visits, first: visits[0]! };
}

/** What a catalogue holds, but for what tells only in which order it was stored. */
function contentOf(name: string): unknown {
  const history = HistoryDatabase.openForReading(at(name));
  const all = (sql: string): unknown[] => history.rows(sql);
  try {
    return {
      boards: all('SELECT shape, token FROM board ORDER BY 1, 2'),
      feeds: all(
        'SELECT shape, token, at_ms, rows, is_complete FROM feed JOIN board ON serial = board ORDER BY 1, 2, 3',
      ),
      jobs: [...jobsToBuild(history)].map(({ job, stored }) => JSON.stringify({ job, stored })).sort(),
      events: all(
        `SELECT at_ms, kind, id, field, before, after FROM event JOIN job ON job.serial = job ORDER BY at_ms, id, event.serial`,
      ),
      hosts: all(
        'SELECT shape, token, company, kind, host, rows, at_ms FROM host JOIN board ON serial = board ORDER BY 1, 2, 3, 4, 5',
      ),
    };
  } finally {
    history.close();
  }
}

const posting = (id: number, title = `Cook ${id}`) => ({
  id,
  title,
  updated_at: '2026-07-01T00:00:00Z',
  first_published: '2026-06-01T00:00:00Z',
  absolute_url: `https://boards.greenhouse.io/acme/jobs/${id}`,
  location: { name: 'Bern' },
  content: `<p>Cook with Python and care, place ${id}.</p>`,
});
const listing = (...ids: number[]) => ({ jobs: ids.map((id) => posting(id)), meta: { total: ids.length } });
const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Titles of the jobs in a snapshot. */
async function titlesIn(path: string): Promise<string[]> {
  const { stdout } = await run(['snapshot', 'export', path], {});
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { title: string }).title);
}

interface RealBoard {
  readonly file: string;
  readonly board: Board;
}

/** Of a page its HTML. */
const documentIn = (file: string): unknown => {
  const bytes = readFileSync(realFile(file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return file.endsWith('.html') ? text : (JSON.parse(text) as unknown);
};

const EVERY_REAL: readonly RealBoard[] = [
  {
    file: 'greenhouse-luno.2026-08-08.json',
    board: board('greenhouse', 'luno', 'https://job-boards.greenhouse.io/luno'),
  },
  {
    file: 'greenhouse-impact.2026-08-22.json.gz',
    board: board('greenhouse', 'impact', 'https://job-boards.greenhouse.io/impact'),
  },
  { file: 'lever-moo.2026-08-08.json', board: board('lever', 'moo', 'https://jobs.lever.co/moo') },
  { file: 'lever-palantir.json', board: board('lever', 'palantir', 'https://jobs.lever.co/palantir') },
  { file: 'ashby-cursor.json', board: board('ashby', 'cursor', 'https://jobs.ashbyhq.com/cursor') },
  {
    file: 'smartrecruiters-westerndigital.json',
    board: board('smartrecruiters', 'WesternDigital', 'https://careers.smartrecruiters.com/WesternDigital'),
  },
  { file: 'workable-workable.json', board: board('workable', 'workable', 'https://apply.workable.com/workable') },
  {
    file: 'recruitee-aikido.json',
    board: board('recruitee', 'aikidosecurity', 'https://aikidosecurity.recruitee.com'),
  },
  { file: 'teamtailor-teamtailor.json', board: board('teamtailor', 'career', 'https://career.teamtailor.com') },
  {
    file: 'workday-cxs-nvidia.json',
    board: board(
      'workday',
      'nvidia/NVIDIAExternalCareerSite',
      'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite',
    ),
  },
  {
    file: 'jsonld-workday-medtronic-page.html',
    board: board(
      'jsonld',
      'medtronic.wd1.myworkdayjobs.com',
      'https://medtronic.wd1.myworkdayjobs.com/MedtronicCareers/job/R60129-1',
    ),
  },
];
/** What the file of a Workday search does not say: where its paths are. */
const MANIFEST = { nvidia: { url: 'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite' } };

/** In `npm test` those of up to a hundred postings. */
const LARGE = ['impact', 'palantir', 'WesternDigital', 'cursor'];
const REAL = EVERY_REAL.filter(({ board: { token } }) => IS_WHOLE || !LARGE.includes(token));
/** Their lists come without a validator. */
const WITHOUT_TAGS = ['smartrecruiters', 'teamtailor', 'workday'];

describe.skipIf(realDataMissing)(`watch of real boards${skippedWithout}`, () => {
  it('keeps the catalogue that import makes of the same files, over pages, packed, and once more after a 304', {
    timeout: 120_000,
  }, async () => {
    const paths = REAL.map(({ file, board: { token } }) => {
      const path = at(`${token.split('/')[0]}${file.endsWith('.html') ? '.html' : '.json'}`);
      const document = documentIn(file);
      writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document));
      return path;
    });
    writeFileSync(at('manifest'), JSON.stringify(MANIFEST));
    for (const { file, board: one } of REAL)
      stub.list(one, documentIn(file), { pageRows: one.shape === 'teamtailor' ? 1 : 4 });
    addBoards(...REAL.map(({ board: one }) => one));
    for (const hours of [0, 5]) {
      const { exitCode, visits, stderr } = await round(hours);
      expect([exitCode, visits.length, visits.filter(({ status }) => status === 'failed')], stderr).toEqual([
        0,
        REAL.length,
        [],
      ]);
      const observed = new Date(NOW_MS + hours * HOUR_MS).toISOString();
      const words = ['--complete', '--observed-at', observed, '--manifest', at('manifest'), ...paths];
      await run(['import', '--catalogue', at('imported'), ...words], { nowMs: NOW_MS + hours * HOUR_MS });
      expect(contentOf('watched')).toEqual(contentOf('imported'));
      const unchanged = visits
        .filter(({ status }) => status === 'unchanged')
        .map(({ board: name }) => name.split(':')[0]);
      expect(unchanged.sort()).toEqual(
        hours === 0
          ? []
          : REAL.map(({ board: { shape } }) => shape)
              .filter((shape) => !WITHOUT_TAGS.includes(shape))
              .sort(),
      );
    }
    expect(stub.seen.every(({ headers }) => headers['user-agent']?.endsWith('(+https://watch.example/)'))).toBe(true);
  });
});

const status =
  (code: number, headers: Record<string, string> = {}): Fault =>
  (_, response) =>
    void response.writeHead(code, headers).end('{}');

interface FaultCase {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly outcome: string;
  readonly http: number | null;
  readonly reason?: RegExp;
}

const thrice = (fault: Fault): readonly Fault[] => [fault, fault, fault];

/** A list that goes on with blanks beyond what a feed may have, packed. */
function overlong(): Buffer {
  const parts = [gzipSync('{"jobs":[],"meta":{"total":0},"more":"')];
  const blanks = gzipSync(Buffer.alloc(16 * MIB, ' '));
  for (let bytes = 0; bytes < FEED_BYTES_MAX; bytes += 16 * MIB) parts.push(blanks);
  return Buffer.concat([...parts, gzipSync('"}')]);
}

/** Fifteen seconds of a busy machine; that a look ends at its bound, watch-pages.process.test.ts and the guarded client show. */
const TOO_LARGE: FaultCase = {
  name: 'a body of over 256 MiB, unpacked',
  faults: [(_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(overlong())],
  outcome: 'failed',
  http: null,
  reason: /^too-large/,
};

const FAULTS: readonly FaultCase[] = [
  ...(IS_WHOLE ? [TOO_LARGE] : []),
  { name: 'a server error', faults: thrice(status(500)), outcome: 'failed', http: 500 },
  { name: 'a server error that passes', faults: [status(503)], outcome: 'ok', http: 200 },
  { name: 'a board that is gone', faults: [status(404)], outcome: 'failed', http: 404 },
  { name: 'a short Retry-After', faults: [status(429, { 'retry-after': '1' })], outcome: 'ok', http: 200 },
  { name: 'a long Retry-After', faults: [status(429, { 'retry-after': '7200' })], outcome: 'failed', http: 429 },
  {
    name: 'a body that is cut',
    faults: thrice((_, response, body) => {
      response.writeHead(200, { 'content-length': String(body.length) }).write(body.subarray(0, body.length / 2));
      setTimeout(() => response.destroy(), 20);
    }),
    outcome: 'failed',
    http: null,
  },
  {
    name: 'a packed body whose coding ends early',
    faults: thrice((_, response, body) => {
      const packed = gzipSync(body);
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed.subarray(0, packed.length - 20));
    }),
    outcome: 'failed',
    http: null,
  },
  {
    name: 'a page of HTML in place of JSON',
    faults: [
      (_, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>maintenance</html>'),
    ],
    outcome: 'failed',
    http: 200,
    reason: /no JSON/,
  },
  {
    name: 'JSON of another kind',
    faults: [(_, response) => void response.writeHead(200).end('{"message":"hello"}')],
    outcome: 'failed',
    http: 200,
    reason: /no list of jobs as greenhouse/,
  },
  {
    name: 'an empty list',
    faults: [(_, response) => void response.writeHead(200).end('{"jobs":[],"meta":{"total":0}}')],
    outcome: 'unhealthy',
    http: 200,
    reason: /0 rows, where 10 are usual/,
  },
  {
    name: 'a list of which no record can be taken',
    faults: [
      (_, response) =>
        void response
          .writeHead(200)
          .end(JSON.stringify(listing(1, 2, 3)).replaceAll('"absolute_url":"http', '"absolute_url":"/')),
    ],
    outcome: 'failed',
    http: 200,
    reason: /no record that can be taken.*absolute_url/,
  },
  {
    name: 'a list that states more than it has',
    faults: [
      (_, response) =>
        void response.writeHead(200).end(JSON.stringify({ ...listing(1, 2, 3, 4, 5, 6, 7), meta: { total: 10 } })),
    ],
    outcome: 'ok',
    http: 200,
    reason: /more jobs than it lists/,
  },
  {
    name: 'a redirect to an address that is not public',
    faults: [status(302, { location: 'http://169.254.169.254/latest/meta-data' })],
    outcome: 'failed',
    http: 302,
    reason: /redirect leads where it must not/,
  },
  {
    name: 'a redirect to the same list',
    faults: [(request, response) => void response.writeHead(301, { location: `${request.url}&again` }).end()],
    outcome: 'ok',
    http: 200,
  },
  {
    name: 'a redirect without end',
    faults: Array(9).fill(status(302, { location: '?again' })),
    outcome: 'failed',
    http: 302,
    reason: /more than 5 redirects/,
  },
  { name: 'a 304 that was not asked for', faults: [status(304)], outcome: 'failed', http: 304 },
  {
    name: 'another media type than JSON has',
    faults: [(_, response, body) => void response.writeHead(200, { 'content-type': 'text/html' }).end(body)],
    outcome: 'ok',
    http: 200,
  },
];

describe('watch of a board that fails', () => {
  it.each(FAULTS)(
    '$name closes no job',
    async ({ faults, outcome, http, reason }) => {
      stub.list(acme, listing(...TEN), { hasEtags: false });
      addBoards(acme);
      await round(0);
      // A list without three of them, which would close them if it counted twice.
      stub.fail(acme, ...faults);
      const failed = await round(2);
      expect(failed.exitCode).toBe(0);
      expect([failed.first.status, failed.first.http_status, failed.first.closed], failed.first.reason).toEqual([
        outcome,
        http,
        0,
      ]);
      if (reason !== undefined) expect(failed.first.reason).toMatch(reason);
      stub.fail(acme, ...faults);
      expect((await round(3)).first.closed).toBe(0);
      stub.fail(acme);
      const after = await round(200);
      expect([after.first.status, after.first.rows, after.first.new, after.first.reopened]).toEqual(['ok', 10, 0, 0]);
    },
    60_000,
  );

  it('holds the board as long as Retry-After says', async () => {
    stub.list(acme, listing(...TEN));
    stub.fail(acme, status(429, { 'retry-after': '7200' }));
    addBoards(acme);
    const { first } = await round();
    expect(Date.parse(first.next_at)).toBe(NOW_MS + 2 * HOUR_MS);
    expect(stub.seen.length).toBe(1);
    // `--all` as well, which is about what is due.
    const again = await round(1);
    expect(again.first).toMatchObject({ status: 'failed', http_status: null, next_at: first.next_at });
    expect(again.first.reason).toContain('not asked');
    expect(stub.seen.length).toBe(1);
    expect((await round(2)).first).toMatchObject({ status: 'ok', rows: 10 });
  });
});

describe('watch', () => {
  it('opens, changes, closes after two complete feeds, and reopens, and writes the snapshot each time', async () => {
    addBoards(acme);
    stub.list(acme, listing(...TEN));
    expect((await round(0)).first).toMatchObject({
      board: nameOfBoard(acme),
      status: 'ok',
      rows: 10,
      new: 10,
      closed: 0,
    });
    const before = readFileSync(at('jobs.snapshot'));
    stub.list(acme, { jobs: [...TEN.slice(1, 9).map((id) => posting(id)), posting(10, 'Chef')], meta: { total: 9 } });
    expect((await round(1)).first).toMatchObject({ status: 'ok', rows: 9, new: 0, changed: 1, closed: 0 });
    // A 304 is the second complete feed without it.
    expect((await round(2)).first).toMatchObject({ status: 'unchanged', http_status: 304, rows: 9, closed: 1 });
    stub.list(acme, listing(...TEN));
    expect((await round(3)).first).toMatchObject({ status: 'ok', reopened: 1, changed: 1 });
    expect(readFileSync(at('jobs.snapshot')).equals(before)).toBe(false);
  });

  it('keeps the catalogue that import makes where lists come once more byte by byte, without a validator', async () => {
    addBoards(acme);
    const lists = [TEN, TEN, TEN.slice(1), TEN.slice(1), TEN.slice(1), TEN, TEN, TEN.slice(0, 9), TEN.slice(0, 9), TEN];
    for (const [hours, ids] of lists.entries()) {
      stub.list(acme, listing(...ids), { hasEtags: false });
      expect((await round(hours)).first).toMatchObject({ status: 'ok', http_status: 200, rows: ids.length });
      writeFileSync(at('acme.json'), JSON.stringify(listing(...ids)));
      const observed = ['--complete', '--observed-at', new Date(NOW_MS + hours * HOUR_MS).toISOString()];
      const words = ['import', '--catalogue', at('imported'), ...observed, at('acme.json')];
      expect(await run(words, { nowMs: NOW_MS + hours * HOUR_MS })).toMatchObject({ exitCode: 0 });
      expect(contentOf('watched')).toEqual(contentOf('imported'));
    }
  });

  it('says how many records of a list were refused, and keeps their jobs open', async () => {
    addBoards(acme);
    stub.list(acme, listing(...TEN));
    const { first } = await round(0);
    expect(first).toMatchObject({ status: 'ok', rows: 10, new: 10 });
    expect(Object.keys(first)).toEqual('board,status,http_status,rows,new,changed,closed,reopened,next_at'.split(','));
    const spoilt = listing(...TEN);
    stub.list(acme, { ...spoilt, jobs: spoilt.jobs.map((job) => (job.id < 4 ? { ...job, title: '' } : job)) });
    for (const hours of [1, 2, 3]) {
      expect((await round(hours)).first).toMatchObject({
        ...{ status: hours === 1 ? 'ok' : 'unchanged', closed: 0 },
        ...(hours === 1 ? { rows: 7, refused: 3 } : {}),
      });
    }
  });

  it('leaves a board whose list is empty as it was, also where the list calls its company otherwise than its token', async () => {
    const one = board('workable', 'acme-bots', 'https://apply.workable.com/acme-bots');
    const list = (count: number) => ({
      name: 'Acme Robotics, Inc.',
      jobs: Array.from({ length: count }, (_, i) => ({
        title: `Cook ${i}`,
        shortcode: `A${i}`,
        url: `https://apply.workable.com/j/A${i}`,
        published_on: '2026-08-01',
        city: 'Bern',
        country: 'Switzerland',
      })),
    });
    addBoards(one);
    stub.list(one, list(10));
    expect((await round(0)).first).toMatchObject({ board: nameOfBoard(one), status: 'ok', rows: 10, new: 10 });
    stub.list(one, list(0));
    const emptied = await round(1);
    expect(emptied.first).toMatchObject({ status: 'unhealthy', closed: 0 });
    expect(emptied.stderr).toContain('0 closed, 0 reopened; 1 unhealthy; next workable:acme-bots');
  });

  it.each([
    ['lever', 'https://jobs.lever.co/acme'],
    ['ashby', 'https://jobs.ashbyhq.com/acme'],
  ] as const)('records no change when the list of a %s board is imported from a file', async (shape, address) => {
    const one: Board = {
      shape,
      token: 'acme',
      address,
      company: 'Acme, Inc.',
      domain: 'acme.example' as CompanyDomain,
    };
    const document =
      shape === 'lever'
        ? [{ id: '1', text: 'Cook', categories: { location: 'Bern' }, hostedUrl: `${address}/1`, createdAt: 1 }]
        : {
            jobs: [
              { id: '1', title: 'Cook', location: 'Bern', isListed: true, publishedAt: '', jobUrl: `${address}/1` },
            ],
          };
    addBoards(one);
    stub.list(one, document);
    expect((await round(0)).first).toMatchObject({ status: 'ok', new: 1 });
    writeFileSync(at('list.json'), JSON.stringify(document));
    const words = ['--catalogue', at('watched'), '--format', shape, '--complete', '--json', at('list.json')];
    const ran = await run(['import', ...words], { nowMs: NOW_MS + HOUR_MS });
    expect(JSON.parse(ran.stdout)).toMatchObject({ seen: 1, changed: 0 });
    stub.list(one, Array.isArray(document) ? [...document, { ...document[0], id: '2' }] : document);
    expect((await round(2)).first).toMatchObject({ status: 'ok', changed: 0 });
  });

  it('counts the domain of a board from the package’s list as assigned, and one of the operator as stated', async () => {
    const listed = board('lever', 'palantir', 'https://jobs.lever.co/palantir');
    const named = board('lever', 'acme', 'https://jobs.lever.co/acme');
    for (const { token, address } of [listed, named]) {
      const job = { id: token, text: 'Cook', categories: {}, hostedUrl: `${address}/1`, createdAt: 1 };
      stub.list(token === 'acme' ? named : listed, [job]);
    }
    const add = (...words: string[]) =>
      run(['boards', 'add', '--catalogue', at('watched'), ...words], { env: stub.env });
    expect((await add(listed.address)).stderr).toContain('palantir.com');
    expect((await add(named.address, '--domain', 'acme.example')).stderr).toContain('acme.example');
    await round(0);
    const { stdout } = await run(['snapshot', 'export', at('jobs.snapshot')]);
    const jobs = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(jobs.map((job) => [job.id, job.company_domain, job.company_domain_evidence])).toEqual([
      ['lever:palantir:palantir', 'palantir.com', 'directory'],
      ['lever:acme:acme', 'acme.example', 'manifest'],
    ]);
  });

  it('asks once for each description that a list does not have, and keeps what the list says', async () => {
    const place = {
      shape: 'smartrecruiters',
      token: 'Acme',
      address: 'https://careers.smartrecruiters.com/Acme',
    } as const;
    const one: Board = { ...place, company: null, domain: null };
    const row = (id: number) => ({
      id: `${id}`,
      name: `Cook ${id}`,
      company: { identifier: 'Acme', name: 'Acme' },
      releasedDate: '2026-07-01T00:00:00Z',
      location: { city: 'Bern' },
    });
    stub.list(one, { offset: 0, limit: 100, totalFound: 2, content: [row(1), row(2)] });
    const text = '<p>Cook with Python and Kubernetes.</p>';
    const detail = { ...row(1), name: 'Another', jobAd: { sections: { jobDescription: { text } } } };
    stub.texts.set('/v1/companies/Acme/postings/1', JSON.stringify(detail));
    addBoards(one);
    const detailsAsked = () => stub.seen.filter(({ path }) => /postings\/\d/.test(path)).map(({ path }) => path.at(-1));
    expect((await round(0)).first).toMatchObject({ status: 'ok', new: 2 });
    expect(detailsAsked()).toEqual(['1', '2']);
    expect((await round(1)).first).toMatchObject({ status: 'ok', new: 0, changed: 0, closed: 0 });
    expect(detailsAsked()).toEqual(['1', '2', '2']);
    const history = HistoryDatabase.openForReading(at('watched'));
    const jobs = [...storedJobs(history)].map(({ job: { title, description, skills } }) => ({
      title,
      description,
      skills,
    }));
    history.close();
    expect(jobs).toEqual([
      { title: 'Cook 1', description: 'Cook with Python and Kubernetes.', skills: ['Python', 'Kubernetes'] },
      { title: 'Cook 2', description: null, skills: [] },
    ]);
  });

  it('only warns where it cannot keep its list for the next build', async () => {
    addBoards(acme);
    stub.list(acme, listing(...TEN));
    mkdirSync(at('watched/build.list'));
    const { exitCode, stderr, first } = await round();
    expect([exitCode, first.status]).toEqual([0, 'ok']);
    expect(stderr).toMatch(
      /warning: [^\n]*build\.list cannot be written \(EISDIR\), so the next build takes nothing over/,
    );
    expect(await titlesIn(at('jobs.snapshot'))).toHaveLength(10);
    stub.list(acme, listing(...TEN, 11));
    expect((await round(1)).exitCode).toBe(0);
    expect(await titlesIn(at('jobs.snapshot'))).toHaveLength(11);
  });

  it('leaves boards alone that are not due, and builds a snapshot that is missing', async () => {
    addBoards(acme);
    stub.list(acme, listing(...TEN));
    await round();
    rmSync(at('jobs.snapshot'));
    const words = ['watch', '--catalogue', at('watched'), '--out', at('jobs.snapshot'), '--once'];
    const again = await run(words, { nowMs: NOW_MS + 60_000, env: stub.env });
    expect([again.exitCode, again.stdout, stub.seen.length]).toEqual([0, '', 1]);
    expect(readFileSync(at('jobs.snapshot')).length).toBeGreaterThan(0);
    expect(again.stderr).not.toContain('due');
    const shown = await run(words, { nowMs: NOW_MS + 60_000, env: stub.env, isTerminal: true });
    expect(shown.stderr).toMatch(/no board is due; next greenhouse:acme at \S+Z\n$/);
  });

  it('obeys the robots rules of a host for its pages, and asks for them once', async () => {
    const page = (path: string) => board('jsonld', `shop.example${path}`, `https://shop.example${path}`);
    const ld = {
      '@type': 'JobPosting',
      title: 'Cook',
      hiringOrganization: { name: 'Shop' },
      url: 'https://shop.example/jobs/1',
    };
    const html = `<html><script type="application/ld+json">${JSON.stringify(ld)}</script></html>`;
    for (const path of ['/jobs', '/closed']) stub.list(page(path), html);
    stub.texts.set('/robots.txt', 'User-agent: *\nDisallow: /shop.example/closed\n');
    addBoards(page('/jobs'), page('/closed'));
    const { visits } = await round();
    const byBoard = new Map(visits.map((visit) => [visit.board, visit]));
    expect(byBoard.get('jsonld:shop.example/jobs')).toMatchObject({ status: 'ok', rows: 1 });
    expect(byBoard.get('jsonld:shop.example/closed')).toMatchObject({ status: 'failed', http_status: null });
    expect(byBoard.get('jsonld:shop.example/closed')?.reason).toMatch(/robots rules/);
    expect(stub.seen.filter(({ path }) => path === '/robots.txt').length).toBe(1);
  });

  it.each([
    { words: ['--all'], stderr: /--all goes with --once/ },
    {
      words: ['--once', '--every-min', '3'],
      env: { BOARD_ENDPOINTS: 'nosuch=http://x' },
      stderr: /BOARD_ENDPOINTS must be/,
    },
    { words: ['--once', '--every-min', '2d'], stderr: /--every-min is longer than --every-max/ },
    { words: ['--once', '--every-min', 'soon'], stderr: /--every-min must be a time/ },
  ])('refuses $words', async ({ words, stderr, env = {} }) => {
    const ran = await run(['watch', '--catalogue', at('watched'), '--out', at('x'), ...words], { env });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(stderr);
  });

  it('says so when there are no boards, and when CONTACT is missing', async () => {
    const ran = await run(['watch', '--catalogue', at('watched'), '--out', at('x'), '--once'], {});
    expect([ran.exitCode, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toMatch(/without CONTACT/);
    expect(ran.stderr).toMatch(/has no boards: `boards add URL` adds one/);
  });
});
