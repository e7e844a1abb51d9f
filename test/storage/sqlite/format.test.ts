/** State files that this program does not read: of another format, or of another program. */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { FORMAT_VERSION } from '../../../src/storage/sqlite/database.ts';
import { inspectState } from '../../../src/storage/sqlite/inspect.ts';
import { movedAway, readMarker, writeMarker } from '../../../src/storage/sqlite/marker.ts';
import { StateError } from '../../../src/storage/state-error.ts';
import { History } from './recorded-history.ts';

describe('a state file', () => {
  it.each([
    [
      `user_version = ${FORMAT_VERSION + 1}`,
      'other-release',
      /its format \d+ is newer than this program/,
      /start the release/,
    ],
    [
      `user_version = ${FORMAT_VERSION - 1}`,
      'other-release',
      /its format \d+ is older than this program/,
      /start the release/,
    ],
    ['application_id = 1', 'unusable', /it is not a state file/, /restore a sound copy/],
  ])('with %s stays as it is, and nothing is sold', async (pragma, kind, reason, advice) => {
    const { folder, time } = await History.live();
    await folder.open({}, time);
    await folder.close();
    const database = new DatabaseSync(folder.file('state.db'));
    database.exec(`PRAGMA ${pragma}`);
    database.close();
    const before = readFileSync(folder.file('state.db'));
    expect(inspectState(folder.path)).toMatchObject({ kind, reason: expect.stringMatching(reason) });

    const state = await folder.open({}, time);
    for (const said of [reason, advice]) expect(state.fault()).toMatch(said);
    await folder.close();
    expect(readFileSync(folder.file('state.db')).equals(before)).toBe(true);
    await folder.remove();
  });

  it('whose state was moved to a database is found so, and opens no more', async () => {
    const { folder, time } = await History.live();
    await folder.open({}, time);
    await folder.close();
    const marker = readMarker(folder.path);
    if (!marker) throw new Error('an opened state has a marker');
    writeMarker(folder.path, { ...marker, moved: 'moved' });
    expect(inspectState(folder.path)).toEqual({ kind: 'moved', reason: movedAway(folder.path) });
    await expect(folder.open({}, time)).rejects.toThrow(
      new StateError(
        `${movedAway(folder.path)}: set DATABASE_URL; if the copy was cut off, run \`state copy\` again first`,
      ),
    );
    await folder.remove();
  });
});
