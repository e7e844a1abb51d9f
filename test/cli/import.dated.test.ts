/** Several dated files of one board in one import, and jobs that a build leaves out by their age or address. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../support/scratch-folder.ts';
import { run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});
const at = (name: string): string => join(folder, name);

interface Posting {
  readonly id: number;
  readonly url?: string;
}

function board(name: string, postings: readonly (number | Posting)[], token = 'acme'): string {
  const jobs = postings
    .map((posting) => (typeof posting === 'number' ? { id: posting } : posting))
    .map(({ id, url }: Posting) => ({
      id,
      title: `Cook ${id}`,
      updated_at: '2026-07-01T00:00:00Z',
      absolute_url: url ?? `https://boards.greenhouse.io/${token}/jobs/${id}`,
    }));
  writeFileSync(at(name), JSON.stringify({ jobs }));
  return at(name);
}

async function imported(...words: string[]) {
  const { exitCode, stdout, stderr } = await run(['import', '--catalogue', at('catalogue'), '--json', ...words]);
  return {
    exitCode,
    stderr,
    report: JSON.parse(stdout) as { observed_at: string | null; new: number; closed: number },
  };
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** `day rows complete|partial` of each feed. */
async function feeds(): Promise<string[]> {
  const { stdout } = await run(['history', '--catalogue', at('catalogue'), '--feeds', '--json']);
  return linesOf(stdout).map((line) => {
    const {
      at: time,
      board: name,
      rows,
      complete,
    } = JSON.parse(line) as {
      at: string;
      board: string;
      rows: number;
      complete: boolean;
    };
    return `${time.slice(0, 10)} ${name} ${rows} ${complete ? 'complete' : 'partial'}`;
  });
}

async function built(...words: string[]) {
  const all = ['snapshot', 'build', '--catalogue', at('catalogue'), '--out', at('snapshot'), '--json', ...words];
  const { exitCode, stdout, stderr } = await run(all);
  expect(exitCode).toBe(0);
  const exported = linesOf((await run(['snapshot', 'export', at('snapshot')])).stdout);
  const ids = exported.map((line) => (JSON.parse(line) as { id: string }).id.split(':').at(-1)).sort();
  return { ids, stderr, report: JSON.parse(stdout) as { aged_jobs: number; same_url_jobs: number }, exported };
}

