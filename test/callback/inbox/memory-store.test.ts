import { expect, it } from 'vitest';
import { MemoryStore } from '../../../src/callback/inbox/memory-store.ts';
import { callbackStateSuite } from '../../suites/callback-state.ts';
import { openInbox } from '../../support/opened-inbox.ts';

callbackStateSuite('memory', async () => ({ store: new MemoryStore(), close: async () => {} }));

it('keeps nothing a second time: short events are the inbox’s own', async () => {
  const store = new MemoryStore();
  const { create, post, inbox } = openInbox({ store });
  const { id } = await create();
  for (let i = 0; i < 5; i++) await post(id, 'short');
  expect(store.size).toBe(0);
  await post(id, 'x'.repeat(10_000));
  expect(store.size).toBe(1);
  await inbox.delete(id);
  expect(store.size).toBe(0);
});
