import { describe, expect, it, vi } from 'vitest';
import type { EventJson, Waited } from '../../../src/callback/callbacks.ts';
import type { EventRecord } from '../../../src/callback/event.ts';
import type { CallbackId } from '../../../src/callback/identifier.ts';
import type { LoadedCallback } from '../../../src/callback/inbox/event-store.ts';
import { Inbox } from '../../../src/callback/inbox/inbox.ts';
import {
  CLAIM_BYTES,
  EVENT_COUNT_MAX,
  FRAME_BYTES_MAX,
  LIFETIME_MS,
  PAYLOAD_BYTES_MAX,
  PIECE_BYTES_MAX,
  RATE_COUNT_MAX,
  SWEEP_COUNT_MAX,
  SWEEP_PAUSE_MS,
  TOMBSTONE_MS,
  UNKNOWN_ID_COUNT_MAX,
  WAIT_COUNT_MAX,
} from '../../../src/callback/limits.ts';
import { MemoryEventStore } from '../../../src/storage/memory/event-store.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';
import { client, jsonOf, openInbox, waitOn, webhookOf } from '../../support/opened-inbox.ts';

const UNKNOWN_ID = `cb_${'a'.repeat(24)}` as CallbackId;

/** A store whose appends end when the test says so. */
class HeldStore extends MemoryEventStore {
  readonly held: { readonly end: (fault?: Error) => void; readonly event: EventRecord }[] = [];
  appended = 0;

  override append(id: CallbackId, event: EventRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.held.push({
        event,
        end: (fault) => {
          if (fault !== undefined) return reject(fault);
          this.appended++;
          resolve(super.append(id, event));
        },
      });
    });
  }
}

/** A store that outlives its process. */
class KeptStore extends MemoryEventStore {
  readonly callbacks = new Map<CallbackId, LoadedCallback>();
  override async create(callback?: LoadedCallback['callback']): Promise<void> {
    this.callbacks.set(callback!.id, { callback: callback!, events: [] });
  }
  override async append(id: CallbackId, event: EventRecord): Promise<void> {
    const kept = this.callbacks.get(id)!;
    this.callbacks.set(id, { ...kept, events: [...kept.events, { ...event, sizeBytes: event.bytes.length }] });
    await super.append(id, event);
  }
  override async expire(id: CallbackId): Promise<void> {
    this.callbacks.set(id, { ...this.callbacks.get(id)!, events: [] });
    await super.expire(id);
  }
  override async delete(id: CallbackId): Promise<void> {
    this.callbacks.delete(id);
    await super.delete(id);
  }
  override async load(): Promise<readonly LoadedCallback[]> {
    return [...this.callbacks.values()].reverse();
  }
}

describe('creation', () => {
  it('lives 600,000 ms from the moment it is made, to the millisecond (reliability 131, 205)', async () => {
    const { time, inbox, create } = openInbox();
    const madeAtMs = time.nowMs();
    const { id, readToken, expiresAtMs } = await create();
    expect(expiresAtMs - madeAtMs).toBe(LIFETIME_MS);
    time.areTimersStopped = true;
    time.pass(LIFETIME_MS - 1);
    expect(inbox.authorize(id, readToken)).toMatchObject({ kind: 'allowed', callback: { id, expiresAtMs } });
    time.pass(1);
    expect(inbox.authorize(id, readToken)).toEqual({ kind: 'expired' });
    expect(inbox.admit(id)).toEqual({ kind: 'expired' });
  });

  it('gives a second request for one draft its answer only once the first is on record, and fails with it', async () => {
    const ends: ((fault?: Error) => void)[] = [];
    class HeldCreations extends MemoryEventStore {
      override create(): Promise<void> {
        return new Promise((resolve, reject) =>
          ends.push((fault) => (fault === undefined ? resolve() : reject(fault))),
        );
      }
    }
    const { inbox } = openInbox({ store: new HeldCreations(), roomCount: 2 });
    for (const fault of [new Error('disk full'), undefined]) {
      const draft = inbox.draft();
      expect([inbox.capacity.tryClaim(), inbox.capacity.tryClaim()]).toEqual([true, true]);
      const made: string[] = [];
      const both = [0, 1].map(() => inbox.create(draft).then(({ id }) => made.push(id)));
      await settle();
      expect(made).toEqual([]);
      ends.pop()?.(fault);
      const results = await Promise.allSettled(both);
      expect(results.map(({ status }) => status)).toEqual(
        Array(2).fill(fault === undefined ? 'fulfilled' : 'rejected'),
      );
      expect(inbox.counts.live).toBe(fault === undefined ? 1 : 0);
    }
  });

  it('makes no second callback of a draft whose callback has expired, and takes no room for it', async () => {
    const { time, inbox } = openInbox();
    const draft = inbox.draft();
    inbox.capacity.tryClaim();
    await inbox.create(draft);
    time.pass(LIFETIME_MS + SWEEP_PAUSE_MS);
    inbox.capacity.tryClaim();
    await expect(inbox.create(draft)).rejects.toThrow('has ended');
    expect([inbox.counts.live, inbox.capacity.claimedBytes]).toEqual([0, 0]);
  });

  it('makes another id when one is taken, and leaves the old callback alone (reliability 129)', async () => {
    const fixed = new Uint8Array(24).fill(7);
    let draws = 0;
    const random = new Chance(3);
    const inbox = new Inbox(10 * CLAIM_BYTES, {
      clock: new ManualTime(),
      timers: new ManualTime(),
      random: {
        uuid: () => '',
        // The letters of the first two ids are the same; tokens and the third are not.
        bytes: (count) => {
          draws++;
          return draws === 1 || draws === 3 ? new Uint8Array(count).fill(fixed[0]!) : random.bytes(count);
        },
      },
      store: new MemoryEventStore(),
      onFailure: () => {},
    });
    inbox.capacity.tryClaim();
    inbox.capacity.tryClaim();
    const first = await inbox.create(inbox.draft());
    const second = await inbox.create(inbox.draft());
    expect(first.id).toBe(`cb_${'H'.repeat(24)}`);
    expect(second.id).not.toBe(first.id);
    expect(inbox.authorize(first.id, first.readToken)).toMatchObject({ kind: 'allowed', callback: { id: first.id } });
    expect(inbox.counts.live).toBe(2);
  });

  it('keeps no token, only its digest (reliability 130)', async () => {
    const created: unknown[] = [];
    class Watched extends MemoryEventStore {
      override async create(...words: unknown[]): Promise<void> {
        created.push(words);
      }
    }
    const { create } = openInbox({ store: new Watched() });
    const { readToken } = await create();
    expect(created).toHaveLength(1);
    expect(JSON.stringify(created)).not.toContain(readToken.slice(10));
  });

  it('claims its bytes before, and gives them back at expiry, at deletion and when the store fails (reliability 126)', async () => {
    const { time, inbox, create } = openInbox({ roomCount: 2 });
    const first = await create();
    await create();
    expect(inbox.capacity.claimedBytes).toBe(2 * CLAIM_BYTES);
    expect(inbox.capacity.tryClaim()).toBe(false);
    await inbox.deleteOf(first.id);
    expect(inbox.capacity.claimedBytes).toBe(CLAIM_BYTES);
    time.pass(LIFETIME_MS);
    expect(inbox.capacity.claimedBytes).toBe(0);

    class Broken extends MemoryEventStore {
      override create(): Promise<void> {
        return Promise.reject(new Error('disk full'));
      }
    }
    const broken = openInbox({ store: new Broken() });
    await expect(broken.create()).rejects.toThrow('disk full');
    expect(broken.inbox.capacity.claimedBytes).toBe(0);
    expect(broken.inbox.counts.live).toBe(0);
  });

  it('gives its room back once when it expires before the store fails to record it', async () => {
    let fail = (_failure: Error): void => {};
    const store = new MemoryEventStore();
    const { time, inbox, create } = openInbox({ store });
    const recorded = store.create.bind(store);
    store.create = () => new Promise((_, reject) => (fail = reject));
    const creating = create();
    time.pass(LIFETIME_MS);
    store.create = recorded;
    await create();
    fail(new Error('disk full'));
    await expect(creating).rejects.toThrow('disk full');
    expect([inbox.counts.live, inbox.capacity.claimedBytes]).toEqual([1, CLAIM_BYTES]);
  });

  it('that fails leaves a webhook admitted meanwhile without its callback, and gives its room back once', async () => {
    let fail = (_failure: Error): void => {};
    const store = new MemoryEventStore();
    const { time, inbox } = openInbox({ store });
    store.create = () => new Promise((_, reject) => (fail = reject));
    const draft = inbox.draft();
    expect(inbox.capacity.tryClaim()).toBe(true);
    const creating = inbox.create(draft);
    const admission = inbox.admit(draft.id);
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    fail(new Error('disk full'));
    await expect(creating).rejects.toThrow('disk full');
    expect(await inbox.receive(admission.callback, webhookOf('late'))).toEqual({ kind: 'not-found' });
    time.pass(LIFETIME_MS);
    expect(await inbox.receive(admission.callback, webhookOf('later'))).toEqual({ kind: 'not-found' });
    expect(inbox.capacity.claimedBytes).toBe(0);
  });

  it('has room again at the moment of an expiry, whenever the next sweep is', async () => {
    const { time, inbox, create } = openInbox({ roomCount: 2 });
    await create();
    time.pass(1_000);
    await create();
    time.pass(LIFETIME_MS - 1_000);
    await create();
    time.pass(999);
    expect(inbox.capacity.tryClaim()).toBe(false);
    time.pass(1);
    expect(inbox.counts.live).toBe(2); // not swept yet
    expect(inbox.capacity.tryClaim()).toBe(true);
    expect(inbox.counts.live).toBe(1);
  });

  it('is impossible without a claim', async () => {
    const { inbox } = openInbox();
    await expect(inbox.create()).rejects.toThrow('without a claim');
    expect(() => inbox.capacity.release()).toThrow();
    expect(() => inbox.capacity.releaseCommitted()).toThrow();
  });

  it('claims up to exactly its capacity', () => {
    for (const [capacityBytes, claims] of [
      [CLAIM_BYTES - 1, 0],
      [CLAIM_BYTES, 1],
      [3 * CLAIM_BYTES - 1, 2],
    ] as const) {
      const { capacity } = new Inbox(capacityBytes, {
        clock: new ManualTime(),
        timers: new ManualTime(),
        random: new Chance(1),
        store: new MemoryEventStore(),
        onFailure: () => {},
      });
      let count = 0;
      while (capacity.tryClaim()) count++;
      expect(count).toBe(claims);
    }
  });
});

