/**
 * The window of an authorization (reliability 65 to 69; decisions §4: `validAfter` strictly before now, `validBefore` 6 to
 * 150 seconds ahead). The clock is the test's and stands a moment after the beginning of a second, so the edges are exact.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, expectOffer, expectPaid } from '../support/answers.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { ManualTime } from '../support/manual-time.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { type Payment, wallet } from '../support/wallet.ts';

const UINT256_MAX = 2n ** 256n - 1n;
const TEN_YEARS_SECONDS = 315_360_000;

/** Offsets from the second in which the payment arrives; a bigint stands as it is. */
interface Window {
  readonly after: number | bigint;
  readonly before: number | bigint;
}

type Verdict = 'good' | 'too early' | 'too late';
type Row = readonly [caseNumber: number, what: string, window: Window, verdict: Verdict];

const LONG_AGO = 0n;

const ROWS: readonly Row[] = [
  [65, 'validAfter = now', { after: 0, before: 60 }, 'too early'],
  [65, 'validAfter one second ago', { after: -1, before: 60 }, 'good'],
  [65, 'validAfter zero', { after: LONG_AGO, before: 60 }, 'good'],
  [65, 'validAfter one', { after: 1n, before: 60 }, 'good'],
  [66, 'validAfter one second ahead', { after: 1, before: 60 }, 'too early'],
  [66, 'validAfter ten years ahead', { after: TEN_YEARS_SECONDS, before: 60 }, 'too early'],
  [66, 'validAfter of 2^256 - 1', { after: UINT256_MAX, before: 60 }, 'too early'],
  [66, 'validAfter of 2^53 + 1', { after: 2n ** 53n + 1n, before: 60 }, 'too early'],
  [67, 'validBefore zero', { after: LONG_AGO, before: 0n }, 'too late'],
  [67, 'validBefore one', { after: LONG_AGO, before: 1n }, 'too late'],
  [67, 'validBefore a second ago', { after: LONG_AGO, before: -1 }, 'too late'],
  [67, 'validBefore = now', { after: LONG_AGO, before: 0 }, 'too late'],
  [67, 'validBefore a little less than 6 s ahead', { after: LONG_AGO, before: 6 }, 'too late'],
  [67, 'validBefore a little less than 7 s ahead', { after: LONG_AGO, before: 7 }, 'good'],
  [68, 'validBefore 120 s ahead', { after: LONG_AGO, before: 120 }, 'good'],
  [68, 'validBefore a little less than 150 s ahead', { after: LONG_AGO, before: 150 }, 'good'],
  [68, 'validBefore a little more than 150 s ahead', { after: LONG_AGO, before: 151 }, 'too late'],
  [68, 'validBefore ten years ahead', { after: LONG_AGO, before: TEN_YEARS_SECONDS }, 'too late'],
  [68, 'validBefore of 2^53 + 1', { after: LONG_AGO, before: 2n ** 53n + 1n }, 'too late'],
  [68, 'validBefore of 2^64', { after: LONG_AGO, before: 2n ** 64n }, 'too late'],
  [68, 'validBefore of 2^256 - 1', { after: LONG_AGO, before: UINT256_MAX }, 'too late'],
  [69, 'validAfter = validBefore, both ahead', { after: 60, before: 60 }, 'too early'],
  [69, 'validAfter behind validBefore, both ahead', { after: 90, before: 60 }, 'too early'],
  [69, 'validAfter = validBefore, both past', { after: -10, before: -10 }, 'too late'],
  [69, 'both zero', { after: 0n, before: 0n }, 'too late'],
];

const WORDS: Readonly<Record<Verdict, string>> = {
  good: '',
  'too early': 'invalid_exact_evm_payload_authorization_valid_after',
  'too late': 'invalid_exact_evm_payload_authorization_valid_before',
};

/** Where in its second the clock stands. */
const INTO_SECOND_MS = 30;
const NOW_SECONDS = Math.floor(Date.now() / 1000) + 1;

describe(`the window of an authorization, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  const time = new ManualTime(NOW_SECONDS * 1000 + INTO_SECOND_MS);
  const account = wallet();
  beforeAll(async () => {
    jobs = await openJobsApp({}, { clock: time, timers: time });
  });
  afterAll(async () => {
    await jobs.close();
  });

  const textOf = (time: number | bigint): string => String(typeof time === 'bigint' ? time : NOW_SECONDS + time);
  const paymentIn = ({ after, before }: Window): Promise<Payment> =>
    jobs.payment(jobs.search, account, { authorization: { validAfter: textOf(after), validBefore: textOf(before) } });

  it.each(ROWS.map(([caseNumber, what, window, verdict]) => [what, verdict, caseNumber, window] as const))(
    '%s is %s (reliability %i)',
    async (_, verdict, __, window) => {
      const answer = await jobs.pay(jobs.search, await paymentIn(window));
      if (verdict === 'good') {
        expectPaid(answer, account.address);
      } else {
        expectError(answer, 402, 'PAYMENT_INVALID');
        expect(expectOffer(answer).error).toBe(WORDS[verdict]);
      }
    },
  );

  it('what came a second too early is good a second later (reliability 65)', async () => {
    const early = await paymentIn({ after: 0, before: 60 });
    expectError(await jobs.pay(jobs.search, early), 402, 'PAYMENT_INVALID');
    time.pass(1000);
    expectPaid(await jobs.pay(jobs.search, early), account.address);
  });

  it('the offer asks for no longer a window than is accepted (reliability 68)', async () => {
    const offer = await jobs.offer(jobs.search);
    expect(offer.accepts[0]?.maxTimeoutSeconds).toBeLessThanOrEqual(120);
  });
});
