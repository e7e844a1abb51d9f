/** What one record, a full file or a disk that fails does to the others, and what comes back. */
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { RecordInDoubtError } from '../../../src/base/outage.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { EventPart, EventRecord } from '../../../src/callback/event.ts';
import type { CallbackId, EventId } from '../../../src/callback/identifier.ts';
import { localTransactionOf } from '../../../src/payment/settlement/play-ledger.ts';
import { MemoryAccounts } from '../../../src/storage/memory/accounts.ts';
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import type { Journal } from '../../../src/storage/sqlite/journal.ts';
import { ReaderThread } from '../../../src/storage/sqlite/reader-thread.ts';
import { RequestRefusedError, StateRefusedError } from '../../../src/storage/sqlite/refused.ts';
import type { SqliteState } from '../../../src/storage/sqlite/state.ts';
import { CALLBACKS, type CallbackOperation, type EventQuery } from '../../../src/storage/sqlite/tables/callbacks.ts';
import { PAYMENTS, type PaymentOperation } from '../../../src/storage/sqlite/tables/payments.ts';
import { SALES } from '../../../src/storage/sqlite/tables/sales.ts';
import { orderFor } from '../../payment/fixture.ts';
import { inlineWriter, limitPages } from '../../support/inline-writer.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SALE } from '../../support/sale.ts';
import { soldWith } from '../../support/sold.ts';
import { Folder } from './folder.ts';

const callbackId = (number: number): CallbackId => `cb_${String(number).padStart(24, '0')}` as CallbackId;
const eventId = (number: number): EventId => `evt_${String(number).padStart(24, '0')}` as EventId;

const callback = (number: number): CallbackOperation => ({
  table: CALLBACKS,
  kind: 'callback',
  callback: { id: callbackId(number), tokenDigest: new Uint8Array(32).fill(number), expiresAtMs: Date.now() + 600_000 },
});

const eventOf = (number: number, bytes: Uint8Array, isInline = true): EventRecord => ({
  id: eventId(number),
  receivedAtSeconds: 1,
  head: '{}',
  form: { kind: 'text', charset: 'utf-8' },
  isInline,
  bytes,
});

const append = (callback: number, event: EventRecord): Promise<void> =>
  journal.write({ table: CALLBACKS, kind: 'event', callback: callbackId(callback), event } as CallbackOperation);

/** An event of the first callback. */
const read = (event: number): Promise<EventPart | undefined> =>
  journal.read({
    table: CALLBACKS,
    callback: callbackId(1),
    eventId: eventId(event),
    index: 0,
  } as EventQuery) as Promise<EventPart | undefined>;

let folder: Folder;
let state: SqliteState;
let journal: Journal;
beforeEach(async () => {
  folder = new Folder();
  state = await folder.open();
  if (state.journal === undefined) throw new Error('a new state is not damaged');
  journal = state.journal;
});
afterEach(() => folder.remove());

/** The state again, on a disk that can be full. @returns what bounds its pages, once the state has written, and until it can write */
async function openOnSmallDisk() {
  let database: StateDatabase | undefined;
  const time = new ManualTime();
  await folder.close();
  const openWriter = inlineWriter((opened) => {
    database = opened;
  });
  state = await folder.open({}, systemClock, openWriter, time);
  journal = state.journal!;
  return {
    limit: (pageCountMax: number): void => limitPages(database!, pageCountMax),
    async recovered(): Promise<void> {
      const faultLater = (): string | undefined => {
        time.pass(1_000);
        return state.fault();
      };
      await expect.poll(faultLater, { interval: 5 }).toBeUndefined();
    },
  };
}

/** The first event of {@link callback} 1. */
const EVENT: CallbackOperation = {
  table: CALLBACKS,
  kind: 'event',
  callback: callbackId(1),
  event: eventOf(1, new Uint8Array(0)),
};

