/**
 * What every store of callbacks does, whatever it is made of. A store that outlives its process is closed and opened again
 * by `reopen`; one that does not has none, and those tests are not run for it.
 */
import { describe, expect, it } from 'vitest';
import type { EventPart, EventRecord } from '../../src/callback/event.ts';
import type { CallbackId, EventId } from '../../src/callback/identifier.ts';
import type { CallbackRecord, EventStore } from '../../src/callback/inbox/event-store.ts';
import { EVENT_PART_BYTES } from '../../src/callback/limits.ts';

export interface EventStoreUnderTest {
  readonly store: EventStore;
  /** Closes it, as a kill would, and opens what it left; undefined = nothing outlives the process. */
  readonly reopen?: () => Promise<EventStore>;
  close(): Promise<void>;
}

const NOW_MS = Date.UTC(2026, 7, 1, 12);
const HOUR_MS = 3_600_000;

const callbackOf = (n: number, expiresAtMs = NOW_MS + 600_000): CallbackRecord => ({
  id: `cb_${String(n).padStart(24, '0')}` as CallbackId,
  tokenDigest: new Uint8Array(32).fill(n),
  expiresAtMs,
});

const eventOf = (n: number, isInline: boolean, bytes: Uint8Array = Uint8Array.of(n)): EventRecord => ({
  id: `evt_${String(n).padStart(32, '0')}` as EventId,
  receivedAtSeconds: NOW_MS / 1000 + n,
  head: `{"id":"${n}","headers":{"x-signature":"é\\"\\u0000"},"body":`,
  form: n % 2 === 0 ? { kind: 'json' } : { kind: 'text', charset: 'utf-16le' },
  bytes,
  isInline,
});

export function describeEventStore(name: string, open: () => Promise<EventStoreUnderTest>): void {
  const using = async (test: (state: EventStoreUnderTest) => Promise<void>): Promise<void> => {
    const state = await open();
    try {
      await test(state);
    } finally {
      await state.close();
    }
  };

  describe(`${name} as an event store`, () => {
    it('is empty at first', () =>
      using(async ({ store }) => {
        expect(await store.load(NOW_MS, HOUR_MS)).toEqual([]);
        expect(await store.read(callbackOf(1).id, eventOf(1, false).id, 0)).toBeUndefined();
      }));

    it.each([0, 1, 4_097, EVENT_PART_BYTES - 1, EVENT_PART_BYTES, EVENT_PART_BYTES + 1, 262_144])(
      'gives back a long event of %i bytes as it was, one part at a time (reliability 202)',
      (length) =>
        using(async ({ store }) => {
          const callback = callbackOf(1);
          const event = eventOf(
            1,
            false,
            Uint8Array.from({ length }, (_, i) => (i + (i >> 8)) & 0xff),
          );
          await store.create(callback);
          await store.append(callback.id, { ...event, bytes: event.bytes.slice() }); // the store's from then on
          const parts: EventPart[] = [];
          for (;;) {
            const part = await store.read(callback.id, event.id, parts.length);
            if (part === undefined) break;
            parts.push(part);
          }
          const { head, form } = event;
          for (const part of parts) expect(part).toMatchObject({ head, form, sizeBytes: length });
          expect(parts.map(({ bytes }) => bytes.length)).toEqual(
            Array.from({ length: Math.max(1, Math.ceil(length / EVENT_PART_BYTES)) }, (_, i) =>
              Math.min(EVENT_PART_BYTES, length - i * EVENT_PART_BYTES),
            ),
          );
          expect(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(Buffer.from(event.bytes))).toBe(true);
          expect(await store.read(callback.id, event.id, 1_000)).toBeUndefined();
          // Parts are given again, in any order.
          expect((await store.read(callback.id, event.id, parts.length - 1))?.bytes.length).toBe(
            parts.at(-1)!.bytes.length,
          );
        }),
    );

    it('keeps ten events of each of many callbacks apart', () =>
      using(async ({ store }) => {
        for (let c = 0; c < 20; c++) {
          await store.create(callbackOf(c));
          for (let e = 0; e < 10; e++) await store.append(callbackOf(c).id, eventOf(e, false, Uint8Array.of(c, e)));
        }
        for (let c = 0; c < 20; c++) {
          for (let e = 0; e < 10; e++) {
            const read = await store.read(callbackOf(c).id, eventOf(e, false).id, 0);
            expect([...(read?.bytes ?? [])]).toEqual([c, e]);
          }
        }
      }));

    it.each(['delete', 'expire'] as const)('has no event left after %s, and no fault when asked twice', (end) =>
      using(async ({ store }) => {
        const [one, two] = [callbackOf(1), callbackOf(2)];
        for (const callback of [one, two]) {
          await store.create(callback);
          await store.append(callback.id, eventOf(1, false));
        }
        await store[end](one.id);
        await store[end](one.id);
        await store[end](callbackOf(3).id);
        expect(await store.read(one.id, eventOf(1, false).id, 0)).toBeUndefined();
        expect(await store.read(two.id, eventOf(1, false).id, 0)).toBeDefined();
      }),
    );

    it('has whatever was acknowledged when it is opened again, and nothing that was deleted', () =>
      using(async ({ store, reopen }) => {
        if (reopen === undefined) return;
        const [live, deleted, over, expired] = [
          callbackOf(1),
          callbackOf(2),
          callbackOf(3, NOW_MS - 1),
          callbackOf(4, NOW_MS - 2 * HOUR_MS),
        ];
        for (const callback of [live, deleted, over, expired]) {
          await store.create(callback);
          for (let e = 0; e < 10; e++) await store.append(callback.id, eventOf(e, e % 3 === 0, Uint8Array.of(e)));
        }
        await store.delete(deleted.id);
        await store.expire(over.id);
        const again = await reopen();
        const loaded = await again.load(NOW_MS, HOUR_MS);
        const found = loaded.find(({ callback }) => callback.id === live.id);
        expect(found && { ...found.callback, tokenDigest: [...found.callback.tokenDigest] }).toEqual({
          ...live,
          tokenDigest: [...live.tokenDigest],
        });
        expect(found?.events.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, e) => eventOf(e, false).id));
        for (const [e, event] of (found?.events ?? []).entries()) {
          const { bytes, ...rest } = eventOf(e, e % 3 === 0, Uint8Array.of(e));
          expect(event).toMatchObject({ ...rest, sizeBytes: bytes.length });
          if (event.isInline) expect([...(event.bytes ?? [])]).toEqual([...bytes]);
          else expect([...((await again.read(live.id, event.id, 0))?.bytes ?? [])]).toEqual([...bytes]);
        }
        expect(loaded.some(({ callback }) => callback.id === deleted.id)).toBe(false);
        const countOf = ({ id }: CallbackRecord) => loaded.find(({ callback }) => callback.id === id)?.events.length;
        // The clock of the start may be ahead, so one that no process has ended yet has its events.
        expect([countOf(over) ?? 0, countOf(expired)]).toEqual([0, 10]);
      }));
  });
}
