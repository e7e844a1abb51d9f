/** What every store of resolves promises (siblings §7). The test owns the clock. */
import { describe, expect, it } from 'vitest';
import { newResolveId, resolveTokenDigest } from '../../src/resolve/identifier.ts';
import { KEPT_MS, START_KEPT_MS, SWEEP_PAUSE_MS, TOMBSTONE_MS } from '../../src/resolve/limits.ts';
import { outcomeJson, type ResolveRecord, type ResolveStore } from '../../src/resolve/resolve-store.ts';
import { failedWith } from '../../src/resolve/result.ts';
import { Chance } from '../support/chance.ts';
import { type ManualTime, settle } from '../support/manual-time.ts';
import { withRemoved } from './opened.ts';

export interface OpenedResolves {
  readonly store: ResolveStore;
  /** Opens what a kill at this moment leaves; undefined where nothing outlives the process. */
  readonly reopen?: () => Promise<ResolveStore>;
  remove(): Promise<void>;
}

const OUTCOME = outcomeJson(failedWith('TLS_ERROR', 'an outcome with é, 🌍 and \u2028'));
const random = new Chance(7);

function newRecord(time: ManualTime): ResolveRecord {
  const question = { url: 'https://target.example/a?b=ü', include: ['text', 'links'] as const };
  return { id: newResolveId(random), tokenDigest: resolveTokenDigest('token'), createdAtMs: time.nowMs(), question };
}

/** @param open an empty store */
export function describeResolves(name: string, open: (time: ManualTime) => Promise<OpenedResolves>): void {
  const using = (test: (opened: OpenedResolves, time: ManualTime) => Promise<void>) => withRemoved(open, test);
  const statusOf = async (store: ResolveStore, { id }: ResolveRecord): Promise<string | undefined> =>
    (await store.find(id))?.status;

  describe(name, () => {
    it('know a resolve from its creation on, with the digest of its token', () =>
      using(async ({ store }, time) => {
        const record = newRecord(time);
        expect(await store.find(record.id)).toBeUndefined();
        await store.create(record);
        const { id, tokenDigest, createdAtMs } = record;
        expect(await store.find(id)).toEqual({ id, tokenDigest, createdAtMs, status: 'pending' });
        expect(await statusOf(store, newRecord(time))).toBeUndefined();
      }));

    it('give the first outcome back as it was, and count its bytes', () =>
      using(async ({ store }, time) => {
        const record = newRecord(time);
        await Promise.all([store.create(record), store.finish(record.id, 'failed', OUTCOME)]);
        await store.finish(record.id, 'resolved', '"result":null,"failure":null');
        expect(await statusOf(store, record)).toBe('failed');
        expect(await store.readOutcome(record.id)).toBe(OUTCOME);
        expect(store.counts).toMatchObject({ live: 1, tombstones: 0, storedBytes: Buffer.byteLength(OUTCOME) });
      }));

    it('create one draft once, with one outcome, however many requests were sold it', () =>
      using(async ({ store, reopen }, time) => {
        const record = newRecord(time);
        const other = outcomeJson(failedWith('TARGET_TIMEOUT'));
        const makings = [OUTCOME, other].map((outcome) =>
          Promise.all([store.create(record), store.finish(record.id, 'failed', outcome)]),
        );
        await Promise.all(makings);
        await store.create({ ...record, createdAtMs: record.createdAtMs + 1 });
        expect(await statusOf(store, record)).toBe('failed');
        const kept = (await store.readOutcome(record.id)) ?? '';
        expect([OUTCOME, other]).toContain(kept);
        const storedBytes = Buffer.byteLength(kept);
        expect(store.counts).toMatchObject({ live: 1, storedBytes });
        expect((await reopen?.())?.counts ?? { storedBytes }).toMatchObject({ storedBytes });
      }));

    it('keep it for an hour to the millisecond, and its id for another', () =>
      using(async ({ store }, time) => {
        const record = newRecord(time);
        await store.create(record);
        await store.finish(record.id, 'failed', OUTCOME);
        time.pass(KEPT_MS - 1);
        expect(await statusOf(store, record)).toBe('failed');
        time.pass(1);
        expect(await statusOf(store, record)).toBe('expired');
        time.pass(60_000);
        await settle();
        const countsAre = (counts: object) => expect.poll(() => store.counts).toMatchObject(counts);
        await countsAre({ live: 0, tombstones: 1, storedBytes: 0 });
        expect(await store.readOutcome(record.id)).toBeUndefined();
        time.pass(TOMBSTONE_MS - 60_001);
        expect(await statusOf(store, record)).toBe('expired');
        time.pass(1);
        expect(await statusOf(store, record)).toBeUndefined();
        time.pass(60_000);
        await countsAre({ live: 0, tombstones: 0 });
      }));

    it('expire by the clock alone, though no timer fires', () =>
      using(async ({ store }, time) => {
        const record = newRecord(time);
        await store.create(record);
        time.areTimersStopped = true;
        time.pass(KEPT_MS);
        expect(await statusOf(store, record)).toBe('expired');
        time.pass(TOMBSTONE_MS);
        expect(await statusOf(store, record)).toBeUndefined();
      }));

    it('removes what is over though an older one was created while the clock ran ahead', () =>
      using(async ({ store }, time) => {
        const YEAR_MS = 365 * 24 * KEPT_MS;
        time.stepWall(YEAR_MS);
        const ahead = newRecord(time);
        await store.create(ahead);
        time.stepWall(-YEAR_MS);
        for (let hours = 0; hours < 3; hours++) {
          const record = newRecord(time);
          await store.create(record);
          await store.finish(record.id, 'failed', OUTCOME);
          time.pass(KEPT_MS + 60_000);
          await settle();
        }
        const left = { live: 1, tombstones: 1, storedBytes: 0 };
        await expect.poll(() => store.counts).toMatchObject(left);
        expect(await statusOf(store, ahead)).toBe('pending');
      }));

    it('have all of it again after a kill: outcomes, tombstones, and what is pending, once', () =>
      using(async ({ store, reopen }, time) => {
        if (reopen === undefined) return;
        const [expired, pendingThen] = [newRecord(time), newRecord(time)];
        for (const one of [expired, pendingThen]) await store.create(one);
        await store.finish(expired.id, 'failed', OUTCOME);
        time.pass(KEPT_MS / 2);
        const [done, pending] = [newRecord(time), newRecord(time)];
        for (const one of [done, pending]) await store.create(one);
        await store.finish(done.id, 'resolved', OUTCOME);
        time.pass(KEPT_MS / 2);
        const again = await reopen();
        // A store whose clock may be ahead also gives what looks over.
        const taken = await again.takePending();
        expect(taken.filter(({ id }) => id !== pendingThen.id)).toEqual([pending]);
        expect(await again.takePending()).toEqual([]);
        const statuses = await Promise.all([expired, pendingThen, done, pending].map((one) => statusOf(again, one)));
        expect(statuses).toEqual(['expired', 'expired', 'resolved', 'pending']);
        expect(await again.readOutcome(done.id)).toBe(OUTCOME);
        time.pass(START_KEPT_MS + SWEEP_PAUSE_MS);
        const left = { live: 2, tombstones: 2, storedBytes: Buffer.byteLength(OUTCOME) };
        await expect.poll(() => again.counts).toMatchObject(left);
        await again.finish(pending.id, 'failed', OUTCOME);
        expect(await again.readOutcome(pending.id)).toBe(OUTCOME);
        time.pass(KEPT_MS);
        expect(await Promise.all([expired, done].map((one) => statusOf(again, one)))).toEqual([undefined, 'expired']);
      }));
  });
}