describe('lifetime', () => {
  it('is counted on the monotonic clock, whatever the wall clock does (reliability 206)', async () => {
    const { time, inbox, create } = openInbox();
    const { id, readToken, expiresAtMs } = await create();
    time.stepWall(11 * 60_000);
    expect(inbox.authorize(id, readToken).kind).toBe('allowed');
    time.pass(300_000);
    time.stepWall(-22 * 60_000);
    expect(inbox.authorize(id, readToken).kind).toBe('allowed');
    expect(inbox.find(id)).toMatchObject({ id, expiresAtMs });
    expect(await inbox.eventsOf(id)).toEqual({ kind: 'events', events: [] });
    time.pass(300_000);
    expect(inbox.authorize(id, readToken).kind).toBe('expired');
  });

  it('is followed by an hour of 410 and then 404, events gone at once (reliability 204)', async () => {
    const { time, inbox, create, post } = openInbox();
    const { id, readToken } = await create();
    await post(id);
    time.pass(LIFETIME_MS);
    expect(inbox.counts).toMatchObject({ live: 0, tombstones: 1 });
    expect(await inbox.eventsOf(id)).toEqual({ kind: 'expired' });
    expect(inbox.authorize(id, readToken).kind).toBe('expired');
    expect(inbox.authorize(id, `${readToken}x`).kind).toBe('wrong-token');
    time.pass(TOMBSTONE_MS - 1);
    expect([inbox.authorize(id, readToken).kind, inbox.admit(id).kind]).toEqual(['expired', 'expired']);
    time.pass(1);
    expect([inbox.authorize(id, readToken).kind, inbox.admit(id).kind]).toEqual(['not-found', 'not-found']);
    expect(inbox.counts.tombstones).toBe(0);
  });

  it('counts the hour from the end, however late somebody looks (reliability 205)', async () => {
    const { time, inbox, create } = openInbox();
    const { id, readToken } = await create();
    time.areTimersStopped = true;
    time.pass(LIFETIME_MS + TOMBSTONE_MS - 1);
    expect(inbox.authorize(id, readToken).kind).toBe('expired');
    time.pass(1);
    expect(inbox.authorize(id, readToken).kind).toBe('not-found');
  });

  it('ends for thousands at once in turns of a bounded size, and leaves nothing behind', async () => {
    const { time, inbox, create, post } = openInbox({ roomCount: 3_000 });
    for (let i = 0; i < 1_500; i++) {
      const { id } = await create();
      if (i % 100 === 0) await post(id, 'y'.repeat(5_000));
    }
    const pendingCount = time.pendingCount;
    expect(pendingCount).toBeLessThan(10); // one timer a map, none a callback
    time.pass(LIFETIME_MS - 1);
    expect(inbox.counts.live).toBe(1_500);
    time.pass(1);
    expect(inbox.counts.live).toBe(0);
    time.pass(TOMBSTONE_MS + 1);
    await settle();
    expect(inbox.counts).toEqual({ live: 0, tombstones: 0, unknownIds: 0, waits: 0 });
    expect(inbox.capacity.claimedBytes).toBe(0);
    expect(time.pendingCount).toBe(0);
    expect(SWEEP_COUNT_MAX).toBeLessThan(1_500);
  });

  it('lives no longer for the time that a start takes to read it (invariant 8)', async () => {
    const time = new ManualTime();
    class SlowStore extends KeptStore {
      override async load(): Promise<readonly LoadedCallback[]> {
        time.pass(3_000);
        return super.load();
      }
    }
    const store = new SlowStore();
    const before = openInbox({ store, time });
    const made = [await before.create()];
    time.pass(2_000);
    made.push(await before.create());
    before.inbox.close();
    time.pass(LIFETIME_MS - 3_000);

    const after = openInbox({ store, time, roomCount: 0, tokens: before.inbox.tokens });
    await after.inbox.load();
    expect(made.map(({ id, readToken }) => after.inbox.authorize(id, readToken).kind)).toEqual(['expired', 'expired']);
    expect(after.inbox.counts).toMatchObject({ live: 0, tombstones: 2 });
  });

  it('survives a restart with what is left of it, events and token (invariant 8)', async () => {
    const time = new ManualTime();
    const store = new KeptStore();
    const before = openInbox({ store, time });
    const one = await before.create();
    time.pass(400_000);
    const two = await before.create();
    await before.post(two.id, '{"a": 1}', 'application/json');
    await before.post(two.id, 'z'.repeat(9_000));
    const listing = await before.inbox.eventsOf(two.id);
    time.pass(50_000);
    const three = await before.create();
    before.inbox.close();
    time.pass(200_000);

    const after = openInbox({ store, time, roomCount: 0, tokens: before.inbox.tokens });
    await after.inbox.load();
    expect(after.inbox.authorize(one.id, one.readToken).kind).toBe('expired');
    expect(after.inbox.authorize(two.id, two.readToken).kind).toBe('allowed');
    expect(await after.inbox.eventsOf(two.id)).toEqual(listing);
    expect(after.inbox.capacity.claimedBytes).toBe(2 * CLAIM_BYTES);
    time.pass(349_999);
    expect(after.inbox.authorize(two.id, two.readToken).kind).toBe('allowed');
    time.pass(10_000);
    // Whatever the order in which the store gave them, the first to expire is the first to give its room back.
    expect(after.inbox.capacity.claimedBytes).toBe(CLAIM_BYTES);
    expect(after.inbox.authorize(two.id, two.readToken).kind).toBe('expired');
    time.pass(40_000);
    expect(after.inbox.authorize(three.id, three.readToken).kind).toBe('allowed');
    time.pass(1);
    expect(after.inbox.authorize(three.id, three.readToken).kind).toBe('expired');
    expect(after.inbox.capacity.claimedBytes).toBe(0);
  });
});

