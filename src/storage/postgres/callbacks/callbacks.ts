/**
 * The callbacks of all processes (callback.md; decisions §5; siblings §9). The database decides existence, expiry (by
 * its clock), the ten events (by the callback's row) and the thirty webhooks a minute (by a window beside it). Each
 * process counts its own sixty-four waits, and its own passes of the six hundred reads, whose sums it shares.
 *
 * Webhooks, looks and token checks of one turn go as groups. A webhook is acknowledged once its event has committed.
 */
import type { Clock } from '../../../base/clock.ts';
import { detached } from '../../../base/detached.ts';
import { isSameDigest } from '../../../base/digest.ts';
import type { MaybePromise } from '../../../base/maybe-promise.ts';
import type { Random } from '../../../base/random.ts';
import type { RateLimiter, RateLimits } from '../../../base/rate-limits.ts';
import type { Timers } from '../../../base/timers.ts';
import {
  type Absent,
  type Authorized,
  type CallbackCounts,
  type CallbackDraft,
  type CallbackHandle,
  type Callbacks,
  type Client,
  type Created,
  EXPIRED,
  type Listing,
  NOT_FOUND,
  type RawFound,
  type ReadAdmission,
  type Received,
  type Waited,
  type WebhookAdmission,
} from '../../../callback/callbacks.ts';
import {
  type EventPart,
  headOf,
  headRest,
  type InboxEvent,
  inboxEventOf,
  isAcceptable,
  type Webhook,
} from '../../../callback/event.ts';
import { type CallbackId, type EventId, newCallbackId, newEventId } from '../../../callback/identifier.ts';
import { EventReader, type Readable } from '../../../callback/inbox/reading.ts';
import { READ_COUNT_MAX, READ_WINDOW_MS, SWEEP_PAUSE_MS } from '../../../callback/limits.ts';
import { digestOf, newReadToken } from '../../../callback/read-token.ts';
import type { Row } from '../connections.ts';
import type { Database } from '../database.ts';
import { Group } from '../groups.ts';
import { Repeated } from '../repeated.ts';
import { Admissions } from './admissions.ts';
import { type Appended, appendEvents, type NewEvent } from './append.ts';
import { SharedCapacity } from './capacity.ts';
import { Hints } from './hints.ts';
import { endOf, eventOf, formOf, headOfRow } from './rows.ts';
import { COUNTS, CREATE, DELETE, EVENT, FIND, FORGET, FORGET_RATES, LIST, PART, SWEEP } from './statements.ts';
import { Waits } from './waits.ts';

export interface PostgresCallbacksPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly database: Database;
  readonly rateLimits: RateLimits;
  /** Names this process. */
  readonly processId: string;
  /** Something failed where no request waits for it. */
  onFailure(failure: unknown): void;
}

/** Bodies of events in one statement. */
const APPEND_COUNT_MAX = 64;

export class PostgresCallbacks implements Callbacks {
  readonly capacity: SharedCapacity;
  readonly #ports: PostgresCallbacksPorts;
  readonly #admissions: Admissions;
  readonly #finds: Group<CallbackId, Row>;
  readonly #appends: Group<NewEvent, Appended>;
  readonly #reads: RateLimiter;
  readonly #reader: EventReader<Readable>;
  readonly #waits: Waits;
  readonly #hints: Hints;
  #counts = { live: 0, tombstones: 0, unknownIds: 0 };
  readonly #sweeps: Repeated;

