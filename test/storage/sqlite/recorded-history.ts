/**
 * A short life of a state folder, one acknowledged step after another, with what must be found after each of them: for tests
 * that cut or damage the files. The files are those of a process that was killed after the last step.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { KeyRecord } from '../../../src/accounts/accounts.ts';
import { Balance, type GrantKind } from '../../../src/accounts/balance.ts';
import { keyDigestOf } from '../../../src/accounts/key.ts';
import type { EventPart, EventRecord } from '../../../src/callback/event.ts';
import type { CallbackId, EventId } from '../../../src/callback/identifier.ts';
import type { LoadedCallback } from '../../../src/callback/inbox/event-store.ts';
import type { PaymentOrder } from '../../../src/payment/protocol/order.ts';
import type { Reservation } from '../../../src/payment/reservations.ts';
import { MemoryAccounts } from '../../../src/storage/memory/accounts.ts';
import { type LoadedAccounts, NO_ACCOUNTS } from '../../../src/storage/memory/accounts-journal.ts';
import type { RecordedCase } from '../../../src/storage/memory/reservation-journal.ts';
import type { UsedAuthorization } from '../../../src/storage/memory/used-authorizations.ts';
import { DamagedError } from '../../../src/storage/sqlite/checksum.ts';
import { StateDatabase } from '../../../src/storage/sqlite/database.ts';
import { isDamagedLogFile } from '../../../src/storage/sqlite/log-check.ts';
import { type SqliteState, STATE_FILE } from '../../../src/storage/sqlite/state.ts';
import { loadAccounts } from '../../../src/storage/sqlite/tables/accounts.ts';
import { CALLBACKS, loadCallbacks, readEvent } from '../../../src/storage/sqlite/tables/callbacks.ts';
import { loadCases, loadEnds, loadSpent } from '../../../src/storage/sqlite/tables/payments.ts';
import { orderFor } from '../../payment/fixture.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { memoryReservations } from '../../support/memory-reservations.ts';
import { SALE } from '../../support/sale.ts';
import { Folder } from './folder.ts';

export const NOW_MS = Date.UTC(2026, 7, 1, 12);
const HOUR_MS = 3_600_000;
export const LOG = `${STATE_FILE}-wal`;
const SHORT_BYTES = 60;
/** Several pages. */
const LONG_BYTES = 9_000;

/** Everything that a start finds, as plain text that can be compared. */
export interface Content {
  /** Payment by key: what it is, and its transaction. */
  readonly payments: Readonly<Record<string, string>>;
  /** Payer: atomic units in the play ledger. */
  readonly spent: Readonly<Record<string, string>>;
  /** Key by id, and organization by name: everything about it. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Callback by id: its events in order, each with its bytes. */
  readonly callbacks: Readonly<Record<string, readonly string[]>>;
}

const keyText = (key: string): string => Buffer.from(key, 'latin1').toString('hex');
const bytesText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

interface Found {
  readonly ends: Iterable<UsedAuthorization>;
  readonly cases: readonly Pick<RecordedCase, 'order' | 'transaction'>[];
  readonly spent: Iterable<readonly [payer: string, atomic: bigint]>;
  readonly callbacks: readonly LoadedCallback[];
  readonly accounts: LoadedAccounts;
  read(id: CallbackId, eventId: EventId, index: number): Promise<EventPart | undefined>;
}

async function contentOf(found: Found): Promise<Content> {
  const payments: Record<string, string> = {};
  for (const { key, kind, transaction } of found.ends) payments[keyText(key)] = `${kind} ${transaction}`;
  for (const { order, transaction } of found.cases) payments[keyText(order.key)] = `open ${transaction}`;
  const spent: Record<string, string> = {};
  for (const [payer, atomic] of found.spent) spent[payer] = String(atomic);
  const callbacks: Record<string, string[]> = {};
  for (const { callback, events } of found.callbacks) {
    const shown: string[] = [];
    for (const event of events) {
      const bytes =
        event.bytes ?? (await wholeOf(event.sizeBytes, (index) => found.read(callback.id, event.id, index)));
      shown.push(`${event.id} ${event.head} ${bytes === undefined ? 'lost' : bytesText(bytes)}`);
    }
    callbacks[`${callback.id} ${bytesText(callback.tokenDigest)} ${callback.expiresAtMs}`] = shown;
  }
  return { payments, spent, accounts: accountsContent(found.accounts), callbacks };
}

/** What the stores would do with them. */
function accountsContent(loaded: LoadedAccounts): Record<string, string> {
  const content: Record<string, string> = {};
  for (const { digest, ...key } of loaded.keys) content[key.id] = keyContent(key, digest);
  for (const [name, record] of loaded.organizations) content[name] = balanceContent(new Balance(record));
  return content;
}

