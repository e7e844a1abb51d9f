/** State files that this program does not read: of another format, or of another program. */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { FORMAT_VERSION } from '../../../src/storage/sqlite/database.ts';
import { inspectState } from '../../../src/storage/sqlite/inspect.ts';
import { History } from './recorded-history.ts';

describe('a state file', () => {
  it.each([
    [`user_version = ${FORMAT_VERSION + 1}`, /its format \d+ is newer than this program/],
    [`user_version = ${FORMAT_VERSION - 1}`, /its format \d+ is older than this program/],
    ['application_id = 1', /it is not a state file/],
  ])('with %s stays as it is, and nothing is sold', async (pragma, reason) => {
    const { folder, time } = await History.live();
    await folder.open({}, time);
    await folder.close();
    const database = new DatabaseSync(folder.file('state.db'));
    database.exec(`PRAGMA ${pragma}`);
    database.close();
    const before = readFileSync(folder.file('state.db'));
    expect(inspectState(folder.path)).toMatchObject({ kind: 'unusable', reason: expect.stringMatching(reason) });

    const state = await folder.open({}, time);
    expect(state.fault()).toMatch(reason);
    await folder.close();
    expect(readFileSync(folder.file('state.db')).equals(before)).toBe(true);
    await folder.remove();
  });
});
