/** `paygrade sales` in this process: over state folders, over a server's routes, and what it writes. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import Papa from 'papaparse';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { csvCell, PEOPLE_LINES } from '../../src/cli/sales/sales-lines.ts';
import { pagesOfFolder, pagesOfServer, type SalesPages } from '../../src/cli/sales/sales-source.ts';
import { adminTokenOf } from '../../src/cli/state-place.ts';
import { type SaleRecord, saleRecordOf } from '../../src/modules/admin/sale-record.ts';
import { PAGE_COUNT_MAX, type Sale } from '../../src/payment/books.ts';
import { MemoryBooks } from '../../src/storage/memory/books.ts';
import { openBackend } from '../../src/storage/open-backend.ts';
import { StateDatabase } from '../../src/storage/sqlite/database.ts';
import type { SalesOperation } from '../../src/storage/sqlite/tables/sales.ts';
import { Folder } from '../storage/sqlite/folder.ts';
import { enterSale } from '../support/enter-sale.ts';
import { openedApp } from '../support/opened-app.ts';
import { enter, soldWith } from '../support/sold.ts';
import { NOW_MS, run } from './captured-io.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';
const EVERYTHING = { sinceMs: 0, isUndeliveredOnly: false };
const MEMBERS = 'time,operation,amount_atomic,network,payer,nonce,transaction,request_id,delivered,settlement';

async function all(pages: SalesPages): Promise<SaleRecord[]> {
  const found: SaleRecord[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}

describe('the sales of a folder', () => {
  let folder: Folder;
  beforeEach(() => {
    folder = new Folder();
  });
  afterEach(() => folder.remove());

  /** Writes sales as a server does, and leaves the file open until the end of the test. */
  function write(...sales: readonly Sale[]): StateDatabase {
    const database = new StateDatabase({ path: folder.file('state.db'), sync: 'normal' });
    database.connection.inTransaction(() => {
      for (const sale of sales) enterSale(database.connection, sale);
    });
    return database;
  }
  const sales = (...words: string[]) => run(['sales', '--state-dir', folder.path, ...words]);
  /** Everything but the index of the log, which is no state. */
  const content = (of: Folder): Readonly<Record<string, string>> =>
    Object.fromEntries(
      readdirSync(of.path)
        .filter((name) => !name.endsWith('-shm'))
        .map((name) => [
          name,
          createHash('sha256')
            .update(readFileSync(of.file(name)))
            .digest('hex'),
        ]),
    );

  it('are read at rest without a change, and without a new file', async () => {
    write(soldWith(1), soldWith(2)).close();
    const before = content(folder);
    expect(Object.keys(before)).toEqual(['state.db']);
    const { exitCode, stdout } = await sales('--json');
    expect([exitCode, stdout.split('\n').length]).toEqual([0, 3]);
    expect(readdirSync(folder.path)).toEqual(['state.db']);
    expect(content(folder)).toEqual(before);
  });

  it('are read beside a server, whole pages as it sells on', async () => {
    const database = write(...Array.from({ length: PAGE_COUNT_MAX + 10 }, (_, i) => soldWith(i + 1)));
    const pages = pagesOfFolder(folder.path, EVERYTHING)[Symbol.asyncIterator]();
    expect((await pages.next()).value).toHaveLength(PAGE_COUNT_MAX);
    database.connection.inTransaction(() => enterSale(database.connection, soldWith(9_000)));
    expect((await pages.next()).value).toHaveLength(11);
    expect((await pages.next()).done).toBe(true);
    database.close();
  });

  it('are read after a kill, from the log that nobody has read back, which stays as it is', async () => {
    const database = write(soldWith(1), soldWith(2));
    const killed = folder.killed();
    database.close();
    const before = content(killed);
    expect(Object.keys(before).sort()).toEqual(['state.db', 'state.db-wal']);
    for (let times = 0; times < 2; times++) {
      const found = await all(pagesOfFolder(killed.path, EVERYTHING));
      expect(found).toEqual([soldWith(1), soldWith(2)].map(saleRecordOf));
      expect(content(killed)).toEqual(before);
    }
    await killed.remove();
  });

  it('are read whole when a server starts, sells and stops between two pages', async () => {
    const count = PAGE_COUNT_MAX * 2 + 1;
    write(...Array.from({ length: count }, (_, i) => soldWith(i + 1))).close();
    const found: SaleRecord[] = [];
    for await (const page of pagesOfFolder(folder.path, EVERYTHING)) {
      found.push(...page);
      if (found.length > PAGE_COUNT_MAX * 2) continue;
      const first = 10_000 * (found.length / PAGE_COUNT_MAX);
      write(...Array.from({ length: 100 }, (_, i) => soldWith(first + i))).close();
    }
    expect(found).toHaveLength(count + 200);
    expect(new Set(found.map(({ nonce }) => nonce)).size).toBe(count + 200);
  });

  it('are one JSON object a line, with the members of the contract in their order', async () => {
    write(soldWith(1), soldWith(2, { parameters: 'keyword=a\u009bb' })).close();
    const { stdout, stderr } = await sales('--json');
    const [first = '', second = ''] = stdout.trimEnd().split('\n');
    expect(Object.keys(JSON.parse(first) as object).join()).toBe(MEMBERS);
    expect(JSON.parse(first)).toMatchObject({ amount_atomic: '20000', delivered: false, settlement: 'local' });
    expect(JSON.parse(second)).toMatchObject({ parameters: 'keyword=a\u009bb' });
    expect(second).toContain('\\u009b');
    expect(stderr).toBe('');
  });

  it('are CSV that a parser reads back, and that no spreadsheet computes', async () => {
    write(soldWith(1, { parameters: '=HYPERLINK("http://evil.example","x")' }), soldWith(2)).close();
    const { stdout } = await sales('--csv');
    const { data, meta } = Papa.parse<Record<string, string>>(stdout.trimEnd(), { header: true });
    expect(meta.fields).toEqual([...MEMBERS.split(','), 'question', 'parameters']);
    expect(data.map(({ parameters }) => parameters)).toEqual([`'=HYPERLINK("http://evil.example","x")`, '']);
    expect(data.map(({ nonce }) => nonce)).toEqual([soldWith(1).nonce, soldWith(2).nonce]);
  });

  it('are a header line alone as CSV of nothing', async () => {
    write().close();
    expect((await sales('--csv')).stdout).toBe(`${MEMBERS},question,parameters\n`);
    expect(await sales()).toEqual({ exitCode: 0, stdout: '', stderr: 'no sales\n' });
  });

  it('are never added up with play money or those of a test network', async () => {
    write(
      soldWith(1, { settlement: 'facilitator' }),
      soldWith(2, { settlement: 'facilitator', operation: 'findSignals', amountAtomic: 90_000n }),
      soldWith(3),
      soldWith(4),
      soldWith(5, { settlement: 'facilitator', network: 'eip155:84532' }),
    ).close();
    const { stdout, stderr } = await sales();
    expect(stdout.split('\n')).toHaveLength(7);
    const figures = [...stderr.matchAll(/^ {2}(.+?) +(\d+) sold +([\d.]+) USDC {2}(\d+) undelivered$/gm)];
    expect(figures.map(([, ...cells]) => cells)).toEqual([
      ['findSignals', '1', '0.09', '1'],
      ['searchJobs', '1', '0.02', '1'],
      ['all together', '2', '0.11', '2'],
      ['searchJobs', '2', '0.04', '2'],
      ['all together', '2', '0.04', '2'],
      ['searchJobs', '1', '0.02', '1'],
      ['all together', '1', '0.02', '1'],
    ]);
    expect([...stderr.matchAll(/^\S.* on .*$/gm)].map(([line]) => line)).toEqual([
      'real settlement (facilitator) on Base',
      'play money (local) on Base',
      'real settlement (facilitator) on Base Sepolia',
    ]);
    expect(stderr).not.toContain('0.15');
  });

  it.each([
    ['2026-11-20T00:00:02Z', 2],
    ['2026-11-20', 3],
    ['2026-11-21', 0],
    ['2d', 3],
    ['35h', 0],
    ['2160m', 3],
  ])('are listed since %s', async (since, count) => {
    write(soldWith(1), soldWith(2), soldWith(3)).close();
    expect(NOW_MS).toBe(Date.UTC(2026, 10, 21, 12));
    expect((await sales('--json', '--since', since)).stdout.split('\n').length - 1).toBe(count);
  });

  it('are listed where their answer did not go out', async () => {
    const database = write(soldWith(1), soldWith(2));
    const delivered: SalesOperation = { table: 'sales', kind: 'delivered', serials: [1] };
    database.apply([delivered]);
    database.close();
    const { stdout } = await sales('--undelivered', '--json');
    expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout))}\n`);
    expect(JSON.parse(stdout)).toMatchObject({ request_id: soldWith(2).requestId, delivered: false });
  });

  it.each([
    ['in a value', 'amount = 1'],
    ['in the type of one', 'payer = 1'],
  ])('that are damaged %s end the list with one line and exit code 1', async (_, change) => {
    const database = write(soldWith(1), soldWith(2));
    database.connection.run(`UPDATE sale SET ${change} WHERE serial = 2`);
    database.close();
    const { exitCode, stderr } = await sales('--json');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^paygrade: .*state\.db: it is damaged: .*sale 2\n$/),
    ]);
  });

  it.each<readonly [string, () => void, RegExp]>([
    ['no state', () => {}, /has no state\.db: no server has used it/],
    [
      'a file of another kind',
      () => writeFileSync(folder.file('state.db'), 'x'.repeat(4096)),
      /state\.db: .*not a database/,
    ],
  ])('cannot be read from a folder with %s', async (_, make, message) => {
    make();
    const { exitCode, stderr } = await sales();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
  });
});

describe('the sales of a server', () => {
  it('are those of its folder, page after page, and need the token', async () => {
    const books = new MemoryBooks(systemRandom);
    const count = PAGE_COUNT_MAX * 2;
    for (let serial = 1; serial <= count; serial++) enter(books, soldWith(serial));
    const opened = await openedApp(
      { ADMIN_TOKEN, SNAPSHOT: 'none' },
      { openBackend: async (options, ports) => ({ ...(await openBackend(options, ports)), books }) },
    );
    const send = ((target: string, init: RequestInit) => opened.fetch(target, init)) as typeof fetch;
    const found = await all(pagesOfServer(opened.url, ADMIN_TOKEN, EVERYTHING, send));
    expect(found).toEqual(Array.from({ length: count }, (_, i) => saleRecordOf(soldWith(i + 1))));
    const since = { sinceMs: soldWith(count).timeMs, isUndeliveredOnly: true };
    expect(await all(pagesOfServer(opened.url, ADMIN_TOKEN, since, send))).toHaveLength(1);
    await expect(all(pagesOfServer(opened.url, 'x', EVERYTHING, send))).rejects.toThrow('401 INVALID_TOKEN');
    await opened.close();
  });

  it.each([
    ['another form', () => Response.json({ data: { sales: [{ time: 1 }], next_cursor: null } }), /of this release/],
    ['no JSON', () => new Response('<html>'), /of this release/],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://evil.example' } }), /^302 /],
  ])('end with one line where the answer is %s', async (_, answer, message) => {
    const send = (async () => answer()) as typeof fetch;
    await expect(all(pagesOfServer('http://h', ADMIN_TOKEN, EVERYTHING, send))).rejects.toThrow(message);
  });

  it('are asked for with a token from a file or the environment, never from the command line', async () => {
    expect(adminTokenOf(undefined, { ADMIN_TOKEN })).toBe(ADMIN_TOKEN);
    expect((await run(['sales', '--help'])).stdout).not.toContain('--admin-token ');
    const folder = new Folder();
    writeFileSync(folder.file('token'), `${ADMIN_TOKEN}\n`);
    expect(adminTokenOf(folder.file('token'), { ADMIN_TOKEN: 'other' })).toBe(ADMIN_TOKEN);
    await folder.remove();
  });
});

describe('a usage error', () => {
  it.each([
    [['--json', '--csv'], /--json does not go with --csv/],
    [['--since', 'yesterday'], /--since must be/],
    [['--since', '0d'], /--since must be/],
    [['--url', 'http://h', '--state-dir', 'd'], /--state-dir does not go with --url/],
    [['--url', 'http://h'], /the admin token is missing/],
    [['--url', 'nothing'], /--url must be/],
    [['--admin-token-file', 'f'], /goes with --url/],
    [['--url', 'http://h', '--admin-token-file', '/nonexistent'], /cannot be read/],
    [['--state-dir', ':memory:'], /in memory only/],
  ])('is %j', async (words, message) => {
    const { exitCode, stdout, stderr } = await run(['sales', ...words]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  });
});

it.each([
  ['plain', 'plain'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  ['\n=1', `"'\n=1"`],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\nb', '"a\nb"'],
  [null, ''],
  [false, 'false'],
] as const)('the CSV cell of %j is %j', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

it('text from the books moves no cursor of a terminal', () => {
  const line = PEOPLE_LINES.lineOf({
    ...saleRecordOf(soldWith(1)),
    operation: 'a\u001b[2Jb',
    request_id: 'c\u009bd\n',
  });
  expect(line).toContain('a\\u001b[2Jb');
  expect(line).toContain('c\\u009bd\\u000a');
  expect(line.indexOf('\n')).toBe(line.length - 1);
});
