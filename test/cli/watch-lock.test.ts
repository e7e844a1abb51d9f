/** Which processes a `watch` keeps off its folder. */
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { lockState, WATCH_LOCK_FILE } from '../../src/storage/sqlite/lock.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

it.each([
  ['a server whose state lies in the same folder is none', undefined, 'the catalogue has no boards'],
  ['another watch is one', WATCH_LOCK_FILE, 'another watch runs on'],
])('%s', async (_, file, words) => {
  const lock = lockState(folder, file);
  try {
    const { exitCode, stderr } = await run(['watch', '--once', '--catalogue', folder, '--out', join(folder, 'out')]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(`paygrade: ${words}`) });
  } finally {
    lock?.release();
  }
});