describe('dated files of one board', () => {
  it('are refused with what to do, and other boards are taken', async () => {
    const files = [
      board('acme.2026-08-01.json', [1, 2]),
      board('acme.2026-08-02.json', [2, 3]),
      board('acme.2026-08-03.json', [3]),
      board('beta.2026-08-01.json', [9], 'beta'),
    ];
    const { exitCode, stderr, report } = await imported(...files);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      `greenhouse:acme: refused: ${files[0]} and ${files[1]} and 1 more carry different days in their names; ` +
        '--observed-at from-name takes each at its day, or import them one by one with --observed-at\n',
    );
    expect(stderr).toContain(`note: ${files[3]} carries another date in the name; the import recorded`);
    expect(stderr).toContain(`${at('catalogue')}: 1 feed, 1 new`);
    expect(report.new).toBe(1);
    expect(await feeds()).toEqual([expect.stringMatching(/ greenhouse:beta 1 partial$/)]);
  });

  it('are each taken at their day with --observed-at from-name, in any order', async () => {
    const files = [
      board('acme.2026-08-03.json', [3]),
      board('acme.2026-08-01.json', [1, 2]),
      board('acme.2026-08-02.json', [2, 3]),
    ];
    const { exitCode, report } = await imported('--observed-at', 'from-name', '--complete', ...files);
    expect([exitCode, report.observed_at, report.new]).toEqual([0, null, 3]);
    expect(await feeds()).toEqual([
      '2026-08-01 greenhouse:acme 2 complete',
      '2026-08-02 greenhouse:acme 2 complete',
      '2026-08-03 greenhouse:acme 1 complete',
    ]);
    expect(report.closed).toBe(1);
    const { stdout } = await run(['history', '--catalogue', at('catalogue'), '--json', '--kind', 'closed']);
    expect(linesOf(stdout)).toHaveLength(1);
    expect(stdout).toContain('"id":"greenhouse:acme:1"');
  });

  it('that say nothing of the day, or a day to come, are left out with --observed-at from-name', async () => {
    const files = [
      board('acme.json', [1]),
      board('beta.2999-01-01.json', [2], 'beta'),
      board('c.20260801.json', [3], 'c'),
    ];
    const { exitCode, stderr, report } = await imported('--observed-at', 'from-name', ...files);
    expect([exitCode, report.new]).toEqual([2, 1]);
    expect(stderr).toContain('acme.json: has no date in its name, such as acme.2026-08-01.json: import it with');
    expect(stderr).toContain('beta.2999-01-01.json: has a date in its name that is still to come: import it with');
  });

  it('are of no day that only a file which was not taken has', async () => {
    const rows = Array.from(
      { length: 200 },
      (_, id) => `in-${id},indeed,https://x.example/${id},Cook,Acme,2026-07-01\n`,
    );
    const csv = `id,site,job_url,title,company,date_posted\n${rows.join('')}`;
    const [broken, whole] = [at('indeed.2026-08-02.csv'), at('indeed.2026-08-01.csv')];
    // A record that does not end within 4 MiB: nothing of the file is taken.
    writeFileSync(broken, `${csv}"${'x'.repeat(5_000_000)}`);
    writeFileSync(whole, csv);
    const { exitCode, stderr, report } = await imported('--observed-at', '2026-08-01', broken, whole);
    expect(stderr).toContain('is not well-formed CSV');
    expect(stderr).not.toContain('different days');
    expect([exitCode, report.new]).toEqual([2, 200]);
  });

  it('of one day are parts of one feed', async () => {
    const files = [board('acme.2026-08-01.json', [1]), board('acme-2.2026-08-01.json', [2])];
    expect((await imported('--observed-at', '2026-08-01', ...files)).exitCode).toBe(0);
    expect(await feeds()).toEqual(['2026-08-01 greenhouse:acme 2 partial']);
  });
});

