/** What every implementation of the callbacks promises, whether it answers now or later. The test owns the clock. */
import { describe, expect, it } from 'vitest';
import type { CallbackHandle, Callbacks, Created, Waited } from '../../src/callback/callbacks.ts';
import type { CallbackId } from '../../src/callback/identifier.ts';
import {
  CLAIM_BYTES,
  EVENT_COUNT_MAX,
  LIFETIME_MS,
  RATE_COUNT_MAX,
  RATE_WINDOW_MS,
  READ_COUNT_MAX,
  READ_WINDOW_MS,
  TOMBSTONE_MS,
  WAIT_COUNT_MAX,
} from '../../src/callback/limits.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { client, finishedRaw, jsonOf, webhookOf } from '../support/opened-inbox.ts';
import { type Opened, withOpened } from './opened.ts';

const NO_ID = `cb_${'0'.repeat(24)}` as CallbackId;

/** A callback and what a request with its read token finds. */
interface Made extends Created {
  readonly handle: CallbackHandle;
}

class Kit {
  readonly callbacks: Callbacks;
  readonly time: ManualTime;

  constructor(callbacks: Callbacks, time: ManualTime) {
    this.callbacks = callbacks;
    this.time = time;
  }

  async make(): Promise<Made> {
    if (!(await this.callbacks.capacity.tryClaim())) throw new Error('no capacity');
    const created = await this.callbacks.create(this.callbacks.draft());
    const authorized = await this.callbacks.authorize(created.id, created.readToken);
    if (authorized.kind !== 'allowed') throw new Error(authorized.kind);
    return { ...created, handle: authorized.callback };
  }

  /** @returns the event's id */
  async post(id: CallbackId, body: string | Uint8Array = 'x', contentType = 'text/plain'): Promise<string> {
    const admission = await this.callbacks.admit(id);
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    const received = await this.callbacks.receive(admission.callback, webhookOf(body, contentType));
    if (received.kind !== 'stored') throw new Error(received.kind);
    return received.eventId;
  }

  /** The end of a wait, however it is given. */
  wait(handle: CallbackHandle, after: string | null, timeoutMs: number, from = client()): Promise<Waited> {
    return new Promise((resolve, reject) => {
      const waited = this.callbacks.wait(handle, after, timeoutMs, from, { woken: resolve });
      if (waited instanceof Promise) waited.then(resolve, reject);
      else if (waited.kind !== 'parked') resolve(waited);
    });
  }

  async bodies(handle: CallbackHandle): Promise<unknown[]> {
    const listing = await this.callbacks.events(handle);
    if (listing.kind !== 'events') throw new Error(listing.kind);
    const events = await Promise.all(listing.events.map(jsonOf));
    return events.map((event) => (JSON.parse(event as string) as { body: unknown }).body);
  }
}