  constructor(capacityBytes: number, ports: PostgresCallbacksPorts) {
    const { clock, timers, random, database, rateLimits, processId } = ports;
    this.#ports = ports;
    const onFailure = (failure: unknown): void => {
      if (database.fault() === undefined) ports.onFailure(failure);
    };
    this.#sweeps = new Repeated(ports, SWEEP_PAUSE_MS, () => this.#sweep(), onFailure);
    this.capacity = new SharedCapacity(capacityBytes, database, random, () => this.#sweeps.now());
    this.#admissions = new Admissions(database, clock, processId);
    this.#finds = new Group((ids) => database.run({ ...FIND, values: [ids] }), {
      keyOf: (id) => id,
      takesRepeatedKeys: true,
    });
    this.#appends = new Group((events) => appendEvents(database, events), {
      keyOf: ({ callbackId }) => callbackId,
      countMax: APPEND_COUNT_MAX,
    });
    this.#reads = rateLimits.open('reads of a callback', READ_COUNT_MAX, READ_WINDOW_MS);
    this.#reader = new EventReader({ part: ({ id }, event, index) => this.#part(id, event.id, index) });
    const longJson = (id: CallbackId, event: InboxEvent) => this.#reader.longJson({ id, events: [event] }, event);
    this.#waits = new Waits({ clock, timers, database, longJson, onFailure });
    this.#hints = new Hints({ timers, database, processId, onHint: (ids) => this.#waits.hinted(ids) });
  }

  get counts(): CallbackCounts {
    return { ...this.#counts, waits: this.#waits.count };
  }

  /** Called once, before any other method. */
  async start(): Promise<void> {
    await this.#sweeps.now();
    this.#sweeps.start();
    this.#hints.start();
  }

  draft(): CallbackDraft {
    const { random } = this.#ports;
    return { id: newCallbackId(random), readToken: newReadToken(random) };
  }

  async create({ id, readToken }: CallbackDraft): Promise<Created> {
    const { database } = this.#ports;
    const claim = this.capacity.take();
    const digest = digestOf(readToken);
    let row: Row | undefined;
    try {
      for (;;) {
        [row] = await database.run({ ...CREATE, values: [id, digest, claim] }, { isPatient: true });
        // No row: another transaction was creating the same callback, and has ended by now.
        if (row !== undefined) break;
      }
    } catch (failure) {
      await Promise.resolve(this.capacity.giveBack(claim)).catch(() => {});
      throw failure;
    }
    if (row.is_new === true) {
      this.#counts.live++;
      if (claim === '') this.capacity.add(1);
    } else if (claim !== '') this.capacity.add(-1);
    const isIts = endOf(row) === undefined && isSameDigest(row.token_digest as Uint8Array, digest);
    if (!isIts) throw new Error(`the callback ${id} of a draft has ended`);
    return { id, readToken, expiresAtMs: row.expires_ms as number };
  }

  admit(id: CallbackId): MaybePromise<WebhookAdmission> {
    return this.#admissions.admit(id);
  }

  async receive({ id: callbackId }: CallbackHandle, { method, form, retained, bytes }: Webhook): Promise<Received> {
    if (!isAcceptable(form, bytes)) return { kind: 'invalid-json' };
    const id = newEventId(this.#ports.random);
    const rest = headRest(method, retained);
    const appended = await this.#appends.add({ callbackId, id, rest, form, bytes });
    if (appended.kind !== 'stored') return appended;
    const { seq, receivedSeconds } = appended;
    if (receivedSeconds === null) this.#waits.hinted([callbackId]);
    else {
      const head = headOf(id, receivedSeconds, rest);
      this.#waits.stored(callbackId, seq, inboxEventOf({ id, head, form }, bytes.length, bytes));
    }
    this.#hints.send(callbackId);
    return { kind: 'stored', eventId: id };
  }

  async authorize(id: CallbackId, token: string): Promise<Authorized> {
    const row = await this.#finds.add(id);
    const ended = endOf(row);
    if (ended === NOT_FOUND) return NOT_FOUND;
    if (!isSameDigest(row.token_digest as Uint8Array, digestOf(token))) return { kind: 'wrong-token' };
    if (ended !== undefined) return EXPIRED;
    return { kind: 'allowed', callback: { id, expiresAtMs: row.expires_ms as number } };
  }

  async admitRead(id: CallbackId, token: string): Promise<ReadAdmission> {
    const authorized = await this.authorize(id, token);
    if (authorized.kind !== 'allowed') return authorized;
    const retryAfterMs = await this.#reads.tryPass(detached(id));
    return retryAfterMs === 0 ? authorized : { kind: 'too-many', retryAfterMs };
  }

  wait({ id, expiresAtMs }: CallbackHandle, after: string | null, timeoutMs: number, client: Client): Promise<Waited> {
    // If our clock differs from the database's (by less than a second), the poll finds the end.
    return this.#waits.wait(id, after, timeoutMs, Math.max(0, expiresAtMs - this.#ports.clock.nowMs()), client);
  }

  async events({ id }: CallbackHandle): Promise<Listing | Absent> {
    const rows = await this.#ports.database.run({ ...LIST, values: [id] });
    return endOf(rows[0]) ?? this.#reader.events({ id, events: rows.flatMap((row) => eventOf(row) ?? []) });
  }

  async raw({ id }: CallbackHandle, eventId: string): Promise<RawFound> {
    const [row] = await this.#ports.database.run({ ...EVENT, values: [id, eventId] });
    const ended = endOf(row);
    if (ended !== undefined || row === undefined) return ended ?? NOT_FOUND;
    const event = eventOf(row);
    return this.#reader.raw({ id, events: event === undefined ? [] : [event] }, eventId);
  }

  async delete({ id }: CallbackHandle): Promise<{ readonly kind: 'deleted' } | Absent> {
    let isInDoubt = false;
    const onDoubt = (): void => {
      isInDoubt = true;
    };
    const [row] = await this.#ports.database.run({ ...DELETE, values: [id] }, { isPatient: true, onDoubt });
    // It existed when its token was checked, so an earlier try, whose answer was lost, deleted it.
    const isDeleted = row?.count === 1 || (isInDoubt && endOf(row) === NOT_FOUND);
    if (!isDeleted) return endOf(row) ?? NOT_FOUND;
    this.capacity.add(-1);
    this.#counts.live = Math.max(0, this.#counts.live - 1);
    this.#waits.ended(id, NOT_FOUND);
    this.#hints.send(id);
    return { kind: 'deleted' };
  }

  drain(): void {
    this.#waits.drain();
  }

  close(): void {
    this.drain();
    void this.#sweeps.close();
  }

  /** After {@link close}: resolves once the callbacks no longer use the database. Never rejects. */
  async ended(): Promise<void> {
    await Promise.all([this.#hints.close(), this.#sweeps.close(), this.#appends.idle()]);
  }

  async #part(id: CallbackId, eventId: EventId, index: number): Promise<EventPart | Absent> {
    const [row] = await this.#ports.database.run({ ...PART, values: [id, eventId, index] });
    const ended = endOf(row);
    if (ended !== undefined || row === undefined) return ended ?? NOT_FOUND;
    // The callback has a row and the event has none: the callback ended in between.
    if (row.id === null) return NOT_FOUND;
    const sizeBytes = row.size as number;
    return { head: headOfRow(row), form: formOf(row), sizeBytes, bytes: row.part as Uint8Array };
  }

  /** Ends what has expired and counts what is left. */
  async #sweep(): Promise<void> {
    const { clock, database } = this.#ports;
    for (let count = 1; count > 0; ) {
      const [row] = await database.run({ ...SWEEP, values: [clock.nowMs()] });
      count = row?.count as number;
    }
    await database.run(FORGET);
    await database.run(FORGET_RATES);
    const [row] = await database.run(COUNTS);
    this.capacity.note(row?.claimed as number);
    this.#counts = { live: row?.live as number, tombstones: row?.over as number, unknownIds: row?.unknown as number };
  }
}