describe('one record', () => {
  it.each([true, false])('an empty body stays an empty body (inline: %s)', async (isInline) => {
    await journal.write(callback(1));
    await append(1, eventOf(1, new Uint8Array(0), isInline));
    expect((await read(1))?.bytes.length).toBe(0);
    const again = await folder.killed().open();
    const [loaded] = await again.persistence.events.load(Date.now(), 3_600_000);
    expect(loaded?.events.map(({ id }) => id)).toEqual([eventId(1)]);
    await again.close();
  });

  it('transfers its bytes when only the state needs them, and keeps those of an inline event', async () => {
    await journal.write(callback(1));
    const long = Uint8Array.of(1, 2, 3);
    const part = new Uint8Array(8).fill(7).subarray(2, 5);
    const short = Uint8Array.of(4, 5);
    await Promise.all(
      [eventOf(1, long, false), eventOf(2, part, false), eventOf(3, short, true)].map((event) => append(1, event)),
    );
    expect([long.length, part.length, short.length]).toEqual([0, 3, 2]);
    const bytesOf = async (n: number) => [...((await read(n))?.bytes ?? [])];
    expect([await bytesOf(1), await bytesOf(2), await bytesOf(3)]).toEqual([
      [1, 2, 3],
      [7, 7, 7],
      [4, 5],
    ]);
  });

  it('that the database would never accept is refused alone, and the others of its batch are committed', async () => {
    const outcomes = await Promise.allSettled([
      journal.write(callback(1)),
      journal.write(callback(1)), // the same id again
      journal.write({ table: PAYMENTS, kind: 'release', serial: 7 } as PaymentOperation), // nothing was begun
      journal.write(callback(2)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(RequestRefusedError);
    }
    expect(journal.batchCount).toBe(1);
    expect(journal.operationCount).toBe(2);
    expect(state.fault()).toBeUndefined();
    expect(folder.faults).toEqual([]);
    const again = await folder.killed().open();
    const loaded = await again.persistence.events.load(Date.now(), 3_600_000);
    expect(loaded.map(({ callback: { id } }) => id).sort()).toEqual([callbackId(1), callbackId(2)]);
    await again.close();
  });
});

describe('a query', () => {
  const onPage = { sinceMs: 0, isUndeliveredOnly: false, after: undefined };

  it('that the database would never answer is a bug and no outage, from the writer and from the reader', async () => {
    await expect(journal.read({ table: 'nothing' })).rejects.toBeInstanceOf(RequestRefusedError);
    const limit = 'many' as unknown as number;
    await expect(state.persistence.books.list({ ...onPage, limit })).rejects.toBeInstanceOf(RequestRefusedError);
    expect(state.fault()).toBeUndefined();
  });

  it('that meets a damaged record is an outage', async () => {
    new DatabaseSync(folder.file('state.db')).exec(
      `INSERT INTO sale VALUES (1, 1, 1, 'searchJobs', 1, 'eip155:8453', '0x${'5a'.repeat(20)}', '0x', '0x', 'req_', '', NULL, 'local', 0, 1)`,
    );
    await expect(state.persistence.books.list({ ...onPage, limit: 1 })).rejects.toBeInstanceOf(StateRefusedError);
  });

  it('is refused while a thousand others wait for the reader, and answered when they have been', async () => {
    const reader = new ReaderThread(folder.file('state.db'));
    const query = { table: SALES, kind: 'days', from: '2026-01-01' };
    const reads = await Promise.allSettled(Array.from({ length: 1025 }, () => reader.read(query)));
    expect(reads.filter(({ status }) => status === 'rejected')).toEqual([
      { status: 'rejected', reason: expect.any(StateRefusedError) },
    ]);
    expect(reads.at(-1)?.status).toBe('rejected');
    await reader.read(query);
    await reader.close();
  });

  it('after the state has closed is an outage', async () => {
    await folder.close();
    await expect(journal.read({ table: SALES })).rejects.toBeInstanceOf(StateRefusedError);
    await expect(state.persistence.books.list({ ...onPage, limit: 1 })).rejects.toBeInstanceOf(StateRefusedError);
  });
});

describe('a commit whose sync fails', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is not found by the next start, because the writer overwrites it', async () => {
    const own = new Folder();
    const idsIn = async (folder: Folder): Promise<readonly string[]> => {
      const again = await folder.killed().open();
      const loaded = await again.persistence.events.load(Date.now(), 3_600_000);
      await again.close();
      return loaded.map((one) => one.callback.id);
    };
    const database = new StateDatabase({ path: own.file('state.db'), sync: 'full' });
    expect(database.apply([callback(1)])).toEqual({ kind: 'done', refused: [] });
    // The log as SQLite leaves it: with the whole commit, of which this connection knows nothing.
    const twin = own.killed();
    const committed = new StateDatabase({ path: twin.file('state.db'), sync: 'full' });
    expect(committed.apply([callback(2)])).toEqual({ kind: 'done', refused: [] });
    writeFileSync(own.file('state.db-wal'), readFileSync(twin.file('state.db-wal')));
    expect(await idsIn(own)).toEqual([callbackId(1), callbackId(2)]);
    const { exec } = DatabaseSync.prototype;
    const failing = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
      if (sql !== 'COMMIT') return exec.call(this, sql);
      failing.mockRestore();
      exec.call(this, 'ROLLBACK');
      throw Object.assign(new Error('disk I/O error'), { errcode: 1034 }); // SQLITE_IOERR_FSYNC
    });
    expect(database.apply([callback(2)])).toEqual({ kind: 'broken', detail: 'disk I/O error', isInDoubt: true });
    expect(await idsIn(own)).toEqual([callbackId(1)]);
    database.close();
    committed.close();
    await own.remove();
    await twin.remove();
  });
});

