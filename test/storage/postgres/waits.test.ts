/** Waits of one process, over a database whose answers a test holds back. */
import { describe, expect, it } from 'vitest';
import type { Waited } from '../../../src/callback/callbacks.ts';
import { headOf, headRest, type InboxEvent, inboxEventOf } from '../../../src/callback/event.ts';
import type { CallbackId, EventId } from '../../../src/callback/identifier.ts';
import { WAIT_COUNT_MAX } from '../../../src/callback/limits.ts';
import { POLL_MS, Waits } from '../../../src/storage/postgres/callbacks/waits.ts';
import { SKEW_MS_MAX } from '../../../src/storage/postgres/clock-skew.ts';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';
import { client } from '../../support/opened-inbox.ts';

const ID = 'cb_a' as CallbackId;
const LONG_BYTES = 100_000;
const HOUR_MS = 3_600_000;
const HEAD_REST = headRest('POST', []);

/** The event's id, and whether it comes in parts. */
const textOf = ({ eventId, event }: { eventId: string; event: unknown }): string =>
  eventId + (typeof event === 'string' ? '' : ` ${event}`);

interface Stored {
  readonly id: string;
  readonly size: number;
}

function opened() {
  const time = new ManualTime();
  const events: Stored[] = [];
  const sent: string[] = [];
  const faults: unknown[] = [];
  let expiresMs = time.nowMs() + HOUR_MS;
  let answer = async (): Promise<void> => {};
  const rowOf = (event: Stored | undefined): Row => ({
    id: event?.id ?? null,
    received_s: 0,
    head_rest: HEAD_REST,
    charset: 'utf-8',
    size: event?.size,
    body: event && event.size < LONG_BYTES ? Buffer.alloc(event.size, 'x') : null,
  });
  const database = {
    /** Decided when it is sent, answered when the test lets it. */
    async run({ name = '', values = [] }: Statement): Promise<readonly Row[]> {
      sent.push(name);
      const common = { callback_id: ID, expires_ms: expiresMs, now_ms: time.nowMs(), event_count: events.length };
      const asked = values[1] as readonly (string | number)[];
      const rows =
        name === 'poll-callbacks'
          ? asked.flatMap((seen) => (events.length > (seen as number) || expiresMs <= time.nowMs() ? [common] : []))
          : asked.map((after) => {
              const place = after === '' ? 0 : events.findIndex(({ id }) => id === after) + 1;
              return { ...common, after_seq: place === 0 && after !== '' ? null : place, ...rowOf(events[place]) };
            });
      await answer();
      return rows;
    },
  } as unknown as Database;
  const waits = new Waits({
    clock: time,
    timers: time,
    database,
    longJson: async () => ({ read: () => Promise.reject(new Error('not read here')), toString: () => 'in parts' }),
    onFailure: (fault) => faults.push(fault),
  });
  const ends: string[] = [];
  return {
    time,
    waits,
    sent,
    faults,
    /** How waits ended, in that order: a name, and the event or how. */
    ends,
    begin(name: string, after: string | null = null, timeoutMs = 30_000, from = client(), endsInMs = HOUR_MS): void {
      const said = (how: Waited): number => ends.push(`${name} ${how.kind === 'event' ? textOf(how) : how.kind}`);
      waits
        .wait(ID, after, timeoutMs, endsInMs, from)
        .then(said, ({ message }: Error) => ends.push(`${name} ${message}`));
    },
    /** Stores an event, of which this process hears nothing by that. */
    store(id: string, size = 10): { readonly seq: number; readonly event: InboxEvent } {
      events.push({ id, size });
      const head = headOf(id as EventId, 0, HEAD_REST);
      const form = { kind: 'text', charset: 'utf-8' } as const;
      const event = inboxEventOf({ id: id as EventId, head, form }, size, Buffer.alloc(size, 'x'));
      return { seq: events.length, event };
    },
    expireIn(ms: number): void {
      expiresMs = time.nowMs() + ms;
    },
    /** Holds the answers back, or lets them fail. @returns lets them go */
    hold(failure?: Error): () => void {
      const held = Promise.withResolvers<void>();
      answer = () => held.promise;
      return () => {
        answer = async () => {};
        if (failure === undefined) held.resolve();
        else held.reject(failure);
      };
    },
  };
}

