/** The backend in the memory of this process: nothing outlives it. */
import type { Backend, BackendPorts, StoreOptions } from '../backend.ts';
import { freshPayee } from '../payee-file.ts';
import { MemoryBooks } from './books.ts';
import { MemoryEventStore } from './event-store.ts';
import { MemoryJournal } from './memory-journal.ts';
import { NOTHING_SPENT } from './play-ledger.ts';
import { NOTHING_LOADED } from './reservation-journal.ts';
import { openMemoryRetries } from './retries.ts';
import { openMemoryStores } from './stores.ts';

export async function openMemoryBackend(options: StoreOptions, ports: BackendPorts): Promise<Backend> {
  const books = new MemoryBooks(ports.random);
  const retries = openMemoryRetries(ports.clock);
  const stores = await openMemoryStores(options, ports, {
    journal: new MemoryJournal(books),
    books,
    reservations: NOTHING_LOADED,
    ledger: NOTHING_SPENT,
    events: new MemoryEventStore(),
    retries: (accounts) => retries.storeWith(accounts),
    accounts: undefined,
    resolves: undefined,
  });
  const payee = freshPayee(ports.random);
  return {
    ...stores,
    throwawayPayee: () => payee,
    fault: () => undefined,
    commits: () => ({ batchCount: 0, operationCount: 0 }),
    notices: ['STATE_DIR=:memory:: this server forgets used payments, callbacks and retries when it stops'],
    drain: () => stores.callbacks.drain(),
    async close() {
      stores.callbacks.close();
      retries.close();
      stores.resolves.close();
    },
  };
}