describe('a file that cannot grow', () => {
  it('refuses, keeps its records, still reads, and accepts records again once it can grow', {
    timeout: 15_000,
  }, async () => {
    const { limit, recovered } = await openOnSmallDisk();
    await journal.write(callback(1));
    await append(1, eventOf(1, new Uint8Array(9_000).fill(7), false));
    limit(1); // not below what it has
    const large = eventOf(2, new Uint8Array(200_000));
    await expect(append(1, large)).rejects.toBeInstanceOf(StateRefusedError);
    expect(state.fault()).toMatch(/^the state cannot be written: .*full/);
    expect((await read(1))?.bytes[8_999]).toBe(7);
    limit(1_000_000);
    await recovered();
    await append(1, large);
    expect(folder.faults).toEqual([expect.stringMatching(/full/), undefined]);
    const again = await folder.killed().open();
    const [loaded] = await again.persistence.events.load(Date.now(), 3_600_000);
    expect(loaded?.events.map(({ id }) => id)).toEqual([eventId(1), eventId(2)]);
    await again.close();
  });

  it('loses no delivery: what it refused is on record once it can grow, without another sale', async () => {
    const time = new ManualTime();
    await folder.close();
    state = await folder.open({}, systemClock, undefined, time);
    journal = state.journal!;
    const { books, journal: payments } = state.persistence;
    const now = Date.now();
    const serial = 1;
    const validBeforeSeconds = Math.floor(now / 1000) + 120;
    const order = orderFor({ validAfterSeconds: 0, validBeforeSeconds });
    await payments.recordIntent(serial, order, SALE, []);
    const transaction = localTransactionOf(order);
    const sale = soldWith(serial, { payer: order.payer, nonce: order.authorization.nonce, timeMs: now });
    await payments.recordEnd(serial, { kind: 'settled', key: order.key, validBeforeSeconds, transaction }, sale, []);
    let refusedCount = 0;
    const { write } = journal;
    journal.write = (operation) => {
      if (operation.table !== SALES) return write.call(journal, operation);
      refusedCount++;
      return Promise.reject(new StateRefusedError('no space'));
    };
    books.markDelivered(serial);
    time.pass(100);
    await expect.poll(() => refusedCount).toBe(1);
    const isDelivered = async () => (await books.find(order.key))?.isDelivered;
    expect(await isDelivered()).toBe(false);
    journal.write = write;
    time.pass(5_000);
    await expect.poll(isDelivered).toBe(true);
  });

  it('bounds the bytes that wait for it', async () => {
    await journal.write(callback(1));
    const MIB = 1024 * 1024;
    const writes = Array.from({ length: 140 }, (_, number) => append(1, eventOf(number, new Uint8Array(MIB), false)));
    const outcomes = await Promise.allSettled(writes);
    const keptCount = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(keptCount).toBe(128);
    await append(1, eventOf(200, new Uint8Array(MIB), false));
  });
});

