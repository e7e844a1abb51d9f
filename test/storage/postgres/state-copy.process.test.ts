/** A state folder that was copied into a database is what a server finds there again (siblings §9). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import { copyState } from '../../../src/storage/postgres/copy/copy-state.ts';
import { lockState } from '../../../src/storage/sqlite/lock.ts';
import { describeAccounts } from '../../suites/accounts.ts';
import { describeBackend, OPENING_ATOMIC } from '../../suites/backend.ts';
import { describeBooks } from '../../suites/books.ts';
import { describeIdentifiers } from '../../suites/identifiers.ts';
import { describeResolves } from '../../suites/resolves.ts';
import { describeRetries } from '../../suites/retries.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { Folder } from '../sqlite/folder.ts';
import { SharedDatabase } from './opened-backend.ts';

const options = (isPlay = true) => ({
  callbackBytes: 100 * CLAIM_BYTES,
  play: isPlay ? { openingAtomic: OPENING_ATOMIC } : undefined,
});

/** A box, and what it is after a kill and a copy. */
async function box(time: ManualTime) {
  const folder = new Folder();
  const backend = await folder.openBackend(options(), time);
  const left: { remove(): Promise<void> }[] = [folder];
  return {
    backend,
    async reopen(isPlay = true) {
      const killed = folder.killed();
      const shared = await SharedDatabase.open(SERVER!, time);
      left.push(killed, shared);
      await copyState(killed.path, shared.database.url, { clock: time, timers: time });
      return shared.process(options(isPlay));
    },
    async remove() {
      for (const one of left) await one.remove();
    },
  };
}

describe.skipIf(SERVER === undefined)('a copied state', () => {
  describeBackend('a copied box', box);
  describeIdentifiers('payment identifiers of a copied box', box);
  describeBooks('the books of a copied box', box);
  describeRetries(
    'of a copied box',
    async (time) => {
      const { backend, reopen, remove } = await box(time);
      return { store: backend.retries, reopen: async () => (await reopen()).retries, remove };
    },
    true,
  );
  describeResolves('resolves of a copied box', async (time) => {
    const { backend, reopen, remove } = await box(time);
    return { store: backend.resolves, reopen: async () => (await reopen()).resolves, remove };
  });

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
        /copied to a database, which has it now.*discard the state with STATE_RESET=true/,
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

describe.skipIf(SERVER === undefined)('accounts of a copied box', () => {
  describeAccounts(
    'copied',
    async (time, isPlay = true) => {
      const { backend, reopen, remove } = await box(time);
      expect(isPlay).toBe(true);
      return {
        accounts: backend.accounts,
        operationCount: () => backend.commits().operationCount,
        reopen: async (again) => (await reopen(again)).accounts,
        remove,
      };
    },
    true,
  );
});
