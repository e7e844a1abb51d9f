/**
 * The stores of all domains; decisions are made in the memory of this process. A journal and an event store make them
 * as durable as the backend promises.
 */
import type { EventStore } from '../../callback/inbox/event-store.ts';
import { Inbox } from '../../callback/inbox/inbox.ts';
import type { Books } from '../../payment/books.ts';
import { STORED_BYTES_IN_MEMORY, STORED_BYTES_ON_DISK } from '../../resolve/limits.ts';
import type { RetryStore } from '../../retry/store.ts';
import type { Backend, BackendPorts, StoreOptions } from '../backend.ts';
import { MemoryAccounts } from './accounts.ts';
import type { AccountsJournal, LoadedAccounts } from './accounts-journal.ts';
import { ANSWER_ROOM } from './kept-answers.ts';
import { type LoadedLedger, MemoryPlayLedger, TRANSFER_COUNT_MAX } from './play-ledger.ts';
import { MemoryRateLimits } from './rate-limits.ts';
import type { LoadedReservations, ReservationJournal } from './reservation-journal.ts';
import { MemoryReservations, RESERVATION_COUNT_MAX } from './reservations.ts';
import { MemoryResolves } from './resolves.ts';
import type { LoadedResolve, ResolvesJournal } from './resolves-journal.ts';

/**
 * What makes the stores durable. After the start the stores do not refer to the loaded records: there may be a million.
 */
export interface Persistence {
  readonly journal: ReservationJournal;
  readonly reservations: LoadedReservations;
  readonly ledger: LoadedLedger;
  readonly events: EventStore;
  readonly books: Books;
  /** Opens the store of retries over the accounts that its jobs are bought from. */
  retries(accounts: MemoryAccounts): RetryStore;
  /** undefined: nothing outlives the process. */
  readonly accounts: { readonly journal: AccountsJournal; readonly loaded: LoadedAccounts } | undefined;
  /** undefined: nothing outlives the process. */
  readonly resolves: { readonly journal: ResolvesJournal; readonly loaded: readonly LoadedResolve[] } | undefined;
}

export interface MemoryStores
  extends Pick<Backend, 'reservations' | 'playLedger' | 'callbacks' | 'rateLimits' | 'books' | 'retries'> {
  readonly accounts: MemoryAccounts;
  readonly resolves: MemoryResolves;
}

/** Opens the stores with the records of earlier processes. */
export async function openMemoryStores(
  { callbackBytes, play }: StoreOptions,
  ports: BackendPorts,
  {
    journal,
    reservations: loaded,
    ledger,
    events,
    books,
    retries: openRetries,
    accounts: lasting,
    resolves: lastingResolves,
  }: Persistence,
): Promise<MemoryStores> {
  const { clock } = ports;
  const reservations = new MemoryReservations(clock, {
    countMax: RESERVATION_COUNT_MAX,
    room: ANSWER_ROOM,
    journal,
    loaded,
    settlement: play === undefined ? 'facilitator' : 'local',
  });
  const playLedger =
    play === undefined ? undefined : new MemoryPlayLedger(play.openingAtomic, clock, TRANSFER_COUNT_MAX, ledger);
  const inbox = new Inbox(callbackBytes, { ...ports, store: events });
  const accounts = new MemoryAccounts(ports, { isPlay: play !== undefined, ...lasting });
  const resolves = new MemoryResolves(ports, {
    capacityBytes: lastingResolves === undefined ? STORED_BYTES_IN_MEMORY : STORED_BYTES_ON_DISK,
    ...lastingResolves,
  });
  await inbox.load();
  const rateLimits = new MemoryRateLimits(clock);
  const retries = openRetries(accounts);
  return { reservations, playLedger, callbacks: inbox, accounts, resolves, rateLimits, books, retries };
}
