import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BoardTables } from '../../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../../src/storage/history/database.ts';
import { greenhouseBoard } from '../../support/greenhouse-listing.ts';
import { testFolder } from '../../support/scratch-folder.ts';

it.runIf(process.platform === 'linux')('a catalogue that is moved under a watch takes no more, and says so', () => {
  const folder = join(testFolder(), 'catalogue');
  const history = HistoryDatabase.openForWatching(folder);
  renameSync(folder, `${folder}.old`);
  HistoryDatabase.openForWatching(folder).close();
  expect(() => {
    history.tryBegin();
    new BoardTables(history).put(greenhouseBoard('acme'), 0);
    history.commit();
  }).toThrow(/catalogue\.sqlite was moved, deleted or replaced while it was in use$/);
  history.close();
});
