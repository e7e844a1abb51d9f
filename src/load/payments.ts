/**
 * Payments signed ahead on worker threads, for a fixed list of offers. The supply fills its stock before the run and refills it
 * in the background. It discards a payment that is too close to its `validBefore` instead of sending it.
 */
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { startThread } from '../base/start-thread.ts';
import { onThreadEnd } from '../base/thread-end.ts';
import { RUNWAY_SECONDS } from '../payment/protocol/network.ts';
import type { SignedBatch, SigningOrder } from './signer.ts';
import type { LoadOffer, SignedPayment } from './signing.ts';
import { LoadError } from './target.ts';

/** Payments per message: few enough that the stock of many offers fills evenly, enough that messages cost little. */
const BATCH_COUNT = 16;
/** Allowance for the network and the server's queue, beside the protocol's own runway. */
const TRAVEL_SECONDS = 10;

const SIGNER = new URL('./signer.ts', import.meta.url);

/** The signed payments for one offer. */
interface OfferStock {
  readonly offer: LoadOffer;
  /** Oldest first, from index `next` on; entries before it are taken and undefined. */
  ready: (SignedPayment | undefined)[];
  next: number;
  /** Ordered from a thread, not yet signed. */
  pendingCount: number;
  /** Payments that may still be ordered: the supply signs no more than the run can send. */
  plannedCount: number;
}

export interface SupplyOptions {
  readonly offers: readonly LoadOffer[];
  readonly signerCount: number;
  /** Payments kept ready, over all offers. */
  readonly stockCount: number;
  /** Most payments that the run can take, the offers in turn; Infinity when unknown. */
  readonly plannedCount: number;
  readonly clock: Clock;
}

export class PaymentSupply {
  readonly #clock: Clock;
  readonly #stocks: readonly OfferStock[];
  readonly #workers: readonly Worker[];
  readonly #stockDepth: number;
  #turn = 0;
  #isClosed = false;
  /** Why a thread ended before `close`; what was ordered from it is never signed. */
  failure: string | undefined;
  signedCount = 0;
  takenCount = 0;
  expiredCount = 0;
  /** Thread time spent on signing, ms. */
  busyMs = 0;
  /** Called when payments arrive from a thread. */
  onStock: () => void = () => {};

  constructor({ offers, signerCount, stockCount, plannedCount, clock }: SupplyOptions) {
    this.#clock = clock;
    this.#stockDepth = Math.ceil(stockCount / offers.length);
    const plannedEach = Math.ceil(plannedCount / offers.length);
    this.#stocks = offers.map((offer) => ({
      offer,
      ready: [],
      next: 0,
      pendingCount: 0,
      plannedCount: plannedEach,
    }));
    this.#workers = Array.from({ length: signerCount }, () => {
      const worker = startThread(SIGNER);
      worker.on('message', (batch: SignedBatch) => this.#onBatch(batch));
      onThreadEnd(worker, 'a signing thread', (why) => {
        if (!this.#isClosed) this.failure ??= why;
      });
      return worker;
    });
  }

  /** Resolves when the stock is full. @param onProgress receives payments signed and wanted @throws LoadError */
  async fill(onProgress: (signedCount: number, of: number) => void, isStopped: () => boolean): Promise<void> {
    let wanted = 0;
    this.#stocks.forEach((stock, index) => {
      this.#refill(index, 1);
      wanted += stock.pendingCount;
    });
    while (this.#stocks.some(({ pendingCount }) => pendingCount > 0) && !isStopped()) {
      if (this.failure !== undefined) throw new LoadError(this.failure);
      onProgress(this.signedCount, wanted);
      await setTimeout(20);
    }
  }

  /** A payment for the offer, to be sent at once; undefined when none is ready. */
  take(offerIndex: number): SignedPayment | undefined {
    const stock = this.#stocks[offerIndex]!; // an index of the constructor's offers
    const leastSeconds = this.#clock.nowMs() / 1000 + RUNWAY_SECONDS + TRAVEL_SECONDS;
    let payment: SignedPayment | undefined;
    while (payment === undefined && stock.next < stock.ready.length) {
      const oldest = stock.ready[stock.next]!; // not taken: its index is not below `next`
      stock.ready[stock.next++] = undefined;
      if (oldest.validBeforeSeconds > leastSeconds) payment = oldest;
      else {
        this.expiredCount++;
        stock.plannedCount++;
      }
    }
    if (stock.next > 1024 && stock.next * 2 > stock.ready.length) {
      stock.ready = stock.ready.slice(stock.next);
      stock.next = 0;
    }
    if (payment !== undefined) this.takenCount++;
    this.#refill(offerIndex, Math.min(BATCH_COUNT, Math.ceil(this.#stockDepth / 2)));
    return payment;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  /** Orders what is missing, in batches, from the threads in turn. Waits until `countMin` are missing unless none is left. */
  #refill(offerIndex: number, countMin: number): void {
    const stock = this.#stocks[offerIndex]!;
    for (;;) {
      const here = stock.ready.length - stock.next + stock.pendingCount;
      const count = Math.min(BATCH_COUNT, this.#stockDepth - here, stock.plannedCount);
      if (count <= 0 || (count < countMin && here > 0)) return;
      stock.pendingCount += count;
      stock.plannedCount -= count;
      const worker = this.#workers[this.#turn++ % this.#workers.length]!;
      worker.postMessage({ offerIndex, offer: stock.offer, count } satisfies SigningOrder);
    }
  }

  #onBatch({ offerIndex, payments, busyMs }: SignedBatch): void {
    const stock = this.#stocks[offerIndex]!;
    stock.pendingCount -= payments.length;
    stock.ready.push(...payments);
    this.signedCount += payments.length;
    this.busyMs += busyMs;
    this.onStock();
  }
}
