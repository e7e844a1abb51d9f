/** The books of a process that writes nothing to disk: the last {@link SALE_COUNT_MAX} sales. */
import { DIGEST_KEY_BYTES, type Digest, keyedDigest } from '../../base/digest.ts';
import type { Random } from '../../base/random.ts';
import { type Books, dayOf, type Sale, type SalesDay, type SalesQuery } from '../../payment/books.ts';
import { networkOf } from '../../payment/protocol/network.ts';
import { type ReservationKey, reservationKeyOf } from '../../payment/protocol/order.ts';
import { SaleCounts } from './sale-counts.ts';

/** About 20 MB. */
export const SALE_COUNT_MAX = 20_000;

export class MemoryBooks implements Books {
  readonly digestOf: Digest;
  readonly #countMax: number;
  readonly #counts = new SaleCounts();
  /** By authorization, in the order of their settlements. */
  readonly #sales = new Map<ReservationKey, Sale>();
  readonly #keys = new Map<number, ReservationKey>();

  constructor(random: Random, countMax: number = SALE_COUNT_MAX) {
    this.digestOf = keyedDigest(random.bytes(DIGEST_KEY_BYTES));
    this.#countMax = countMax;
  }

  /** Enters a sale; forgets the oldest one when there are too many. */
  add(sale: Sale): void {
    const key = reservationKeyOf(networkOf(sale.network), sale.payer, sale.nonce);
    this.#sales.set(key, sale);
    this.#keys.set(sale.serial, key);
    this.#counts.sold(sale.operation);
    if (this.#sales.size <= this.#countMax) return;
    for (const [oldest, { serial, isDelivered }] of this.#sales) {
      this.#sales.delete(oldest);
      this.#keys.delete(serial);
      if (!isDelivered) this.#counts.undeliveredCount--;
      break;
    }
  }

  get saleCounts(): ReadonlyMap<string, number> {
    return this.#counts.byOperation;
  }

  get undeliveredCount(): number {
    return this.#counts.undeliveredCount;
  }

  find(key: ReservationKey): Sale | undefined {
    return this.#sales.get(key);
  }

  markDelivered(serial: number): void {
    const key = this.#keys.get(serial);
    const sale = key === undefined ? undefined : this.#sales.get(key);
    if (key === undefined || sale === undefined || sale.isDelivered) return;
    this.#sales.set(key, { ...sale, isDelivered: true });
    this.#counts.undeliveredCount--;
  }

  async list({ sinceMs, isUndeliveredOnly, after, limit }: SalesQuery): Promise<readonly Sale[]> {
    const isAfter = ({ timeMs, serial }: Sale): boolean =>
      after === undefined || timeMs > after.timeMs || (timeMs === after.timeMs && serial > after.serial);
    return [...this.#sales.values()]
      .filter((sale) => sale.timeMs >= sinceMs && !(isUndeliveredOnly && sale.isDelivered) && isAfter(sale))
      .sort((a, b) => a.timeMs - b.timeMs || a.serial - b.serial)
      .slice(0, limit);
  }

  async days(from: string): Promise<readonly SalesDay[]> {
    const days = new Map<string, SalesDay>();
    for (const { timeMs, settlement, network, operation, amountAtomic, isDelivered } of this.#sales.values()) {
      const day = dayOf(timeMs);
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
