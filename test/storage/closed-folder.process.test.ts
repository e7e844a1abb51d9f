import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closedFolder } from '../../src/storage/folder-fault.ts';

const isRoot = process.getuid?.() === 0;

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
  const closed = mkdtempSync(join(tmpdir(), 'paygrade-closed-'));
  chmodSync(closed, isRoot ? 0o700 : 0o000);
  const words = `${closed} is closed to this user: run this as the user that runs the server`;
  expect(asNobody(() => closedFolder(closed, 'state.db'))).toBe(words);
  chmodSync(closed, 0o755);
  expect(asNobody(() => closedFolder(closed, 'state.db'))).toBeUndefined();
  expect(asNobody(() => closedFolder(join(closed, 'none'), 'state.db'))).toBeUndefined();
  rmSync(closed, { recursive: true });
});
