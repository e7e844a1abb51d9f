/** `state copy`: what it refuses, and what a server finds of a copied box (siblings §9); the whole of it in the slow tests. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { copyState } from '../../../src/storage/postgres/copy/copy-state.ts';
import { lockState } from '../../../src/storage/sqlite/lock.ts';
import { describeBackend } from '../../suites/backend.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { Folder } from '../sqlite/folder.ts';
import { box, options } from './copied-box.ts';
import { SharedDatabase } from './opened-backend.ts';

describe.skipIf(SERVER === undefined)('a copied state', () => {
  describeBackend('a copied box', box);

  it('is refused while a server holds the folder, into a database that is not empty, and a second time', async () => {
    const time = new ManualTime();
    const folder = new Folder();
    const [one, other] = [await SharedDatabase.open(SERVER!, time), await SharedDatabase.open(SERVER!, time)];
    const copy = (to: SharedDatabase) => copyState(folder.path, to.database.url, { clock: time, timers: time });
    try {
      await expect(copy(one)).rejects.toThrow('holds no state');
      const backend = await folder.openBackend(options(), time);
      await backend.accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 5, expiresAtMs: null });
      await expect(copy(one)).rejects.toThrow('a server uses');
      await backend.close();
      const filled = await other.process(options());
      await filled.accounts.grant({ organization: 'beta', kind: 'onboarding', amount: 5, expiresAtMs: null });
      await expect(copy(other)).rejects.toThrow('not empty');
      // Nothing was copied, so the box may go on.
      expect(readFileSync(folder.file('state.json'), 'utf8')).not.toContain('mov');
      expect(await copy(one)).toMatchObject({ organizations: 1, onboarding_grants: 1, claims: 0 });
      await expect(copy(one)).rejects.toThrow('copied to a database already');
      await expect(folder.openBackend(options(), time)).rejects.toThrow(
        /copied to a database, which has it now \(set DATABASE_URL\).*discard the state with STATE_RESET=true/,
      );
      // The lock is free again.
      lockState(folder.path)!.release();
      const reset = await folder.open({ mayReset: true }, time);
      expect(reset.notices[0]).toContain('started with an empty state');
    } finally {
      await folder.remove();
      await one.remove();
      await other.remove();
    }
  });
});
