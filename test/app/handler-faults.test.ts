/**
 * A bug anywhere on the way of a paid request (reliability 214): the clock throws at its first, second, … call. The answer is
 * a 500 with its request id, and the payment is free again, or spent with a receipt. No request is left without an answer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { decodeHeader, encodeHeader, paymentFor, wallet } from '../support/wallet.ts';

/** More than a paid request asks the clock. */
const CALLS_MAX = 8;

/** A clock that throws at one call, counted from when it is armed. */
class FaultyClock implements Clock {
  #callsLeft = 0;
  thrownCount = 0;

  arm(call: number): void {
    this.#callsLeft = call;
  }

  nowMs(): number {
    if (this.#callsLeft > 0 && --this.#callsLeft === 0) {
      this.thrownCount++;
      throw new Error('fault-canary');
    }
    return systemClock.nowMs();
  }

  monotonicMs(): number {
    return systemClock.monotonicMs();
  }
}

describe('a fault of the clock', () => {
  const clock = new FaultyClock();
  let jobs: JobsApp;
  beforeAll(async () => {
    jobs = await openJobsApp({}, { clock });
  });
  // Not `jobs.close()`, which throws what the app reported.
  afterAll(async () => {
    jobs.opened.app.drain();
    await jobs.opened.app.close();
  });

  it.each([
    ['GET', '/v1/jobs/search?limit=1'],
    ['GET', '/v1/jobs/signals?limit=1'],
    ['GET', '/v1/jobs/changes?limit=1'],
    ['GET', '/v1/jobs/market'],
    ['POST', '/v1/callbacks'],
  ])(
    'on the way of %s %s is a 500 with its request id, and no payment is lost (reliability 214)',
    async (method, path) => {
      let faultCount = 0;
      for (let call = 1; call <= CALLS_MAX; call++) {
        const payment = await paymentFor(await jobs.offer(path, { method }), wallet());
        const send = () => jobs.send(path, { method, headers: { 'payment-signature': encodeHeader(payment) } });
        const { failures } = jobs.opened;
        const reportedCount = failures.length;
        clock.arm(call);
        const answer = await send();
        clock.arm(0);
        if (failures.length === reportedCount) continue; // the request did not ask so often
        faultCount++;
        expect(String(failures.at(-1)), `call ${call}`).toContain('fault-canary');
        expect(answer.status, `call ${call}: ${answer.text}`).toBe(500);
        expect(answer.text).not.toContain('fault-canary');
        expect(JSON.parse(answer.text)).toMatchObject({
          error: { code: 'INTERNAL_ERROR', request_id: answer.headers.get('x-request-id') },
        });
        const again = await send();
        if (again.status === 409) {
          expect(decodeHeader<{ success: boolean }>(again.headers.get('payment-response')).success).toBe(true);
        } else expect([200, 201], `call ${call}`).toContain(again.status);
      }
      expect(faultCount).toBeGreaterThan(0);
    },
  );
});
