import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { beforeEach, describe, expect, it } from 'vitest';
import { realDataMissing, realFile, skippedWithout } from '../ingest/real-data.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { run } from './captured-io.ts';

const SAMPLE = fileURLToPath(new URL('../../data/sample.jsonl', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const at = (name: string) => join(folder, name);

function file(name: string, bytes: string | Uint8Array): string {
  writeFileSync(at(name), bytes);
  return at(name);
}

function line(id: string, fields: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id,
    title: 'Cook',
    company: 'Acme',
    source_url: 'https://acme.example/',
    first_observed_at: '2026-11-01',
    last_observed_at: '2026-11-20',
    ...fields,
  });
}

/** Native lines unless another format is named; what auto makes of files is in snapshot.feeds.test.ts. */
const buildWords = (words: readonly string[]) => {
  const format = words.includes('--format') ? [] : ['--format', 'native'];
  return ['snapshot', 'build', '--out', at('out'), ...format, ...words];
};
const build = (...words: string[]) => run(buildWords(words));
const buildFrom = (stdin: string | Uint8Array, ...words: string[]) => run(buildWords(words), { stdin });

/** A catalogue without rows. */
const buildEmpty = () => buildFrom(line('a', { last_observed_at: '2026-11-02' }), '--max-age-days', '1');

async function inspected(path = at('out')): Promise<Record<string, unknown>> {
  const { exitCode, stdout } = await run(['snapshot', 'inspect', '--json', path]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function exported(path = at('out')): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(['snapshot', 'export', path]);
  return stdout
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>);
}

const names = () => readdirSync(folder).sort();