describe('webhooks to one callback', () => {
  it('are stored one after another, also one that comes when the first is stored and the second is not', async () => {
    const store = new HeldStore();
    const { create, post } = openInbox({ store });
    const { id } = await create();
    const posted = [post(id, 'one'), post(id, 'two')];
    store.held[0]!.end();
    await posted[0];
    await settle();
    posted.push(post(id, 'three'));
    await settle();
    expect(store.held).toHaveLength(2);
    store.held[1]!.end();
    await posted[1];
    await settle();
    expect(store.held).toHaveLength(3);
    store.held[2]!.end();
    expect(await posted[2]).toMatchObject({ kind: 'stored' });
  });
});

describe('a callback that a start found expired', () => {
  const AHEAD_MS = 7_200_000;

  async function startedAhead(ageMs: number, { roomCount = 0, aheadMs = AHEAD_MS } = {}) {
    const time = new ManualTime();
    const store = new KeptStore();
    const before = openInbox({ store, time });
    const created = await before.create();
    await before.post(created.id, 'kept');
    before.inbox.close();
    time.pass(ageMs);
    time.stepWall(aheadMs);
    const after = openInbox({ store, time, roomCount, tokens: before.inbox.tokens });
    await after.inbox.load();
    const kindOf = () => after.inbox.authorize(created.id, created.readToken).kind;
    const storedCount = () => store.callbacks.get(created.id)?.events.length;
    return { ...after, time, created, kindOf, storedCount };
  }

  it('lives on once the clock is set back, until its end, and gives its room back at that time', async () => {
    const { time, inbox, created, kindOf, storedCount } = await startedAhead(100_000);
    expect(kindOf()).toBe('not-found');
    time.pass(60_000);
    expect([kindOf(), inbox.capacity.claimedBytes, storedCount()]).toEqual(['not-found', 0, 1]);
    time.stepWall(-AHEAD_MS);
    time.pass(1_000);
    expect([kindOf(), inbox.capacity.claimedBytes]).toEqual(['allowed', CLAIM_BYTES]);
    expect(await inbox.eventsOf(created.id)).toMatchObject({ events: [expect.stringContaining('kept')] });
    time.pass(LIFETIME_MS - 161_001);
    expect(kindOf()).toBe('allowed');
    time.pass(1);
    expect(kindOf()).toBe('expired');
    await settle();
    expect([inbox.capacity.claimedBytes, storedCount(), time.pendingCount > 0]).toEqual([0, 0, true]);
    inbox.close();
    expect(time.pendingCount).toBe(0);
  });

  it('is over for good, with its events and its record, after one lifetime', async () => {
    const { time, inbox, kindOf, storedCount } = await startedAhead(100_000);
    time.pass(LIFETIME_MS - 1);
    expect(storedCount()).toBe(1);
    time.pass(1);
    await settle();
    expect([storedCount(), time.pendingCount]).toEqual([undefined, 0]);
    time.stepWall(-AHEAD_MS - LIFETIME_MS);
    time.pass(2_000);
    expect([kindOf(), inbox.capacity.claimedBytes]).toEqual(['not-found', 0]);
  });

  it('lives on beside one that has ended by the same clock, which follows once the clock is set back further', async () => {
    const time = new ManualTime();
    const store = new KeptStore();
    const before = openInbox({ store, time });
    const first = await before.create();
    time.pass(100_000);
    const second = await before.create();
    before.inbox.close();
    time.stepWall(AHEAD_MS);
    const { inbox } = openInbox({ store, time, roomCount: 0, tokens: before.inbox.tokens });
    await inbox.load();
    const kinds = () => [first, second].map(({ id, readToken }) => inbox.authorize(id, readToken).kind);
    time.stepWall(LIFETIME_MS - 50_000 - AHEAD_MS);
    time.pass(1_000);
    expect(kinds()).toEqual(['not-found', 'allowed']);
    time.stepWall(50_000 - LIFETIME_MS);
    time.pass(1_000);
    expect(kinds()).toEqual(['allowed', 'allowed']);
  });

  it('lives no longer than one lifetime from the start, however far the clock is set back', async () => {
    const { time, kindOf } = await startedAhead(LIFETIME_MS - 1);
    time.stepWall(-2 * AHEAD_MS);
    time.pass(1_000);
    expect(kindOf()).toBe('allowed');
    time.pass(LIFETIME_MS - 1_001);
    expect(kindOf()).toBe('allowed');
    time.pass(1);
    expect(kindOf()).toBe('expired');
  });

  describe('beside many others', () => {
    const FEW_DELETED: string[] = Array(SWEEP_COUNT_MAX).fill('delete');
    const FEW_EXPIRED: string[] = Array(SWEEP_COUNT_MAX).fill('expire');

    /** The hour of 410 is over for as many as end at once, and begins for the others. */
    async function started(count: number) {
      const time = new ManualTime();
      const told: string[] = [];
      const answers: (() => void)[] = [];
      const telling = (what: string) => (): Promise<void> => {
        told.push(what);
        return new Promise((resolve) => answers.push(resolve));
      };
      const store = new KeptStore();
      store.expire = telling('expire');
      store.delete = telling('delete');
      for (let n = 0; n < count; n++) {
        const id = `cb_${String(n).padStart(24, '0')}` as CallbackId;
        const expiresAtMs = time.nowMs() - (n < SWEEP_COUNT_MAX ? TOMBSTONE_MS : LIFETIME_MS);
        await store.create({ id, tokenDigest: new Uint8Array(32), expiresAtMs });
      }
      const { inbox } = openInbox({ store, time });
      await inbox.load();
      time.pass(LIFETIME_MS + 10_000);
      await settle();
      time.pass(0);
      await settle();
      const answered = async (): Promise<void> => {
        for (const answer of answers.splice(0)) answer();
        await settle();
        time.pass(0);
      };
      return { time, inbox, told, answered };
    }

    it('is over with a few, and the next few once the store has those; its record stays for its hour of 410', async () => {
      const { inbox, told, answered } = await started(2 * SWEEP_COUNT_MAX + 1);
      expect(told).toEqual(FEW_DELETED);
      await answered();
      expect(told).toEqual([...FEW_DELETED, ...FEW_EXPIRED]);
      await answered();
      await answered();
      expect(told).toEqual([...FEW_DELETED, ...FEW_EXPIRED, 'expire']);
      inbox.close();
    });

    it('is left to the next start when the inbox closes meanwhile', async () => {
      const { time, inbox, told, answered } = await started(2 * SWEEP_COUNT_MAX);
      inbox.close();
      await answered();
      expect([told, time.pendingCount]).toEqual([FEW_DELETED, 0]);
    });
  });

  it('gives its room back before one that was created since the start', async () => {
    const { time, inbox, create, kindOf } = await startedAhead(100_000, { roomCount: 1 });
    const later = await create();
    time.stepWall(-AHEAD_MS);
    time.pass(1_000);
    expect([kindOf(), inbox.capacity.claimedBytes]).toEqual(['allowed', 2 * CLAIM_BYTES]);
    time.pass(LIFETIME_MS - 101_000 + SWEEP_PAUSE_MS);
    expect(inbox.capacity.claimedBytes).toBe(CLAIM_BYTES);
    expect(inbox.authorize(later.id, later.readToken).kind).toBe('allowed');
  });

  it('is unknown once it lives on and is deleted, though it was expired before', async () => {
    const { time, inbox, created, kindOf } = await startedAhead(100_000, { aheadMs: LIFETIME_MS });
    expect(kindOf()).toBe('expired');
    time.stepWall(-LIFETIME_MS);
    time.pass(1_000);
    expect(await inbox.deleteOf(created.id)).toEqual({ kind: 'deleted' });
    expect(kindOf()).toBe('not-found');
  });

  it('is looked at no more once the inbox is closed; where there is none, nothing is', async () => {
    const { time, inbox } = await startedAhead(100_000);
    expect(time.pendingCount).toBe(1);
    inbox.close();
    expect(time.pendingCount).toBe(0);
    const empty = openInbox();
    await empty.inbox.load();
    expect(empty.time.pendingCount).toBe(0);
  });
});