describe('a charge', () => {
  const accountsOf = ({ persistence }: SqliteState): MemoryAccounts =>
    new MemoryAccounts(
      { clock: systemClock, timers: systemTimers, random: systemRandom },
      { isPlay: true, ...persistence.accounts },
    );
  const remaining = async (accounts: MemoryAccounts): Promise<number | undefined> =>
    (await accounts.organization('acme'))?.remaining;

  it('that the state refuses takes nothing, and the next one is charged once the state can be written', {
    timeout: 15_000,
  }, async () => {
    const { limit, recovered } = await openOnSmallDisk();
    const accounts = accountsOf(state);
    await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 10, expiresAtMs: null });
    limit(1);
    const refused = append(1, eventOf(2, new Uint8Array(200_000))).catch((failure: unknown) => failure);
    const unavailable = { kind: 'unavailable', detail: expect.stringMatching(/^the state cannot be written: .*full/) };
    expect(await accounts.charge('acme', 4)).toEqual(unavailable);
    expect(await refused).toBeInstanceOf(StateRefusedError);
    expect(await remaining(accounts)).toBe(10);
    expect(await accounts.charge('acme', 4)).toEqual(unavailable);
    expect(await accounts.charge('acme', 0)).toEqual({ kind: 'charged', remaining: 10 });
    limit(1_000_000);
    await recovered();
    expect(await accounts.charge('acme', 4)).toEqual({ kind: 'charged', remaining: 6 });
    const again = accountsOf(await folder.killed().open());
    expect(await again.usage('acme')).toMatchObject({ charged: 4, remaining: 6 });
  });

  it('of an organization whose record is damaged says so for the log, and takes nothing', async () => {
    const accounts = accountsOf(state);
    await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 10, expiresAtMs: null });
    const database = new DatabaseSync(folder.file('state.db'));
    database.exec("UPDATE organization SET charged = 1 WHERE name = 'acme'");
    database.close();
    const detail = expect.stringContaining('organization acme');
    expect(await accounts.charge('acme', 4)).toEqual({ kind: 'unavailable', detail });
    expect(await remaining(accounts)).toBe(10);
    expect(state.fault()).toBeUndefined();
  });

  it('that may be on record stays taken, and a revocation that may be on record holds', async () => {
    const outcomes: (() => void)[] = [];
    let isFailing = false;
    const accounts = new MemoryAccounts(
      { clock: systemClock, timers: systemTimers, random: systemRandom },
      {
        isPlay: true,
        journal: {
          fault: () => undefined,
          write: () =>
            new Promise((resolve, reject) => {
              outcomes.push(() => (isFailing ? reject(new RecordInDoubtError('the disk failed')) : resolve()));
            }),
        },
      },
    );
    const end = async <T>(result: T | Promise<T>): Promise<T> => {
      for (const finish of outcomes.splice(0)) finish();
      return result;
    };
    await end(accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 10, expiresAtMs: null }));
    const created = await end(accounts.createKey({ organization: 'acme', scopes: ['jobs:read'], expiresAtMs: null }));
    if (created.kind !== 'created') throw new Error('no key');
    isFailing = true;
    expect(await end(accounts.charge('acme', 4))).toEqual({ kind: 'unavailable', detail: 'the disk failed' });
    expect(await remaining(accounts)).toBe(6);
    expect(await end(accounts.revokeKey(created.key.id))).toMatchObject({ kind: 'unavailable' });
    expect(accounts.authenticate(created.text)).toBeUndefined();
  });
});

