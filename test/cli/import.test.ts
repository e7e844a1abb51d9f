/** `import`, `history` and `snapshot build --catalogue`, as their contract has them. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../src/cli/command.ts';
import { PROGRAM } from '../../src/cli/program.ts';
import { greenhouseShape } from '../../src/ingest/shapes/greenhouse.ts';
import { HistoryDatabase, HistoryError } from '../../src/storage/history/database.ts';
import { HistoryImport } from '../../src/storage/history/import.ts';
import { minimalJob } from '../support/minimal-job.ts';
import { capturedIo, NOW_MS, run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-import-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const database = () => at('catalogue/catalogue.sqlite');
function file(name: string, content: string | Uint8Array): string {
  writeFileSync(at(name), content);
  return at(name);
}

interface Report {
  readonly catalogue: string;
  readonly observed_at: string;
  readonly files: readonly { file: string; format: string | null; read: number; imported: number; refused: object }[];
  readonly new: number;
  readonly seen: number;
  readonly changed: number;
  readonly closed: number;
  readonly reopened: number;
}

/** The command, with its report. */
async function imported(...words: string[]) {
  const { exitCode, stdout, stderr } = await run(['import', '--catalogue', at('catalogue'), '--json', ...words]);
  const report = stdout === '' ? undefined : (JSON.parse(stdout) as Report);
  const { new: isNew, seen, changed, closed, reopened } = report ?? ({} as Partial<Report>);
  return { exitCode, stderr, report, counts: [isNew, seen, changed, closed, reopened] };
}

/** Importing at a day of 2026-08. */
const on = (day: number, ...words: string[]) =>
  imported('--observed-at', `2026-08-${String(day).padStart(2, '0')}`, ...words);
const complete = (day: number, ...words: string[]) => on(day, '--complete', ...words);

interface Posting {
  readonly id: number;
  readonly title?: string;
  readonly content?: string;
}

function greenhouse(name: string, postings: readonly (Posting | number)[], token = 'acme', more: object = {}): string {
  const jobs = postings
    .map((posting) => (typeof posting === 'number' ? { id: posting } : posting))
    .map(({ id, title = `Cook ${id}`, content }) => ({
      id,
      title,
      updated_at: '2026-07-01T00:00:00Z',
      first_published: '2026-06-01T00:00:00Z',
      absolute_url: `https://boards.greenhouse.io/${token}/jobs/${id}`,
      location: { name: 'Bern' },
      ...(content === undefined ? {} : { content }),
    }));
  return file(name, JSON.stringify({ jobs, meta: { total: jobs.length }, ...more }));
}

const HEADER = 'id,site,job_url,title,company,description\n';
const csvRow = (id: number, text = '') => `${id},x,https://a.example/${id},Cook,Acme,${text}\n`;

/** Packed rows that break off near their end; what they say does not pack, so that most of them are read by then. */
function cutCsv(): Uint8Array {
  const rows = Array.from({ length: 50 }, (_, i) => csvRow(i + 10, randomBytes(5000).toString('hex')));
  const whole = gzipSync(HEADER + rows.join(''));
  return whole.subarray(0, whole.length - 12);
}

interface Exported {
  readonly id: string;
  readonly title: string;
  readonly company: string;
  readonly company_domain: string | null;
  readonly skills: readonly string[];
  readonly status: string;
  readonly first_observed_at: string;
  readonly last_observed_at: string;
  readonly closed_at: string | null;
}

/** Jobs of the snapshot that is built from the catalogue, by the last part of their id. */
async function jobs(): Promise<Record<string, Exported>> {
  const built = await run(['snapshot', 'build', '--catalogue', at('catalogue'), '--out', at('snapshot')]);
  expect([built.exitCode, built.stdout]).toEqual([0, '']);
  const { stdout } = await run(['snapshot', 'export', at('snapshot')]);
  const all = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exported);
  return Object.fromEntries(all.map((job) => [job.id.split(':').at(-1), job]));
}

interface Event {
  readonly at: string;
  readonly kind: string;
  readonly id: string;
  readonly field?: string;
  readonly before?: string | null;
  readonly after?: string | null;
}

async function events(...words: string[]): Promise<Event[]> {
  const { exitCode, stdout } = await run(['history', '--catalogue', at('catalogue'), '--json', ...words]);
  expect(exitCode).toBe(0);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event);
}

/** As `day kind id`. */
async function told(...words: string[]): Promise<string[]> {
  return (await events(...words)).map(
    ({ at: time, kind, id }) => `${Number(time.slice(8, 10))} ${kind} ${id.split(':').at(-1)}`,
  );
}

const LEVER_POSTING = {
  id: 'a1b2c3d4-0000-4000-8000-000000000001',
  text: 'Cook',
  hostedUrl: 'https://jobs.lever.co/acme/a1b2c3d4-0000-4000-8000-000000000001',
  createdAt: 1_780_000_000_000,
  categories: { location: 'Oslo' },
};