describe('the rate of a callback', () => {
  it.each(['live', 'unknown', 'expired', 'deleted'] as const)(
    'is 30 in 60 s for a(n) %s id (reliability 138, 140)',
    async (state) => {
      const { time, inbox, create } = openInbox();
      const { id } = await create();
      if (state === 'expired') time.pass(LIFETIME_MS);
      if (state === 'deleted') await inbox.deleteOf(id);
      const asked = state === 'unknown' ? UNKNOWN_ID : id;
      for (let i = 0; i < RATE_COUNT_MAX; i++) expect(inbox.admit(asked).kind).not.toBe('too-many');
      expect(inbox.admit(asked)).toEqual({ kind: 'too-many', retryAfterMs: 60_000 });
      time.pass(59_999);
      expect(inbox.admit(asked)).toEqual({ kind: 'too-many', retryAfterMs: 1 });
      time.pass(1);
      expect(inbox.admit(asked).kind).not.toBe('too-many');
    },
  );

  it('counts requests that come to nothing (reliability 140)', async () => {
    const { create, post } = openInbox();
    const { id } = await create();
    const kinds = [];
    for (let i = 0; i < 31; i++) kinds.push((await post(id, '{', 'application/json')).kind);
    expect(kinds.slice(0, 30)).toEqual(Array(30).fill('invalid-json'));
    expect(kinds[30]).toBe('too-many');
  });

  it('goes on across deletion and expiry', async () => {
    const { time, inbox, create } = openInbox();
    const { id } = await create();
    time.pass(LIFETIME_MS - 1_000);
    for (let i = 0; i < RATE_COUNT_MAX; i++) inbox.admit(id);
    time.pass(1_000);
    expect(inbox.admit(id).kind).toBe('too-many');
    time.pass(59_000);
    expect(inbox.admit(id).kind).toBe('expired');
  });

  it('is exact for live callbacks while unknown ids are forgotten (reliability 139)', async () => {
    const { inbox, create } = openInbox();
    const { id } = await create();
    for (let i = 0; i < RATE_COUNT_MAX; i++) inbox.admit(id);
    for (let i = 0; i < UNKNOWN_ID_COUNT_MAX + 1_000; i++)
      inbox.admit(`cb_${String(i).padStart(24, '0')}` as CallbackId);
    expect(inbox.counts.unknownIds).toBe(UNKNOWN_ID_COUNT_MAX);
    expect(inbox.admit(id).kind).toBe('too-many');
  });
});

