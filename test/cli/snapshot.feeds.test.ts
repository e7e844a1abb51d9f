/** `snapshot build --format auto`: what it takes its inputs for, what it leaves out, and every real file at once. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { EVERY_REAL_FILE, realDataMissing, realFile, skippedWithout } from '../ingest/real-data.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const at = (name: string) => join(folder, name);
function file(name: string, bytes: string | Uint8Array): string {
  writeFileSync(at(name), bytes);
  return at(name);
}
const build = (...words: string[]) => run(['snapshot', 'build', '--format', 'auto', '--out', at('out'), ...words]);

interface FileReport {
  readonly file: string;
  readonly format: string | null;
  readonly read: number;
  readonly taken: number;
  readonly repeated: number;
  readonly refused: Readonly<Record<string, number>>;
}
interface Report {
  readonly written: boolean;
  readonly rows: number;
  readonly files: readonly FileReport[];
}

const native = (id: string) =>
  JSON.stringify({
    id,
    title: 'Cook',
    company: 'Acme',
    source_url: 'https://acme.example/',
    first_observed_at: '2026-11-01',
    last_observed_at: '2026-11-20',
  });
const CSV = 'site,job_url,title,company,job_type\nindeed,https://a.example/1,Köchin,Acme,fulltime\n';
const LEVER = JSON.stringify([
  { id: 'u', text: 'Cook', hostedUrl: 'https://jobs.lever.co/acme/u', categories: {}, createdAt: 1785000000000 },
]);

describe('snapshot build --format auto', () => {
  it('takes each input for what it is, and says so', async () => {
    const inputs = [
      file('a', `${native('n-1')}\n${native('n-2')}\n`),
      file('b', gzipSync(CSV)),
      file('c', Buffer.from(CSV.replace('/1', '/2'), 'latin1')),
      file('d', LEVER),
    ];
    const { exitCode, stdout, stderr } = await build('--json', ...inputs);
    expect(exitCode).toBe(0);
    const taken = ['native', 'jobspy', 'jobspy', 'lever'];
    expect(stderr.split('\n').slice(0, 4)).toEqual(inputs.map((name, i) => `${name}: taken for ${taken[i]}`));
    const report = JSON.parse(stdout) as Report;
    expect(report.files.map(({ format, taken: count }) => [format, count])).toEqual([
      ['native', 2],
      ['jobspy', 1],
      ['jobspy', 1],
      ['lever', 1],
    ]);
    const exported = await run(['snapshot', 'export', at('out')]);
    expect(exported.stdout.match(/Köchin/g)?.length).toBe(2);
  });

  it.each([
    ['lines', [native('n-1'), native('')].join('\n'), 'line 2'],
    ['a document', `[${native('n-1')},\n\n${native('')}]`, 'record 2 of FILE'],
    [
      'a table',
      'id,title,company,source_url,first_observed_at\n,Cook,Acme,https://a.example/,2026-11-01',
      'record 1 of FILE',
    ],
  ])('counts the native records of a document or a table as records, not as lines: %s', async (_, text, place) => {
    const input = file('a', text);
    const { stderr } = await build(input);
    expect(stderr).toContain(`\n${place.replace('FILE', input)}`);
  });

  it('leaves out what it does not know with what it looked for, and ends with 2', async () => {
    const { exitCode, stderr, stdout } = await build(
      '--json',
      file('x', 'a,b\n1,2\n'),
      file('d', LEVER),
      file('y', '{'),
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      `${at('x')}: has none of the known formats; its fields are a, b. A format is recognised by:\n  native: `,
    );
    expect(stderr).toContain(`${at('y')}: is not JSON\n`);
    const report = JSON.parse(stdout) as Report;
    expect(report.rows).toBe(1);
    expect(report.files.map(({ format }) => format)).toEqual([null, 'lever', null]);
  });

  it('writes nothing over what is there when no input could be read', async () => {
    file('out', 'what was there');
    const { exitCode, stderr } = await build(file('x', 'words'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('nothing was written: no input could be read\n');
    expect(readFileSync(at('out'), 'utf8')).toBe('what was there');
  });

  it('goes on behind a damaged archive', async () => {
    const whole = gzipSync(CSV.repeat(100));
    const { exitCode, stderr, stdout } = await build(
      '--json',
      file('x', whole.subarray(0, whole.length - 9)),
      file('d', LEVER),
    );
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^record \d+ of \S+\/x: breaks off: the gzip data is damaged or cut short; the \d+ before it were taken$/m,
    );
    expect((JSON.parse(stdout) as Report).files.at(-1)).toMatchObject({ format: 'lever', taken: 1 });
  });

  it('observes a wrapped board when it was fetched, unless a time is given', async () => {
    const board = file(
      'b',
      JSON.stringify({
        company: 'acme',
        fetched_at: '2026-08-22T03:45:56',
        jobs: [{ id: 1, title: 'Cook', updated_at: '', absolute_url: 'https://boards.greenhouse.io/acme/jobs/1' }],
      }),
    );
    const observed = async (...words: string[]) => {
      expect((await build(...words, board)).exitCode).toBe(0);
      const { stdout } = await run(['snapshot', 'export', at('out')]);
      return (JSON.parse(stdout) as { last_observed_at: string }).last_observed_at;
    };
    expect(await observed()).toBe('2026-08-22T03:45:56.000Z');
    expect(await observed('--observed-at', '2026-08-23')).toBe('2026-08-23T00:00:00.000Z');
  });

  it('takes a bad native line as seriously as --format native does', async () => {
    const { exitCode, stderr } = await build(
      file('a', `${native('n-1')}\n{"id": 5, "title": "x"}\n${native('n-2')}\n`),
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('line 2: id must be a string\n');
  });
});

describe.skipIf(realDataMissing || !IS_WHOLE)(`every real file at once${skippedWithout}`, () => {
  /** LinkedIn's side tables, which hold no postings. */
  const TABLES = ['industries', 'job_industries', 'job_skills', 'salaries'];

  it('comes in but for rows without title, company or address', { timeout: 240_000 }, async () => {
    const names = readdirSync(realFile('')).filter((name) => name !== 'README.md');
    const words = ['--json', '--observed-at', '2026-09-01', ...names.map(realFile)];
    const { exitCode, stdout, stderr } = await build(...words);
    const report = JSON.parse(stdout) as Report;
    expect(exitCode).toBe(2);
    const unknown = report.files.filter(({ format }) => format === null).map((entry) => entry.file);
    expect(unknown.sort()).toEqual(TABLES.map((name) => realFile(`linkedin-postings-2023.${name}.csv`)).sort());
    expect(stderr.match(/has none of the known formats/g)?.length).toBe(TABLES.length);

    for (const { read, taken, repeated, refused } of report.files) {
      expect(taken + repeated + Object.values(refused).reduce((sum, count) => sum + count, 0)).toBe(read);
    }
    const reasons = new Map<string, number>();
    for (const { refused } of report.files) {
      for (const [reason, count] of Object.entries(refused)) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    }
    expect(Object.fromEntries(reasons)).toEqual(EVERY_REAL_FILE.refused);
    const read = report.files.reduce((sum, entry) => sum + entry.read, 0);
    const usable = read - [...reasons.values()].reduce((sum, count) => sum + count, 0);
    const came = report.files.reduce((sum, entry) => sum + entry.taken + entry.repeated, 0);
    expect(came / usable).toBeGreaterThanOrEqual(0.99);
    expect(read).toBe(EVERY_REAL_FILE.read);
  });
});