describe('import', () => {
  it('says what came of each file, on stdout only the report', async () => {
    const a = greenhouse('a.json', [1, { id: 2, title: ' ' }, 1]);
    const { exitCode, report, stderr } = await on(8, a);
    expect(exitCode).toBe(0);
    expect(report).toEqual({
      catalogue: at('catalogue'),
      observed_at: '2026-08-08T00:00:00.000Z',
      files: [
        {
          file: a,
          format: 'greenhouse',
          read: 3,
          imported: 1,
          refused: { 'title is missing or blank': 1, 'repeated id': 1 },
        },
      ],
      new: 1,
      seen: 0,
      changed: 0,
      closed: 0,
      reopened: 0,
    });
    expect(stderr).toContain('greenhouse:acme: 1 job, 1 new, 0 seen again');
  });

  it('observes now unless a time is given, never when the publisher or the document says', async () => {
    const a = greenhouse('acme.2026-03-01.json', [1], 'acme', { fetched_at: '2026-03-02T00:00:00Z' });
    const { report, stderr } = await imported(a);
    const now = new Date(NOW_MS).toISOString();
    expect(report?.observed_at).toBe(now);
    expect((await jobs())[1]).toMatchObject({ first_observed_at: now, last_observed_at: now, status: 'active' });
    expect(stderr).toContain(
      'carries another date in the name; the import recorded them as observed now. --observed-at from-name takes each at its date',
    );
  });

  it('warns of a time that is still to come', async () => {
    const { exitCode, stderr } = await imported('--observed-at', '2027-01-01', greenhouse('a.json', [1]));
    expect([exitCode, stderr.split('\n')[0]]).toEqual([0, "warning: --observed-at is later than this machine's clock"]);
  });

  it('remembers first and last observation, changes, and nothing of the same feed read again', async () => {
    const first = greenhouse('a.json', [1, 2]);
    expect((await on(8, first)).counts).toEqual([2, 0, 0, 0, 0]);
    const second = greenhouse('b.json', [{ id: 1, title: 'Chef' }, 2, 3]);
    expect((await on(9, second)).counts).toEqual([1, 2, 1, 0, 0]);
    const bytes = readFileSync(database());
    expect((await on(9, second)).counts).toEqual([0, 3, 0, 0, 0]);
    expect((await on(8, first)).counts).toEqual([0, 2, 0, 0, 0]);
    expect(readFileSync(database()).equals(bytes)).toBe(true);
    expect(await jobs()).toMatchObject({
      1: { title: 'Chef', first_observed_at: '2026-08-08T00:00:00.000Z', last_observed_at: '2026-08-09T00:00:00.000Z' },
      3: { first_observed_at: '2026-08-09T00:00:00.000Z' },
    });
    expect(await events('--kind', 'changed')).toMatchObject([{ field: 'title', before: 'Cook 1', after: 'Chef' }]);
  });

  it('closes what two complete feeds in a row miss, and opens it again when it returns', async () => {
    const both = greenhouse('a.json', [1, 2, 3]);
    const without = greenhouse('b.json', [1, 2]);
    await complete(1, both);
    expect((await complete(2, without)).counts).toEqual([0, 2, 0, 0, 0]);
    expect((await on(3, without)).counts).toEqual([0, 2, 0, 0, 0]);
    expect((await jobs())[3]?.status).toBe('active');
    expect((await complete(4, without)).counts).toEqual([0, 2, 0, 1, 0]);
    expect((await complete(5, without)).counts).toEqual([0, 2, 0, 0, 0]);
    expect((await jobs())[3]).toMatchObject({ status: 'closed', last_observed_at: '2026-08-01T00:00:00.000Z' });
    expect((await on(6, both)).counts).toEqual([0, 3, 0, 0, 1]);
    expect((await jobs())[3]).toMatchObject({ status: 'active', last_observed_at: '2026-08-06T00:00:00.000Z' });
    expect(await told('--since', '2026-08-02')).toEqual(['4 closed 3', '6 reopened 3']);
  });

  it('opens a job that comes back changed before it records the change, and closes one after that', async () => {
    const line = (title: string, status: string, day: number): string => {
      const job = { id: '1', title, company: 'Acme', source_url: 'https://a.example/1', status };
      const times = { first_observed_at: '2026-08-01', last_observed_at: `2026-08-0${day}` };
      return file(`${day}.jsonl`, JSON.stringify({ ...job, ...times }));
    };
    await on(1, line('Cook', 'active', 1));
    await on(2, line('Cook', 'closed', 2));
    await on(3, line('Chef', 'active', 3));
    await on(4, line('Head chef', 'closed', 4));
    expect(await told()).toEqual([
      ...['1 opened 1', '2 closed 1', '3 reopened 1'],
      ...['3 changed 1', '4 changed 1', '4 closed 1'],
    ]);
  });

  it('counts no job as missing where one id stands for postings of different addresses, as in no sound list', async () => {
    const posted = (id: number, place: number) => csvRow(id).replace(`a.example/${id}`, `a.example/${place}`);
    const sound = file('a.csv', `${HEADER}${csvRow(1)}${csvRow(2)}${csvRow(3)}${csvRow(4)}`);
    const mixed = file('b.csv', `${HEADER}${csvRow(1)}${csvRow(2)}${csvRow(3)}${posted(3, 4)}`);
    const repeated = file('c.csv', `${HEADER}${csvRow(1)}${csvRow(2)}${csvRow(3)}${csvRow(3)}`);
    await complete(1, sound);
    await complete(2, mixed);
    const { counts, stderr } = await complete(3, mixed);
    expect(counts).toEqual([0, 3, 0, 0, 0]);
    expect(stderr).toContain('merged as partial: a record has no id of its own, so it may be any of its jobs\n');
    await complete(4, repeated);
    expect((await complete(5, repeated)).counts).toEqual([0, 3, 0, 1, 0]);
  });

  it('starts counting anew when a partial feed has the job in between', async () => {
    const both = greenhouse('a.json', [1, 2]);
    const without = greenhouse('b.json', [1]);
    await complete(1, both);
    await complete(2, without);
    await on(3, both);
    await complete(4, without);
    expect((await jobs())[2]?.status).toBe('active');
    await complete(5, without);
    expect((await jobs())[2]?.status).toBe('closed');
  });

  it('counts no job as missing where a line cannot be read, because it may be any of them', async () => {
    const job = (id: string) => ({ id, title: 'Cook', company: 'Acme', source_url: 'https://acme.example/' });
    const line = (id: string, day: number): string => {
      const time = `2026-08-0${day}`;
      return `${JSON.stringify({ ...job(id), first_observed_at: '2026-08-01', last_observed_at: time })}\n`;
    };
    const take = (day: number, text: string, unreadable = Buffer.of()) =>
      complete(day, '--format', 'native', file('a.jsonl', Buffer.concat([Buffer.from(text), unreadable])));
    await take(1, line('x', 1) + line('y', 1));
    for (const day of [2, 3, 4]) {
      const { counts, stderr } = await take(day, line('x', day), Buffer.of(0xe9, 0x0a));
      expect(counts).toEqual([0, 1, 0, 0, 0]);
      expect(stderr).toContain('is not valid UTF-8');
    }
    expect((await take(5, line('x', 5))).counts).toEqual([0, 1, 0, 0, 0]);
    expect((await take(6, line('x', 6))).counts).toEqual([0, 1, 0, 1, 0]);
  });

  it('does not count a job as missing whose record was refused', async () => {
    const lever = (name: string, ids: readonly string[], text: string) =>
      file(
        name,
        JSON.stringify(
          ids.map((id, index) => ({
            ...(id === '' ? {} : { id }),
            text: index === 0 ? text : 'Cook',
            categories: {},
            hostedUrl: 'https://jobs.lever.co/zz/x',
          })),
        ),
      );
    await complete(1, lever('all.json', ['a', 'b', 'c', 'd'], 'Chef'));
    const blank = lever('blank.json', ['a', 'b', 'c'], '  ');
    expect((await complete(2, blank)).counts).toEqual([0, 2, 0, 0, 0]);
    expect((await complete(3, blank)).counts).toEqual([0, 2, 0, 1, 0]);
    expect(await told('--kind', 'closed')).toEqual(['3 closed d']);
    expect((await jobs()).a).toMatchObject({
      title: 'Chef',
      status: 'active',
      last_observed_at: '2026-08-03T00:00:00.000Z',
    });

    const nameless = lever('nameless.json', ['', 'b', 'c'], 'Chef');
    for (const day of [4, 5, 6]) {
      const { counts, stderr } = await complete(day, nameless);
      expect(counts).toEqual([0, 2, 0, 0, 0]);
      expect(stderr).toContain(
        'lever:zz: merged as partial: a record has no id of its own, so it may be any of its jobs\n',
      );
    }
    // One that its board does not list is missing.
    const ashby = (isListed: boolean) =>
      file(
        'ashby.json',
        JSON.stringify({
          jobs: ['1', '2', '3'].map((id) => ({
            id,
            title: 'Cook',
            isListed: id !== '1' || isListed,
            publishedAt: '2026-07-01T00:00:00Z',
            jobUrl: `https://jobs.ashbyhq.com/zz/${id}`,
          })),
        }),
      );
    await complete(7, ashby(true));
    await complete(8, ashby(false));
    expect((await complete(9, ashby(false))).counts).toEqual([0, 2, 0, 1, 0]);
  });

  it('closes nothing on boards that a feed is not of', async () => {
    const other = greenhouse('o.json', [7], 'other');
    await complete(1, greenhouse('a.json', [1]), other);
    for (const day of [2, 3, 4]) await complete(day, other);
    expect((await jobs())[1]?.status).toBe('active');
  });

  it('takes a feed that arrives late for what it shows of its own time', async () => {
    const all = greenhouse('a.json', [1, 2]);
    const without = greenhouse('b.json', [1]);
    await complete(10, all);
    await complete(14, without);
    await complete(16, without);
    expect(await told('--kind', 'closed')).toEqual(['16 closed 2']);

    // It was missing earlier already. What was logged stays, and the correction follows it.
    expect((await complete(12, without)).counts).toEqual([0, 1, 0, 0, 0]);
    expect(await told('--kind', 'closed')).toEqual(['14 closed 2', '16 closed 2']);
    expect((await jobs())[2]).toMatchObject({ status: 'closed', closed_at: '2026-08-14T00:00:00.000Z' });
    // It was there longer: one miss fewer, which still makes two.
    expect((await on(13, all)).counts).toEqual([0, 2, 0, 0, 0]);
    expect((await told('--job', 'greenhouse:acme:2')).slice(1)).toEqual([
      '14 closed 2',
      '14 reopened 2',
      '16 closed 2',
      '16 closed 2',
    ]);
    expect((await jobs())[2]).toMatchObject({ status: 'closed', closed_at: '2026-08-16T00:00:00.000Z' });
    // And longer still: one miss is none.
    expect((await on(15, all)).counts).toEqual([0, 2, 0, 0, 1]);
    expect((await told('--job', 'greenhouse:acme:2')).at(-1)).toBe('16 reopened 2');
    // The first of all gives an earlier opening, and no field.
    const oldest = greenhouse('c.json', [{ id: 1, title: 'Chef' }, 2]);
    expect((await on(5, oldest)).counts).toEqual([0, 2, 0, 0, 0]);
    expect(await told('--kind', 'opened')).toEqual(['5 opened 1', '5 opened 2', '10 opened 1', '10 opened 2']);
    expect(await jobs()).toMatchObject({
      1: {
        title: 'Cook 1',
        first_observed_at: '2026-08-05T00:00:00.000Z',
        last_observed_at: '2026-08-16T00:00:00.000Z',
      },
      2: { status: 'active', last_observed_at: '2026-08-15T00:00:00.000Z' },
    });
  });

  it('knows a job of an old feed alone as closed, when two complete ones since then have not had it', async () => {
    await complete(2, greenhouse('a.json', [1]));
    await complete(3, greenhouse('a.json', [1]));
    expect((await on(1, greenhouse('b.json', [1, 2]))).counts).toEqual([1, 1, 0, 1, 0]);
    expect(await told('--job', 'greenhouse:acme:2')).toEqual(['1 opened 2', '3 closed 2']);
  });

  it('refuses a complete feed of under half of the usual rows, unless forced, and takes the others', async () => {
    await complete(1, greenhouse('a.json', [1, 2, 3, 4, 5]));
    const few = greenhouse('few.json', [1, 2]);
    const other = greenhouse('other.json', [9], 'other');
    const refused = await complete(2, few, other);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(
      'greenhouse:acme: refused as unhealthy: 2 rows, where 5 are usual; --force takes it\n',
    );
    expect(refused.counts).toEqual([1, 0, 0, 0, 0]);
    expect(refused.report?.files[0]).toMatchObject({
      read: 2,
      imported: 0,
      refused: { 'is in a feed of under half of the usual rows': 2 },
    });
    expect((await complete(3, few)).exitCode).toBe(2);
    expect(Object.values(await jobs()).every(({ status }) => status === 'active')).toBe(true);
    expect((await complete(3, greenhouse('one.json', [1]))).stderr).toContain(': 1 row, where 5 are usual; ');
    // Exactly half is no longer under half: 3 of 5 is the least.
    expect((await complete(4, greenhouse('half.json', [1, 2, 3]))).exitCode).toBe(0);
    expect((await complete(5, '--force', few)).counts).toEqual([0, 2, 0, 2, 0]);
    // A partial feed may be of any size.
    expect((await on(6, greenhouse('one.json', [1]))).exitCode).toBe(0);
  });

  it('takes the empty listing of a known board for unhealthy, and when forced for empty', async () => {
    await complete(1, greenhouse('acme.json', [1]));
    const empty = greenhouse('acme.json', []);
    expect((await complete(2, empty)).exitCode).toBe(2);
    expect((await complete(3, '--force', empty)).exitCode).toBe(0);
    expect((await complete(4, '--force', empty)).counts).toEqual([0, 0, 0, 1, 0]);
  });

  it('reads pages of one board as one feed, in one command or several', async () => {
    const one = greenhouse('1.json', [1, 2]);
    const two = greenhouse('2.json', [3, 4]);
    expect((await complete(1, one, two)).counts).toEqual([4, 0, 0, 0, 0]);
    await complete(2, one);
    await complete(2, two);
    await complete(3, one);
    expect((await complete(3, two)).counts).toEqual([0, 2, 0, 0, 0]);
    // Late enough that the first page alone has closed what stands on the second: that is taken back.
    await complete(4, one);
    expect((await complete(5, one)).counts).toEqual([0, 2, 0, 2, 0]);
    expect((await complete(5, two)).counts).toEqual([0, 2, 0, 0, 2]);
    expect(await told('--since', '2026-08-05')).toEqual(['5 closed 3', '5 closed 4', '5 reopened 3', '5 reopened 4']);
    expect(Object.values(await jobs()).every(({ status }) => status === 'active')).toBe(true);
    const { stdout } = await run([
      'history',
      '--catalogue',
      at('catalogue'),
      '--feeds',
      '--json',
      '--since',
      '2026-08-05',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ board: 'greenhouse:acme', rows: 4, complete: true });
  });

  it('leaves a history, which says so where it has nothing to show', async () => {
    await on(1, greenhouse('acme.json', [1]));
    const shown = (...words: string[]) => run(['history', '--catalogue', at('catalogue'), ...words]);
    expect(await shown('--board', 'greenhouse:acne')).toMatchObject({ exitCode: 0, stdout: '', stderr: 'no events\n' });
    expect(await shown('--board', 'acne', '--feeds')).toMatchObject({ exitCode: 0, stdout: '', stderr: 'no feeds\n' });
    expect(await shown('--board', 'acne', '--json')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(await shown('--board', 'acme')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('lets the newest of several listings of a board win, by what they say', async () => {
    const a = greenhouse('acme-1.json', [{ id: 1, title: 'Cook' }], 'acme', { fetched_at: '2026-08-01' });
    const b = greenhouse('acme-2.json', [{ id: 1, title: 'Chef' }], 'acme', { fetched_at: '2026-08-02' });
    await on(8, b, a);
    expect((await jobs())[1]?.title).toBe('Chef');
    rmSync(at('catalogue'), { recursive: true });
    expect((await on(8, a, b)).report?.files.map(({ imported: count }) => count)).toEqual([1, 1]);
    expect((await jobs())[1]?.title).toBe('Chef');
  });

  it('ends with 2 for files that cannot be read or recognised, and takes the others', async () => {
    const broken = cutCsv();
    const files = [
      at('missing.json'),
      file('words.txt', 'words'),
      file('cut.csv.gz', broken),
      file('empty.json', ' \n'),
      greenhouse('good.json', [1]),
    ];
    const { exitCode, stderr, report, counts } = await complete(1, ...files);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('missing.json: there is no such file\n');
    expect(stderr).toContain('words.txt: is not JSON, JSON Lines, CSV, Parquet or HTML\n');
    expect(stderr).toContain('empty.json: is empty\n');
    const taken = report?.files[2]?.imported ?? 0;
    expect(taken).toBeGreaterThan(25);
    expect(stderr).toContain(
      `record ${taken + 1} of ${files[2]}: breaks off: the gzip data is damaged or cut short; ${taken} before it are in a partial feed\n`,
    );
    expect(report?.files.map(({ file: name, format, imported: count }) => [name, format, count])).toEqual([
      [files[0], null, 0],
      [files[1], null, 0],
      [files[2], 'jobspy', taken],
      [files[3], null, 0],
      [files[4], 'greenhouse', 1],
    ]);
    expect(report?.files[2]).toMatchObject({ read: taken, refused: {} });
    expect(counts).toEqual([taken + 1, 0, 0, 0, 0]);
  });

  it('takes a complete feed for partial when one of its files breaks off', async () => {
    const one = file('1.csv', `${HEADER}${csvRow(1)}`);
    await complete(1, one, file('2.csv', `${HEADER}${csvRow(10)}${csvRow(11)}`));
    const broken = file('2.csv.gz', cutCsv());
    for (const day of [2, 3, 4]) {
      const { exitCode, counts } = await complete(day, one, broken);
      expect([exitCode, counts.slice(2)]).toEqual([2, [0, 0, 0]]);
    }
    expect(Object.values(await jobs()).every(({ status }) => status === 'active')).toBe(true);
  });

  it('closes nothing that stands in a row which could not be read', async () => {
    await complete(1, greenhouse('acme.json', [1, 2, 3, 4]));
    const withBlank = greenhouse('acme.json', [1, 2, 3, { id: 4, title: ' ' }]);
    for (const day of [2, 3, 4]) expect((await complete(day, withBlank)).counts).toEqual([0, 3, 0, 0, 0]);
    const without = greenhouse('acme.json', [1, 2, 3]);
    expect((await complete(5, without)).counts).toEqual([0, 3, 0, 0, 0]);
    expect((await complete(6, without)).counts).toEqual([0, 3, 0, 1, 0]);
  });

  it.each(['.json', '.jsonl'])('takes a file %s of one record, whatever its shape', async (ending) => {
    const one = file(`acme${ending}`, `${JSON.stringify(LEVER_POSTING)}\n`);
    expect((await on(1, one)).report?.files).toMatchObject([{ format: 'lever', read: 1, imported: 1 }]);
    expect((await on(2, '--format', 'lever', one)).report?.files).toMatchObject([{ format: 'lever', imported: 1 }]);
  });

  it('holds up no writer of the catalogue while stdin is read', async () => {
    const { io, written } = capturedIo({});
    async function* slow(): AsyncGenerator<Uint8Array> {
      const bytes = readFileSync(greenhouse('acme.json', [1, 2]));
      yield bytes.subarray(0, 9);
      HistoryDatabase.openForSettings(at('catalogue'), 0).close();
      yield bytes.subarray(9);
    }
    const words = ['import', '--catalogue', at('catalogue'), '--format', 'greenhouse', '-'];
    const exitCode = await runProgram(PROGRAM, words, { ...io, stdin: { bytes: slow(), isTerminal: false } });
    expect([exitCode, written.stderr]).toEqual([0, expect.stringContaining('2 new')]);
    expect(readdirSync(at('catalogue'))).toEqual(['catalogue.sqlite']);
  });

  it.each(['auto', 'native', 'greenhouse'])('names an empty member of an archive, with --format %s', async (format) => {
    const native = {
      id: 'a',
      title: 'Cook',
      company: 'Acme',
      source_url: 'https://acme.example/',
      first_observed_at: '2026-01-01',
      last_observed_at: '2026-01-01',
    };
    const job = format === 'native' ? `${JSON.stringify(native)}\n` : readFileSync(greenhouse('a.json', [1]), 'utf8');
    const members = [
      { header: { name: 'acme.json', size: Buffer.byteLength(job) }, body: job },
      { header: { name: 'empty.json', size: 0 }, body: '' },
    ];
    const archive = file('boards.tar', await packTar(members));
    const { exitCode, stderr } = await on(1, '--format', format, archive);
    expect(stderr).toContain(`${archive}:empty.json: is empty\n`);
    expect(stderr).toContain('1 new');
    expect(exitCode).toBe(2);
  });

  it('names every shape in an archive, in the order of its members', async () => {
    const bodies = [
      JSON.stringify([LEVER_POSTING]),
      readFileSync(greenhouse('a.json', [1]), 'utf8'),
      '{"no": "board"}',
    ];
    const members = bodies.map((body, i) => ({ header: { name: `${i}.json`, size: Buffer.byteLength(body) }, body }));
    const archive = file('boards.tar', await packTar(members));
    const imported = await on(1, archive);
    expect(imported.report?.files).toMatchObject([{ format: 'lever, greenhouse', read: 2, imported: 2 }]);
    expect(imported.stderr).toContain(`${archive}: lever, greenhouse, 2 rows, 2 imported\n`);
    const words = ['snapshot', 'build', '--out', at('out'), '--format', 'auto', '--json', archive];
    const { stdout } = await run(words);
    expect((JSON.parse(stdout) as Report).files).toMatchObject([{ format: 'lever, greenhouse', read: 2, taken: 2 }]);
  });

  it('reads stdin and native lines, whose own observations hold', async () => {
    const line = (last: string) =>
      `${JSON.stringify({
        id: 'n',
        title: 'Cook',
        company: 'Acme',
        source_url: 'https://acme.example/',
        first_observed_at: '2026-01-01',
        last_observed_at: last,
      })}\n`;
    const words = ['import', '--catalogue', at('catalogue'), '--observed-at', '2026-08-01', '--json', '-'];
    const { stdout } = await run(words, { stdin: line('2026-02-01') });
    expect((JSON.parse(stdout) as Report).files).toMatchObject([{ file: 'stdin', format: 'native', imported: 1 }]);
    for (const format of [[], ['--format', 'native']]) {
      const empty = await run([...words, ...format], { stdin: '' });
      expect([empty.exitCode, empty.stderr]).toEqual([2, expect.stringContaining('stdin: is empty\n')]);
    }
    const times = { first_observed_at: '2026-01-01T00:00:00.000Z', last_observed_at: '2026-02-01T00:00:00.000Z' };
    expect((await jobs()).n).toMatchObject(times);
    await complete(2, file('n.jsonl', line('2026-02-01')));
    await complete(3, file('n.jsonl', line('2026-02-01')));
    expect((await jobs()).n).toMatchObject({ ...times, status: 'active' });
  });

  it('carries a catalogue over by its export', async () => {
    await complete(1, greenhouse('a.json', [1, 2, 3]));
    await complete(2, greenhouse('b.json', [1, 2]));
    await complete(3, greenhouse('b.json', [1, 2]));
    const before = await jobs();
    const lines = (await run(['snapshot', 'export', at('snapshot')])).stdout;
    rmSync(at('catalogue'), { recursive: true });
    expect((await on(9, file('export.jsonl', lines))).counts).toEqual([3, 0, 0, 0, 0]);
    // All of it but the history, which begins again.
    expect(await jobs()).toEqual({ ...before, 1: { ...before[1], snapshot: expect.anything() } });
    expect(await told('--job', 'greenhouse:acme:3')).toEqual(['1 opened 3', '3 closed 3']);
  });

  it('carries over what has closed since the export before', async () => {
    const [all, without] = [greenhouse('a.json', [1, 2, 3]), greenhouse('b.json', [1, 2])];
    const exported: string[] = [];
    for (const [day, feed] of [all, without, without].entries()) {
      await complete(day + 1, feed);
      await jobs();
      exported.push((await run(['snapshot', 'export', at('snapshot')])).stdout);
    }
    const before = await jobs();
    rmSync(at('catalogue'), { recursive: true });
    await on(4, file('first.jsonl', exported[0]!));
    expect((await on(5, file('last.jsonl', exported[2]!))).counts).toEqual([0, 3, 0, 1, 0]);
    expect((await jobs())[3]).toMatchObject({ ...before[3], status: 'closed', closed_at: '2026-08-03T00:00:00.000Z' });
    // Of the same observation, the later feed holds: this one is of the day before.
    expect((await on(4, file('again.jsonl', exported[0]!))).counts).toEqual([0, 3, 0, 0, 0]);
    expect((await jobs())[3]?.status).toBe('closed');
  });

  it('takes a late feed of a source that says itself what is closed', async () => {
    const listing = (active: boolean) =>
      file(
        'listings.json',
        JSON.stringify([
          {
            ...{ id: 's', title: 'Cook', company_name: 'Acme', url: 'https://acme.example/1', company_url: '' },
            ...{ active, is_visible: true, locations: ['Oslo'], date_posted: 1, date_updated: 1, source: 'x' },
          },
        ]),
      );
    const closing = async () => (await jobs()).s?.closed_at;
    await on(10, listing(false));
    // It was closed earlier already.
    await on(6, listing(false));
    expect(await closing()).toBe('2026-08-06T00:00:00.000Z');
    expect(await told()).toEqual(['6 closed s', '10 closed s']);
    // It was open in between, so it was closed again.
    await on(8, listing(true));
    expect(await closing()).toBe('2026-08-10T00:00:00.000Z');
    expect(await told('--since', '2026-08-08')).toEqual(['8 reopened s', '10 closed s', '10 closed s']);
    // What a later feed has settled stays.
    await on(9, listing(false));
    await on(7, listing(true));
    expect(await closing()).toBe('2026-08-10T00:00:00.000Z');
  });

  it('counts a changed description as a change, and keeps skills where a list has no descriptions', async () => {
    await on(1, greenhouse('a.json', [{ id: 1, content: 'We use Python.' }]));
    expect((await on(2, greenhouse('b.json', [1]))).counts).toEqual([0, 1, 0, 0, 0]);
    expect((await jobs())[1]?.skills).toEqual(['Python']);
    expect((await on(3, greenhouse('c.json', [{ id: 1, content: 'We use Python, and PostgreSQL.' }]))).counts).toEqual([
      0, 1, 1, 0, 0,
    ]);
    expect((await jobs())[1]?.skills).toEqual(['Python', 'PostgreSQL']);
    expect(await events('--kind', 'changed')).toMatchObject([{ field: 'description' }]);
  });

  it('counts no other order of the skills that a source names as a change, and shows the newest', async () => {
    const native = (skills: readonly string[], day: number) => {
      const at = { first_observed_at: '2026-07-01', last_observed_at: `2026-08-0${day}` };
      const job = { id: 'n', title: 'Cook', company: 'Acme', source_url: 'https://acme.example/', skills, ...at };
      return on(day, file('n.jsonl', `${JSON.stringify(job)}\n`));
    };
    await native(['baking', 'pastry'], 1);
    expect((await native(['pastry', 'baking'], 2)).counts).toEqual([0, 1, 0, 0, 0]);
    expect((await jobs()).n?.skills).toEqual(['pastry', 'baking']);
    expect((await native(['pastry', 'grill'], 3)).counts).toEqual([0, 1, 1, 0, 0]);
    expect(await events('--kind', 'changed')).toMatchObject([{ field: 'skills' }]);
  });

  it('records the earlier first observation that a line states, also of a line that closes its job', async () => {
    const native = (first: string, last: string, more: object = {}) => {
      const at = { first_observed_at: `2026-08-${first}`, last_observed_at: `2026-08-${last}` };
      const job = { id: 'n', title: 'Cook', company: 'Acme', source_url: 'https://acme.example/', ...at, ...more };
      return on(20, file('n.jsonl', `${JSON.stringify(job)}\n`));
    };
    await native('10', '12');
    await native('05', '14', { status: 'closed' });
    expect((await jobs()).n?.first_observed_at).toBe('2026-08-05T00:00:00.000Z');
    expect(await told()).toEqual(['5 opened n', '10 opened n', '14 closed n']);
  });

  it('knows a posting that was closed when it was first seen, and one that its source closes and opens', async () => {
    const row = (id: string, active: boolean) => ({
      id,
      title: 'Cook',
      company_name: 'Acme',
      url: 'https://acme.example/',
      active,
      is_visible: true,
      date_posted: 1_700_000_000,
      date_updated: 1_700_000_000,
    });
    const list = (...rows: object[]) => file('listings.json', JSON.stringify(rows));
    expect((await on(1, list(row('a', false), row('b', true)))).counts).toEqual([2, 0, 0, 0, 0]);
    expect((await on(2, list(row('a', false), row('b', false)))).counts).toEqual([0, 2, 0, 1, 0]);
    expect((await on(3, list(row('a', true), row('b', false)))).counts).toEqual([0, 2, 0, 0, 1]);
    expect(await told('--board', 'acme')).toEqual(['1 closed a', '1 opened b', '2 closed b', '3 reopened a']);
    expect((await jobs()).a?.first_observed_at).toBe('2026-08-01T00:00:00.000Z');
  });

  it('says of an empty listing of no known board that nothing was recorded', async () => {
    const empty = file('acme.json', '[]');
    const { exitCode, stderr } = await complete(1, '--format', 'lever', empty);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`${empty}: an empty listing of no known board (lever:acme): nothing was recorded\n`);
  });

  it.each<[option: string, name: string, complaint: string]>([
    ['--manifest', 'none.json', 'cannot be read (ENOENT)'],
    ['--manifest', 'broken.json', 'is not JSON'],
    ['--rejects', 'no/bad', 'cannot be written (ENOENT)'],
  ])('ends with 2 and touches nothing for %s %s', async (option, name, complaint) => {
    file('broken.json', '{');
    const { exitCode, stderr } = await on(1, option, at(name), greenhouse('a.json', [1]));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${at(name)}`);
    expect(stderr).toContain(complaint);
    expect(existsSync(at('catalogue'))).toBe(false);
  });

  it('reads a file of a single record, told its format or not', async () => {
    const one = file(
      'one.jsonl',
      '{"id":"u","text":"Cook","categories":{},"hostedUrl":"https://jobs.lever.co/acme/u"}\n',
    );
    expect(await on(1, one)).toMatchObject({ exitCode: 0, counts: [1, 0, 0, 0, 0] });
    expect(await on(2, '--format', 'lever', one)).toMatchObject({ exitCode: 0, counts: [0, 1, 0, 0, 0] });
  });

  it('takes names and domains from a manifest, and puts refused records aside', async () => {
    const manifest = file('boards.json', JSON.stringify({ acme: { company: 'Acme, Inc.', domain: 'acme.example' } }));
    const { exitCode } = await on(
      1,
      '--manifest',
      manifest,
      '--rejects',
      at('bad'),
      greenhouse('a.json', [1, { id: 2, title: '' }]),
    );
    expect(exitCode).toBe(0);
    expect((await jobs())[1]).toMatchObject({ company: 'Acme, Inc.', company_domain: 'acme.example' });
    expect(JSON.parse(readFileSync(at('bad'), 'utf8'))).toMatchObject({ id: 2 });
  });

  it('writes nothing over the catalogue, by whatever path', async () => {
    const jobsFile = greenhouse('a.json', [1]);
    await on(1, jobsFile);
    const before = readFileSync(database());
    symlinkSync(at('catalogue'), at('link'));
    const same = at('link/catalogue.sqlite');
    const catalogue = ['--catalogue', at('catalogue')];
    for (const words of [
      ['import', ...catalogue, '--rejects', same, jobsFile],
      ['snapshot', 'build', ...catalogue, '--out', same],
      ['watch', '--once', ...catalogue, '--out', same],
    ])
      expect((await run(words)).exitCode, words.join(' ')).toBe(2);
    expect(readFileSync(database()).equals(before)).toBe(true);
  });

  it('keeps jobs apart whose ids are numbers beyond 2^53', async () => {
    const ids = ['9007199254740992', '9007199254740993', '18446744073709551615'];
    const text = readFileSync(greenhouse('acme.json', [1, 2, 3]), 'utf8');
    file(
      'acme.json',
      text.replace(/"id":(\d)/g, (_, digit: string) => `"id": ${ids[Number(digit) - 1]}`),
    );
    expect(await on(1, at('acme.json'))).toMatchObject({ exitCode: 0, counts: [3, 0, 0, 0, 0] });
    expect(Object.keys(await jobs()).sort()).toEqual([...ids].sort());
  });

  it('leaves the file of refused records as it was when the catalogue is', async () => {
    const bad = file('bad', 'of the last import');
    vi.spyOn(HistoryDatabase.prototype, 'commit').mockImplementationOnce(() => {
      throw new HistoryError('the disk is full');
    });
    const { exitCode, stderr } = await on(1, '--rejects', bad, greenhouse('a.json', [1, { id: 2, title: '' }]));
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('paygrade: the disk is full\n')]);
    expect(readFileSync(bad, 'utf8')).toBe('of the last import');
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('a catalogue that cannot be used', () => {
  it.skipIf(process.getuid?.() === 0).each([
    ['file', 0o444, database],
    ['folder', 0o555, () => at('catalogue')],
  ])(
    'is refused before any file is read where its %s may not be written (skipped for root)',
    async (_, mode, place) => {
      const board = greenhouse('a.json', [1]);
      await on(1, board);
      chmodSync(place(), mode);
      const { exitCode, stderr } = await on(2, board);
      chmodSync(place(), 0o755);
      const reason = 'this user may not write to it; give it to the user that runs this, or name another folder';
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: `paygrade: ${at('catalogue')} cannot be a catalogue: ${reason}\n`,
      });
    },
  );

  const bytesOf = (path: string) => (existsSync(path) ? readFileSync(path).toString('base64') : null);

  it.each<[because: string, spoil: (path: string) => void, message: RegExp]>([
    ['is no database', (path) => writeFileSync(path, 'words'.repeat(1000)), /: file is not a database$/m],
    [
      'is another database',
      (path) => {
        rmSync(path);
        const other = new DatabaseSync(path);
        other.exec('CREATE TABLE t (a)');
        other.close();
      },
      /is another database, not a catalogue's history$/m,
    ],
    [
      'is newer',
      (path) => {
        const newer = new DatabaseSync(path);
        newer.exec('PRAGMA user_version = 99');
        newer.close();
      },
      /has format 99, which is newer than this program \(6\)$/m,
    ],
    [
      'is older',
      (path) => {
        const older = new DatabaseSync(path);
        older.exec('PRAGMA user_version = 1');
        older.close();
      },
      /has format 1, which is older than this program \(6\): import the files again$/m,
    ],
    ['is cut short', (path) => writeFileSync(path, readFileSync(path).subarray(0, 20_000)), /malformed|damaged/],
    [
      'holds something else than was written',
      (path) => {
        const changed = new DatabaseSync(path);
        changed.exec("UPDATE job SET title = 'Chief'");
        changed.close();
      },
      /is damaged: the record of job "greenhouse:acme:1" is not what was written$/m,
    ],
  ])('%s: exit code 1 with one line, unchanged', async (_, spoil, message) => {
    await on(1, greenhouse('a.json', [1, 2]));
    spoil(database());
    const before = bytesOf(database());
    const { exitCode, stderr, report } = await on(2, greenhouse('b.json', [1, 3]));
    expect([exitCode, report]).toEqual([1, undefined]);
    expect(stderr).toMatch(message);
    expect(bytesOf(database())).toBe(before);
    const built = await run(['snapshot', 'build', '--catalogue', at('catalogue'), '--out', at('out')]);
    expect([built.exitCode, existsSync(at('out'))]).toEqual([1, false]);
    expect(built.stderr.trimEnd().split('\n').length).toBe(1);
  });

  it('is a file, or is not there', async () => {
    file('catalogue', 'x');
    expect(await on(1, greenhouse('a.json', [1]))).toMatchObject({ exitCode: 1 });
    rmSync(at('catalogue'));
    for (const words of [['snapshot', 'build', '--out', at('out')], ['history']]) {
      const { exitCode, stderr } = await run([...words, '--catalogue', at('catalogue')]);
      expect([exitCode, stderr]).toEqual([
        1,
        `paygrade: ${at('catalogue')} holds no catalogue: there is no catalogue.sqlite in it\n`,
      ]);
    }
  });

  it('is a link to a file whose folder is not there', async () => {
    mkdirSync(at('catalogue'));
    symlinkSync(at('gone/catalogue.sqlite'), database());
    const { exitCode, stderr } = await on(1, greenhouse('a.json', [1]));
    expect([exitCode, stderr]).toEqual([1, `paygrade: ${database()} is a link to nothing\n`]);
  });

  it('cannot grow: the disk is full', async () => {
    mkdirSync(at('catalogue'));
    await on(1, greenhouse('a.json', [1]));
    const before = readFileSync(database());
    const text = { hasOwnSkills: false, board: 'acme', shape: greenhouseShape };
    const member = { name: 'a', fileName: 'a', bytes: (async function* () {})() };
    const full = `${database()}: database or disk is full`;
    const importing = (
      fail: (merging: HistoryImport, add: (id: number, description: string | null) => void) => void,
    ) => {
      const history = HistoryDatabase.openForImport(at('catalogue'));
      history.exec(`PRAGMA max_page_count = ${history.row('PRAGMA page_count')?.page_count}`);
      const merging = new HistoryImport(history, { mayHaveDays: false, skillsVersion: '1' });
      merging.begin(NOW_MS);
      fail(merging, (id, description) => {
        const source = { ...text, description, descriptionText: description, document: { member, fetchedAtMs: null } };
        merging.add(minimalJob({ id: `greenhouse:acme:${id}`, description }), source);
      });
      history.close();
      expect(readFileSync(database()).equals(before)).toBe(true);
    };
    importing((merging, add) => {
      for (let id = 0; id < 1000; id++) add(id, null);
      expect(() => merging.merge(true, false, () => {})).toThrow(full);
    });
    importing((merging, add) => {
      expect(() => add(1, randomBytes(20_000).toString('hex'))).toThrow(full);
      // As the intake does before it reports the failure.
      merging.undo();
    });
  });
});

describe('calling them wrongly', () => {
  it.each<[words: string[], message: string]>([
    [['import', 'x'], '--catalogue is missing, for example --catalogue DIR'],
    [['import', '--catalogue', 'd'], 'the argument FILE is missing; - is stdin'],
    [
      ['import', '--catalogue', 'd', '--observed-at', 'noon', 'x'],
      '--observed-at must be an RFC 3339 date-time, a date, or from-name',
    ],
    [['import', '--catalogue', 'd', '--rejects', 'x', './x'], '--rejects names an input file'],
    [['import', '--catalogue', 'd', '-', '-'], '- (stdin) is given twice'],
    [['snapshot', 'build', '--catalogue', 'd', '--out', 'o', 'x'], 'INPUT does not go with --catalogue'],
    [
      ['snapshot', 'build', '--catalogue', 'd', '--out', 'o', '--format', 'lever'],
      '--format does not go with --catalogue',
    ],
    [['history', '--catalogue', 'd', '--feeds', '--kind', 'closed'], '--feeds does not go with --job and --kind'],
    [['history', '--catalogue', 'd', '--since', 'x'], '--since must be an RFC 3339 date-time or a date'],
  ])('%j', async (words, message) => {
    expect(await run(words)).toEqual({ exitCode: 2, stdout: '', stderr: `paygrade: ${message}\n` });
  });
});
