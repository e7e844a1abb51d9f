/** Webhook addresses that a run has bought: created before it, used by it, deleted after it. */
import type { PaymentSupply } from './payments.ts';
import type { Pool } from './pool.ts';
import { receiptFaultOf } from './receipt.ts';
import { jsonOf, type Requests, saidOf } from './requests.ts';
import { LoadError } from './target.ts';

export interface LentCallback {
  readonly id: string;
  /** Value of `Authorization` for reading and deleting. */
  readonly authorization: string;
}

export const CALLBACKS_PATH = '/v1/callbacks';
/** Creations and deletions under way at a time. */
const AT_ONCE_COUNT = 16;

/**
 * Runs `act` for 0..count-1, some at a time, until it says false or fails or all are done. Those under way are waited for,
 * whatever happens, so that nothing is bought behind the back of who cleans up.
 */
async function inParallel(count: number, act: (index: number) => Promise<boolean>): Promise<void> {
  let next = 0;
  let isGoingOn = true;
  const lane = async (): Promise<void> => {
    try {
      while (isGoingOn && next < count) if (!(await act(next++))) isGoingOn = false;
    } finally {
      isGoingOn = false;
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE_COUNT }, lane));
  const failed = lanes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

export interface LentCallbacks {
  readonly callbacks: LentCallback[];
  /** The server had no room for more (503 CALLBACK_CAPACITY_EXCEEDED). */
  isRoomUsedUp: boolean;
}

/**
 * Buys `count` callbacks into `lent`, or as many as the server has room for. What was bought before a failure is in `lent`
 * too, so that it can be deleted.
 * @throws LoadError
 */
export async function buyCallbacks(
  lent: LentCallbacks,
  count: number,
  { pool, requests, supply, offerIndex }: { pool: Pool; requests: Requests; supply: PaymentSupply; offerIndex: number },
  onProgress: (count: number) => void,
  isStopped: () => boolean,
): Promise<void> {
  await inParallel(count, async () => {
    let payment = supply.take(offerIndex);
    while (payment === undefined && !isStopped()) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      payment = supply.take(offerIndex);
    }
    if (payment === undefined || isStopped()) return false;
    const reply = await pool.ask(requests.post(CALLBACKS_PATH, { 'payment-signature': payment.header }, ''));
    const said = saidOf(reply);
    if (said === '503 CALLBACK_CAPACITY_EXCEEDED') {
      lent.isRoomUsedUp = true;
      return false;
    }
    if (reply.kind === 'failure' || reply.status !== 201) {
      throw new LoadError(`a callback was paid for and not created: ${said}`);
    }
    const { id, read_token } = (jsonOf(reply) ?? {}) as { id?: unknown; read_token?: unknown };
    if (!/^cb_[A-Za-z0-9]{24}$/.test(String(id)) || !/^[\x21-\x7e]+$/.test(String(read_token))) {
      throw new LoadError('a callback was created without an id or a read token');
    }
    lent.callbacks.push({ id: String(id), authorization: `Bearer ${read_token}` });
    const fault = receiptFaultOf(reply, payment.payer);
    if (fault !== undefined) throw new LoadError(`a callback was created with a wrong receipt: ${fault}`);
    onProgress(lent.callbacks.length);
    return true;
  });
}

/** Deletes all; the number that the server did delete. Never rejects. */
export async function deleteCallbacks(
  callbacks: readonly LentCallback[],
  pool: Pool,
  requests: Requests,
): Promise<number> {
  let deletedCount = 0;
  await inParallel(callbacks.length, async (index) => {
    const { id, authorization } = callbacks[index]!; // below the length
    const reply = await pool.ask(requests.delete(`${CALLBACKS_PATH}/${id}`, { authorization }));
    if (reply.kind === 'answer' && reply.status === 200) deletedCount++;
    return reply.kind === 'answer'; // a server that is gone is not asked again and again
  });
  return deletedCount;
}
