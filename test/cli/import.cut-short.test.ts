/** A file that is cut short brings in the records before the cut, as a partial feed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const COUNT = 400;
const random = new SeededRandom(7);
/** Text that does not pack, so that a cut in the packed bytes lies among the records. */
const noise = (): string => Buffer.from(random.bytes(300)).toString('base64');

const LINES = Array.from({ length: COUNT }, (_, i) =>
  JSON.stringify({
    id: `${i}`,
    title: 'Cook',
    company: 'Acme',
    source_url: `https://acme.example/${i}`,
    first_observed_at: '2026-08-01',
    last_observed_at: '2026-08-01',
    description: noise(),
  }),
);
const JSONL = `${LINES.join('\n')}\n`;
const CSV = `id,site,job_url,title,company,description\n${Array.from(
  { length: COUNT },
  (_, i) => `${i},x,https://a.example/${i},Cook,Acme,"${noise()}"\n`,
).join('')}`;

const entry = (name: string, body: string) => ({ header: { name, size: Buffer.byteLength(body) }, body });
const board = (token: string, ids: readonly number[]): string =>
  JSON.stringify({
    jobs: ids.map((id) => ({
      id,
      title: 'Cook',
      updated_at: '2026-07-01T00:00:00Z',
      absolute_url: `https://boards.greenhouse.io/${token}/jobs/${id}`,
    })),
  });
const archive = async (): Promise<Buffer> =>
  Buffer.from(await packTar([entry('acme.json', board('acme', [1, 2])), entry('lines.jsonl', JSONL)]));

/** Bytes of a text up to the middle of its record `count` (from 0). */
function cutIn(text: string, count: number): string {
  let end = -1;
  for (let i = 0; i < count; i++) end = text.indexOf('\n', end + 1);
  return text.slice(0, end + 30);
}

const part = (bytes: Uint8Array, share: number): Uint8Array => bytes.subarray(0, Math.floor(bytes.length * share));

interface Report {
  readonly files: readonly { format: string | null; read: number; imported: number; refused: object }[];
  readonly new: number;
}

async function imported(name: string, content: string | Uint8Array, ...words: string[]) {
  const path = join(folder, name);
  writeFileSync(path, content);
  const all = ['import', '--catalogue', join(folder, 'catalogue'), '--complete', '--json', ...words, path];
  const { exitCode, stdout, stderr } = await run(all);
  const feeds = await run(['history', '--catalogue', join(folder, 'catalogue'), '--feeds', '--json']);
  const complete = feeds.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { complete: boolean }).complete);
  return { exitCode, stderr, report: JSON.parse(stdout) as Report, complete };
}

describe('a file cut short', () => {
  const exact: readonly [what: string, name: string, content: string, place: string, count: number][] = [
    ['JSON Lines', 'a.jsonl', cutIn(JSONL, 30), 'line 31', 30],
    ['JSON Lines, in a character', 'a.jsonl', `${LINES[0]}\n{"title":"\xe4`, 'line 2', 1],
    ['CSV, inside quotes', 'a.csv', `${cutIn(CSV, 31)},"abc`, 'record 31', 30],
    [
      'CSV, before the last columns',
      'a.csv',
      `${cutIn(CSV, 31).split('\n').slice(0, -1).join('\n')}\n30,x`,
      'record 31',
      30,
    ],
  ];
  it.each(exact)('%s: takes the records before the cut', async (_what, name, content, place, count) => {
    const bytes = content.endsWith('\xe4') ? Buffer.from(content, 'latin1') : content;
    const { exitCode, stderr, report, complete } = await imported(name, bytes);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${place} of ${join(folder, name)}: breaks off: `);
    expect(stderr).toContain(`; ${count} before it are in a partial feed\n`);
    expect(report.new).toBe(count);
    expect(report.files).toMatchObject([{ read: count, imported: count, refused: {} }]);
    expect(complete).toEqual([false]);
  });

  const packed: readonly [what: string, name: string, content: () => Promise<Uint8Array>, share: number][] = [
    ['JSON Lines in gzip', 'a.jsonl.gz', async () => gzipSync(JSONL), 0.5],
    ['CSV in gzip', 'a.csv.gz', async () => gzipSync(CSV), 0.5],
    ['a tar archive', 'a.tar', archive, 0.5],
    ['a tar archive in gzip', 'a.tgz', async () => gzipSync(await archive()), 0.5],
  ];
  it.each(packed)('%s: takes nearly as much as the bytes held', async (what, name, content, share) => {
    const { exitCode, stderr, report, complete } = await imported(name, part(await content(), share));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^(line|record) \d+ of \S+: breaks off: the (gzip data|tar archive) is damaged or cut short; /m,
    );
    expect(stderr.match(/cut short/g)).toHaveLength(1);
    const isArchive = what.includes('tar');
    expect(report.new).toBeGreaterThan(COUNT * share * 0.85);
    expect(report.new).toBeLessThan(COUNT * share * 1.15);
    // Also of the board that is whole: further pages of it may have stood behind the cut.
    expect(complete).toEqual(isArchive ? [false, false] : [false]);
  });

  it('is whole when only the last line end is missing', async () => {
    const { exitCode, report, complete } = await imported('a.jsonl', JSONL.slice(0, -1));
    expect([exitCode, report.new, complete]).toEqual([0, COUNT, [true]]);
  });

  it('brings in nothing when it is cut in its first record', async () => {
    const { exitCode, stderr, report } = await imported('a.jsonl.gz', gzipSync(JSONL).subarray(0, 100));
    expect([exitCode, report.new]).toEqual([2, 0]);
    expect(stderr).toContain('a.jsonl.gz: the gzip data is damaged or cut short\n');
  });

  it('brings in nothing of a file that cannot be read on, and says so of each record', async () => {
    const rows = CSV.split('\n').slice(0, 61).join('\n');
    const { exitCode, report } = await imported('a.csv', `${rows}\n60,x,y,z,"${'x'.repeat(5_000_000)}`);
    expect([exitCode, report.new]).toEqual([2, 0]);
    const refused = { 'stands in a file that breaks off': 60 };
    expect(report.files).toMatchObject([{ read: 60, imported: 0, refused }]);
  });

  it('closes nothing, however often it comes', async () => {
    await imported('a.jsonl', JSONL);
    for (let i = 0; i < 3; i++) {
      const { report } = await imported(
        'a.jsonl',
        cutIn(JSONL, 3),
        '--observed-at',
        `2026-11-2${i}`,
        '--format',
        'native',
      );
      expect(report).toMatchObject({ new: 0, closed: 0, seen: 3 });
    }
  });
});
