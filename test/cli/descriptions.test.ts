/** Descriptions and history from end to end: input, catalogue file, export, and the same file again. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DESCRIPTION_LENGTH_MAX } from '../../src/catalogue/job.ts';
import type { Snapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { openCatalogue } from '../../src/cli/snapshot/inspect.ts';
import { parseNative } from '../../src/ingest/native.ts';
import { NO_ENVELOPE } from '../../src/ingest/shapes/shape.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';
import { realDataMissing, realFile, skippedWithout } from '../ingest/real-data.ts';
import { realShape } from '../ingest/real-shapes.ts';
import { jobLine } from '../support/catalogue-files.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { NOW_MS, run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const at = (name: string) => join(folder, name);
const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** The file that is built from an export of `path`. */
async function rebuilt(path: string): Promise<Buffer> {
  const { exitCode, stdout } = await run(['snapshot', 'export', path]);
  expect(exitCode).toBe(0);
  writeFileSync(at('export.jsonl'), stdout);
  const later = { nowMs: NOW_MS + 86_400_000 };
  const again = await run(['snapshot', 'build', '--out', at('again'), at('export.jsonl')], later);
  expect(again).toMatchObject({ exitCode: 0 });
  return readFileSync(at('again'));
}

function withSnapshot<Result>(path: string, read: (snapshot: Snapshot) => Result): Result {
  const snapshot = openCatalogue(path);
  try {
    return read(snapshot);
  } finally {
    snapshot.close();
  }
}

const rowsOf = (snapshot: Snapshot): number[] => Array.from({ length: snapshot.rowCount }, (_, row) => row);

