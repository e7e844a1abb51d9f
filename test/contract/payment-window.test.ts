/**
 * Cases 65 to 69 of the reliability catalogue: the window of an authorization (decisions §4: `validAfter` strictly before
 * now, `validBefore` 6 to 150 seconds ahead). The edges are one second wide, so all payments are signed for one coming
 * second and sent together just after it has begun.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectOffer, expectPaid } from '../support/answers.ts';
import { RUNTIMES } from '../support/server.ts';
import { offerOf, type Payment, paymentFor, wallet } from '../support/wallet.ts';
import { type Counter, openCounter } from './counter.ts';

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

/** Into the second, past the coarsest timer, with the rest of it left for the requests. */
const INTO_SECOND_MS = 30;

async function waitForSecond(seconds: number): Promise<void> {
  const waitMs = seconds * 1000 + INTO_SECOND_MS - Date.now();
  if (waitMs < 0) throw new Error('the second to wait for is over');
  await new Promise((resolve) => setTimeout(resolve, waitMs));
}

describe.each(RUNTIMES)('the window of an authorization, under %s', (runtime) => {
  let counter: Counter;
  const account = wallet();
  const payments: Payment[] = [];
  const answers: Answer[] = [];
  beforeAll(async () => {
    counter = await openCounter(runtime);
    const offer = await offerOf(counter.url(counter.search));
    const second = Math.floor(Date.now() / 1000) + 3;
    const textOf = (time: number | bigint): string => String(typeof time === 'bigint' ? time : second + time);
    for (const [, , { after, before }] of ROWS) {
      payments.push(
        await paymentFor(offer, account, { authorization: { validAfter: textOf(after), validBefore: textOf(before) } }),
      );
    }
    await waitForSecond(second);
    answers.push(...(await Promise.all(payments.map((payment) => counter.pay(counter.search, payment)))));
    if (Date.now() >= (second + 1) * 1000)
      throw new Error('the requests took longer than the second they were made for');
  });
  afterAll(async () => {
    expect(await counter.server.stop()).toBe(0);
  });

  it.each(ROWS.map((row, index) => [row[0], row[1], row[3], index] as const))(
    'case %i: %s is %s',
    (_, __, verdict, index) => {
      const answer = answers[index]!;
      if (verdict === 'good') {
        expectPaid(answer, account.address);
      } else {
        expectError(answer, 402, 'PAYMENT_INVALID');
        expect(expectOffer(answer).error).toBe(WORDS[verdict]);
      }
    },
  );

  it('case 65: what came a second too early is good a second later', async () => {
    const early = payments[0]!;
    await waitForSecond(
      Math.max(Number(early.payload.authorization.validAfter) + 1, Math.floor(Date.now() / 1000) + 1),
    );
    expectPaid(await counter.pay(counter.search, early), account.address);
  });

  it('case 68: the offer asks for no longer a window than is accepted', async () => {
    const offer = await offerOf(counter.url(counter.search));
    expect(offer.accepts[0]?.maxTimeoutSeconds).toBeLessThanOrEqual(120);
  });
});
