/** Memory keeps what every backend promises. */
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { openMemoryBackend } from '../../../src/storage/memory/backend.ts';
import { describeAccounts } from '../../suites/accounts.ts';
import { describeBackend, OPENING_ATOMIC } from '../../suites/backend.ts';
import { describeBooks } from '../../suites/books.ts';
import { describeCallbacks } from '../../suites/callbacks.ts';
import { describeIdentifiers } from '../../suites/identifiers.ts';
import { describePlayLedger } from '../../suites/play-ledger.ts';
import { describeRateLimits } from '../../suites/rate-limits.ts';
import { describeResolves } from '../../suites/resolves.ts';
import { describeRetries } from '../../suites/retries.ts';
import { Chance } from '../../support/chance.ts';
import type { ManualTime } from '../../support/manual-time.ts';

const open = (time: ManualTime, openingAtomic = OPENING_ATOMIC, callbackCount = 100): Promise<Backend> =>
  openMemoryBackend(
    { callbackBytes: callbackCount * CLAIM_BYTES, play: { openingAtomic } },
    {
      clock: time,
      timers: time,
      random: new Chance(1),
      onStateFault: () => {},
      onFailure(fault) {
        throw fault;
      },
    },
  );

describeBackend('the memory backend', async (time) => {
  const backend = await open(time);
  return { backend, remove: () => backend.close() };
});

describeAccounts(
  'accounts in memory',
  async (time) => {
    const backend = await open(time);
    return { accounts: backend.accounts, remove: () => backend.close() };
  },
  false,
);

describeBooks('the books in memory', async (time) => {
  const backend = await open(time);
  return { backend, remove: () => backend.close() };
});

describeIdentifiers('payment identifiers in memory', async (time) => {
  const backend = await open(time);
  return { backend, remove: () => backend.close() };
});

describeResolves('resolves in memory', async (time) => {
  const backend = await open(time);
  return { store: backend.resolves, remove: () => backend.close() };
});

describeCallbacks('callbacks in memory', async (time, capacityCount) => {
  const backend = await open(time, OPENING_ATOMIC, capacityCount);
  return { store: backend.callbacks, close: () => backend.close() };
});

describePlayLedger('the play ledger in memory', async (time, openingAtomic) => {
  const backend = await open(time, openingAtomic);
  return { store: backend.playLedger!, close: () => backend.close() };
});

describeRetries(
  'in memory',
  async (time) => {
    const backend = await open(time);
    return { stores: backend, remove: () => backend.close() };
  },
  false,
);

describeRateLimits('rate limits in memory', async (time) => {
  const backend = await open(time);
  return { store: backend.rateLimits, close: () => backend.close() };
});
