/** One board, one token, whatever the case in which sources write it: `import` and `watch` of the same boards, in both orders. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Board } from '../../src/ingest/boards/board.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { BoardStub } from '../support/board-stub.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { NOW_MS, run } from './captured-io.ts';

let folder: string;
let stub: BoardStub;
beforeEach(async () => {
  folder = testFolder();
  stub = await BoardStub.open();
});
afterEach(() => {
  stub.close();
});

const HOUR_MS = 3_600_000;

function smartrecruiters(token: string) {
  const company = { identifier: token, name: 'Acme' };
  const content = [1, 2].map((id) => ({
    ...{ id: `${id}`, name: `Cook ${id}`, company, releasedDate: '2026-07-01T00:00:00Z', location: { city: 'Bern' } },
  }));
  return { offset: 0, limit: 100, totalFound: 2, content };
}

/** On the company's own host, so that only the file names the board. */
const ashby = () => ({
  apiVersion: '1',
  jobs: [1, 2].map((id) => ({
    ...{ id: `${id}`, title: `Cook ${id}`, publishedAt: '2026-07-01T00:00:00Z', isListed: true, location: 'Bern' },
    jobUrl: `https://jobs.acme.example/${id}`,
  })),
});

interface Case {
  readonly shape: Board['shape'];
  /** As two sources write it. */
  readonly tokens: readonly [string, string];
  readonly addressOf: (token: string) => string;
  readonly document: (token: string) => unknown;
}

const CASES: readonly Case[] = [
  {
    shape: 'smartrecruiters',
    tokens: ['Acme', 'acme'],
    addressOf: (token) => `https://careers.smartrecruiters.com/${token}`,
    document: smartrecruiters,
  },
  {
    shape: 'ashby',
    tokens: ['Acme', 'acme'],
    addressOf: (token) => `https://jobs.ashbyhq.com/${token}`,
    document: ashby,
  },
];

async function importing(catalogue: string, { shape, document }: Case, token: string, hours: number) {
  const path = join(folder, `${token}.json`);
  writeFileSync(path, JSON.stringify(document(token)));
  const time = new Date(NOW_MS + hours * HOUR_MS).toISOString();
  const words = ['--catalogue', catalogue, '--complete', '--format', shape, '--observed-at', time, '--json', path];
  const ran = await run(['import', ...words], { nowMs: NOW_MS + hours * HOUR_MS });
  expect(ran.exitCode, ran.stderr).toBe(0);
}

async function watching(catalogue: string, { shape, addressOf, document }: Case, token: string, hours: number) {
  const board: Board = { shape, token, address: addressOf(token), company: null, domain: null };
  const history = HistoryDatabase.openForSettings(catalogue);
  new BoardTables(history).put(board, NOW_MS);
  history.commit();
  history.close();
  stub.list(board, document('Acme'));
  const words = ['--catalogue', catalogue, '--out', `${catalogue}.snapshot`, '--once', '--all', '--host-pause-ms', '0'];
  const ran = await run(['watch', ...words], { nowMs: NOW_MS + hours * HOUR_MS, env: stub.env });
  expect(ran.exitCode, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

function contentOf(catalogue: string) {
  const history = HistoryDatabase.openForReading(catalogue);
  const all = (sql: string): unknown[] => history.rows(sql);
  const content = {
    boards: all('SELECT shape, token FROM board'),
    jobs: all('SELECT id, closed_ms FROM job ORDER BY id'),
    kinds: all('SELECT DISTINCT kind FROM event'),
  };
  history.close();
  return content;
}

describe.each(CASES)('a $shape board whose token two sources write differently', (one) => {
  const [first, second] = one.tokens;
  const { shape } = one;
  const kept = (token: string) => ({
    boards: [{ shape, token }],
    jobs: [1, 2].map((id) => ({ id: `${shape}:${token}:${id}`, closed_ms: null })),
    kinds: [{ kind: 'opened' }],
  });

  it.each([
    [first, second],
    [second, first],
  ])('is one when %s is imported and %s is watched', async (imported, watched) => {
    const catalogue = join(folder, 'catalogue');
    await importing(catalogue, one, imported, 0);
    for (const hours of [1, 2]) {
      expect(await watching(catalogue, one, watched, hours)).toMatchObject({ rows: 2, new: 0, changed: 0, closed: 0 });
    }
    await importing(catalogue, one, imported, 3);
    expect(contentOf(catalogue)).toEqual(kept(imported));
  });

  it.each([
    [first, second],
    [second, first],
  ])('is one when %s is watched and %s is imported', async (watched, imported) => {
    const catalogue = join(folder, 'catalogue');
    expect(await watching(catalogue, one, watched, 0)).toMatchObject({ rows: 2, new: 2 });
    await importing(catalogue, one, imported, 1);
    expect(await watching(catalogue, one, watched, 2)).toMatchObject({ rows: 2, new: 0, changed: 0, closed: 0 });
    expect(contentOf(catalogue)).toEqual(kept(watched));
  });

  it('keeps its name, its due time and what was stated about it when it is added again in the other spelling', async () => {
    const catalogue = join(folder, 'catalogue');
    const adding = async (token: string, ...stated: string[]) => {
      const words = ['--catalogue', catalogue, '--unchecked', '--json', ...stated, one.addressOf(token)];
      return run(['boards', 'add', ...words], { nowMs: NOW_MS });
    };
    await adding(first, '--company', 'Acme, Inc.', '--domain', 'acme.example');
    const board: Board = { shape, token: first, address: one.addressOf(first), company: null, domain: null };
    stub.list(board, one.document('Acme'));
    const words = ['--catalogue', catalogue, '--out', `${catalogue}.snapshot`, '--once', '--host-pause-ms', '0'];
    await run(['watch', ...words], { nowMs: NOW_MS, env: stub.env });
    const listed = await run(['boards', '--catalogue', catalogue, '--json'], { nowMs: NOW_MS });
    const again = await adding(second);
    expect(JSON.parse(again.stdout)).toMatchObject({
      ...{ board: `${shape}:${first}`, company: 'Acme, Inc.', domain: 'acme.example' },
    });
    expect(again.stderr).toContain('0 boards added, 0 changed, 1 known already');
    expect((await run(['boards', '--catalogue', catalogue, '--json'], { nowMs: NOW_MS })).stdout).toBe(listed.stdout);
  });

  it('is one in an import of files of both, found by either name, with the domain that the operator states', async () => {
    const catalogue = join(folder, 'catalogue');
    await importing(catalogue, one, first, 0);
    await importing(catalogue, one, second, 1);
    expect(contentOf(catalogue)).toEqual(kept(first));
    const history = await run(['history', '--catalogue', catalogue, '--board', `${shape}:${second}`, '--feeds'], {});
    expect(history.stdout.trimEnd().split('\n')).toHaveLength(2);
    const words = ['companies', 'set', '--catalogue', catalogue, `${shape}:${second}`, 'acme.example'];
    expect(await run(words, {})).toMatchObject({ exitCode: 0 });
    const out = join(folder, 'jobs.snapshot');
    expect(await run(['snapshot', 'build', '--catalogue', catalogue, '--out', out], {})).toMatchObject({ exitCode: 0 });
    const { stdout } = await run(['snapshot', 'export', out], {});
    const domains = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { company_domain: unknown }).company_domain);
    expect(domains).toEqual(['acme.example', 'acme.example']);
  });
});