describe('a build leaves out', () => {
  const observe = (day: string, ...files: string[]) => imported('--observed-at', day, ...files);

  it('active jobs that are older than --max-age-days, and takes them back when they are observed again', async () => {
    await observe('2026-09-01', board('a.json', [1, 2]));
    await observe('2026-11-20', board('b.json', [2, 3]));
    const { ids, stderr, report, exported } = await built('--max-age-days', '30');
    expect(ids).toEqual(['2', '3']);
    expect(report.aged_jobs).toBe(1);
    expect(stderr).toContain('left out: 1 active job last observed more than 30 days ago\n');
    expect(exported[0]).toContain('"left_out":{"max_age_days":30,"aged_jobs":1,"same_url_jobs":0}');
    const inspected = await run(['snapshot', 'inspect', at('snapshot'), '--json']);
    expect(JSON.parse(inspected.stdout)).toMatchObject({ rows: 2, left_out: { max_age_days: 30, aged_jobs: 1 } });
    const { stdout } = await run(['history', '--catalogue', at('catalogue'), '--job', 'greenhouse:acme:1']);
    expect(linesOf(stdout)).toHaveLength(1);
    await observe('2026-11-21', board('c.json', [1]));
    expect((await built('--max-age-days', '30')).ids).toEqual(['1', '2', '3']);
    expect((await built()).report.aged_jobs).toBe(0);
  });

  it('keeps closed jobs of any age', async () => {
    for (const day of ['2026-08-01', '2026-08-02', '2026-08-03'] as const) {
      await imported('--complete', '--observed-at', day, board('a.json', day === '2026-08-01' ? [1, 2] : [2]));
    }
    const { ids } = await built('--max-age-days', '5');
    expect(ids).toEqual(['1']);
  });

  it('all but the newest job of an address with --merge-same-url, and counts them without it', async () => {
    const url = 'https://acme.example/jobs/1';
    await observe('2026-11-01', board('a.json', [{ id: 1, url }, 2]));
    await observe('2026-11-02', board('b.json', [{ id: 3, url }], 'beta'));
    const counted = await built();
    expect(counted.ids).toEqual(['1', '2', '3']);
    expect(counted.report.same_url_jobs).toBe(1);
    expect(counted.stderr).toContain(
      'note: 1 active job with the address of a newer one; --merge-same-url leaves such jobs out\n',
    );
    const merged = await built('--merge-same-url');
    expect(merged.ids).toEqual(['2', '3']);
    expect(merged.report.same_url_jobs).toBe(1);
    expect(merged.stderr).toContain('left out: 1 active job with the address of a newer one\n');
  });

  it('the same of inputs by --max-age-days, and the export of such a file builds the same file', async () => {
    const line = (id: string, day: string, more: object = {}) =>
      `${JSON.stringify({
        id,
        title: 'Cook',
        company: 'Acme',
        source_url: `https://acme.example/${id}`,
        first_observed_at: day,
        last_observed_at: day,
        ...more,
      })}\n`;
    const stdin =
      line('old', '2026-01-01') + line('new', '2026-11-20') + line('gone', '2026-01-01', { status: 'closed' });
    const words = ['snapshot', 'build', '--out', at('one'), '--json', '--max-age-days', '10'];
    const { exitCode, stdout } = await run(words, { stdin });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 2, source_rows: 3, aged_jobs: 1 });
    const exported = await run(['snapshot', 'export', at('one')]);
    expect((await run(['snapshot', 'build', '--out', at('two')], { stdin: exported.stdout })).exitCode).toBe(0);
    expect((await run(['snapshot', 'export', at('two')])).stdout).toBe(exported.stdout);
  });

  it('nothing of inputs for its address, but counts the active jobs that share one', async () => {
    const line = (id: string, address: string, status = 'active') =>
      `${JSON.stringify({
        ...{ id, title: 'Cook', company: 'Acme', source_url: `https://acme.example/${address}`, status },
        ...{ first_observed_at: '2026-11-01', last_observed_at: '2026-11-02' },
      })}\n`;
    const many = Array.from({ length: 3000 }, (_, i) => line(`m${i}`, `m${i}`)).join('');
    const shared = line('1', 'a') + line('2', 'a') + line('3', 'a') + line('4', 'b') + line('5', 'b', 'closed');
    const { stdout, stderr } = await run(['snapshot', 'build', '--out', at('x'), '--json'], { stdin: shared + many });
    expect(JSON.parse(stdout)).toMatchObject({ rows: 3005, same_url_jobs: 2 });
    expect(stderr).toContain('note: 2 active jobs with the address of another one; to leave such jobs out, import the');
  });

  it.each([
    [['--max-age-days', '0'], '--max-age-days must be a whole number from 1 to 36500, not "0"'],
    [['--merge-same-url'], '--merge-same-url goes with --catalogue: import the inputs first'],
  ])('refuses %j', async (words, said) => {
    const { exitCode, stderr } = await run(['snapshot', 'build', '--out', at('x'), ...words]);
    expect([exitCode, stderr]).toEqual([2, `paygrade: ${said}\n`]);
  });

  it.each([
    ['a document', '{"jobs": []}'],
    ['CSV', 'id,title\n1,Cook\n'],
    ['text', 'words\n'],
  ])('nothing of what is no native file (%s), and says --format auto', async (_what, stdin) => {
    const { exitCode, stderr } = await run(['snapshot', 'build', '--out', at('x')], { stdin });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /; if these are no native records, --format auto recognises other formats by their content\n$/,
    );
  });
});
