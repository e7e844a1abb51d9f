/** What a state folder that others may enter shows them. */
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { throwawayPayee } from '../../src/storage/payee-file.ts';
import { ANSWERS, type AnswerOperation } from '../../src/storage/sqlite/tables/answers.ts';
import { keptStateKey } from '../../src/storage/state-key.ts';
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
