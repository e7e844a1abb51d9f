/** Everything that lasts of a box is in the database that it was copied into (siblings §9): its suites, over a copy. */
import { describe, expect } from 'vitest';
import { describeAccounts } from '../../suites/accounts.ts';
import { describeBooks } from '../../suites/books.ts';
import { describeIdentifiers } from '../../suites/identifiers.ts';
import { describeResolves } from '../../suites/resolves.ts';
import { describeRetries } from '../../suites/retries.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { box } from './copied-box.ts';

describe.skipIf(SERVER === undefined)('a copied state', () => {
  describeIdentifiers('payment identifiers of a copied box', box);
  describeBooks('the books of a copied box', box);
  describeRetries(
    'of a copied box',
    async (time) => {
      const { backend, reopen, run, remove } = await box(time);
      const damaged = async (id: string) => {
        const { retries } = await reopen();
        await run(`UPDATE paygrade.retries SET state = '[' WHERE id = '${id}'`);
        return retries;
      };
      return { stores: backend, reopen: () => reopen(), damaged, remove };
    },
    true,
  );
  describeResolves('resolves of a copied box', async (time) => {
    const { backend, reopen, remove } = await box(time);
    return { store: backend.resolves, reopen: async () => (await reopen()).resolves, remove };
  });
  describeAccounts(
    'accounts of a copied box',
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
