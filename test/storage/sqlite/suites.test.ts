/** The state folder keeps what every backend promises. */
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import { CLAIM_BYTES } from '../../../src/callback/limits.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { describeAccounts } from '../../suites/accounts.ts';
import { describeBackend, OPENING_ATOMIC } from '../../suites/backend.ts';
import { describeBooks } from '../../suites/books.ts';
import { describeCallbacks } from '../../suites/callbacks.ts';
import { describeEventStore } from '../../suites/event-store.ts';
import { describeIdentifiers } from '../../suites/identifiers.ts';
import { describePlayLedger } from '../../suites/play-ledger.ts';
import { describeRateLimits } from '../../suites/rate-limits.ts';
import { describeReservations } from '../../suites/reservations.ts';
import { describeResolves } from '../../suites/resolves.ts';
import { describeRetries } from '../../suites/retries.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { memoryReservations } from '../../support/memory-reservations.ts';
import { Folder } from './folder.ts';

const folder = new Folder();
const state = await folder.open();
afterAll(() => folder.remove());

/** One file under all stores of this suite: their serials are kept apart. */
let opened = 0;
describeReservations('reservations over a state file', (time, countMax) => {
  const loaded = { ends: [], cases: [], answers: [], usedBeforeSeconds: 0, lastSerial: ++opened * 1_000_000 };
  return memoryReservations(time, { countMax, journal: state.persistence.journal, loaded });
});

describeEventStore('a state file', async () => {
  const time = new ManualTime(Date.UTC(2026, 7, 1, 12));
  let place = new Folder();
  let current = await place.open({}, time);
  const places = [place];
  return {
    store: current.persistence.events,
    async reopen() {
      place = place.killed();
      places.push(place);
      current = await place.open({}, time);
      return current.persistence.events;
    },
    async close() {
      for (const one of places) await one.remove();
    },
  };
});

/** An empty folder, and what a kill leaves of it. */
const inFolder = async (time: ManualTime) => {
  const place = new Folder();
  const places = [place];
  const options = { callbackBytes: 100 * CLAIM_BYTES, play: { openingAtomic: OPENING_ATOMIC } };
  return {
    backend: await place.openBackend(options, time),
    reopen(change = (_path: string): void => {}) {
      const killed = place.killed();
      places.push(killed);
      change(killed.file('state.db'));
      return killed.openBackend(options, time);
    },
    async remove() {
      for (const one of places) await one.remove();
    },
  };
};

describeAccounts(
  'accounts over a state folder',
  async (time) => {
    const places = [new Folder()];
    const openIn = async (place: Folder, isPlay: boolean) => {
      const play = isPlay ? { openingAtomic: OPENING_ATOMIC } : undefined;
      return place.openBackend({ callbackBytes: CLAIM_BYTES, play }, time);
    };
    const backend = await openIn(places[0]!, true);
    return {
      accounts: backend.accounts,
      operationCount: () => backend.commits().operationCount,
      async reopen(isPlay = true) {
        const killed = places.at(-1)!.killed();
        places.push(killed);
        return (await openIn(killed, isPlay)).accounts;
      },
      async remove() {
        for (const place of places) await place.remove();
      },
    };
  },
  true,
);

describeBackend('the backend of a state folder', inFolder);
describeResolves('resolves over a state folder', async (time) => {
  const { backend, reopen, remove } = await inFolder(time);
  return { store: backend.resolves, reopen: async () => (await reopen()).resolves, remove };
});
describeBooks('the books of a state folder', inFolder);
describeIdentifiers('payment identifiers over a state folder', inFolder);

/** A folder for one store. */
async function opening<T>(
  time: ManualTime,
  storeOf: (backend: Backend) => T,
  openingAtomic = OPENING_ATOMIC,
  callbackCount = 100,
): Promise<{ store: T; close(): Promise<void> }> {
  const place = new Folder();
  const options = { callbackBytes: callbackCount * CLAIM_BYTES, play: { openingAtomic } };
  const store = storeOf(await place.openBackend(options, time));
  return { store, close: () => place.remove() };
}

describeCallbacks('callbacks over a state file', (time, capacityCount) =>
  opening(time, ({ callbacks }) => callbacks, OPENING_ATOMIC, capacityCount),
);

describePlayLedger('the play ledger over a state file', (time, openingAtomic) =>
  opening(time, ({ playLedger }) => playLedger!, openingAtomic),
);

describeRetries(
  'over a state file',
  async (time) => {
    const { backend, reopen, remove } = await inFolder(time);
    const damaged = async (id: string) => {
      const { retries } = await reopen((path) => {
        const database = new DatabaseSync(path);
        database.prepare("UPDATE retry SET state = replace(state, 'scheduled', 'succeeded') WHERE id = ?").run(id);
        database.close();
      });
      return retries;
    };
    return { stores: backend, reopen: () => reopen(), damaged, remove };
  },
  true,
);

describeRateLimits('rate limits beside a state file', (time) => opening(time, ({ rateLimits }) => rateLimits));
