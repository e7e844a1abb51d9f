/** A database that processes share keeps what every backend promises; payments have a file of their own. */
import { describe } from 'vitest';
import type { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { describeCallbacks } from '../../suites/callbacks.ts';
import type { Opened } from '../../suites/opened.ts';
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
  describeCallbacks('callbacks of a shared database', (time, callbackCount) =>
    opening(time, ({ callbacks }) => callbacks, { callbackCount }),
  );
});
