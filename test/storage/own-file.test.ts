/** The files of a state folder: what they show others, and folders in their place. */
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { throwawayPayee } from '../../src/storage/payee-file.ts';
import { lockState } from '../../src/storage/sqlite/lock.ts';
import { readMarker } from '../../src/storage/sqlite/marker.ts';
import { ANSWERS, type AnswerOperation } from '../../src/storage/sqlite/tables/answers.ts';
import { foundStateKey, keptStateKey } from '../../src/storage/state-key.ts';
import { Chance } from '../support/chance.ts';
import { Folder } from './sqlite/folder.ts';

it.runIf(process.platform !== 'win32')('every file of a state is for its owner alone', async () => {
  const folder = new Folder();
  chmodSync(folder.path, 0o755);
  const state = await folder.open();
  state.start();
  throwawayPayee(folder.path, new Chance(1));
  keptStateKey(folder.path, new Chance(1));
  const operation: AnswerOperation = { table: ANSWERS, kind: 'forget', serials: [1] };
  await state.journal?.write(operation);
  const modeOf = (name: string): string => `${name} ${(statSync(folder.file(name)).mode & 0o777).toString(8)}`;
  const names = ['lock', 'pay-to', 'state-key', 'state.db', 'state.db-shm', 'state.db-wal', 'state.json'];
  const found = readdirSync(folder.path)
    .filter((name) => name !== 'lock-journal')
    .map(modeOf);
  expect(found.sort()).toEqual(names.map((name) => `${name} 600`));
  await folder.remove();
});

it.each<[name: string, read: (stateDir: string) => unknown]>([
  ['pay-to', (stateDir) => throwawayPayee(stateDir, new Chance(1))],
  ['state-key', (stateDir) => keptStateKey(stateDir, new Chance(1))],
  ['state-key', foundStateKey],
  ['state.json', readMarker],
  ['lock', lockState],
])('a folder in the place of %s is named', async (name, read) => {
  const folder = new Folder();
  mkdirSync(folder.file(name));
  expect(() => read(folder.path)).toThrow(`${folder.file(name)} is a folder, not a file; remove it`);
  await folder.remove();
});

it('a folder in the place of state.db is named, not called a folder that is closed', async () => {
  const folder = new Folder();
  mkdirSync(folder.file('state.db'));
  await expect(folder.open()).rejects.toThrow(`${folder.file('state.db')} is a folder, not a file; remove it`);
  await folder.remove();
});
