/** The callbacks of a run: bought before it, used by it, deleted after it. */
import { setTimeout } from 'node:timers/promises';
import { parseCallbackId } from '../callback/identifier.ts';
import type { PaymentSupply } from './payments.ts';
import type { Pool } from './pool.ts';
import { receiptFaultOf } from './receipt.ts';
import { jsonOf, type Requests, saidOf, saidWithAdvice } from './requests.ts';
import { LoadError } from './target.ts';

export interface BoughtCallback {
  readonly id: string;
  /** Value of `Authorization` for reading and deleting. */
  readonly authorization: string;
}

export const CALLBACKS_PATH = '/v1/callbacks';
/** Concurrent creations or deletions. */
const PARALLEL_COUNT = 16;

/**
 * Runs `act` for 0..count-1, {@link PARALLEL_COUNT} at a time, until one returns false or fails, or all are done. It always
 * waits for those under way, so that the clean-up knows everything that was bought.
 */
async function inParallel(count: number, act: (index: number) => Promise<boolean>): Promise<void> {
  let next = 0;
  let isContinuing = true;
  const lane = async (): Promise<void> => {
    try {
      while (isContinuing && next < count) if (!(await act(next++))) isContinuing = false;
    } finally {
      isContinuing = false;
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: PARALLEL_COUNT }, lane));
  const failed = lanes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

export interface BoughtCallbacks {
  readonly callbacks: BoughtCallback[];
  /** The server refused a creation for lack of capacity (503 CALLBACK_CAPACITY_EXCEEDED). */
  isCapacityExhausted: boolean;
}

/**
 * Buys `count` callbacks, or as many as the server has capacity for, and adds each to `bought` at once: after a failure the
 * caller can delete those bought before it.
 * @param supply has the offer of a callback alone
 * @throws LoadError
 */
export async function buyCallbacks(
  bought: BoughtCallbacks,
  count: number,
  { pool, requests }: { readonly pool: Pool; readonly requests: Requests },
  supply: PaymentSupply,
  onProgress: (count: number) => void,
  isStopped: () => boolean,
): Promise<void> {
  await inParallel(count, async () => {
    let payment = supply.take(0);
    while (payment === undefined && !isStopped()) {
      if (supply.failure !== undefined) throw new LoadError(supply.failure);
      await setTimeout(1);
      payment = supply.take(0);
    }
    if (payment === undefined || isStopped()) return false;
    const reply = await pool.ask(requests.post(CALLBACKS_PATH, { 'payment-signature': payment.header }, ''));
    if (saidOf(reply) === '503 CALLBACK_CAPACITY_EXCEEDED') {
      bought.isCapacityExhausted = true;
      return false;
    }
    if (reply.kind === 'failure' || reply.status !== 201) {
      throw new LoadError(`a payment bought no callback: ${saidWithAdvice(reply)}`);
    }
    const { id, read_token } = (jsonOf(reply) ?? {}) as { id?: unknown; read_token?: unknown };
    if (parseCallbackId(String(id)) === undefined || !/^[\x21-\x7e]+$/.test(String(read_token))) {
      throw new LoadError('the server created a callback without an id or a read token');
    }
    bought.callbacks.push({ id: String(id), authorization: `Bearer ${read_token}` });
    const fault = receiptFaultOf(reply, payment.payer, payment.network);
    if (fault !== undefined) throw new LoadError(`the server created a callback with a wrong receipt: ${fault}`);
    onProgress(bought.callbacks.length);
    return true;
  });
}

/** Deletes all callbacks. @returns the number that the server deleted. Never rejects. */
export async function deleteCallbacks(
  callbacks: readonly BoughtCallback[],
  pool: Pool,
  requests: Requests,
): Promise<number> {
  let deletedCount = 0;
  await inParallel(callbacks.length, async (index) => {
    const { id, authorization } = callbacks[index]!; // below the length
    const reply = await pool.ask(requests.delete(`${CALLBACKS_PATH}/${id}`, { authorization }));
    if (reply.kind === 'answer' && reply.status === 200) deletedCount++;
    return reply.kind === 'answer'; // stops at the first failure: the server is probably gone
  });
  return deletedCount;
}