describe('snapshot build', () => {
  it('makes a catalogue of the sample, and says how', async () => {
    const { exitCode, stdout, stderr } = await build(SAMPLE);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    expect(stderr).toMatch(
      /^\S+out: 25 jobs, [\d,]+ bytes; 0 of 25 records rejected\nreach: 22 active jobs, [^\n]+\n$/,
    );
    expect(await inspected()).toMatchObject({
      rows: 25,
      active: 22,
      companies: 9,
      first_observed_at: '2026-04-11T09:00:00.000Z',
      last_observed_at: '2026-11-20T13:00:00.000Z',
      oldest_last_observed_at: '2026-08-02T09:00:00.000Z',
      built_at: '2026-11-21T12:00:00.000Z',
      source_rows: 25,
      rejected_rows: 0,
    });
    expect(names()).toEqual(['out']);
  });

  it('makes the same catalogue from stdin, a file, gzip, an archive, and lines in any order', async () => {
    const sample = readFileSync(SAMPLE);
    const lines = sample.toString().trimEnd().split('\n');
    const archive = await packTar([
      {
        header: { name: 'one', size: Buffer.byteLength(lines.slice(0, 9).join('\n')) },
        body: lines.slice(0, 9).join('\n'),
      },
      {
        header: { name: 'two', size: Buffer.byteLength(lines.slice(9).join('\r\n')) },
        body: lines.slice(9).join('\r\n'),
      },
    ]);
    await build(SAMPLE);
    const expected = readFileSync(at('out'));
    const inputs = [sample, gzipSync(sample), gzipSync(archive), Buffer.from(`\ufeff${lines.reverse().join('\n')}`)];
    for (const stdin of inputs) {
      expect((await buildFrom(stdin)).exitCode).toBe(0);
      expect(readFileSync(at('out')).equals(expected)).toBe(true);
    }
    expect((await build(file('a.gz', gzipSync(sample)))).exitCode).toBe(0);
    expect(readFileSync(at('out')).equals(expected)).toBe(true);
  });

  it('writes nothing when a line is bad, and names its number, field and reason', async () => {
    file('out', 'what was there');
    const bad = [line('a'), '', line('b', { title: ' ' }), '{"id":', '[]', line('c', { status: 'open' })].join('\n');
    const { exitCode, stdout, stderr } = await buildFrom(bad);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'line 3: title is blank',
      'line 4: is not JSON',
      'line 5: must be a JSON object',
      'line 6: status must be one of active, closed',
      'nothing was written: 4 bad records of 5; --rejects FILE sets bad records aside and builds the rest',
      '',
    ]);
    expect(readFileSync(at('out'), 'utf8')).toBe('what was there');
    expect(names()).toEqual(['out']);
  });

  it('puts bad lines aside byte for byte with --rejects, and builds the rest', async () => {
    const latin = Buffer.concat([Buffer.from('{"id":"'), Buffer.of(0xe9), Buffer.from('"}')]);
    const stdin = Buffer.concat([
      Buffer.from(`\ufeff${line('a')}\r\n  { "id" : 5 } \r\n`),
      latin,
      Buffer.from(`\n${line('b')}\n${line('a', { title: 'Chef' })}`),
    ]);
    const { exitCode, stderr } = await buildFrom(stdin, '--rejects', at('bad.jsonl'));
    expect(exitCode).toBe(0);
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      'line 2: id must be a string',
      'line 3: is not valid UTF-8',
      'line 5: id was seen before, on line 1',
    ]);
    const rejected = [Buffer.from('  { "id" : 5 } \n'), latin, Buffer.from(`\n${line('a', { title: 'Chef' })}\n`)];
    expect(readFileSync(at('bad.jsonl')).equals(Buffer.concat(rejected))).toBe(true);
    expect(await inspected()).toMatchObject({ rows: 2, source_rows: 5, rejected_rows: 3 });
    expect((await exported()).map(({ id, title }) => [id, title])).toEqual([
      ['b', 'Cook'],
      ['a', 'Cook'],
    ]);
    expect(names()).toEqual(['bad.jsonl', 'out']);
  });

  it('puts a line aside that is longer than memory should hold', async () => {
    const long = line('long', { description: 'x'.repeat(5_000_000) });
    const { exitCode, stderr } = await buildFrom(`${line('a')}\n${long}\n${line('b')}\n`, '--rejects', at('bad'));
    expect(exitCode).toBe(0);
    expect(stderr).toContain('line 2: is longer than 4194304 bytes\n');
    expect(readFileSync(at('bad'), 'utf8') === `${long}\n`).toBe(true);
    expect(await inspected()).toMatchObject({ rows: 2 });
  });

  it('names the files too when there are several, and both places of a repeated id', async () => {
    const one = file('one', `${line('a')}\n\n${line('b')}\n`);
    const two = file('two', `\n${line('c')}\n${line('b')}\n${line('c')}\n`);
    const { exitCode, stderr } = await build(one, two);
    expect(exitCode).toBe(1);
    expect(stderr.split('\n').slice(0, 2)).toEqual([
      `line 3 of ${two}: id was seen before, on line 3 of ${one}`,
      `line 4 of ${two}: id was seen before, on line 2 of ${two}`,
    ]);
  });

  it('knows the line of a repeated id among many', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => line(`j${i}`));
    const { stderr } = await buildFrom([...lines, line('j0'), line('j2047'), line('j2999')].join('\n'));
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      'line 3001: id was seen before, on line 1',
      'line 3002: id was seen before, on line 2048',
      'line 3003: id was seen before, on line 3000',
    ]);
  });

  it('tells a thousand bad lines in full and counts the rest by reason', async () => {
    const lines = Array.from({ length: 1500 }, (_, i) => (i % 3 === 0 ? 'x' : line(`j${i}`, { title: '' })));
    const { stderr } = await buildFrom(lines.join('\n'));
    const told = stderr.split('\n');
    expect(told[998]).toBe('line 999: title is blank');
    expect(told.slice(1000, -2)).toEqual([
      'and 500 more; in total:',
      '        1,000  title is blank',
      '          500  is not JSON',
    ]);
  });

  it('reports as JSON, written or not', async () => {
    const good = await buildFrom(`${line('a')}\nx\n`, '--json', '--rejects', at('bad'));
    const report = JSON.parse(good.stdout) as Record<string, unknown>;
    const { bytes, content } = await inspected();
    const refused = { 'is not JSON': 1 };
    const files = [{ file: 'stdin', format: 'native', read: 2, taken: 1, repeated: 0, refused }];
    const leftOut = { aged_jobs: 0, same_url_jobs: 0 };
    const counts = { rows: 1, source_rows: 2, rejected_rows: 1, repeated_rows: 0, ...leftOut, files };
    const rejected = [{ field: '', reason: 'is not JSON', count: 1 }];
    const reach = { active: 1, with_domain: 0, domain_share: 0, cohort: 1, cohort_share: 1, observation_days: 1 };
    const built = { written: true, out: at('out'), ...counts, rejected, bytes, content };
    expect(report).toEqual({ ...built, reach, disputed_aliases: [] });
    const bad = await buildFrom(`${line('a')}\nx\n`, '--json');
    expect(bad.exitCode).toBe(1);
    expect(JSON.parse(bad.stdout)).toEqual({
      written: false,
      out: at('out'),
      ...counts,
      rejected,
      bytes: null,
      content: null,
      reach: null,
      disputed_aliases: [],
    });
  });

  it.each([
    [['--format', 'native'], '', 1, 'paygrade: stdin: is empty\n'],
    [['--format', 'native'], '\n \n', 1, 'paygrade: stdin: is empty\n'],
    [['--format', 'lever'], '', 1, 'paygrade: stdin: is empty\n'],
    [['--format', 'auto'], '', 1, 'stdin: is empty\nnothing was written: no input could be read\n'],
    [['--rejects', 'bad'], 'x\n', 1, 'line 1: is not JSON\nnothing was written: 1 record, all rejected\n'],
  ])('%j writes no catalogue of %j', async (words, stdin, exitCode, stderr) => {
    file('out', 'what was there');
    const given = words.map((word) => (word === 'bad' ? at('bad') : word));
    expect(await buildFrom(stdin, ...given)).toEqual({ exitCode, stdout: '', stderr });
    expect(readFileSync(at('out'), 'utf8')).toBe('what was there');
    if (words.includes('bad')) expect(readFileSync(at('bad'), 'utf8')).toBe(stdin);
  });

  it('names an empty file among others that auto reads', async () => {
    const { exitCode, stderr } = await build('--format', 'auto', SAMPLE, file('empty', ''));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${at('empty')}: is empty\n`);
    expect(await inspected()).toMatchObject({ rows: 25 });
  });

  it('writes no catalogue of a feed whose every record was refused', async () => {
    file('out', 'what was there');
    const job = { id: 1, title: 'Cook', absolute_url: 'ftp://acme.example/', updated_at: '2026-11-20T00:00:00Z' };
    const changed = JSON.stringify({ jobs: [job], meta: { total: 1 } });
    const { exitCode, stdout, stderr } = await buildFrom(changed, '--format', 'greenhouse', '--company', 'A', '--json');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('nothing was written: 1 record, all rejected\n');
    expect(JSON.parse(stdout)).toMatchObject({ written: false, source_rows: 1, rejected_rows: 1 });
    expect(readFileSync(at('out'), 'utf8')).toBe('what was there');
  });

  it('builds a catalogue without jobs where all are too old, with a word about it', async () => {
    const { exitCode, stderr } = await buildEmpty();
    expect(exitCode).toBe(0);
    expect(stderr).toContain('warning: the catalogue has no jobs\n');
    expect(await inspected()).toMatchObject({ rows: 0, companies: 0, first_observed_at: null, bytes_per_job: null });
  });

  it('warns of observations that are still to come', async () => {
    const { exitCode, stderr } = await buildFrom(line('a', { last_observed_at: '2026-11-21T12:00:00.001Z' }));
    expect(exitCode).toBe(0);
    expect(stderr).toContain("warning: jobs with an observation later than this machine's clock: 1\n");
    expect((await buildFrom(line('a', { last_observed_at: '2026-11-21T12:00:00Z' }))).stderr).not.toContain('warning');
  });

  it('shows progress on a terminal and takes it away', async () => {
    const { stderr } = await run(['snapshot', 'build', '--out', at('out')], {
      stdin: `${line('a')}\n`,
      isTerminal: true,
    });
    expect(stderr).toContain('\r\u001b[K1 rows');
    expect(stderr).toMatch(/\r\u001b\[K[^\r\n]*out: 1 job, /);
  });

  const misuse: readonly [words: () => string[], complaint: string][] = [
    [() => ['--company', 'Acme'], '--company does not go with --format native'],
    [() => ['--observed-at', '2026-01-01'], '--observed-at does not go with --format native'],
    [() => ['--format', 'simplify', '--manifest', 'x'], '--manifest does not go with --format simplify'],
    [() => ['--format', 'ashby', '--domain', 'x'], '--domain must be a domain name such as example.com, not "x"'],
    [() => ['--format', 'ashby', '--company', ' '], '--company is blank or too long'],
    [() => ['--format', 'ashby', '--observed-at', 'now'], '--observed-at must be an RFC 3339 date-time or a date'],
    [
      () => ['--format', 'xml'],
      '--format must be one of auto, native, ashby, greenhouse, lever, smartrecruiters, workable, recruitee, teamtailor, ' +
        'workday, usajobs, jobspy, linkedin, simplify, jsonld, remotive, remoteok, arbeitnow, themuse, listing, not "xml"',
    ],
    [() => ['-', '-'], '- (stdin) is given twice'],
    [() => [at('out')], '--out names an input file'],
    [() => ['--rejects', at('in'), join(folder, '.', 'in')], '--rejects names an input file'],
    [() => ['--rejects', at('out')], '--rejects and --out name the same file'],
  ];
  it.each(misuse)('%s is refused: %s', async (words, complaint) => {
    expect(await build(...words())).toEqual({ exitCode: 2, stdout: '', stderr: `paygrade: ${complaint}\n` });
    expect(names()).toEqual([]);
  });

  const failures: readonly [words: () => string[], complaint: () => string][] = [
    [() => [at('missing')], () => `${at('missing')}: there is no such file`],
    [() => [folder], () => `${folder} is a directory: name the files in it, for example ${folder}/*`],
    [() => ['--rejects', at('no/bad'), '-'], () => `${at('no/bad')} cannot be written (ENOENT)`],
    [() => ['--format', 'ashby', '--manifest', at('none')], () => `${at('none')} cannot be read (ENOENT)`],
    [() => ['--format', 'ashby', '--manifest', SAMPLE], () => `${SAMPLE}: is not JSON`],
    [
      () => ['--format', 'ashby', SAMPLE],
      () =>
        `${SAMPLE}: is not of format ashby: no record has "jobUrl" with "title" and "isListed" or "publishedAt"; its ` +
        'fields are id, title, company, company_domain, location, department, remote_status, employment_type, ' +
        'source_url, description, skills, first_observed_at, and 2 more',
    ],
    [() => ['--format', 'ashby', file('x', '[]')], () => `${at('x')}: is not an Ashby board: it is an empty array`],
    [
      () => ['--format', 'simplify', file('x', '{}')],
      () => `${at('x')}: is not a SimplifyJobs list: it is no JSON array`,
    ],
  ];
  it.each(failures)('%s fails in one line and leaves nothing behind', async (words, complaint) => {
    const { exitCode, stderr } = await build(...words());
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `paygrade: ${complaint()}\n` });
    expect(names().filter((name) => name !== 'x')).toEqual([]);
  });

  it('refuses an --out whose folder does not exist before it reads anything', async () => {
    const { exitCode, stderr } = await run(['snapshot', 'build', '--out', at('no/out'), at('missing')]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `paygrade: ${at('no/out')} cannot be written: its folder does not exist\n`,
    });
  });
});

describe('snapshot export', () => {
  it('writes every field in the order of the catalogue, and its facts on the first line', async () => {
    const closed = line('z', { status: 'closed', closed_at: '2026-11-21' });
    const full = line('b', {
      company_domain: 'ACME.example',
      location: ' Bern ',
      department: 'Kitchen',
      remote_status: 'hybrid',
      employment_type: 'part_time',
      description: 'Python',
      skills: ['Salt', 'Fire'],
      first_observed_at: '2026-11-01T01:00:00+01:00',
      last_observed_at: '2026-11-20T00:00:00.1239Z',
    });
    await buildFrom([closed, line('a'), full].join('\n'));
    const [first, second, third] = await exported();
    expect(first).toEqual({
      id: 'b',
      title: 'Cook',
      company: 'Acme',
      company_domain: 'acme.example',
      location: 'Bern',
      department: 'Kitchen',
      remote_status: 'hybrid',
      employment_type: 'part_time',
      source_url: 'https://acme.example/',
      description: 'Python',
      description_format: 'text',
      description_truncated: false,
      skills: ['Salt', 'Fire'],
      first_observed_at: '2026-11-01T00:00:00.000Z',
      last_observed_at: '2026-11-20T00:00:00.123Z',
      status: 'active',
      closed_at: null,
      snapshot: {
        content: (await inspected()).content,
        built_at: '2026-11-21T12:00:00.000Z',
        source_rows: 3,
        rejected_rows: 0,
        skills_version: (await inspected()).skills_version,
      },
    });
    expect(second).toMatchObject({ id: 'a', company_domain: null, location: null, department: null, skills: [] });
    expect(second).toMatchObject({ description: null, description_format: null, description_truncated: false });
    expect(third).toMatchObject({ id: 'z', status: 'closed', closed_at: '2026-11-21T00:00:00.000Z' });
    expect(second).not.toHaveProperty('snapshot');
  });

  it('builds into the same file, byte for byte, at any later time', async () => {
    await buildFrom(`${readFileSync(SAMPLE, 'utf8')}not a line\n`, '--rejects', at('bad'));
    const { stdout } = await run(['snapshot', 'export', at('out')]);
    const again = await run(['snapshot', 'build', '--out', at('again')], {
      stdin: stdout,
      nowMs: Date.UTC(2027, 0, 1),
    });
    expect(again.exitCode).toBe(0);
    expect(readFileSync(at('again')).equals(readFileSync(at('out')))).toBe(true);
    expect(await inspected(at('again'))).toMatchObject({ source_rows: 26, rejected_rows: 1 });
  });

  it('says in its help that recorded events are not exported', async () => {
    expect((await run(['snapshot', 'export', '--help'])).stdout).toMatch(
      /unless the file was built\s+with\s+--catalogue/,
    );
  });

  it('hands its facts on to nothing but the same catalogue', async () => {
    await build(SAMPLE);
    const { stdout } = await run(['snapshot', 'export', at('out')]);
    const changed = stdout.replace('Pastry Chef', 'Pastry Cook');
    const nowMs = Date.UTC(2027, 0, 1);
    await run(['snapshot', 'build', '--out', at('other')], { stdin: changed, nowMs });
    expect(await inspected(at('other'))).toMatchObject({ built_at: '2027-01-01T00:00:00.000Z' });
  });

  it.each([
    ['a word', '"x"'],
    ['nothing', 'null'],
    ['facts of the wrong types', '{"content": 5}'],
    ['a date that is none', '{"content":"","built_at":"x","source_rows":1,"rejected_rows":0,"skills_version":""}'],
  ])('takes a foreign key "snapshot" with %s for what it is, an unknown field', async (_because, value) => {
    expect((await buildFrom(line('a').replace('{', `{"snapshot":${value},`))).exitCode).toBe(0);
    expect(await inspected()).toMatchObject({ rows: 1, source_rows: 1, built_at: '2026-11-21T12:00:00.000Z' });
  });

  it('of an empty catalogue is empty', async () => {
    await buildEmpty();
    expect(await run(['snapshot', 'export', at('out')])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
});

describe('snapshot inspect and export refuse what is no catalogue', () => {
  it.each(['inspect', 'export'])('%s: missing, empty, foreign, cut short, altered', async (name) => {
    await build(SAMPLE);
    const whole = readFileSync(at('out'));
    const paths = [
      at('missing'),
      folder,
      file('empty', ''),
      file('foreign', readFileSync(SAMPLE)),
      file('cut', whole.subarray(0, whole.length - 1)),
      file(
        'altered',
        whole.map((byte, index) => (index === Math.floor(whole.length / 2) ? byte ^ 1 : byte)),
      ),
    ];
    for (const path of paths) {
      const { exitCode, stdout, stderr } = await run(['snapshot', name, path]);
      expect({ path, exitCode, stdout }).toEqual({ path, exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^paygrade: [^\n]+\n$/);
    }
  });

  it('inspect shows the facts to people', async () => {
    await build(SAMPLE);
    const { stderr } = await run(['snapshot', 'inspect', at('out')]);
    expect(stderr).toContain('rows                     25\n');
    expect(stderr).toContain('first observed at        2026-04-11T09:00:00.000Z\n');
  });
});

describe('snapshot synth', () => {
  const synth = (...words: string[]) => run(['snapshot', 'synth', '--jobs', '300', '--seed', '7', ...words]);

  it('makes the same jobs for a seed and day, as lines or as a catalogue', async () => {
    const { stdout, exitCode } = await synth('--as-of', '2026-11-20');
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n').length).toBe(300);
    await synth('--as-of', '2026-11-20', '--out', at('jobs.jsonl'));
    expect(readFileSync(at('jobs.jsonl'), 'utf8')).toBe(stdout);

    await synth('--as-of', '2026-11-20', '--out', at('one'));
    await run(
      ['snapshot', 'synth', '--jobs', '300', '--seed', '7', '--as-of', '2026-11-20T00:00:00Z', '--out', at('two')],
      {
        nowMs: Date.UTC(2030, 0, 1),
      },
    );
    expect(readFileSync(at('one')).equals(readFileSync(at('two')))).toBe(true);
    await buildFrom(stdout);
    const { content, built_at } = await inspected(at('one'));
    expect((await inspected()).content).toBe(content);
    expect(built_at).toBe('2026-11-20T00:00:00.000Z');
  });

  it('counts back from midnight UTC when no day is given', async () => {
    expect((await synth()).stdout).toBe((await synth('--as-of', '2026-11-21')).stdout);
  });

  it('makes other jobs for another seed', async () => {
    const other = await run(['snapshot', 'synth', '--jobs', '300', '--seed', '8']);
    expect(other.stdout).not.toBe((await synth()).stdout);
  });

  it('makes no jobs when asked for none', async () => {
    expect(await run(['snapshot', 'synth', '--jobs', '0', '--seed', '0'])).toMatchObject({ exitCode: 0, stdout: '' });
  });

  it.each([
    [['--jobs', '1'], '--seed is missing, for example --seed S'],
    [['--jobs=-1', '--seed', '1'], '--jobs must be a whole number from 0 to 20000000, not "-1"'],
    [['--jobs', '1', '--seed', '1', '--as-of', 'today'], '--as-of must be an RFC 3339 date-time or a date'],
  ])('%j is refused: %s', async (words, complaint) => {
    expect(await run(['snapshot', 'synth', ...words])).toMatchObject({
      exitCode: 2,
      stderr: `paygrade: ${complaint}\n`,
    });
  });

  it('tells a place that cannot be written to', async () => {
    const { exitCode, stderr } = await synth('--out', at('no/jobs.jsonl'));
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `paygrade: ${at('no/jobs.jsonl')} cannot be written (ENOENT)\n`,
    });
    expect(existsSync(at('no'))).toBe(false);
  });
});

describe('feeds', () => {
  const posting = (id: string, fields: Record<string, unknown> = {}) => ({
    id,
    title: 'Cook',
    jobUrl: `https://jobs.ashbyhq.com/acme/${id}`,
    publishedAt: '2026-11-01T00:00:00Z',
    ...fields,
  });

  it('leave out a refused record alone, name it and put it aside as one line, and count a repeated one apart', async () => {
    const jobs = [
      posting('a'),
      posting('b', { isListed: false }),
      posting('c'),
      posting('a'),
      7,
      posting('d', { title: ' ' }),
    ];
    const board = file('acme.json', JSON.stringify({ jobs }, null, 2));
    const words = ['--format', 'ashby', '--observed-at', '2026-11-20', '--rejects', at('bad')];
    const { exitCode, stderr } = await build(...words, board);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('3 of 6 records rejected, 1 repeated\n');
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      `record 2 of ${board} (id "b"): isListed is false: the posting is not public`,
      `record 5 of ${board}: must be a JSON object`,
      `record 6 of ${board} (id "d"): title is missing or blank`,
    ]);
    expect(readFileSync(at('bad'), 'utf8')).toBe([1, 4, 5].map((index) => `${JSON.stringify(jobs[index])}\n`).join(''));
    expect(await inspected()).toMatchObject({ rows: 2, source_rows: 6, rejected_rows: 3 });
    await build('--format', 'ashby', board);
    expect(await inspected()).toMatchObject({ rows: 2, source_rows: 6, rejected_rows: 3 });
  });

  it('take company and domain from the command line or a manifest', async () => {
    const board = file('acme.json', JSON.stringify({ jobs: [posting('a')] }));
    await build('--format', 'ashby', '--company', 'Acme, Inc.', '--domain', 'ACME.example', board);
    expect((await exported())[0]).toMatchObject({ company: 'Acme, Inc.', company_domain: 'acme.example' });
    const manifest = file('boards.json', '{"acme": {"company": "Acme GmbH", "domain": "acme.de"}}');
    await build('--format', 'ashby', '--manifest', manifest, board);
    expect((await exported())[0]).toMatchObject({ company: 'Acme GmbH', company_domain: 'acme.de' });
  });

  it('are observed when they are read, unless a time is given', async () => {
    const board = file('acme.json', JSON.stringify({ jobs: [posting('a')] }));
    await build('--format', 'ashby', board);
    expect((await exported())[0]).toMatchObject({ last_observed_at: '2026-11-21T12:00:00.000Z' });
  });
});

describe.skipIf(realDataMissing)(`real feeds${skippedWithout}`, () => {
  it.runIf(IS_WHOLE)('162 packed Ashby boards give 2,076 jobs, none refused', async () => {
    const archive = realFile('ashby-boards-stapply.part1.tar.gz');
    const { exitCode, stdout } = await build('--format', 'ashby', '--observed-at', '2025-11-01', '--json', archive);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 2076, source_rows: 2076, rejected_rows: 0 });
    // Six of the 162 boards are empty.
    expect(await inspected()).toMatchObject({
      active: 2076,
      companies: 156,
      last_observed_at: '2025-11-01T00:00:00.000Z',
    });
  });

  it('three SimplifyJobs lists give 1,184, 1,288 and 660 jobs, none refused', async () => {
    const lists = [
      ['simplify-new-grad.2024-09-14.json', 1184, 131],
      ['simplify-new-grad.2024-10-25.json', 1288, 138],
      ['simplify-cvrve-new-grad.2024-10-24.json', 660, 449],
    ] as const;
    for (const [name, rows, active] of lists) {
      expect((await build('--format', 'simplify', realFile(name))).exitCode).toBe(0);
      expect(await inspected()).toMatchObject({ rows, active, rejected_rows: 0 });
    }
  });

  it('of both shapes survive export and build byte for byte', async () => {
    const archive = realFile('ashby-boards-stapply.part1.tar.gz');
    const shorter = ['--format', 'simplify', realFile('simplify-new-grad.2024-10-25.json')];
    for (const words of IS_WHOLE ? [shorter, ['--format', 'ashby', archive]] : [shorter]) {
      await build(...words);
      const { stdout } = await run(['snapshot', 'export', at('out')]);
      await run(['snapshot', 'build', '--out', at('again')], { stdin: stdout, nowMs: Date.UTC(2030, 0, 1) });
      expect(readFileSync(at('again')).equals(readFileSync(at('out')))).toBe(true);
    }
  });
});