function keyContent(key: KeyRecord, digest: Uint8Array): string {
  const { id, organization, scopes, createdAtMs, expiresAtMs, revokedAtMs, lastUsedAtMs } = key;
  return JSON.stringify([
    id,
    organization,
    scopes,
    createdAtMs,
    expiresAtMs,
    revokedAtMs,
    lastUsedAtMs,
    bytesText(digest),
  ]);
}

const balanceContent = (balance: Pick<Balance, 'grants' | 'usage'>): string =>
  JSON.stringify([balance.grants(NOW_MS), balance.usage(NOW_MS)]);

/** All bytes of an event that is not inline; undefined when one of its parts is missing. */
async function wholeOf(
  sizeBytes: number,
  read: (index: number) => Promise<EventPart | undefined>,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  for (let byteCount = 0; byteCount < sizeBytes || parts.length === 0; ) {
    const part = await read(parts.length);
    if (part === undefined) return undefined;
    parts.push(part.bytes);
    byteCount += part.bytes.length;
  }
  return Buffer.concat(parts);
}

/** What a start has found. */
export async function contentOfState(state: SqliteState): Promise<Content> {
  const { reservations: loaded, ledger, events, accounts } = state.persistence;
  return contentOf({
    ends: loaded.ends,
    cases: loaded.cases,
    spent: ledger.spent,
    accounts: accounts?.loaded ?? NO_ACCOUNTS,
    callbacks: await events.load(NOW_MS, HOUR_MS),
    read: (id, eventId, index) => events.read(id, eventId, index),
  });
}

/** What a start would find, without the thread and the locks of one, so that a sweep can look a hundred times. */
export async function contentOfFolder(folder: Folder): Promise<Content> {
  if (isDamagedLogFile(folder.file(LOG))) throw new DamagedError('its log is damaged in the middle');
  const database = new StateDatabase({ path: folder.file(STATE_FILE), sync: 'full' });
  try {
    database.check();
    const { connection } = database;
    return await contentOf({
      ends: loadEnds(connection, NOW_MS / 1000),
      cases: loadCases(connection),
      spent: loadSpent(connection),
      accounts: loadAccounts(connection, NOW_MS),
      callbacks: loadCallbacks(connection, NOW_MS - HOUR_MS),
      read: async (callback, eventId, index) => readEvent(connection, { table: CALLBACKS, callback, eventId, index }),
    });
  } finally {
    database.close();
  }
}

export interface Moment {
  readonly step: string;
  /** Bytes of the log when the step was acknowledged. */
  readonly logBytes: number;
  readonly content: Content;
}

export class History {
  readonly time = new ManualTime(NOW_MS);
  /** The folder of the process that was killed. */
  readonly folder: Folder;
  /** The first is the start, before any step. */
  readonly moments: readonly Moment[];
  readonly log: Buffer;

  private constructor(folder: Folder, moments: readonly Moment[]) {
    this.folder = folder;
    this.moments = moments;
    this.log = readFileSync(folder.file(LOG));
  }