/** @param open makes callbacks without any, with capacity for `capacityCount` */
export function describeCallbacks(
  name: string,
  open: (time: ManualTime, capacityCount: number) => Promise<Opened<Callbacks>>,
): void {
  const using = (test: (kit: Kit) => Promise<void>, capacityCount = 100): Promise<void> => {
    const time = new ManualTime();
    return withOpened(open(time, capacityCount), (callbacks) => test(new Kit(callbacks, time)));
  };

  describe(name, () => {
    it('live ten minutes and are answered as expired for an hour', () =>
      using(async (kit) => {
        const { callbacks, time } = kit;
        const { id, readToken, expiresAtMs, handle } = await kit.make();
        expect(expiresAtMs).toBe(time.nowMs() + LIFETIME_MS);
        expect(handle).toMatchObject({ id, expiresAtMs });
        time.pass(LIFETIME_MS - 1);
        expect(await callbacks.authorize(id, readToken)).toMatchObject({ kind: 'allowed', callback: { id } });
        expect((await callbacks.admit(id)).kind).toBe('admitted');
        time.pass(1);
        expect(await callbacks.authorize(id, readToken)).toEqual({ kind: 'expired' });
        expect(await callbacks.admit(id)).toEqual({ kind: 'expired' });
        expect(await callbacks.events(handle)).toEqual({ kind: 'expired' });
        expect(await callbacks.receive(handle, webhookOf('late'))).toEqual({ kind: 'expired' });
        expect(await callbacks.delete(handle)).toEqual({ kind: 'expired' });
        await settle();
        time.pass(TOMBSTONE_MS);
        expect(await callbacks.authorize(id, readToken)).toEqual({ kind: 'not-found' });
      }));

    it('check existence, then token, then expiry', () =>
      using(async (kit) => {
        const { callbacks, time } = kit;
        const [one, other] = [await kit.make(), await kit.make()];
        expect(await callbacks.authorize(NO_ID, one.readToken)).toEqual({ kind: 'not-found' });
        expect(await callbacks.authorize(one.id, other.readToken)).toEqual({ kind: 'wrong-token' });
        expect(await callbacks.authorize(one.id, '')).toEqual({ kind: 'wrong-token' });
        time.pass(LIFETIME_MS);
        expect(await callbacks.authorize(one.id, other.readToken)).toEqual({ kind: 'wrong-token' });
        expect(await callbacks.authorize(one.id, one.readToken)).toEqual({ kind: 'expired' });
      }));

    it('claim capacity before creation and release it at the end or when there is no creation', () =>
      using(async (kit) => {
        const { capacity } = kit.callbacks;
        expect(capacity.capacityBytes).toBe(2 * CLAIM_BYTES);
        const claims = await Promise.all(Array.from({ length: 5 }, async () => capacity.tryClaim()));
        expect(claims.filter(Boolean)).toHaveLength(2);
        expect(capacity.claimedBytes).toBe(2 * CLAIM_BYTES);
        await capacity.release();
        await capacity.release();
        const { handle } = await kit.make();
        await kit.make();
        expect(await capacity.tryClaim()).toBe(false);
        await kit.callbacks.delete(handle);
        expect(await capacity.tryClaim()).toBe(true);
        await capacity.release();
        kit.time.pass(LIFETIME_MS);
        // A sweep that asks a database takes a moment.
        await expect.poll(() => capacity.claimedBytes).toBe(0);
      }, 2));

    it('store ten events, short and long, and give them back in order and to the byte', () =>
      using(async (kit) => {
        const { handle, id } = await kit.make();
        const bodies = Array.from(
          { length: EVENT_COUNT_MAX },
          (_, i) => `${i}${'y'.repeat([3, 9_000, 200_000][i % 3]!)}`,
        );
        const ids: string[] = [];
        for (const body of bodies) ids.push(await kit.post(id, body));
        expect(await kit.callbacks.admit(id)).toEqual({ kind: 'full' });
        expect(await kit.bodies(handle)).toEqual(bodies);
        for (const [i, body] of bodies.entries()) {
          const raw = await kit.callbacks.raw(handle, ids[i]!);
          expect(raw.kind === 'raw' && (await finishedRaw(raw)).bytes.toString()).toBe(body);
        }
        expect(await kit.callbacks.raw(handle, `evt_${'0'.repeat(32)}`)).toEqual({ kind: 'unknown-event' });
      }));

    it('store ten of twenty concurrent webhooks', () =>
      using(async (kit) => {
        const { handle, id } = await kit.make();
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, async (_, i) => {
            const admission = await kit.callbacks.admit(id);
            if (admission.kind !== 'admitted') return admission.kind;
            return (await kit.callbacks.receive(admission.callback, webhookOf(String(i)))).kind;
          }),
        );
        expect(outcomes.filter((kind) => kind === 'stored')).toHaveLength(EVENT_COUNT_MAX);
        expect(outcomes.filter((kind) => kind === 'full')).toHaveLength(20 - EVENT_COUNT_MAX);
        expect(await kit.bodies(handle)).toHaveLength(EVENT_COUNT_MAX);
      }));

    it('refuse JSON that is none and store nothing of it', () =>
      using(async (kit) => {
        const { handle, id } = await kit.make();
        const admission = await kit.callbacks.admit(id);
        if (admission.kind !== 'admitted') throw new Error(admission.kind);
        const received = await kit.callbacks.receive(admission.callback, webhookOf('{', 'application/json'));
        expect(received).toEqual({ kind: 'invalid-json' });
        expect(await kit.bodies(handle)).toEqual([]);
      }));

    it('admit thirty webhooks a minute to one id, live or not', () =>
      using(async (kit) => {
        const { id } = await kit.make();
        for (const asked of [id, NO_ID]) {
          for (let i = 0; i < RATE_COUNT_MAX; i++) expect((await kit.callbacks.admit(asked)).kind).not.toBe('too-many');
          expect(await kit.callbacks.admit(asked)).toEqual({ kind: 'too-many', retryAfterMs: RATE_WINDOW_MS });
        }
        kit.time.pass(RATE_WINDOW_MS);
        expect((await kit.callbacks.admit(id)).kind).toBe('admitted');
      }));

    it('admit webhooks again after a minute though the wall clock is set back meanwhile', () =>
      using(async (kit) => {
        for (let i = 0; i < RATE_COUNT_MAX; i++) await kit.callbacks.admit(NO_ID);
        kit.time.stepWall(-3_600_000);
        kit.time.pass(RATE_WINDOW_MS);
        expect((await kit.callbacks.admit(NO_ID)).kind).toBe('not-found');
      }));

    it('let six hundred reads of one callback begin in any minute (decisions §5)', () =>
      using(async (kit) => {
        const { callbacks, time } = kit;
        const [one, other] = [await kit.make(), await kit.make()];
        const kindOf = async ({ id }: Made, token = one.readToken) => (await callbacks.admitRead(id, token)).kind;
        for (let i = 0; i < READ_COUNT_MAX; i++) {
          if (i === READ_COUNT_MAX / 2) time.pass(1_000);
          expect(await callbacks.admitRead(one.id, one.readToken)).toMatchObject({
            kind: 'allowed',
            callback: one.handle,
          });
          if (i % 100 === 0) expect(await kindOf(one, other.readToken)).toBe('wrong-token');
        }
        const tooMany = { kind: 'too-many', retryAfterMs: READ_WINDOW_MS - 1_000 };
        expect(await callbacks.admitRead(one.id, one.readToken)).toEqual(tooMany);
        expect(await kindOf(one, other.readToken)).toBe('wrong-token');
        expect(await kindOf(other, other.readToken)).toBe('allowed');
        expect((await callbacks.authorize(one.id, one.readToken)).kind).toBe('allowed');
        expect((await callbacks.admit(one.id)).kind).toBe('admitted');
        time.pass(READ_WINDOW_MS - 1_001);
        expect(await callbacks.admitRead(one.id, one.readToken)).toEqual({ kind: 'too-many', retryAfterMs: 1 });
        time.pass(1);
        for (let i = 0; i < READ_COUNT_MAX / 2; i++) expect(await kindOf(one)).toBe('allowed');
        expect(await callbacks.admitRead(one.id, one.readToken)).toEqual({ kind: 'too-many', retryAfterMs: 1_000 });
        expect(await callbacks.delete(one.handle)).toEqual({ kind: 'deleted' });
        expect(await kindOf(one)).toBe('not-found');
        time.pass(LIFETIME_MS);
        expect(await kindOf(other, other.readToken)).toBe('expired');
      }));

    it('read an event that is deleted during the read to its end, or say so (reliability 202)', () =>
      using(async (kit) => {
        for (const end of ['not-found', 'expired'] as const) {
          const { handle, id } = await kit.make();
          const eventId = await kit.post(id, 'z'.repeat(200_000));
          const listing = await kit.callbacks.events(handle);
          const raw = await kit.callbacks.raw(handle, eventId);
          const waited = await kit.wait(handle, null, 1_000);
          if (end === 'expired') kit.time.pass(LIFETIME_MS);
          else await kit.callbacks.delete(handle);
          await settle();
          if (listing.kind !== 'events' || raw.kind !== 'raw' || waited.kind !== 'event') throw new Error('no event');
          // The store may take a moment to remove it.
          await expect.poll(() => raw.event.read(1)).toEqual({ kind: end });
          for (const event of [listing.events[0]!, waited.event]) {
            const json = await jsonOf(event);
            expect(typeof json === 'string' ? JSON.parse(json).body : json.kind).toBe(end);
          }
          expect(raw.first.length).toBeGreaterThan(0);
        }
      }));

    it('give a chain of waits every event once, in order, stored before or after the wait began', () =>
      using(async (kit) => {
        const { handle, id } = await kit.make();
        const posted: string[] = [];
        const seen: string[] = [];
        for (let i = 0; i < 6; i++) {
          if (i % 2 === 0) posted.push(await kit.post(id, 'z'.repeat(i % 3 === 0 ? 10 : 9_000)));
          const waiting = kit.wait(handle, seen.at(-1) ?? null, 30_000);
          if (i % 2 === 1) {
            await settle();
            posted.push(await kit.post(id));
          }
          const waited = await waiting;
          if (waited.kind !== 'event') throw new Error(waited.kind);
          seen.push(waited.eventId);
        }
        expect(seen).toEqual(posted);
        for (const unknown of [`evt_${'0'.repeat(32)}`, '\0', `${seen[0]}\0`, '\ud800', ' ']) {
          expect(await kit.wait(handle, unknown, 1_000)).toEqual({ kind: 'unknown-event' });
        }
      }));

    it('end a wait by its timeout, a disconnect, the deletion or the expiry of its callback, and at shutdown', () =>
      using(async (kit) => {
        const { callbacks, time } = kit;
        const [one, two, three] = [await kit.make(), await kit.make(), await kit.make()];
        const leaver = client();
        const stayer = client();
        const timedOut = kit.wait(one.handle, null, 5_000, stayer);
        const gone = kit.wait(one.handle, null, 5_000, leaver);
        const deleted = kit.wait(two.handle, null, 30_000);
        await settle();
        expect(callbacks.counts.waits).toBe(3);
        leaver.leave();
        expect(await gone).toEqual({ kind: 'disconnected' });
        expect(await callbacks.delete(two.handle)).toEqual({ kind: 'deleted' });
        expect(await deleted).toEqual({ kind: 'not-found' });
        expect(stayer.listeningCount).toBe(1);
        time.pass(5_000);
        expect(await timedOut).toEqual({ kind: 'timed-out' });
        expect(stayer.listeningCount).toBe(0);
        time.pass(LIFETIME_MS - 6_000);
        const expired = kit.wait(three.handle, null, 30_000);
        const four = await kit.make();
        const atShutdown = kit.wait(four.handle, null, 30_000);
        await settle();
        time.pass(1_000);
        expect(await expired).toEqual({ kind: 'expired' });
        callbacks.drain();
        expect(await atShutdown).toEqual({ kind: 'timed-out' });
        expect(await kit.wait(four.handle, null, 30_000)).toEqual({ kind: 'timed-out' });
        expect(callbacks.counts.waits).toBe(0);
      }));

    it('hold sixty-four waits on one callback', () =>
      using(async (kit) => {
        const { handle, id } = await kit.make();
        const waits = Array.from({ length: WAIT_COUNT_MAX }, () => kit.wait(handle, null, 30_000));
        await settle();
        expect(await kit.wait(handle, null, 30_000)).toEqual({ kind: 'too-many-waits' });
        const eventId = await kit.post(id);
        for (const waited of await Promise.all(waits)) expect(waited).toMatchObject({ kind: 'event', eventId });
      }));

    it('delete without a trace, once', () =>
      using(async (kit) => {
        const { handle, id, readToken } = await kit.make();
        await kit.post(id, 'z'.repeat(9_000));
        expect(await kit.callbacks.delete(handle)).toEqual({ kind: 'deleted' });
        expect(await kit.callbacks.delete(handle)).toEqual({ kind: 'not-found' });
        expect(await kit.callbacks.events(handle)).toEqual({ kind: 'not-found' });
        expect(await kit.callbacks.receive(handle, webhookOf('late'))).toEqual({ kind: 'not-found' });
        expect(await kit.callbacks.authorize(id, readToken)).toEqual({ kind: 'not-found' });
        expect(kit.callbacks.counts).toMatchObject({ live: 0, tombstones: 0 });
      }));
  });
}