describe('an operation that fails', () => {
  const IO_ERROR = 10;
  const FULL = 13;

  it.each([
    ['by an I/O error breaks the state', IO_ERROR, { kind: 'broken', isInDoubt: false }],
    ['because the disk is full is refused', FULL, { kind: 'refused' }],
  ])('%s with its whole batch, also when another of it is refused alone', (_, errcode, result) => {
    const database = new StateDatabase({ path: ':memory:', sync: 'full' });
    const { database: sqlite } = database.connection as unknown as { readonly database: DatabaseSync };
    sqlite.function('fail', () => {
      throw Object.assign(new Error('the disk says no'), { errcode });
    });
    database.connection.exec('CREATE TRIGGER failing AFTER INSERT ON event BEGIN SELECT fail(); END');
    expect(database.apply([callback(1)])).toMatchObject({ kind: 'done' });
    expect(database.apply([callback(2), EVENT])).toMatchObject(result);
    expect(database.apply([callback(2), callback(2), EVENT])).toMatchObject(result);
    expect(database.apply([callback(2)])).toMatchObject({ kind: 'done', refused: [] });
    database.close();
  });
});

describe('a commit', () => {
  it('that fails may be on record, unlike an operation that fails with the same code', () => {
    const database = new StateDatabase({ path: ':memory:', sync: 'full' });
    database.connection.exec(`
      CREATE TABLE child (id TEXT REFERENCES callback (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER orphan AFTER INSERT ON event BEGIN INSERT INTO child VALUES ('none'); END`);
    expect(database.apply([callback(1), callback(1)])).toMatchObject({ kind: 'done', refused: [{ index: 1 }] });
    expect(database.apply([EVENT])).toMatchObject({ kind: 'broken', isInDoubt: true });
    database.close();
  });

  it('that takes longer than two seconds is a fault until one ends in time (reliability 268)', async () => {
    const time = new ManualTime();
    const slow = new Folder();
    try {
      const opened = await slow.open({ commitDelayMs: 250 }, time, undefined, time);
      const fault = (): string | undefined => opened.fault();
      const told = expect.stringMatching(/^the disk takes longer than 2000 ms for a write to the state$/);
      let hasEnded = false;
      const written = opened.journal!.write(callback(1)).then(() => {
        hasEnded = true;
      });
      // Writes begin behind the input of a turn.
      await new Promise((resolve) => setImmediate(resolve));
      time.pass(2_000);
      expect(fault()).toBeUndefined();
      time.pass(1);
      expect(fault()).toEqual(told);
      // The operator is told of it and of its end, though no request comes.
      expect(slow.faults).toEqual([told]);
      // The thread of the server goes on meanwhile.
      expect(hasEnded).toBe(false);
      await written;
      // Nothing is sold between two slow commits, of which the second is a probe.
      expect(fault()).toEqual(told);
      time.pass(0);
      await new Promise((resolve) => setImmediate(resolve));
      time.pass(2_001);
      await expect.poll(() => opened.journal!.batchCount).toBe(2);
      expect(fault()).toEqual(told);
      expect(slow.faults).toEqual([told]);
      time.pass(0);
      await expect.poll(fault).toBeUndefined();
      expect(slow.faults).toEqual([told, undefined]);

      // The timer that looked after a quick commit looks after the slow one behind it.
      await opened.journal!.write(callback(2));
      time.pass(1_999);
      const behind = opened.journal!.write(callback(3));
      await new Promise((resolve) => setImmediate(resolve));
      time.pass(2_000);
      expect(slow.faults).toHaveLength(2);
      time.pass(1);
      expect(slow.faults.slice(2)).toEqual([told]);
      await behind;
      time.pass(0);
      await expect.poll(() => slow.faults.slice(2)).toEqual([told, undefined]);
    } finally {
      await slow.remove();
    }
  });
});
