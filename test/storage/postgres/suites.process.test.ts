/** A database that processes share keeps what every backend promises. */
import { afterAll, describe } from 'vitest';
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { OPENING_ATOMIC } from '../../suites/backend.ts';
import { describeBooks } from '../../suites/books.ts';
import { describeIdentifiers } from '../../suites/identifiers.ts';
import { describePlayLedger } from '../../suites/play-ledger.ts';
import { describeReservations } from '../../suites/reservations.ts';
import type { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { SharedDatabase } from './opened-backend.ts';

const OPTIONS = { callbackBytes: 100 * CLAIM_BYTES, play: { openingAtomic: OPENING_ATOMIC } };

describe.skipIf(SERVER === undefined)('PostgreSQL', () => {
  const server = SERVER!;
  const left: SharedDatabase[] = [];
  afterAll(async () => {
    for (const shared of left) await shared.remove();
  });

  const onDatabase = async (time: ManualTime) => {
    const shared = await SharedDatabase.open(server, time);
    return {
      backend: await shared.process(OPTIONS),
      async reopen() {
        await shared.killAll();
        return shared.process(OPTIONS);
      },
      renewed: () => shared.renewed(),
      remove: () => shared.remove(),
    };
  };

  /** A database for one store. */
  async function opening<T>(time: ManualTime, storeOf: (backend: Backend) => T, openingAtomic = OPENING_ATOMIC) {
    const shared = await SharedDatabase.open(server, time);
    const store = storeOf(await shared.process({ ...OPTIONS, play: { openingAtomic } }));
    return { store, close: () => shared.remove() };
  }

  const openReservations = async (time: ManualTime) => {
    const shared = await SharedDatabase.open(server, time);
    left.push(shared);
    return (await shared.process(OPTIONS)).reservations;
  };
  describeReservations('reservations in a shared database', openReservations, false);
  describePlayLedger('the play ledger of a shared database', (time, openingAtomic) =>
    opening(time, ({ playLedger }) => playLedger!, openingAtomic),
  );
  describeIdentifiers('payment identifiers in a shared database', onDatabase);
  describeBooks('the books of a shared database', onDatabase);
});
