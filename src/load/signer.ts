/** Entry of a signing thread: signs payments ahead, so that signing takes no time from the run. */
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../base/clock.ts';
import { systemRandom } from '../base/random.ts';
import { type LoadOffer, type SignedPayment, Signer } from './signing.ts';

export interface SigningOrder {
  readonly offerIndex: number;
  readonly offer: LoadOffer;
  /** Payments to sign. */
  readonly count: number;
}

export interface SignedBatch {
  readonly offerIndex: number;
  readonly payments: readonly SignedPayment[];
  /** Duration of the batch. The generator's own share of the CPU excludes it. */
  readonly busyMs: number;
}

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const signer = new Signer(systemRandom);

port.on('message', ({ offerIndex, offer, count }: SigningOrder) => {
  const startMs = systemClock.monotonicMs();
  const payments = Array.from({ length: count }, () => signer.sign(offer, systemClock.nowMs()));
  port.postMessage({ offerIndex, payments, busyMs: systemClock.monotonicMs() - startMs } satisfies SignedBatch);
});
