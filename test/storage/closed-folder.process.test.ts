import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { requireWritable } from '../../src/cli/output-paths.ts';
import { closedFolder } from '../../src/storage/folder-fault.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { BooksFile } from '../../src/storage/sqlite/books-file.ts';
import { StateDatabase } from '../../src/storage/sqlite/database.ts';
import { suiteFolder, testFolder } from '../support/scratch-folder.ts';
import { binaryOf, MAIN } from '../support/server.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Root sees everything, so it acts as somebody else. */
function asNobody<T>(act: () => T): T {
  if (!isRoot) return act();
  process.seteuid?.('nobody');
  try {
    return act();
  } finally {
    process.seteuid?.(0);
  }
}

it('a folder that only its server may look into is told from one without the file', () => {
  const closed = testFolder();
  chmodSync(closed, isRoot ? 0o700 : 0o000);
  const words = `${closed} is closed to this user: run this as the user that runs the server`;
  expect(asNobody(() => closedFolder(closed, 'state.db'))).toBe(words);
  chmodSync(closed, 0o755);
  expect(asNobody(() => closedFolder(closed, 'state.db'))).toBeUndefined();
  expect(asNobody(() => closedFolder(join(closed, 'none'), 'state.db'))).toBeUndefined();
});

it('books that only their server may read are told from those that are damaged', () => {
  const folder = testFolder();
  const path = join(folder, 'state.db');
  new StateDatabase({ path, sync: 'normal' }).close();
  chmodSync(path, isRoot ? 0o600 : 0o000);
  chmodSync(folder, 0o755);
  const list = () => new BooksFile(folder).list({ sinceMs: 0, isUndeliveredOnly: false, after: undefined, limit: 1 });
  expect(() => asNobody(list)).toThrow(`${path} is closed to this user: run this as the user that runs the server`);
});

it('an --out in a folder that this user may not write to is refused before the work', async () => {
  const folder = testFolder();
  const out = join(folder, 'out');
  await requireWritable(out);
  expect(readdirSync(folder)).toEqual([]);
  chmodSync(folder, 0o555);
  if (isRoot) process.seteuid?.('nobody');
  try {
    await expect(requireWritable(out)).rejects.toThrow(`${out} cannot be written (EACCES)`);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

describe('a state that this user may not read', () => {
  const FILES = ['lock', 'state.db', 'state.json', 'state-key', 'pay-to'];

  /** @param closed `..`, the folder or one of its files */
  function closedState(closed: string): string {
    if (isRoot) chmodSync(tmpdir(), 0o711);
    const above = testFolder();
    chmodSync(above, 0o755);
    const folder = join(above, 'state');
    mkdirSync(folder);
    for (const name of FILES) writeFileSync(join(folder, name), '');
    chmodSync(join(folder, closed), isRoot ? 0o600 : 0o000);
    return folder;
  }

  /** A process of its own: access(2) goes by the real user, which this thread cannot take back. */
  function runAsNobody(words: readonly string[]): { readonly status: number | null; stdout: string; stderr: string } {
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const { status, stdout, stderr } = spawnSync(binaryOf('node'), [MAIN, ...words], {
      env: {},
      encoding: 'utf8',
      ...user,
    });
    return { status, stdout, stderr };
  }

  it.each(['..', '.', ...FILES])('gets one remedy from doctor, which gives nothing up: %s', (closed) => {
    const folder = closedState(closed);
    const words = ['--json', '--snapshot', 'none', '--port', '0', '--state-dir', folder];
    const { findings } = JSON.parse(runAsNobody(['doctor', ...words]).stdout) as { findings: Finding[] };
    expect(findings.filter(({ verdict }) => verdict === 'mend')).toEqual([
      {
        check: 'state',
        verdict: 'mend',
        found: `this user cannot read ${closed === '..' ? folder : join(folder, closed)}`,
        mend: 'run this as the user that runs the server',
      },
    ]);
  });

  it.each([
    ['..', (folder: string) => `this user may not write to ${dirname(folder)}`],
    ['.', () => 'this user may not write to it'],
    ['lock', () => 'this user may not write to it'],
  ])('is neither copied nor opened: %s', (closed, reason) => {
    const folder = closedState(closed);
    const words = `${folder} cannot be used: ${reason(folder)}; give it to the user that runs this, or name another folder\n`;
    expect(runAsNobody(['state', 'copy', '--from', folder, '--to', 'postgres://127.0.0.1:1/shop'])).toEqual({
      status: 1,
      stdout: '',
      stderr: `paygrade: --from: ${words}`,
    });
    expect(runAsNobody(['serve', '--port', '0', '--state-dir', folder])).toEqual({
      status: 1,
      stdout: '',
      stderr: `paygrade: STATE_DIR ${words}`,
    });
  });

  it('nor is anything written below a folder that is closed', () => {
    const out = join(closedState('..'), 'out.snapshot');
    expect(runAsNobody(['snapshot', 'build', '--out', out, MAIN])).toEqual({
      status: 1,
      stdout: '',
      stderr: `paygrade: ${out} cannot be written (EACCES)\n`,
    });
    expect(runAsNobody(['import', '--catalogue', dirname(out), MAIN]).stderr).toMatch(
      / cannot be a catalogue: this user may not write to /,
    );
  });
});

describe('a catalogue that this user may not read', () => {
  const folder = suiteFolder();
  const path = join(folder, 'catalogue.sqlite');

  it.each<[string, () => void, string]>([
    [
      'a folder that is closed',
      () => chmodSync(folder, isRoot ? 0o700 : 0o000),
      `${folder} is closed to this user: run this as the user that runs the server`,
    ],
    [
      'a file that is closed',
      () => {
        chmodSync(folder, 0o755);
        chmodSync(path, isRoot ? 0o600 : 0o000);
      },
      `${path} cannot be opened by this user`,
    ],
    [
      'a write that a kill cut off',
      () => {
        chmodSync(path, 0o644);
        const killed = testFolder();
        const history = HistoryDatabase.openForSettings(folder);
        history.exec('PRAGMA cache_size = 1; CREATE TABLE many (text); INSERT INTO many VALUES (randomblob(100000))');
        cpSync(folder, killed, { recursive: true });
        history.exec('ROLLBACK');
        history.close();
        cpSync(killed, folder, { recursive: true });
        chmodSync(path, 0o444);
        chmodSync(folder, 0o555);
      },
      `${path}: a killed process left an unfinished write, which this user may not roll back; run this once as the user that imports or watches`,
    ],
  ])('is said to be %s', (_, close, words) => {
    if (readdirSync(folder).length === 0) {
      const history = HistoryDatabase.openForSettings(folder);
      history.commit();
      history.close();
    }
    close();
    expect(() => asNobody(() => HistoryDatabase.openForGlance(folder))).toThrow(words);
  });
});
