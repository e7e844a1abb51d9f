/** When the books write: each delivery once, again what the state refused, and the removal of what is past its time. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { ON_ITS_WAY_MS } from '../../../src/storage/sale-counts.ts';
import { SqliteBooks } from '../../../src/storage/sqlite/books.ts';
import type { Journal } from '../../../src/storage/sqlite/journal.ts';
import type { SalesOperation } from '../../../src/storage/sqlite/tables/sales.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const KEPT_MS = 1_000_000;

function opened(oldestMs: number | null = null) {
  const time = new ManualTime();
  const written: SalesOperation[] = [];
  /** Until when each look counted what is undelivered. */
  const asked: number[] = [];
  const state = { isRefused: false, oldestMs, isReaderClosed: false };
  const journal = {
    write: async (operation: SalesOperation) => {
      if (state.isRefused) throw new Error('the disk is full');
      written.push(operation);
    },
    read: async (query: { readonly beforeMs: number }) => {
      asked.push(query.beforeMs);
      return { undeliveredCount: 7, oldestMs: state.oldestMs };
    },
  } as unknown as Journal;
  const start = { undeliveredCount: 0, oldestMs, lastSerial: 0, secret: new Uint8Array(32) };
  const reader = {
    read: async () => undefined,
    close: async () => {
      state.isReaderClosed = true;
    },
  };
  const books = new SqliteBooks(journal, reader, start, KEPT_MS, { clock: time, timers: time });
  onTestFinished(() => books.close());
  const pass = async (ms: number): Promise<void> => {
    time.pass(ms);
    await settle();
  };
  return { books, time, written, asked, state, pass };
}

describe('the books in the state file', () => {
  it('record each delivery once, and again what the state refused', async () => {
    const { books, time, written, state, pass } = opened();
    books.markDelivered(1);
    const timerCount = time.pendingCount;
    books.markDelivered(2);
    expect(time.pendingCount).toBe(timerCount);
    await pass(50);
    books.markDelivered(3);
    await pass(50);
    state.isRefused = true;
    books.markDelivered(4);
    await pass(50);
    state.isRefused = false;
    await pass(5000);
    await pass(5000);
    expect(written.map((one) => (one.kind === 'delivered' ? one.serials : one.kind))).toEqual([[1, 2], [3], [4]]);
  });

  it('remove a sale that is past its time, and none before', async () => {
    const { time, written, state, pass } = opened();
    state.oldestMs = time.nowMs() + 5000 - KEPT_MS;
    await pass(5000);
    expect(written).toEqual([]);
    await pass(5000);
    expect(written).toMatchObject([{ kind: 'prune', beforeMs: time.nowMs() - KEPT_MS }]);
  });

  it('remove what is past its time at short intervals, and look again at long ones', async () => {
    const { books, time, written, asked, state, pass } = opened(0);
    const startMs = time.nowMs();
    await pass(5000);
    await pass(100);
    state.oldestMs = null;
    for (const ms of [100, 4999, 1]) await pass(ms);
    expect(written.map(({ kind }) => kind)).toEqual(['prune', 'prune']);
    expect(asked).toEqual([5000, 5100, 5200, 10_200].map((ms) => startMs + ms - ON_ITS_WAY_MS));
    expect(books.counts.undeliveredCount).toBe(7);
  });

  it('record what still waits when they close, and nothing later', async () => {
    const { books, time, written, state } = opened();
    books.markDelivered(1);
    await books.close();
    books.markDelivered(2);
    expect(written).toMatchObject([{ kind: 'delivered', serials: [1] }]);
    expect([state.isReaderClosed, time.pendingCount]).toEqual([true, 0]);
  });
});
