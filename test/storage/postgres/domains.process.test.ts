/** A database that processes share keeps what every backend promises; payments have a file of their own. */
import { describe } from 'vitest';
import { describeAccounts } from '../../suites/accounts.ts';
import { describeCallbacks } from '../../suites/callbacks.ts';
import type { Opened } from '../../suites/opened.ts';
import { describeRateLimits } from '../../suites/rate-limits.ts';
import { describeResolves } from '../../suites/resolves.ts';
import { describeRetries } from '../../suites/retries.ts';
import type { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { type DomainStores, type ProcessOptions, Shared } from './opened.ts';

async function opening<T>(
  time: ManualTime,
  storeOf: (stores: DomainStores) => T,
  options?: ProcessOptions,
): Promise<Opened<T>> {
  const shared = await Shared.open(SERVER, time);
  const { stores } = await shared.process(options);
  return { store: storeOf(stores), close: () => shared.remove() };
}

describe.skipIf(SERVER === undefined)('on PostgreSQL', () => {
  describeAccounts(
    'accounts of a shared database',
    async (time, isPlay) => {
      const shared = await Shared.open(SERVER, time);
      const opened = await shared.process({ isPlay: isPlay ?? true });
      return {
        accounts: opened.stores.accounts,
        operationCount: () => opened.writeCount(),
        reopen: async (again = true) => (await shared.reopen({ isPlay: again })).stores.accounts,
        remove: () => shared.remove(),
      };
    },
    true,
  );

  describeRetries(
    'of a shared database',
    async (time) => {
      const shared = await Shared.open(SERVER, time);
      const { stores, database } = await shared.process();
      const reopen = async () => (await shared.reopen()).stores;
      const damaged = async (id: string) => {
        await database.run({ text: "UPDATE paygrade.retries SET state = '[' WHERE id = $1", values: [id] });
        return (await reopen()).retries;
      };
      return { stores, reopen, damaged, remove: () => shared.remove() };
    },
    true,
  );

  describeResolves('resolves of a shared database', async (time) => {
    const shared = await Shared.open(SERVER, time);
    const { stores } = await shared.process();
    return {
      store: stores.resolves,
      reopen: async () => (await shared.reopen()).stores.resolves,
      remove: () => shared.remove(),
    };
  });

  describeRateLimits('rate limits of a shared database', (time) => opening(time, ({ rateLimits }) => rateLimits));

  describeCallbacks('callbacks of a shared database', (time, callbackCount) =>
    opening(time, ({ callbacks }) => callbacks, { callbackCount }),
  );
});