describe('descriptions of native lines', () => {
  const RECORDS = [
    jobLine({ id: 'html', description: '<p>We use <b>Rust</b></p><ul><li>a</li></ul>' }),
    jobLine({ id: 'tag', description: 'the <b> tag &amp; more', description_format: 'text' }),
    jobLine({ id: 'long', description: '𝄞'.repeat(DESCRIPTION_LENGTH_MAX + 1) }),
    jobLine({ id: 'cut', description: 'cut before', description_truncated: true }),
    jobLine({ id: 'none' }),
    jobLine({ id: 'closed', status: 'closed', closed_at: '2026-11-03T01:00:00Z', description: 'cut before' }),
  ];

  it('survive an export and a build, which gives the same file', async () => {
    const built = await run(['snapshot', 'build', '--out', at('out')], { stdin: lines(...RECORDS) });
    expect(built).toMatchObject({ exitCode: 0 });
    const found = withSnapshot(at('out'), (snapshot) =>
      Object.fromEntries(rowsOf(snapshot).map((row) => [snapshot.cold.rowAt(row).id, snapshot.descriptionOf(row)])),
    );
    expect(found).toEqual({
      html: { text: 'We use Rust\n\n- a', isTruncated: false },
      tag: { text: 'the <b> tag &amp; more', isTruncated: false },
      long: { text: '𝄞'.repeat(DESCRIPTION_LENGTH_MAX), isTruncated: true },
      cut: { text: 'cut before', isTruncated: true },
      none: { text: null, isTruncated: false },
      closed: { text: 'cut before', isTruncated: false },
    });
    expect((await rebuilt(at('out'))).equals(readFileSync(at('out')))).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['again', 'export.jsonl', 'out']);
  });

  it('can be left out', async () => {
    const words = ['snapshot', 'build', '--no-descriptions', '--out', at('out')];
    expect(await run(words, { stdin: lines(...RECORDS) })).toMatchObject({ exitCode: 0 });
    const { stdout } = await run(['snapshot', 'inspect', '--json', at('out')]);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 6, description_bytes: 0, events: 7 });
    expect((await rebuilt(at('out'))).equals(readFileSync(at('out')))).toBe(true);
  });

  it('leave nothing behind when the build is refused', async () => {
    const bad = jobLine({ id: 'bad', status: 'active', closed_at: '2026-11-03' });
    const { exitCode, stderr } = await run(['snapshot', 'build', '--out', at('out')], {
      stdin: lines(...RECORDS, bad),
    });
    expect([exitCode, stderr.split('\n')[0]]).toEqual([1, 'line 7: closed_at goes only with the status closed']);
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** Small files of every shape. */
const REAL_FILES = [
  'ashby-zapier.json',
  'greenhouse-canonical.json',
  'lever-moo.2026-08-21.json',
  'smartrecruiters-westerndigital.json',
  'workable-zaelab.json',
  'recruitee-aikido.json',
  'teamtailor-teamtailor.json',
  'workday-scraped-aig.json',
  'usajobs-education.json',
  'jobspy-json-apple.json',
  'linkedin-postings-2024-cp1252.csv',
  'simplify-new-grad.2024-09-14.json',
  'jsonld-workday-medtronic-page.html',
  'remoteboard-remotive.json',
  'remoteboard-remoteok.json',
  'remoteboard-arbeitnow.json',
  'remoteboard-themuse.json.gz',
  'aggregator-justjoinit.jsonl',
];

describe.skipIf(realDataMissing)(`descriptions of real postings${skippedWithout}`, () => {
  it.each(IS_WHOLE ? REAL_FILES : REAL_FILES.filter((name) => /^simplify|^greenhouse/.test(name)))(
    '%s keeps each of them, and comes back from its export',
    async (name) => {
      const words = ['snapshot', 'build', '--format', 'auto', '--out', at('out'), realFile(name)];
      expect((await run(words)).exitCode).toBe(0);
      const { envelope, fileName, records, shape } = await realShape(name);
      const context = { fileName, observedAtMs: NOW_MS, board: { company: null, domain: null }, manifest: new Map() };
      const expected = new Map<string, string | null>();
      for (const record of records) {
        const shaped = shape.nativeOf(record, { ...context, envelope: envelope ?? NO_ENVELOPE });
        if (!shaped.ok) continue;
        const parsed = parseNative(shaped.record, loadSkillExtractor());
        if (parsed.ok && !expected.has(parsed.job.id)) expected.set(parsed.job.id, parsed.job.description);
      }
      const found = withSnapshot(at('out'), (snapshot) =>
        rowsOf(snapshot).map((row) => [snapshot.cold.rowAt(row).id, snapshot.descriptionOf(row).text] as const),
      );
      expect(found.length).toBeGreaterThan(0);
      expect(new Map(found)).toEqual(expected);
      for (const [id, text] of found) {
        expect(text ?? '', id).not.toMatch(/<\/?(?:p|ul|li|div|br|strong|span)\b[^>]*>/i);
      }
      expect((await rebuilt(at('out'))).equals(readFileSync(at('out')))).toBe(true);
    },
  );
});

describe('what the catalogue of import keeps', () => {
  const lever = (name: string, jobs: Readonly<Record<string, readonly [title: string, text: string]>>): string => {
    const records = Object.entries(jobs).map(([id, [title, descriptionPlain]]) => ({
      id,
      text: title,
      hostedUrl: `https://jobs.lever.co/acme/${id}`,
      categories: {},
      descriptionPlain,
    }));
    writeFileSync(at(name), JSON.stringify(records));
    return at(name);
  };
  const imported = async (day: number, path: string): Promise<void> => {
    const time = `2026-08-${String(day).padStart(2, '0')}`;
    const words = ['import', '--catalogue', at('catalogue'), '--complete', '--force', '--observed-at', time, path];
    expect((await run(words)).exitCode).toBe(0);
  };
  /** Events as `day kind id title`, with the fields that changed. */
  const built = async (): Promise<{ events: string[]; texts: Record<string, string | null>; ids: string[] }> => {
    expect((await run(['snapshot', 'build', '--catalogue', at('catalogue'), '--out', at('out')])).exitCode).toBe(0);
    return withSnapshot(at('out'), (snapshot) => {
      const idOf = (row: number): string => snapshot.cold.rowAt(row).id.slice('lever:acme:'.length);
      const events = snapshot.history.eventsAt([...Array(snapshot.history.count).keys()]);
      return {
        events: events.map(({ changes, kind, observedMs, row, title }) =>
          [new Date(observedMs).getUTCDate(), kind, idOf(row!), title, ...changes.map(({ field }) => field)].join(' '),
        ),
        ids: events.map(({ id }) => id),
        texts: Object.fromEntries(rowsOf(snapshot).map((row) => [idOf(row), snapshot.descriptionOf(row).text])),
      };
    });
  };
  const storedTexts = async (): Promise<number> => {
    const { HistoryDatabase } = await import('../../src/storage/history/database.ts');
    const history = HistoryDatabase.openForReading(at('catalogue'));
    try {
      return Number((history.row('SELECT count(*) AS texts FROM description') as { texts: number }).texts);
    } finally {
      history.close();
    }
  };

  it('is each description once, and the events with the titles of their time, in the order of recording', async () => {
    const feed = (title: string, text: string) =>
      lever('a.json', { b: [title, text], a: ['Cook', 'Same'], c: ['Cook', 'Same'] });
    await imported(4, feed('First', 'Text'));
    await imported(6, feed('Second', 'Text'));
    await imported(8, feed('Third', 'Other <b>text</b>'));
    const first = await built();
    expect(first.texts).toEqual({ a: 'Same', b: 'Other text', c: 'Same' });
    expect(await storedTexts()).toBe(2);
    expect(first.events).toEqual([
      '4 first_observed a Cook',
      '4 first_observed b First',
      '4 first_observed c Cook',
      '6 changed b Second title',
      '8 changed b Third title description',
    ]);

    // A late feed adds events at the end, and changes none.
    await imported(2, feed('Old', 'Older'));
    await imported(10, lever('b.json', { a: ['Cook', 'Same'] }));
    await imported(12, lever('b.json', { a: ['Cook', 'Same'] }));
    const then = await built();
    expect(then.events.slice(0, 5)).toEqual(first.events);
    expect(then.ids.slice(0, 5)).toEqual(first.ids);
    expect(then.events.slice(5)).toEqual([
      '2 first_observed a Cook',
      '2 first_observed b First',
      '2 first_observed c Cook',
      '12 closed b Third',
      '12 closed c Cook',
    ]);
    expect(new Set(then.ids).size).toBe(10);
    expect(await storedTexts()).toBe(2);
    const closedAt = withSnapshot(at('out'), (snapshot) => rowsOf(snapshot).map((row) => snapshot.closedAt(row)));
    expect(closedAt).toEqual([null, Date.UTC(2026, 7, 12), Date.UTC(2026, 7, 12)]);
  });

  it('is refused in one line when a description is damaged', async () => {
    await imported(4, lever('a.json', { a: ['Cook', 'Text of some length'] }));
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(at('catalogue/catalogue.sqlite'));
    database.exec("UPDATE description SET text = x'00112233'");
    database.close();
    const { exitCode, stderr } = await run(['snapshot', 'build', '--catalogue', at('catalogue'), '--out', at('out')]);
    expect([exitCode, stderr]).toEqual([
      1,
      `paygrade: ${at('catalogue/catalogue.sqlite')} is damaged: the description of job "lever:acme:a" is unreadable\n`,
    ]);
    expect(readdirSync(folder)).not.toContain('out');
  });
});
