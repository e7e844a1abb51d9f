/** The books of a process that writes nothing to disk: the last {@link SALE_COUNT_MAX} sales. */
import { DIGEST_KEY_BYTES, type Digest, keyedDigest } from '../../base/digest.ts';
import { isoDate } from '../../base/iso-time.ts';
import { KeyQueue } from '../../base/key-queue.ts';
import type { Random } from '../../base/random.ts';
import type { Books, Sale, SalesDay, SalesQuery } from '../../payment/books.ts';
import type { ReservationKey } from '../../payment/protocol/order.ts';
import { SaleCounts } from '../sale-counts.ts';

/** About 20 MB. */
const SALE_COUNT_MAX = 20_000;

export class MemoryBooks implements Books {
  readonly digestOf: Digest;
  readonly #countMax: number;
  readonly counts = new SaleCounts();
  /** Authorizations in the order of their settlements. */
  readonly #keys = new KeyQueue(0);
  /** A ring: the sale of the key at position p is at index p modulo `#countMax`. */
  readonly #sales: Sale[] = [];
  /** Indexes in the ring by serial. */
  readonly #places = new Map<number, number>();

  constructor(random: Random, countMax: number = SALE_COUNT_MAX) {
    this.digestOf = keyedDigest(random.bytes(DIGEST_KEY_BYTES));
    this.#countMax = countMax;
  }

  /** Enters a sale; forgets the oldest one when there are too many. @param key of its authorization */
  add(sale: Sale, key: ReservationKey): void {
    const place = this.#keys.append(key) % this.#countMax;
    const oldest = this.#sales[place];
    this.#sales[place] = sale;
    this.#places.set(sale.serial, place);
    this.counts.sold(sale.operation);
    this.counts.undeliveredCount++;
    if (oldest === undefined) return;
    this.#keys.removeFirst();
    this.#places.delete(oldest.serial);
    if (!oldest.isDelivered) this.counts.undeliveredCount--;
  }

  find(key: ReservationKey): Sale | undefined {
    const position = this.#keys.find(key);
    return position === undefined ? undefined : this.#sales[position % this.#countMax];
  }

  markDelivered(serial: number): void {
    const place = this.#places.get(serial);
    const sale = place === undefined ? undefined : this.#sales[place];
    if (place === undefined || sale === undefined || sale.isDelivered) return;
    this.#sales[place] = { ...sale, isDelivered: true };
    this.counts.undeliveredCount--;
  }

  async list({ sinceMs, isUndeliveredOnly, after, limit }: SalesQuery): Promise<readonly Sale[]> {
    const isAfter = ({ timeMs, serial }: Sale): boolean =>
      after === undefined || timeMs > after.timeMs || (timeMs === after.timeMs && serial > after.serial);
    return this.#sales
      .filter((sale) => sale.timeMs >= sinceMs && !(isUndeliveredOnly && sale.isDelivered) && isAfter(sale))
      .sort((a, b) => a.timeMs - b.timeMs || a.serial - b.serial)
      .slice(0, limit);
  }

  async days(from: string): Promise<readonly SalesDay[]> {
    const days = new Map<string, SalesDay>();
    for (const { timeMs, settlement, network, operation, amountAtomic, isDelivered } of this.#sales) {
      const day = isoDate(timeMs);
      if (day < from) continue;
      const name = `${day} ${settlement} ${network} ${operation}`;
      const one = days.get(name) ?? {
        day,
        settlement,
        network,
        operation,
        saleCount: 0,
        amountAtomic: 0n,
        undeliveredCount: 0,
      };
      days.set(name, {
        ...one,
        saleCount: one.saleCount + 1,
        amountAtomic: one.amountAtomic + amountAtomic,
        undeliveredCount: one.undeliveredCount + (isDelivered ? 0 : 1),
      });
    }
    return [...days.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
  }
}