describe('storing', () => {
  it('keeps ten events and refuses the eleventh, which still reads (reliability 145, 146)', async () => {
    const { inbox, create, post } = openInbox();
    const { id } = await create();
    expect(await post(id, 'not json', 'application/json')).toEqual({ kind: 'invalid-json' });
    for (let i = 0; i < EVENT_COUNT_MAX; i++) expect((await post(id, String(i))).kind).toBe('stored');
    expect(await post(id)).toEqual({ kind: 'full' });
    const listing = await inbox.eventsOf(id);
    expect(listing.kind === 'events' && listing.events.map((event) => JSON.parse(event).body)).toEqual(
      Array.from({ length: 10 }, (_, i) => String(i)),
    );
  });

  it('stores exactly one of fifty that arrive when nine are stored (reliability 144)', async () => {
    const { inbox, create, post, time } = openInbox();
    const { id } = await create();
    for (let i = 0; i < 9; i++) await post(id);
    time.pass(60_000);
    // Past the rate, which lets 30 through: what decides here is the moment of storing.
    const admission = inbox.admit(id);
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    const late = await Promise.all(
      Array.from({ length: 50 }, () => inbox.receive(admission.callback, webhookOf('late'))),
    );
    expect(late.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
    expect(late.filter(({ kind }) => kind === 'full')).toHaveLength(49);
  });

  it('frees the place of an event that the store failed to keep', async () => {
    const store = new HeldStore();
    const { inbox, create } = openInbox({ store });
    const { id } = await create();
    const admission = inbox.admit(id);
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    const posts = Array.from({ length: 11 }, () => inbox.receive(admission.callback, webhookOf('x')));
    const ends = Promise.allSettled(posts);
    for (let i = 0; i < 11; i++) {
      await settle();
      store.held[i]?.end(i === 3 ? new Error('disk full') : undefined);
    }
    const kinds = (await ends).map((end) => (end.status === 'fulfilled' ? end.value.kind : 'failed'));
    expect(kinds).toEqual([...Array(3).fill('stored'), 'failed', ...Array(7).fill('stored')]);
  });

  it('acknowledges and shows an event only when the store has it', async () => {
    const store = new HeldStore();
    const { inbox, create, post } = openInbox({ store });
    const { id } = await create();
    let posted: unknown;
    void post(id).then((result) => {
      posted = result;
    });
    const waited = waitOn(inbox, id, null, 30_000);
    await settle();
    expect(posted).toBeUndefined();
    expect(await inbox.eventsOf(id)).toMatchObject({ events: [] });
    store.held[0]!.end();
    expect((await waited).kind).toBe('event');
    await settle();
    expect(posted).toMatchObject({ kind: 'stored' });
  });

  it('answers 410 to a body that ends at the end of the callback, and stores nothing (reliability 179)', async () => {
    const { time, inbox, create } = openInbox();
    const { id } = await create();
    time.pass(LIFETIME_MS - 1);
    const admission = inbox.admit(id);
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    time.areTimersStopped = true;
    time.pass(1);
    expect(await inbox.receive(admission.callback, webhookOf('x'))).toEqual({ kind: 'expired' });
  });

  it('delivers in the last millisecond (reliability 180)', async () => {
    const { time, inbox, create, post } = openInbox();
    const { id } = await create();
    time.pass(LIFETIME_MS - 1);
    const waited = waitOn(inbox, id, null, 30_000);
    expect((await post(id)).kind).toBe('stored');
    expect((await waited).kind).toBe('event');
  });

  it('acknowledges nothing that expires while it is being stored (reliability 180)', async () => {
    const store = new HeldStore();
    const { time, inbox, create, post } = openInbox({ store });
    const { id } = await create();
    time.pass(LIFETIME_MS - 1);
    const posted = post(id, 'x'.repeat(5_000));
    const waited = waitOn(inbox, id, null, 30_000);
    await settle();
    time.pass(1);
    store.held[0]!.end();
    expect(await posted).toEqual({ kind: 'expired' });
    expect(await waited).toEqual({ kind: 'expired' });
    await settle();
    expect(store.size).toBe(0);
  });

  it('leaves nothing of a post that meets a deletion (reliability 178)', async () => {
    const store = new HeldStore();
    const { inbox, create, post } = openInbox({ store });
    const { id } = await create();
    const posted = post(id, 'x'.repeat(5_000));
    await settle();
    const deleted = inbox.deleteOf(id);
    await settle();
    const late = post(id, 'x'.repeat(5_000));
    store.held[0]!.end();
    expect(await posted).toMatchObject({ kind: 'stored' });
    expect(await deleted).toEqual({ kind: 'deleted' });
    expect(await late).toEqual({ kind: 'not-found' });
    expect(store.size).toBe(0);
    expect(inbox.counts.live).toBe(0);
  });

  it('never gives a later event an earlier time (reliability 182)', async () => {
    const { time, inbox, create, post } = openInbox();
    const { id } = await create();
    await post(id, 'a');
    time.stepWall(-3_600_000);
    await post(id, 'b');
    await post(id, 'c');
    time.stepWall(3_600_000);
    time.pass(5_000);
    await post(id, 'd');
    const listing = await inbox.eventsOf(id);
    if (listing.kind !== 'events') throw new Error(listing.kind);
    const events = listing.events.map((event) => JSON.parse(event) as { body: string; received_at: string });
    expect(events.map(({ body }) => body)).toEqual(['a', 'b', 'c', 'd']);
    const times = events.map(({ received_at }) => received_at);
    expect(times).toEqual([...times].sort());
    expect(new Set(times).size).toBe(2);
  });

  it('gives no event an earlier time than one before a restart', async () => {
    const time = new ManualTime();
    const store = new KeptStore();
    const before = openInbox({ store, time });
    const { id } = await before.create();
    await before.post(id, 'a');
    before.inbox.close();
    time.stepWall(-60_000);
    const { inbox, post } = openInbox({ store, time, tokens: before.inbox.tokens });
    await inbox.load();
    await post(id, 'b');
    const listing = await inbox.eventsOf(id);
    if (listing.kind !== 'events') throw new Error(listing.kind);
    const times = listing.events.map((event) => (JSON.parse(event) as { received_at: string }).received_at);
    expect(times[1]).toBe(times[0]);
  });

  it('makes two events of the same webhook sent twice (reliability 184)', async () => {
    const { create, post } = openInbox();
    const { id } = await create();
    const [one, two] = [await post(id), await post(id)];
    expect(one.kind === 'stored' && two.kind === 'stored' && one.eventId !== two.eventId).toBe(true);
  });

  it('never makes a read fail: ten of the worst bodies are read whole (reliability 160, 162, 202)', async () => {
    const { inbox, create, post } = openInbox();
    const { id } = await create();
    const worst = new Uint8Array(PAYLOAD_BYTES_MAX).fill(1);
    for (let i = 0; i < 7; i++) expect((await post(id, worst)).kind).toBe('stored');
    expect((await post(id, '['.repeat(256) + ']'.repeat(256), 'application/json')).kind).toBe('stored');
    expect((await post(id, '"\\ud800"', 'application/json')).kind).toBe('stored');
    expect((await post(id, new Uint8Array(PAYLOAD_BYTES_MAX).fill(0xff))).kind).toBe('stored');
    const handle = inbox.find(id);
    if (!('id' in handle)) throw new Error(handle.kind);
    const unfinished = await inbox.events(handle);
    // Of ten long events only the beginning of the first is there before somebody takes it.
    expect(unfinished.kind === 'events' && unfinished.events.every((event) => typeof event !== 'string')).toBe(true);
    const listing = await inbox.eventsOf(id);
    if (listing.kind !== 'events') throw new Error(listing.kind);
    const all = JSON.parse(`[${listing.events.join(',')}]`) as { body: unknown }[];
    expect(all[0]!.body).toBe('\u0001'.repeat(PAYLOAD_BYTES_MAX));
    expect(all[9]!.body).toBe('\ufffd'.repeat(PAYLOAD_BYTES_MAX));
  });
});

/** Its events cannot be read back for a while. */
class Unreadable extends MemoryEventStore {
  isFailing = true;

  override async read(...of: Parameters<MemoryEventStore['read']>): ReturnType<MemoryEventStore['read']> {
    if (this.isFailing) throw new Error('the disk');
    return super.read(...of);
  }
}

describe('waiting', () => {
  it('gets a stored event at once, oldest first, and the chain gives each once in order (reliability 195)', async () => {
    const { inbox, create, post } = openInbox();
    const { id } = await create();
    const ids = [];
    for (let i = 0; i < 3; i++) {
      const posted = await post(id);
      if (posted.kind === 'stored') ids.push(posted.eventId);
    }
    const seen = [];
    let after: string | null = null;
    for (let i = 0; i < 3; i++) {
      const waited: Waited = await waitOn(inbox, id, after, 1_000);
      if (waited.kind !== 'event') throw new Error(waited.kind);
      seen.push(waited.eventId);
      after = waited.eventId;
    }
    expect(seen).toEqual(ids);
  });

  it('refuses an event id that is not this callback’s (reliability 193)', async () => {
    const { inbox, create, post } = openInbox();
    const one = await create();
    const two = await create();
    const posted = await post(two.id);
    if (posted.kind !== 'stored') throw new Error(posted.kind);
    for (const after of [posted.eventId, `evt_${'0'.repeat(32)}`, 'nonsense', 'evt_']) {
      expect(waitOn(inbox, one.id, after, 1_000)).toEqual({ kind: 'unknown-event' });
    }
  });

  it('times out at its timeout, not before', async () => {
    const { time, inbox, create } = openInbox();
    const { id } = await create();
    const waited = Promise.resolve(waitOn(inbox, id, null, 5_000));
    let ended: Waited | undefined;
    void waited.then((result) => {
      ended = result;
    });
    time.pass(4_999);
    await settle();
    expect(ended).toBeUndefined();
    time.pass(1);
    expect(await waited).toEqual({ kind: 'timed-out' });
  });

  it.each([
    ['time-out', 0, 'timed-out'],
    ['callback’s end', LIFETIME_MS - 1_000, 'expired'],
  ])('looks at the clock again when the timer of its %s fires early', async (_, ageMs, kind) => {
    const time = new ManualTime();
    const { inbox, create } = openInbox({ time });
    await create();
    time.pass(1_000);
    const { id } = await create();
    time.pass(ageMs); // no sweep ends the callback in the next half minute
    const after = time.after.bind(time);
    let early = true;
    time.after = (delayMs, run) => {
      const cancel = after(early ? delayMs - 0.5 : delayMs, run);
      early = false;
      return cancel;
    };
    const waited = waitOn(inbox, id, null, 1_000);
    time.pass(999.6);
    expect(inbox.counts.waits).toBe(1);
    time.pass(1);
    expect(inbox.counts.waits).toBe(0);
    expect(await waited).toEqual({ kind });
  });

  it('ends with 410 at expiry, with 404 at deletion, with a time-out at shutdown (reliability 200, 201)', async () => {
    const { time, inbox, create } = openInbox();
    const [one, two, three] = [await create(), await create(), await create()];
    const deleted = waitOn(inbox, two.id, null, 30_000);
    await inbox.deleteOf(two.id);
    expect(await deleted).toEqual({ kind: 'not-found' });
    time.pass(LIFETIME_MS - 10_000);
    const expired = waitOn(inbox, one.id, null, 30_000);
    const four = await create();
    const atShutdown = waitOn(inbox, four.id, null, 30_000);
    time.pass(10_000);
    expect(await expired).toEqual({ kind: 'expired' });
    inbox.close();
    expect(await atShutdown).toEqual({ kind: 'timed-out' });
    expect(await waitOn(inbox, four.id, null, 30_000)).toEqual({ kind: 'timed-out' });
    expect(inbox.counts.waits).toBe(0);
    expect(inbox.authorize(three.id, three.readToken).kind).toBe('expired');
  });

  it('ends with 410 at the moment of expiry between two sweeps, and leaves no timer', async () => {
    const { time, inbox, create } = openInbox();
    await create();
    time.pass(1_000);
    const { id } = await create();
    time.pass(LIFETIME_MS - 1_000); // the sweep that ends the first one; the next is half a minute away
    expect(inbox.counts).toMatchObject({ live: 1, tombstones: 1 });
    const waits = [waitOn(inbox, id, null, 30_000)];
    const { pendingCount } = time;
    waits.push(waitOn(inbox, id, null, 1_000));
    expect(time.pendingCount).toBe(pendingCount); // both wait for the same end
    time.pass(999);
    expect(inbox.counts.waits).toBe(2);
    time.pass(1);
    expect(await Promise.all(waits)).toEqual([{ kind: 'expired' }, { kind: 'expired' }]);
    expect(inbox.counts).toMatchObject({ live: 0, tombstones: 2, waits: 0 });
    time.pass(SWEEP_PAUSE_MS);
    expect(time.pendingCount).toBe(1); // of the tombstones
  });

  it('leaves no timer of its callback’s end behind: neither at a deletion nor at shutdown', async () => {
    const { time, inbox, create } = openInbox();
    const [one, other] = [await create(), await create()];
    time.pass(LIFETIME_MS - 1_000);
    inbox.admit(UNKNOWN_ID);
    for (const { id } of [one, other]) void waitOn(inbox, id, null, 30_000);
    await inbox.deleteOf(other.id);
    inbox.close();
    expect(time.pendingCount).toBe(0);
  });

  it('ends with 410 at the moment of expiry even if no sweep runs', async () => {
    const { time, inbox, create } = openInbox();
    const { id } = await create();
    time.pass(LIFETIME_MS - 1_000);
    const waited = waitOn(inbox, id, null, 1_000);
    time.pass(1_000);
    expect(await waited).toEqual({ kind: 'expired' });
  });

  it('is held at most 64 times on one callback; an event that is there needs no place (reliability 196)', async () => {
    const { inbox, create, post } = openInbox();
    const { id } = await create();
    const other = await create();
    const waits = Array.from({ length: WAIT_COUNT_MAX }, () => waitOn(inbox, id, null, 30_000));
    expect(waitOn(inbox, id, null, 30_000)).toEqual({ kind: 'too-many-waits' });
    expect(waitOn(inbox, other.id, null, 30_000)).toBeInstanceOf(Promise);
    const posted = await post(id);
    const woken = await Promise.all(waits);
    expect(
      woken.every((end) => end.kind === 'event' && posted.kind === 'stored' && end.eventId === posted.eventId),
    ).toBe(true);
    expect((await waitOn(inbox, id, null, 30_000)).kind).toBe('event');
  });

  it('frees its place, timer and listener when the client leaves (reliability 198)', async () => {
    const { time, inbox, create } = openInbox();
    const { id } = await create();
    const pendingCount = time.pendingCount;
    for (let i = 0; i < 1_000; i++) {
      const leaver = client();
      const waited = waitOn(inbox, id, null, 30_000, leaver);
      leaver.leave();
      expect(await waited).toEqual({ kind: 'disconnected' });
    }
    expect(time.pendingCount).toBe(pendingCount);
    expect(inbox.counts.waits).toBe(0);
    const gone = client();
    gone.leave();
    expect(await waitOn(inbox, id, null, 30_000, gone)).toEqual({ kind: 'disconnected' });
    expect(inbox.counts.waits).toBe(0);
  });

  it('that has ended listens no more, and is not ended again when its client leaves', async () => {
    const { time, inbox, create } = openInbox();
    const { id } = await create();
    const leaver = client();
    const woken: string[] = [];
    inbox.waitOf(id, null, 1_000, leaver, { woken: ({ kind }) => woken.push(kind) });
    expect(leaver.listeningCount).toBe(1);
    time.pass(1_000);
    expect(leaver.listeningCount).toBe(0);
    leaver.leave();
    expect(woken).toEqual(['timed-out']);
    expect(inbox.counts.waits).toBe(0);
  });

  it('is woken with a long event as it is read back, once', async () => {
    const { inbox, create, post } = openInbox();
    const { id } = await create();
    const waits = [waitOn(inbox, id, null, 30_000), waitOn(inbox, id, null, 30_000)];
    const body = `{"text":"${'é'.repeat(20_000)}"}`;
    const posted = await post(id, body, 'application/json');
    const woken = await Promise.all(waits);
    if (posted.kind !== 'stored' || woken[0]?.kind !== 'event') throw new Error(posted.kind);
    expect(JSON.parse((await jsonOf(woken[0].event)) as string)).toMatchObject({
      id: posted.eventId,
      body: JSON.parse(body),
      size_bytes: 40_011,
    });
    expect(woken[1]).toEqual(woken[0]);
    const next = waitOn(inbox, id, posted.eventId, 30_000);
    await post(id, 'short');
    expect(await next).toMatchObject({ kind: 'event' });
    expect(await next).not.toMatchObject({ eventId: posted.eventId });
    expect(inbox.counts.waits).toBe(0);
  });

  it('is woken with an event too long for one piece, whose beginning is read back once (reliability 202)', async () => {
    class Counting extends MemoryEventStore {
      readonly read0: number[] = [];
      override read(...of: Parameters<MemoryEventStore['read']>): ReturnType<MemoryEventStore['read']> {
        this.read0.push(of[2]);
        return super.read(...of);
      }
    }
    const store = new Counting();
    const { inbox, create, post } = openInbox({ store });
    const { id } = await create();
    const waits = Array.from({ length: WAIT_COUNT_MAX }, () => waitOn(inbox, id, null, 30_000));
    expect((await post(id, new Uint8Array(PAYLOAD_BYTES_MAX).fill(1))).kind).toBe('stored');
    const woken = await Promise.all(waits);
    expect(store.read0).toEqual([0]);
    for (const end of [woken[0], woken.at(-1)]) {
      if (end?.kind !== 'event') throw new Error(end?.kind);
      expect(JSON.parse((await jsonOf(end.event)) as string).body).toBe('\u0001'.repeat(PAYLOAD_BYTES_MAX));
    }
  });

  it('goes on when a long event cannot be read back, and finds it when it asks again', async () => {
    const store = new Unreadable();
    const { time, inbox, create, post, faults } = openInbox({ store });
    const { id } = await create();
    const waited = waitOn(inbox, id, null, 5_000);
    expect((await post(id, 'x'.repeat(9_000))).kind).toBe('stored');
    expect(faults).toHaveLength(1);
    time.pass(5_000);
    expect(await waited).toEqual({ kind: 'timed-out' });
    store.isFailing = false;
    expect((await waitOn(inbox, id, null, 5_000)).kind).toBe('event');
    expect(inbox.counts.waits).toBe(0);
  });

  it('whose long event cannot be read back is told of no later one, and ends with its callback', async () => {
    const store = new Unreadable();
    const { time, inbox, create, post } = openInbox({ store });
    const { id } = await create();
    time.pass(590_000); // its end comes before the wait's
    const waited = waitOn(inbox, id, null, 30_000);
    const long = await post(id, 'x'.repeat(9_000));
    await post(id, 'short');
    expect(inbox.counts.waits).toBe(1);
    store.isFailing = false;
    expect(await waitOn(inbox, id, null, 5_000)).toMatchObject({
      kind: 'event',
      eventId: (long as { eventId: string }).eventId,
    });
    time.pass(10_000);
    expect(await waited).toEqual({ kind: 'expired' });
    expect(inbox.counts.waits).toBe(0);
  });

  it('sees an event that is stored between the look and the wait, in any order of turns (reliability 194)', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { inbox, create, post, time } = openInbox({ seed: turns });
      const { id } = await create();
      const posting = post(id, 'x'.repeat(turns % 2 === 0 ? 1 : 6_000));
      for (let i = 0; i < turns; i++) await Promise.resolve();
      const waited = waitOn(inbox, id, null, 1_000);
      expect((await posting).kind).toBe('stored');
      expect((await waited).kind).toBe('event');
      time.pass(2_000);
    }
  });
});

