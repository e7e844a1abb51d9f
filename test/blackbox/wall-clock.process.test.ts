/** A wall clock that is set by hours and days while a server runs (reliability 71, 182, 206). */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Answer, expectError, expectPaid } from '../support/answers.ts';
import { createCallback, eventsOf, post } from '../support/callback-client.ts';
import { interposed } from '../support/interposed.ts';
import { startJobsServer } from '../support/jobs-server.ts';
import { oneRuntime } from '../support/server.ts';
import { type Payment, wallet } from '../support/wallet.ts';

/** Seconds that the wall clock is ahead; the monotonic one is left alone. */
const clock = interposed(`
int clock_gettime(clockid_t id, struct timespec *at) {
  int result = ORIGINAL(int (*)(clockid_t, struct timespec *), "clock_gettime")(id, at);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) at->tv_sec += number();
  return result;
}
int gettimeofday(struct timeval *at, void *zone) {
  int result = ORIGINAL(int (*)(struct timeval *, void *), "gettimeofday")(at, zone);
  at->tv_sec += number();
  return result;
}
`);
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** The last is the system's own time: a thread that waits for a moment ahead of it would wait until then. */
const STEPS_SECONDS = [HOUR_SECONDS, DAY_SECONDS, -HOUR_SECONDS, -DAY_SECONDS, 0];
const CLOSE_MS = 10_000;

describe.runIf(clock !== undefined).each(oneRuntime('node'))('a server under %s whose wall clock is set', (runtime) => {
  it('sells nothing twice at any time that it comes to, and ends no callback early (reliability 71, 182, 206)', async () => {
    writeFileSync(clock!.file, '0');
    const jobs = await startJobsServer(runtime, clock!.variables);
    const account = wallet();
    const set = async (seconds: number): Promise<void> => {
      writeFileSync(clock!.file, String(seconds));
      const shownMs = async (): Promise<number> => {
        const { text } = await jobs.get('/v1/companies?q=an');
        return Date.parse((JSON.parse(text) as { meta: { generated_at: string } }).meta.generated_at);
      };
      await expect.poll(async () => Math.abs((await shownMs()) - Date.now() - seconds * 1000)).toBeLessThan(CLOSE_MS);
    };
    const pay = (payment: Payment): Promise<Answer> => jobs.pay(jobs.search, payment);
    const callback = await createCallback(jobs.server);

    const payments: Payment[] = [];
    for (const seconds of STEPS_SECONDS) {
      await set(seconds);
      const validBefore = String(Math.floor(Date.now() / 1000) + seconds + 100);
      const payment = await jobs.payment(jobs.search, account, { authorization: { validBefore } });
      expectPaid(await pay(payment), account.address);
      payments.push(payment);
      expect((await post(jobs.server, callback.id, 'x')).status).toBe(200);
    }
    for (const [i, seconds] of STEPS_SECONDS.entries()) {
      await set(seconds);
      for (const [j, payment] of payments.entries()) {
        if (i === j) expectError(await pay(payment), 409, 'PAYMENT_ALREADY_USED');
        else expectError(await pay(payment), 402, 'PAYMENT_INVALID');
      }
    }
    const times = (await eventsOf(jobs.server, callback)).map(({ received_at }) => received_at);
    expect(times).toHaveLength(STEPS_SECONDS.length);
    expect(times).toEqual(times.toSorted());
    expect(await jobs.server.stop()).toBe(0);
  });
});
