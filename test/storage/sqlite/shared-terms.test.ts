/** Intents that share the terms of their offer: each is read as it was written, as long as one of them is open. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { orderTextsOf, type PaymentOrder } from '../../../src/payment/protocol/order.ts';
import { DamagedError } from '../../../src/storage/sqlite/checksum.ts';
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import { loadCases, PAYMENTS, type PaymentOperation } from '../../../src/storage/sqlite/tables/payments.ts';
import { orderFor } from '../../payment/fixture.ts';
import { SALE } from '../../support/sale.ts';
import { Folder } from './folder.ts';

describe('terms that intents share', () => {
  let folder: Folder;
  let database: StateDatabase;
  beforeEach(() => {
    folder = new Folder();
    database = new StateDatabase({ path: folder.file('state.db'), sync: 'normal' });
  });
  afterEach(() => {
    database.close();
    folder.remove();
  });

  /** @param known number of terms on record; undefined: the intent brings its own */
  const intentOf = (serial: number, order: PaymentOrder, known?: number): PaymentOperation => {
    const { own, terms } = orderTextsOf(order);
    const brought = known === undefined ? { number: serial, text: terms } : { number: known, text: '' };
    const sale = JSON.stringify(SALE);
    return {
      table: PAYMENTS,
      kind: 'intent',
      serial,
      isPlay: true,
      order: own,
      terms: brought,
      sale,
      answer: undefined,
    };
  };
  const release = (serial: number): PaymentOperation => ({ table: PAYMENTS, kind: 'release', serial });
  const apply = (...operations: PaymentOperation[]) =>
    expect(database.apply(operations)).toMatchObject({ refused: [] });
  const cases = () => loadCases(database.connection).map(({ serial, order }) => [serial, order]);
  const read = (serial: number, order: PaymentOrder) => [
    serial,
    { ...order, offer: expect.objectContaining(termsOf(order)) },
  ];
  const termsOf = ({ offer: { requirements, resource } }: PaymentOrder) => ({ requirements, resource });
  const termsCount = () => database.connection.all('SELECT number FROM terms').length;

  it('outlive the intent that brought them, and go with the last that has them', () => {
    const [one, two, three] = [orderFor(), orderFor(), orderFor()];
    apply(intentOf(1, one), intentOf(2, two, 1), intentOf(3, three, 1));
    apply(release(1));
    expect(cases()).toEqual([read(2, two), read(3, three)]);
    apply(release(2), release(3));
    expect(cases()).toEqual([]);
    expect(termsCount()).toBe(0);
  });

  it('are damage when they are missing or changed', () => {
    apply(intentOf(1, orderFor()));
    database.connection.run("UPDATE terms SET text = replace(text, 'USD', 'USB')");
    expect(cases).toThrow(DamagedError);
    database.connection.run('DELETE FROM terms');
    expect(cases).toThrow(DamagedError);
  });
});