describe('reading and deleting', () => {
  it('checks existence, then token, then expiry (reliability 185)', async () => {
    const { time, inbox, create } = openInbox();
    const { id, readToken } = await create();
    const other = await create();
    expect(inbox.authorize(UNKNOWN_ID, readToken).kind).toBe('not-found');
    expect(inbox.authorize(id, '').kind).toBe('wrong-token');
    expect(inbox.authorize(id, other.readToken).kind).toBe('wrong-token');
    expect(inbox.authorize(id, readToken).kind).toBe('allowed');
    time.pass(LIFETIME_MS);
    expect(inbox.authorize(id, other.readToken).kind).toBe('wrong-token');
    expect(inbox.authorize(id, readToken).kind).toBe('expired');
  });

  it('deletes once, without a trace (reliability 203)', async () => {
    const { inbox, create, post } = openInbox();
    const { id, readToken } = await create();
    await post(id);
    expect(await inbox.deleteOf(id)).toEqual({ kind: 'deleted' });
    expect(await inbox.deleteOf(id)).toEqual({ kind: 'not-found' });
    expect(inbox.authorize(id, readToken)).toEqual({ kind: 'not-found' });
    expect(inbox.counts).toMatchObject({ live: 0, tombstones: 0 });
  });

  it('stays live, with its events, while the store cannot delete it, and is deleted when it is asked again', async () => {
    const store = new MemoryEventStore();
    const removes = vi.spyOn(store, 'delete').mockRejectedValueOnce(new Error('disk full'));
    const { inbox, create, post } = openInbox({ store });
    const { id } = await create();
    await post(id, 'x'.repeat(9_000));
    await expect(inbox.deleteOf(id)).rejects.toThrow('disk full');
    expect(await inbox.eventsOf(id)).toMatchObject({ kind: 'events', events: [expect.anything()] });
    expect(await post(id)).toMatchObject({ kind: 'stored' });
    expect(await inbox.deleteOf(id)).toEqual({ kind: 'deleted' });
    expect([removes.mock.calls.length, store.size, inbox.counts.live]).toEqual([2, 0, 0]);
  });

  it.each(['before', 'after'] as const)('a lifetime that ends %s the store has deleted ends it once', async (when) => {
    const store = new MemoryEventStore();
    let end = (): void => {};
    vi.spyOn(store, 'delete').mockReturnValueOnce(new Promise((resolve) => (end = resolve)));
    const { time, inbox, create } = openInbox({ store });
    const { id } = await create();
    const deleted = inbox.deleteOf(id);
    await settle();
    if (when === 'before') time.pass(LIFETIME_MS);
    end();
    expect(await deleted).toEqual({ kind: 'deleted' });
    time.pass(LIFETIME_MS);
    await settle();
    expect(inbox.capacity.claimedBytes).toBe(0);
    expect(inbox.counts.live).toBe(0);
  });

  it('a read of an event whose deletion the store has begun finds no callback', async () => {
    const store = new MemoryEventStore();
    let end = (): void => {};
    const { inbox, create, post } = openInbox({ store });
    const { id } = await create();
    await post(id, 'x'.repeat(9_000));
    const remove = store.delete.bind(store);
    vi.spyOn(store, 'delete').mockImplementationOnce(async (of) => {
      await remove(of);
      await new Promise<void>((resolve) => (end = resolve));
    });
    const deleted = inbox.deleteOf(id);
    await settle();
    expect(await inbox.eventsOf(id)).toEqual({ kind: 'not-found' });
    end();
    expect(await deleted).toEqual({ kind: 'deleted' });
  });

  it.each(['expired', 'not-found'] as const)('answers %s to a handle whose callback has ended so', async (kind) => {
    const { time, inbox, create, post } = openInbox();
    const { id } = await create();
    await post(id);
    const handle = inbox.find(id);
    if (!('id' in handle)) throw new Error(handle.kind);
    time.areTimersStopped = true;
    if (kind === 'expired') time.pass(LIFETIME_MS);
    else await inbox.delete(handle);
    expect(await inbox.receive(handle, webhookOf('late'))).toEqual({ kind });
    expect(inbox.wait(handle, null, 1_000, client(), { woken: () => {} })).toEqual({ kind });
    expect(await inbox.events(handle)).toEqual({ kind });
    expect(await inbox.raw(handle, 'any')).toEqual({ kind });
    expect(await inbox.delete(handle)).toEqual({ kind });
    expect(inbox.capacity.claimedBytes).toBe(0);
  });

  it('takes no handle but its own', async () => {
    const { inbox } = openInbox();
    expect(() => inbox.events({ id: UNKNOWN_ID, expiresAtMs: 0 })).toThrow('not a callback of this inbox');
  });

  it('fails to read an event that the store has lost, also after a deletion that failed', async () => {
    const store = new MemoryEventStore();
    const { inbox, create, post } = openInbox({ store });
    const { id } = await create();
    await post(id, 'x'.repeat(9_000));
    vi.spyOn(store, 'delete').mockRejectedValueOnce(new Error('disk full'));
    await expect(inbox.deleteOf(id)).rejects.toThrow('disk full');
    await store.delete(id);
    await expect(inbox.eventsOf(id)).rejects.toThrow('the store has lost');
  });

  it('fails before the first byte where the first event too long for one piece cannot be read', async () => {
    const { inbox, create, post } = openInbox({ store: new Unreadable() });
    const { id } = await create();
    await post(id, 'short');
    await post(id, 'x'.repeat(PAYLOAD_BYTES_MAX));
    const handle = inbox.find(id);
    if (!('id' in handle)) throw new Error(handle.kind);
    await expect(inbox.events(handle)).rejects.toThrow('the disk');
  });

  it('finishes as many events as fit one piece of the answer, to the byte', async () => {
    const { inbox, create, post } = openInbox();
    const finished = async (bodies: readonly string[]): Promise<readonly EventJson[]> => {
      const { id } = await create();
      for (const body of bodies) await post(id, body);
      const handle = inbox.find(id);
      const listing = 'id' in handle ? await inbox.events(handle) : handle;
      return listing.kind === 'events' ? listing.events : [];
    };
    const [sample] = await finished(['x'.repeat(1_000)]);
    const aroundBytes = String(sample).length - 1_000;
    const roomBytes = PIECE_BYTES_MAX - FRAME_BYTES_MAX - 1;
    const longest = '\u0001'.repeat(3_500);
    const restBytes = roomBytes - 2 * 6 * longest.length - 3 * aroundBytes;
    const filling = '\u0001'.repeat(Math.floor(restBytes / 6)) + 'x'.repeat(restBytes % 6);
    const kinds = async (last: string) => (await finished([longest, longest, last, 'x'])).map((event) => typeof event);
    expect(await kinds(filling)).toEqual(['string', 'string', 'string', 'object']);
    expect(await kinds(`${filling}x`)).toEqual(['string', 'string', 'object', 'object']);
    expect((await finished(['x'.repeat(9_000), 'x'])).map((event) => typeof event)).toEqual(['string', 'string']);
  });

  it('answers a read that a deletion overtakes as not found (reliability 200)', async () => {
    const overtaken = Promise.withResolvers<void>();
    class SlowReads extends MemoryEventStore {
      override async read(...event: Parameters<MemoryEventStore['read']>): ReturnType<MemoryEventStore['read']> {
        await overtaken.promise;
        return super.read(...event);
      }
    }
    const { inbox, create, post } = openInbox({ store: new SlowReads() });
    const { id } = await create();
    const posted = await post(id, 'x'.repeat(9_000));
    if (posted.kind !== 'stored') throw new Error(posted.kind);
    const reads = [inbox.eventsOf(id), waitOn(inbox, id, null, 1_000), inbox.rawOf(id, posted.eventId)];
    expect(await inbox.deleteOf(id)).toEqual({ kind: 'deleted' });
    overtaken.resolve();
    for (const read of reads) expect(await read).toEqual({ kind: 'not-found' });
    expect(await inbox.rawOf(id, posted.eventId)).toEqual({ kind: 'not-found' });
  });

  it('gives back the exact bytes of short and long events', async () => {
    const { inbox, create, post } = openInbox();
    const { id } = await create();
    for (const length of [0, 1, 5_000, PAYLOAD_BYTES_MAX]) {
      const body = new Uint8Array(length).fill(0x61);
      const posted = await post(id, body, 'text/plain; charset=utf-8');
      if (posted.kind !== 'stored') throw new Error(posted.kind);
      const raw = await inbox.rawOf(id, posted.eventId);
      expect(raw).toMatchObject({ kind: 'raw', contentType: 'text/plain; charset=utf-8' });
      expect(raw.kind === 'raw' && raw.bytes.length === length && raw.bytes.every((byte) => byte === 0x61)).toBe(true);
    }
    expect(await inbox.rawOf(id, `evt_${'0'.repeat(32)}`)).toEqual({ kind: 'unknown-event' });
  });

  it('tells about a store that fails where nobody waits', async () => {
    class Broken extends MemoryEventStore {
      override expire(): Promise<void> {
        return Promise.reject(new Error('disk gone'));
      }
    }
    const { time, create, faults } = openInbox({ store: new Broken() });
    await create();
    time.pass(LIFETIME_MS);
    await settle();
    expect(faults).toHaveLength(1);
  });
});