describe('a wait', () => {
  it('is over once it has found an event or failed, or if its client had disconnected before', async () => {
    const { begin, ends, hold, sent, store, time, waits } = opened();
    const gone = client();
    gone.leave();
    begin('gone', null, 30_000, gone);
    await settle();
    expect([ends.splice(0), sent]).toEqual([['gone disconnected'], []]);
    const fail = hold(new Error('the database is away'));
    begin('failed');
    await settle();
    expect(waits.count).toBe(1);
    fail();
    await settle();
    expect([ends.splice(0), waits.count]).toEqual([['failed the database is away'], 0]);
    store('one');
    begin('found');
    begin('unknown', 'none');
    await settle();
    expect([ends, waits.count, time.pendingCount]).toEqual([['unknown unknown-event', 'found one'], 0, 0]);
  });

  it('is held so many times on one callback, and not while the process drains; an event that is there needs no place', async () => {
    const { begin, ends, store, waits } = opened();
    for (let i = 0; i < WAIT_COUNT_MAX; i++) begin(`${i}`, 'one');
    store('one');
    for (const isDraining of [false, true]) {
      if (isDraining) waits.drain();
      await settle();
      ends.length = 0;
      begin('more', 'one');
      begin('found');
      await settle();
      expect(ends.sort()).toEqual(['found one', isDraining ? 'more timed-out' : 'more too-many-waits']);
      expect(waits.count).toBe(isDraining ? 0 : WAIT_COUNT_MAX);
    }
  });

  it('gives the event that it has found, though its time was over before the answer came', async () => {
    const { begin, ends, hold, store, time } = opened();
    store('one');
    const answer = hold();
    begin('late', null, 1000);
    begin('later', 'one', 1000);
    await settle();
    time.pass(1000);
    answer();
    await settle();
    expect(ends).toEqual(['late one', 'later timed-out']);
    time.pass(HOUR_MS);
    expect(time.pendingCount).toBe(0);
  });

  it('gets what this process stores without a question, a long event and one that it has missed by one', async () => {
    const { begin, ends, sent, store, waits } = opened();
    begin('first');
    await settle();
    const first = store('one');
    waits.stored(ID, first.seq, first.event);
    await settle();
    expect([ends.splice(0), sent]).toEqual([['first one'], ['look-for-events']]);
    begin('long', 'one');
    await settle();
    const long = store('two', LONG_BYTES);
    waits.stored(ID, long.seq, long.event);
    await settle();
    expect(ends.splice(0)).toEqual(['long two in parts']);
    begin('behind', 'two');
    begin('unheard', 'two');
    await settle();
    store('three');
    const fourth = store('four');
    waits.stored(ID, fourth.seq, fourth.event);
    await settle();
    expect(ends).toEqual(['behind three', 'unheard three']);
  });

  it('looks again at once where there was news while it looked', async () => {
    const { begin, ends, hold, store, waits } = opened();
    const answer = hold();
    begin('hinted');
    await settle();
    store('one');
    waits.hinted([ID]);
    answer();
    await settle();
    expect(ends).toEqual(['hinted one']);
  });

  it('gets the event after its own one, whatever the others of its callback look after', async () => {
    const { begin, ends, store, time } = opened();
    store('one');
    begin('after one', 'one');
    await settle();
    store('two');
    begin('after two', 'two');
    await settle();
    store('three');
    expect(ends).toEqual([]);
    time.pass(POLL_MS);
    await settle();
    expect(ends).toEqual(['after one two', 'after two three']);
  });

  it('is looked for again after a poll that failed, and never by two at a time', async () => {
    const { begin, ends, faults, hold, sent, store, time } = opened();
    begin('patient');
    await settle();
    const fail = hold(new Error('away'));
    time.pass(3 * POLL_MS);
    await settle();
    expect(sent).toEqual(['look-for-events', 'poll-callbacks']);
    store('one');
    fail();
    await settle();
    expect([ends, faults]).toEqual([[], [new Error('away')]]);
    time.pass(POLL_MS);
    await settle();
    expect(ends).toEqual(['patient one']);
    time.pass(POLL_MS);
    expect(time.pendingCount).toBe(0);
  });

  it('ends with its callback where that comes first, and by its own timeout where the database does not think so', async () => {
    const { begin, ends, expireIn, time } = opened();
    const endsInMs = 5 * POLL_MS + 1;
    expireIn(endsInMs);
    begin('both at once', null, endsInMs, client(), endsInMs);
    await settle();
    time.pass(endsInMs - 1);
    await settle();
    time.pass(1);
    await settle();
    expect(ends.splice(0)).toEqual(['both at once expired']);
    expireIn(HOUR_MS);
    begin('clock ahead', null, 5000, client(), 0);
    await settle();
    time.pass(5000 + SKEW_MS_MAX - 1);
    await settle();
    expect(ends).toEqual([]);
    time.pass(1);
    await settle();
    expect(ends).toEqual(['clock ahead timed-out']);
  });

  it('leaves no timer when it ends before its callback, nor any after the shutdown has begun', async () => {
    const { begin, ends, faults, hold, time, waits } = opened();
    const leaver = client();
    begin('left', null, 30_000, leaver, 10_000);
    await settle();
    leaver.leave();
    await settle();
    time.pass(POLL_MS);
    expect([ends.splice(0), time.pendingCount, waits.count]).toEqual([['left disconnected'], 0, 0]);
    begin('drained');
    await settle();
    const fail = hold(new Error('closed'));
    time.pass(POLL_MS);
    await settle();
    waits.drain();
    fail();
    await settle();
    begin('after');
    await settle();
    expect([ends, time.pendingCount, faults]).toEqual([['drained timed-out', 'after timed-out'], 0, []]);
  });
});
