/**
 * The books over the state file. Sales are written with their settlements (tables/payments.ts); this file notes deliveries,
 * removes sales past their retention, and reads through a separate thread, so that long books delay no payment.
 */
import type { Clock } from '../../base/clock.ts';
import { type Digest, keyedDigest } from '../../base/digest.ts';
import type { Timers } from '../../base/timers.ts';
import type { Books, Sale, SalesDay, SalesQuery } from '../../payment/books.ts';
import type { ReservationKey } from '../../payment/protocol/order.ts';
import { GatheredDeliveries } from '../gathered-deliveries.ts';
import { ON_ITS_WAY_MS, SaleCounts } from '../sale-counts.ts';
import type { Journal } from './journal.ts';
import type { StateReader } from './reader-thread.ts';
import { type BooksStart, SALES, type SalesOperation, type SalesRead, type SalesTotals } from './tables/sales.ts';

/** Pause between two looks at the books. */
const LOOK_PAUSE_MS = 5000;
/** Pause between two removals while more sales are too old. */
const PRUNE_PAUSE_MS = 100;

export interface BooksPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly timers: Timers;
}

export class SqliteBooks implements Books {
  readonly digestOf: Digest;
  readonly #journal: Journal;
  readonly #reader: StateReader;
  readonly #ports: BooksPorts;
  readonly #keptMs: number;
  readonly counts: SaleCounts;
  readonly #deliveries: GatheredDeliveries;
  #isClosed = false;
  #cancelLook = (): void => {};

  /** @param keptMs how long a sale stays */
  constructor(journal: Journal, reader: StateReader, start: BooksStart, keptMs: number, ports: BooksPorts) {
    this.digestOf = keyedDigest(start.secret);
    this.#journal = journal;
    this.#reader = reader;
    this.#ports = ports;
    this.#keptMs = keptMs;
    this.counts = new SaleCounts(start.undeliveredCount);
    this.#deliveries = new GatheredDeliveries(ports.timers, (serials) =>
      this.#write({ table: SALES, kind: 'delivered', serials }),
    );
    this.#lookLater(LOOK_PAUSE_MS);
  }

  markDelivered(serial: number): void {
    this.#deliveries.add(serial);
  }

  list(query: SalesQuery): Promise<readonly Sale[]> {
    return this.#read({ table: SALES, kind: 'page', query }) as Promise<readonly Sale[]>;
  }

  find(key: ReservationKey): Promise<Sale | undefined> {
    return this.#read({ table: SALES, kind: 'find', key }) as Promise<Sale | undefined>;
  }

  days(from: string): Promise<readonly SalesDay[]> {
    return this.#read({ table: SALES, kind: 'days', from }) as Promise<readonly SalesDay[]>;
  }

  /** Records the deliveries still waiting and ends the reader. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    await this.#deliveries.close();
    await this.#reader.close();
  }

  #read(read: SalesRead): Promise<unknown> {
    return this.#reader.read(read);
  }

  #write(operation: SalesOperation): Promise<void> {
    return this.#journal.write(operation);
  }

  #lookLater(pauseMs: number): void {
    if (this.#isClosed) return;
    this.#cancelLook = this.#ports.timers.after(pauseMs, () => {
      this.#look().then(
        (isMore) => this.#lookLater(isMore ? PRUNE_PAUSE_MS : LOOK_PAUSE_MS),
        () => this.#lookLater(LOOK_PAUSE_MS),
      );
    });
  }

  /**
   * Records deliveries that the state refused before, counts undelivered sales and removes those that are too old.
   * @returns true when there may be more to remove
   */
  async #look(): Promise<boolean> {
    await this.#deliveries.retry();
    const nowMs = this.#ports.clock.nowMs();
    const read: SalesRead = { table: SALES, kind: 'totals', beforeMs: nowMs - ON_ITS_WAY_MS };
    const { undeliveredCount, oldestMs } = (await this.#journal.read(read)) as SalesTotals;
    this.counts.undeliveredCount = undeliveredCount;
    const beforeMs = nowMs - this.#keptMs;
    if (oldestMs === null || oldestMs >= beforeMs) return false;
    await this.#write({ table: SALES, kind: 'prune', beforeMs });
    return true;
  }
}