  static async live(): Promise<History> {
    const place = new Folder();
    const time = new ManualTime(NOW_MS);
    const state = await place.open({}, time);
    const moments: Moment[] = [];
    const payments: Record<string, string> = {};
    const spent: Record<string, string> = {};
    const callbacks: Record<string, string[]> = {};
    const kept: Record<string, string> = {};
    const logBytes = (): number => statSync(place.file(LOG), { throwIfNoEntry: false })?.size ?? 0;
    const note = (step: string): void => {
      moments.push({
        step,
        logBytes: logBytes(),
        content: structuredClone({ payments, spent, accounts: kept, callbacks }),
      });
    };
    note('start');

    const { events: store, journal, reservations: loaded } = state.persistence;
    const reservations = memoryReservations(time, { journal, loaded });
    const hash = (n: number): string => `0x${String(n).repeat(64)}`;
    const intent = async (): Promise<{ order: PaymentOrder; reservation: Reservation }> => {
      const order = orderFor({ validBeforeSeconds: NOW_MS / 1000 + 120 });
      const reserved = reservations.reserve(order.key, order.authorization.validBeforeSeconds, []);
      if (reserved.kind !== 'reserved') throw new Error(`expected a reservation, got ${reserved.kind}`);
      await reservations.recordIntent(reserved.reservation, order, SALE);
      payments[keyText(order.key)] = 'open ';
      note('intent');
      return { order, reservation: reserved.reservation };
    };
    const settled = async ({ order, reservation }: Awaited<ReturnType<typeof intent>>, n: number): Promise<void> => {
      await reservations.recordSettled(reservation, hash(n));
      const { from, valueAtomic } = order.authorization;
      payments[keyText(order.key)] = `settled ${hash(n)}`;
      spent[from] = String(BigInt(spent[from] ?? 0) + valueAtomic);
      note('settled');
    };
    const callback = async (n: number): Promise<CallbackId> => {
      const id = `cb_${String(n).padStart(24, '0')}` as CallbackId;
      const record = { id, tokenDigest: new Uint8Array(32).fill(n), expiresAtMs: NOW_MS + 600_000 };
      await store.create(record);
      callbacks[`${id} ${bytesText(record.tokenDigest)} ${record.expiresAtMs}`] = [];
      note('callback');
      return id;
    };
    const nameOf = (id: CallbackId): string => Object.keys(callbacks).find((name) => name.startsWith(id)) ?? '';
    const event = async (id: CallbackId, n: number, length: number): Promise<void> => {
      const record: EventRecord = {
        id: `evt_${String(n).padStart(32, '0')}` as EventId,
        receivedAtSeconds: NOW_MS / 1000,
        head: `{"id":"${n}","body":`,
        form: { kind: 'text', charset: 'utf-8' },
        bytes: Uint8Array.from({ length }, (_, i) => (i * n) & 0xff),
        isInline: length <= SHORT_BYTES,
      };
      await store.append(id, { ...record, bytes: record.bytes.slice() }); // the store's from then on
      callbacks[nameOf(id)]?.push(`${record.id} ${record.head} ${bytesText(record.bytes)}`);
      note(`event of ${length} bytes`);
    };

    const accounts = new MemoryAccounts(
      { clock: time, timers: time, random: new Chance(1) },
      { isPlay: true, ...state.persistence.accounts },
    );
    const noteAccount = async (step: string): Promise<void> => {
      const [credits, usage] = [accounts.organization('acme'), accounts.usage('acme')];
      if (credits !== undefined && usage !== undefined) kept.acme = JSON.stringify([credits.grants, usage]);
      for (const key of accounts.listKeys()) kept[key.id] = keyContent(key, digests.get(key.id) ?? new Uint8Array());
      note(step);
    };
    const digests = new Map<string, Uint8Array>();
    const newKey = async (expiresAtMs: number | null): Promise<string> => {
      const created = await accounts.createKey({ organization: 'acme', scopes: ['jobs:read'], expiresAtMs });
      if (created.kind !== 'created') throw new Error('no key');
      digests.set(created.key.id, keyDigestOf(created.text) ?? new Uint8Array());
      await noteAccount('key');
      return created.key.id;
    };
    const grant = async (kind: GrantKind, amount: number, expiresAtMs: number | null): Promise<void> => {
      await accounts.grant({ organization: 'acme', kind, amount, expiresAtMs });
      await noteAccount(`grant of ${kind}`);
    };
    const charge = async (amount: number): Promise<void> => {
      await accounts.charge('acme', amount);
      await noteAccount('charge');
    };

    const first = await intent();
    await settled(first, 1);
    const live = await callback(1);
    const revoked = await newKey(null);
    await newKey(NOW_MS + HOUR_MS);
    await grant('onboarding', 50, NOW_MS + HOUR_MS);
    await event(live, 1, SHORT_BYTES);
    await grant('subscription', 1000, null);
    await event(live, 2, LONG_BYTES);
    await charge(60);
    const open = await intent();
    await reservations.recordUnknown(open.reservation, hash(2));
    payments[keyText(open.order.key)] = `open ${hash(2)}`;
    note('unknown');
    const refused = await intent();
    const gone = await callback(2);
    await event(gone, 3, LONG_BYTES);
    await reservations.recordReleased(refused.reservation);
    delete payments[keyText(refused.order.key)];
    note('released');
    await store.delete(gone);
    delete callbacks[nameOf(gone)];
    note('deleted');
    await accounts.revokeKey(revoked);
    await noteAccount('revoked');
    await settled(open, 2);
    await charge(7);
    await intent();
    await event(live, 4, SHORT_BYTES);

    const killed = place.killed();
    await place.remove();
    return new History(killed, moments);
  }

  /** What a start must find when the log is cut to so many bytes: the last step that is there whole. */
  momentAt(logBytes: number): Moment {
    const found = this.moments.findLast((moment) => moment.logBytes <= logBytes);
    if (found === undefined) throw new Error('no moment has so short a log');
    return found;
  }

  /** A copy of the folder with another log. */
  withLog(log: Uint8Array): Folder {
    const copy = this.folder.killed();
    writeFileSync(copy.file(LOG), log);
    return copy;
  }
}
