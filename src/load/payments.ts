/**
 * Payments made ahead on worker threads, for a fixed list of offers. The stock is filled before the run and kept filled
 * during it, in the background; what has come too near its end (`validBefore`) is thrown away, not sent.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { QUIET_THREAD } from '../base/quiet-thread.ts';
import { RUNWAY_SECONDS } from '../payment/protocol/network.ts';
import type { SignedBatch, SigningOrder } from './signer.ts';
import type { LoadOffer, SignedPayment } from './signing.ts';
import { LoadError } from './target.ts';

/** Small enough that a stock of many offers fills evenly, large enough that messages cost nothing. */
const BATCH_COUNT = 16;
/** Time that a payment may still spend on its way and in the server's queue, beside the protocol's own runway. */
const TRAVEL_SECONDS = 10;

/** Same ending as this file: run as it is or from the build. */
const SIGNER = new URL(`./signer${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);

interface Shelf {
  readonly offer: LoadOffer;
  /** Oldest first from `next` on; what was taken is undefined. */
  ready: (SignedPayment | undefined)[];
  next: number;
  /** Ordered and not yet signed. */
  pendingCount: number;
  /** How many more may be ordered: no more is signed than the run can send. */
  plannedCount: number;
}

export interface SupplyOptions {
  readonly offers: readonly LoadOffer[];
  readonly signerCount: number;
  /** Payments that are kept ready, over all offers. */
  readonly stockCount: number;
  /** Payments that will be taken at most, the offers in turn; Infinity where nobody knows. */
  readonly plannedCount: number;
  readonly clock: Clock;
}

export class PaymentSupply {
  readonly #clock: Clock;
  readonly #shelves: readonly Shelf[];
  readonly #workers: readonly Worker[];
  readonly #shelfDepth: number;
  #turn = 0;
  #failure: Error | undefined;
  signedCount = 0;
  takenCount = 0;
  expiredCount = 0;
  /** Thread time spent on signing. */
  busyMs = 0;
  /** A payment was wanted and there was none; now there are some. */
  onStock: () => void = () => {};

  constructor({ offers, signerCount, stockCount, plannedCount, clock }: SupplyOptions) {
    this.#clock = clock;
    this.#shelfDepth = Math.ceil(stockCount / offers.length);
    const plannedEach = Math.ceil(plannedCount / offers.length);
    this.#shelves = offers.map((offer) => ({
      offer,
      ready: [],
      next: 0,
      pendingCount: 0,
      plannedCount: plannedEach,
    }));
    this.#workers = Array.from({ length: signerCount }, () => {
      const worker = new Worker(SIGNER, QUIET_THREAD);
      worker.on('message', (batch: SignedBatch) => this.#onBatch(batch));
      worker.on('error', (failure: Error) => {
        this.#failure = failure;
      });
      return worker;
    });
  }

  /** Resolves when the stock is full. @param onProgress payments signed so far, and of how many @throws LoadError */
  async fill(onProgress: (signedCount: number, of: number) => void, isStopped: () => boolean): Promise<void> {
    let wanted = 0;
    this.#shelves.forEach((shelf, index) => {
      this.#refill(index, 1);
      wanted += shelf.pendingCount;
    });
    while (this.#shelves.some(({ pendingCount }) => pendingCount > 0) && !isStopped()) {
      if (this.#failure !== undefined) throw new LoadError(`signing failed: ${this.#failure.message}`);
      onProgress(this.signedCount, wanted);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** A payment for the offer, to be sent at once, or undefined when none is ready. */
  take(offerIndex: number): SignedPayment | undefined {
    const shelf = this.#shelves[offerIndex]!; // an index into the offers that were handed in
    const leastSeconds = this.#clock.nowMs() / 1000 + RUNWAY_SECONDS + TRAVEL_SECONDS;
    let payment: SignedPayment | undefined;
    while (payment === undefined && shelf.next < shelf.ready.length) {
      const oldest = shelf.ready[shelf.next]!; // not taken: it lies behind `next`
      shelf.ready[shelf.next++] = undefined;
      if (oldest.validBeforeSeconds > leastSeconds) payment = oldest;
      else {
        this.expiredCount++;
        shelf.plannedCount++;
      }
    }
    if (shelf.next > 1024 && shelf.next * 2 > shelf.ready.length) {
      shelf.ready = shelf.ready.slice(shelf.next);
      shelf.next = 0;
    }
    if (payment !== undefined) this.takenCount++;
    this.#refill(offerIndex, Math.min(BATCH_COUNT, Math.ceil(this.#shelfDepth / 2)));
    return payment;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  /** Orders what is missing, in batches, round the threads; none while less than `countMin` is missing, but for the last. */
  #refill(offerIndex: number, countMin: number): void {
    const shelf = this.#shelves[offerIndex]!;
    for (;;) {
      const here = shelf.ready.length - shelf.next + shelf.pendingCount;
      const count = Math.min(BATCH_COUNT, this.#shelfDepth - here, shelf.plannedCount);
      if (count <= 0 || (count < countMin && here > 0)) return;
      shelf.pendingCount += count;
      shelf.plannedCount -= count;
      const worker = this.#workers[this.#turn++ % this.#workers.length]!;
      worker.postMessage({ offerIndex, offer: shelf.offer, count } satisfies SigningOrder);
    }
  }

  #onBatch({ offerIndex, payments, busyMs }: SignedBatch): void {
    const shelf = this.#shelves[offerIndex]!;
    shelf.pendingCount -= payments.length;
    shelf.ready.push(...payments);
    this.signedCount += payments.length;
    this.busyMs += busyMs;
    this.onStock();
  }
}
