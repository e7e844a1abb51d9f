/** Old folders of what runtimes compiled: only those of their own naming, of other versions, and unused for thirty days go. */
import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { removeUnusedCaches, UNUSED_MS } from '../../../src/adapters/files/compile-caches.ts';
import { testFolder } from '../../support/scratch-folder.ts';

const NOW_MS = Date.UTC(2026, 10, 26);
const CURRENT = 'v26.10.0-x64-310b2ce3-0';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const age = (name: string, ageMs: number): void => {
  const seconds = (NOW_MS - ageMs) / 1000;
  utimesSync(join(folder, name), seconds, seconds);
};

/** A folder with a file in it, last written to `ageMs` ago. */
function cache(name: string, ageMs: number): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, '0557701d'), 'code');
  age(name, ageMs);
}

const isThere = (name: string): boolean => existsSync(join(folder, name));
const removeUnused = (current: string | undefined = join(folder, CURRENT)): Promise<void> =>
  removeUnusedCaches(folder, current, NOW_MS);

describe('the folders of what runtimes compiled', () => {
  it.each([
    ['v22.18.0-x64-00250a7c-0', UNUSED_MS + 1, false, 'another version, unused for more than thirty days'],
    ['v1.4.5-x86_64-a7733435c-0', UNUSED_MS + 1, false, 'another runtime'],
    ['v27.0.0-nightly20261101a1b2c3d4e5-arm64-310b2ce3-1000', UNUSED_MS + 1, false, 'a nightly build, another user'],
    ['v26.10.0-x64-5449647f-0', UNUSED_MS + 1, false, 'another build of this version'],
    ['v22.18.0-x64-00250a7c-0', UNUSED_MS, true, 'it was used thirty days ago'],
    ['v22.18.0-x64-00250a7c-0', 0, true, 'it is in use'],
    [CURRENT, 10 * UNUSED_MS, true, 'this process uses it'],
    ['backup', 10 * UNUSED_MS, true, 'its name is no runtime’s'],
    ['v22.18.0', 10 * UNUSED_MS, true, 'its name is not whole'],
    ['v22.18.0-x64-00250a7c-0.bak', 10 * UNUSED_MS, true, 'its name goes on'],
    ['old-v22.18.0-x64-00250a7c-0', 10 * UNUSED_MS, true, 'its name begins otherwise'],
  ])('%s of age %d: stays %s, because %s', async (name, ageMs, stays) => {
    cache(name, ageMs);
    await removeUnused();
    expect(isThere(name)).toBe(stays);
  });

  it('leaves files and links of such a name, and what links lead to', async () => {
    const outside = testFolder();
    writeFileSync(join(outside, 'kept'), '');
    symlinkSync(outside, join(folder, 'v22.18.0-x64-00250a7c-0'));
    writeFileSync(join(folder, 'v22.17.0-x64-00250a7c-0'), '');
    age('v22.17.0-x64-00250a7c-0', UNUSED_MS + 1);
    await removeUnusedCaches(folder, join(folder, CURRENT), Date.now() + 2 * UNUSED_MS);
    expect(lstatSync(join(folder, 'v22.18.0-x64-00250a7c-0')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(outside, 'kept'))).toBe(true);
    expect(isThere('v22.17.0-x64-00250a7c-0')).toBe(true);
  });

  it.each([
    ['keeps nothing', undefined],
    ['keeps its code in a folder that the operator names', '/elsewhere/v26.10.0-x64-310b2ce3-0'],
    ['keeps its code in a folder of the same name elsewhere', join('/elsewhere', 'paygrade', CURRENT)],
  ])('stay where this process %s', async (_which, current) => {
    cache('v22.18.0-x64-00250a7c-0', UNUSED_MS + 1);
    await removeUnusedCaches(folder, current, NOW_MS);
    expect(isThere('v22.18.0-x64-00250a7c-0')).toBe(true);
  });

  it('may be missing', async () => {
    rmSync(folder, { recursive: true });
    await expect(removeUnused()).resolves.toBeUndefined();
  });
});
