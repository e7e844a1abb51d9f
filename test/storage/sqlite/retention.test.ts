/** What a start finds in the state file, and what it removes: the last moment of each record, and what goes with it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAPSED_KEPT_MS } from '../../../src/accounts/limits.ts';
import type { CallbackId, EventId } from '../../../src/callback/identifier.ts';
import type { LoadedCallback } from '../../../src/callback/inbox/event-store.ts';
import type { Sale } from '../../../src/payment/books.ts';
import { networkOf } from '../../../src/payment/protocol/network.ts';
import { orderTextOf, reservationKeyOf } from '../../../src/payment/protocol/order.ts';
import type { ResolveId } from '../../../src/resolve/identifier.ts';
import { KEPT_MS, TOMBSTONE_MS } from '../../../src/resolve/limits.ts';
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import { SqliteEventStore } from '../../../src/storage/sqlite/event-store.ts';
import type { Journal } from '../../../src/storage/sqlite/journal.ts';
import { Removals } from '../../../src/storage/sqlite/removals.ts';
import { ACCOUNTS, loadAccounts } from '../../../src/storage/sqlite/tables/accounts.ts';
import { ANSWERS, loadAnswers } from '../../../src/storage/sqlite/tables/answers.ts';
import { CALLBACKS, loadCallbacks } from '../../../src/storage/sqlite/tables/callbacks.ts';
import { loadCases, loadEnds, PAYMENTS, type PaymentOperation } from '../../../src/storage/sqlite/tables/payments.ts';
import { loadResolves, RESOLVES } from '../../../src/storage/sqlite/tables/resolves.ts';
import { readSales, SALES, type SalesTotals } from '../../../src/storage/sqlite/tables/sales.ts';
import type { Operation } from '../../../src/storage/sqlite/tables/table.ts';
import { orderFor } from '../../payment/fixture.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';
import { soldWith } from '../../support/sold.ts';
import { Folder } from './folder.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const ORDER = orderTextOf(orderFor());
const claimOf = (serial: number) => ({
  digest: String.fromCharCode(serial).repeat(32),
  fingerprint: String.fromCharCode(serial + 100).repeat(32),
});

const intentOf = (serial: number): PaymentOperation => ({
  table: PAYMENTS,
  kind: 'intent',
  serial,
  isPlay: true,
  payer: `0x${'aa'.repeat(20)}`,
  valueAtomic: 1n,
  order: ORDER,
  sale: '{}',
  answers: [{ claim: claimOf(serial), sealed: Uint8Array.of(serial) }],
});

function endOf(
  sale: Sale,
  isSold: boolean,
  validBeforeSeconds = 2_000_000_000,
  keptUntilMs = NOW_MS,
): PaymentOperation {
  const key = reservationKeyOf(networkOf(sale.network), sale.payer, sale.nonce);
  return {
    table: PAYMENTS,
    kind: 'end',
    serial: sale.serial,
    end: { kind: isSold ? 'settled' : 'dead', key, validBeforeSeconds, transaction: isSold ? sale.transaction : '' },
    sale: isSold ? sale : undefined,
    claims: [claimOf(sale.serial)],
    keptUntilMs,
  };
}

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

const apply = (...operations: readonly Operation[]): void =>
  expect(database.apply(operations)).toEqual({ kind: 'done', refused: [] });
const answers = (nowMs = NOW_MS) => loadAnswers(database.connection, nowMs).map(({ serial }) => serial);

describe('the answer of a payment with an identifier', () => {
  it('goes with its settlement when that is given up, and else stays to the end of its time, if it is dead too', () => {
    apply(...[1, 2, 3, 4].map(intentOf));
    expect(answers()).toEqual([1, 2, 3, 4]);
    apply({ table: PAYMENTS, kind: 'release', serial: 1 } as PaymentOperation);
    expect(answers()).toEqual([2, 3, 4]);
    expect(loadCases(database.connection).map(({ serial }) => serial)).toEqual([2, 3, 4]);
    apply(endOf(soldWith(2), false, undefined, NOW_MS + 1), endOf(soldWith(3), true, undefined, NOW_MS + 1));
    expect(answers()).toEqual([4, 2, 3]);
    expect(answers(NOW_MS + 1)).toEqual([4]);
    apply({ table: ANSWERS, kind: 'forget', serials: [4] } as Operation);
    expect(answers()).toEqual([]);
  });
});

describe('a used authorization', () => {
  it('stays until its last moment is past, in the file too', () => {
    apply(intentOf(1), intentOf(2), intentOf(3));
    apply(...[99, 100, 101].map((seconds, index) => endOf(soldWith(index + 1), true, seconds)));
    expect(loadEnds(database.connection, 100).map(({ serial }) => serial)).toEqual([2, 3]);
    expect(loadEnds(database.connection, 0).map(({ serial }) => serial)).toEqual([2, 3]);
    apply({ table: PAYMENTS, kind: 'forget', serials: [3] } as PaymentOperation);
    expect(loadEnds(database.connection, 0).map(({ serial }) => serial)).toEqual([2]);
  });
});

describe('the books', () => {
  it('keep a sale of the first kept moment, and the sums of its day', () => {
    const sales = [-86_400_000, -1, 0].map((ms, index) => soldWith(index + 1, { timeMs: NOW_MS + ms }));
    apply(...sales.map(({ serial }) => intentOf(serial)));
    apply(...sales.map((sale) => endOf(sale, true)));
    const totals = (): SalesTotals =>
      readSales(database.connection, {
        table: SALES,
        kind: 'totals',
        beforeMs: Number.MAX_SAFE_INTEGER,
      }) as SalesTotals;
    expect(totals()).toEqual({ undeliveredCount: 3, oldestMs: NOW_MS - 86_400_000, lastSerial: 3 });
    apply({ table: SALES, kind: 'prune', beforeMs: NOW_MS } as Operation);
    expect(totals()).toEqual({ undeliveredCount: 2, oldestMs: NOW_MS, lastSerial: 3 });
    const days = (from: string) => readSales(database.connection, { table: SALES, kind: 'days', from });
    expect(days('2026-11-21')).toMatchObject([{ day: '2026-11-21', saleCount: 2 }]);
    expect(days('2026-11-22')).toEqual([]);
  });

  it('are read page by page after the last sale of the page before, also among sales of one moment', () => {
    const sales = [1, 2, 3, 4].map((serial) => soldWith(serial, { timeMs: serial < 4 ? NOW_MS : NOW_MS + 1 }));
    apply(...sales.map(({ serial }) => intentOf(serial)));
    apply(...sales.map((sale) => endOf(sale, true)), { table: SALES, kind: 'delivered', serials: [3] } as Operation);
    const page = (sinceMs: number, serial?: number, isUndeliveredOnly = false) => {
      const after = serial === undefined ? undefined : { timeMs: NOW_MS, serial };
      const query = { sinceMs, after, isUndeliveredOnly, limit: 2 };
      return (readSales(database.connection, { table: SALES, kind: 'page', query }) as Sale[]).map((one) => one.serial);
    };
    expect([page(0), page(0, 2), page(NOW_MS), page(NOW_MS + 1)]).toEqual([[1, 2], [3, 4], [1, 2], [4]]);
    expect([page(NOW_MS + 1, 2), page(NOW_MS, 2), page(0, 2, true)]).toEqual([[4], [3, 4], [4]]);
  });
});

describe('a callback', () => {
  const id = (number: number) => `cb_${String(number).padStart(24, '0')}` as CallbackId;
  const withEvent = (number: number, expiresAtMs: number): Operation[] =>
    [
      { kind: 'callback', callback: { id: id(number), tokenDigest: new Uint8Array(32).fill(number), expiresAtMs } },
      {
        kind: 'event',
        callback: id(number),
        event: {
          id: `evt_${String(number).padStart(24, '0')}` as EventId,
          receivedAtSeconds: 1,
          head: '{}',
          form: { kind: 'json' },
          isInline: true,
          bytes: Uint8Array.of(123, 125),
        },
      },
    ].map((one) => ({ table: CALLBACKS, ...one }) as Operation);
  const found = (): unknown =>
    loadCallbacks(database.connection, NOW_MS - 1000).map(({ callback, events }) => [callback.id, events.length]);

  it('is kept for a while after its end, with its events, and goes with them', () => {
    const endings = [NOW_MS + 1, NOW_MS, NOW_MS - 1000, NOW_MS - 1001];
    apply(...endings.flatMap((expiresAtMs, index) => withEvent(index + 1, expiresAtMs)));
    expect(found()).toEqual([
      [id(1), 1],
      [id(2), 1],
      [id(3), 1],
    ]);
    expect(database.connection.all('SELECT id FROM event')).toHaveLength(3);
  });

  it('that is deleted or expires takes its own events only', () => {
    apply(...[1, 2, 3].flatMap((number) => withEvent(number, NOW_MS + 1)));
    apply(
      { table: CALLBACKS, kind: 'delete-callback', id: id(1) } as Operation,
      { table: CALLBACKS, kind: 'expire-callback', id: id(2) } as Operation,
    );
    expect(found()).toEqual([
      [id(2), 0],
      [id(3), 1],
    ]);
  });
});

describe('a resolve', () => {
  it('has what was asked and found for an hour, and is known for another', () => {
    const ages = [KEPT_MS - 1, KEPT_MS, KEPT_MS + TOMBSTONE_MS - 1, KEPT_MS + TOMBSTONE_MS];
    for (const [index, age] of ages.entries()) {
      const id = `rs_${String(index).padStart(24, '0')}` as ResolveId;
      const question = { url: 'https://example.com/', include: ['metadata'] };
      const resolve = { id, tokenDigest: new Uint8Array(32), createdAtMs: NOW_MS - age, question };
      const outcome = new TextEncoder().encode('{}');
      apply({ table: RESOLVES, kind: 'create', resolve } as Operation);
      if (index > 0) apply({ table: RESOLVES, kind: 'finish', id, status: 'resolved', outcome } as Operation);
    }
    const loaded = loadResolves(database.connection, NOW_MS);
    expect(loaded.map(({ createdAtMs }) => NOW_MS - createdAtMs)).toEqual(ages.slice(0, 3).reverse());
    expect(loaded.map(({ question, outcomeBytes }) => [question?.url, outcomeBytes])).toEqual([
      [undefined, 0],
      [undefined, 0],
      ['https://example.com/', 0],
    ]);
  });
});

describe('onboarding credits', () => {
  it('that lapsed stay in the file for a while', () => {
    const lapses = [null, NOW_MS - LAPSED_KEPT_MS + 1, NOW_MS - LAPSED_KEPT_MS];
    apply(
      ...lapses.map((expiresAtMs, index) => {
        const grant = { serial: index + 1, amount: 5, remaining: 5, expiresAtMs };
        return { table: ACCOUNTS, kind: 'onboarding', organization: 'acme', grant } as Operation;
      }),
    );
    const organizations = [...loadAccounts(database.connection, NOW_MS).organizations];
    expect(organizations).toMatchObject([['acme', { onboarding: [{ serial: 1 }, { serial: 2 }] }]]);
    expect(organizations[0]?.[1].onboarding).toHaveLength(2);
  });
});

describe('a key', () => {
  const KEY = {
    id: 'key_1',
    digest: new Uint8Array(32),
    organization: 'acme',
    scopes: [],
    createdAtMs: 1,
    expiresAtMs: null,
    lastUsedAtMs: null,
    revokedAtMs: null,
  };

  it.each([["scopes = 'retries:write'"], ['expires_ms = 9'], ["organization = 'other'"], ["digest = x'00'"]])(
    'whose record was changed behind the program (%s) is damage',
    (change) => {
      apply({ table: ACCOUNTS, kind: 'key', key: KEY } as Operation);
      expect(loadAccounts(database.connection, NOW_MS).keys).toEqual([KEY]);
      database.connection.run(`UPDATE api_key SET ${change}`);
      expect(() => loadAccounts(database.connection, NOW_MS)).toThrow(/key_1/);
    },
  );

  it('stays revoked as of the first time', () => {
    apply({ table: ACCOUNTS, kind: 'key', key: KEY } as Operation);
    for (const atMs of [5, 7]) apply({ table: ACCOUNTS, kind: 'revoke', id: KEY.id, atMs } as Operation);
    expect(loadAccounts(database.connection, NOW_MS).keys).toEqual([{ ...KEY, revokedAtMs: 5 }]);
    database.connection.run('UPDATE api_key SET revoked_ms = NULL');
    expect(() => loadAccounts(database.connection, NOW_MS)).toThrow(/key_1/);
  });
});

describe('records that may go', () => {
  it('are removed many at a time, one batch behind the other, and again what the state refused', async () => {
    const batches: { readonly serials: readonly number[]; readonly end: PromiseWithResolvers<void> }[] = [];
    const removals = new Removals((serials) => {
      const end = Promise.withResolvers<void>();
      batches.push({ serials, end });
      return end.promise;
    });
    for (const serial of [1, 2, 3]) removals.add(serial);
    const shown = (): readonly (readonly number[])[] => batches.map(({ serials }) => serials);
    expect(shown()).toEqual([[1]]);
    batches[0]!.end.resolve();
    await settle();
    expect(shown()).toEqual([[1], [2, 3]]);
    removals.add(4);
    batches[1]!.end.reject(new Error('the disk is full'));
    await settle();
    expect(shown()).toHaveLength(2);
    removals.add(5);
    expect(shown().at(-1)).toEqual([2, 3, 4, 5]);
  });

  it('are those of a callback once its tombstone is over, with the end of a later one', async () => {
    const time = new ManualTime();
    const written: string[] = [];
    const journal = {
      write: async ({ kind, id: callback }: { kind: string; id: string }) => void written.push(`${kind} ${callback}`),
    } as unknown as Journal;
    const store = new SqliteEventStore(journal, time, [{} as LoadedCallback]);
    expect([await store.load(0, 1000), await store.load(0, 1000)]).toEqual([[{}], []]);
    for (const [ms, name] of [
      [0, 'a'],
      [999, 'b'],
      [1, 'c'],
      [5000, 'd'],
    ] as const) {
      time.pass(ms);
      await store.expire(name as CallbackId);
    }
    const ends = ['expire-callback a', 'expire-callback b', 'expire-callback c', 'delete-callback a'];
    expect(written).toEqual([...ends, 'expire-callback d', 'delete-callback b', 'delete-callback c']);
    for (const name of ['e', 'f', 'g']) await store.expire(name as CallbackId);
    time.pass(1000);
    written.length = 0;
    for (const name of ['h', 'i']) await store.expire(name as CallbackId);
    // A few with each, so that many at once do not fill the queue of the journal.
    expect(written).toEqual([
      ...['expire-callback h', 'delete-callback d', 'delete-callback e'],
      ...['expire-callback i', 'delete-callback f', 'delete-callback g'],
    ]);
  });
});
