import { expect, it } from 'vitest';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import { MemoryBooks } from '../../../src/storage/memory/books.ts';
import { MemoryJournal } from '../../../src/storage/memory/memory-journal.ts';
import { orderFor } from '../../payment/fixture.ts';
import { Chance } from '../../support/chance.ts';
import { SALE } from '../../support/sale.ts';

const order = orderFor();

it.each<[string, (journal: MemoryJournal) => unknown]>([
  ['was released', (journal) => journal.recordReleased(1)],
  ['has had its ten minutes', (journal) => journal.forgetAnswers(1)],
])('the answer of a purchase that %s takes no memory, though its finished text comes later', async (_, end) => {
  const journal = new MemoryJournal(new MemoryBooks(new Chance(1)));
  const claim = identifierClaim('order-0000000001' as PaymentIdentifier, 'GET /', order.payer);
  await journal.recordIntent(1, order, SALE, [{ claim, sealed: new Uint8Array(10) }]);
  expect(await journal.readAnswer(1, claim.digest)).toEqual(new Uint8Array(10));
  await end(journal);
  await journal.replaceAnswer(1, claim.digest, new Uint8Array(20));
  expect(await journal.readAnswer(1, claim.digest)).toBeUndefined();
});
