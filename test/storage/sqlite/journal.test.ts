import { expect, it } from 'vitest';
import { Journal } from '../../../src/storage/sqlite/journal.ts';
import { ANSWERS } from '../../../src/storage/sqlite/tables/answers.ts';
import { ManualTime } from '../../support/manual-time.ts';

it('a journal closes although the system gives its writer no thread', async () => {
  const time = new ManualTime();
  const ports = {
    clock: time,
    timers: time,
    onFault() {},
    openWriter() {
      throw new Error('spawn EAGAIN');
    },
  };
  const journal = new Journal({ path: '/nowhere', sync: 'full' }, ports);
  const reading = journal.read({ table: ANSWERS });
  const closing = journal.close();
  await expect(reading).rejects.toThrow('EAGAIN');
  await closing;
});
