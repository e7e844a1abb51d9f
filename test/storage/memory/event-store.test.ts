import { expect, it } from 'vitest';
import { MemoryEventStore } from '../../../src/storage/memory/event-store.ts';
import { describeEventStore } from '../../suites/event-store.ts';
import { openInbox } from '../../support/opened-inbox.ts';

describeEventStore('memory', async () => ({ store: new MemoryEventStore(), close: async () => {} }));

it('stores no event twice: the inbox holds short ones', async () => {
  const store = new MemoryEventStore();
  const { create, post, inbox } = openInbox({ store });
  const { id } = await create();
  for (let i = 0; i < 5; i++) await post(id, 'short');
  expect(store.size).toBe(0);
  await post(id, 'x'.repeat(10_000));
  expect(store.size).toBe(1);
  await inbox.deleteOf(id);
  expect(store.size).toBe(0);
});
