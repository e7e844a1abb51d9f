/** Batches as they cross to the writer's thread. */
import { expect, it } from 'vitest';
import { networkOf } from '../../../src/payment/protocol/network.ts';
import { orderTextOf, reservationKeyOf } from '../../../src/payment/protocol/order.ts';
import { packBatch, unpackBatch } from '../../../src/storage/sqlite/packed-batch.ts';
import { ANSWERS, type AnswerOperation } from '../../../src/storage/sqlite/tables/answers.ts';
import {
  type End,
  type Intent,
  PAYMENTS,
  type PaymentOperation,
} from '../../../src/storage/sqlite/tables/payment-operations.ts';
import { orderFor } from '../../payment/fixture.ts';
import { soldWith } from '../../support/sold.ts';

const ORDER = orderFor();
const CLAIM = { digest: 'digest', fingerprint: 'same' };

const intent: Intent = {
  table: PAYMENTS,
  kind: 'intent',
  serial: 7,
  isPlay: true,
  payer: ORDER.payer.toLowerCase(),
  valueAtomic: 2n ** 62n + 1n,
  order: orderTextOf(ORDER),
  sale: '{"operation":"searchJobs"}',
  answers: [],
};

function endOf(parameters: string | null): End {
  const sale = soldWith(7, { amountAtomic: 2n ** 62n + 1n, parameters });
  const key = reservationKeyOf(networkOf(sale.network), sale.payer, sale.nonce);
  const end = { kind: 'settled', key, validBeforeSeconds: 2_000_000_000, transaction: sale.transaction } as const;
  return { table: PAYMENTS, kind: 'end', serial: 7, end, sale, claims: [], keptUntilMs: 1234 };
}

const BATCH: readonly (PaymentOperation | AnswerOperation)[] = [
  intent,
  { ...intent, serial: 8, isPlay: false, answers: [{ claim: CLAIM, sealed: Uint8Array.of(1, 2) }] },
  endOf(null),
  { table: ANSWERS, kind: 'forget', serials: [1, 2] },
  endOf('keyword=a\nb'),
  { ...endOf(null), claims: [CLAIM] },
  { ...endOf(null), sale: undefined },
  { table: PAYMENTS, kind: 'unknown', serial: 9, transaction: '', isRefused: false },
  intent,
];

it('a batch comes out as it went in, in its order', () => {
  expect(unpackBatch(structuredClone(packBatch(BATCH)))).toEqual(BATCH);
  expect(unpackBatch(packBatch([]))).toEqual([]);
});

it('what each payment writes is a list of primitives', () => {
  const packed = packBatch([intent, endOf(null), intent]);
  expect(packed.filter((one) => typeof one === 'object' && one !== null)).toEqual([]);
});
