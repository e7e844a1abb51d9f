/**
 * Random schedules against a model of a page: lists of bodies and plain times. The model knows the contract and nothing of
 * the inbox. A failure prints its seed and the shortest schedule.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Created, Waited } from '../../../src/callback/callbacks.ts';
import type { EventPart, EventRecord } from '../../../src/callback/event.ts';
import type { CallbackId, EventId } from '../../../src/callback/identifier.ts';
import { MemoryEventStore } from '../../../src/storage/memory/event-store.ts';
import { Chance } from '../../support/chance.ts';
import { settle } from '../../support/manual-time.ts';
import { client, openInbox, waitOn, webhookOf } from '../../support/opened-inbox.ts';
import { partOf } from '../../support/whole.ts';

const LIFETIME_MS = 600_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

interface ModelCallback {
  readonly created: Created;
  readonly endsAtMs: number;
  isDeleted: boolean;
  readonly events: { readonly id: string; readonly body: string }[];
  readonly passes: number[];
}

interface ModelWait {
  readonly of: ModelCallback;
  readonly deadlineMs: number;
  readonly leave: () => void;
  expected: string | undefined;
  actual: string | undefined;
}

type Step =
  | { readonly do: 'create' }
  | { readonly do: 'post'; readonly which: number; readonly size: number; readonly isJson: boolean }
  | { readonly do: 'wait'; readonly which: number; readonly after: number; readonly seconds: number }
  | { readonly do: 'leave'; readonly which: number }
  | { readonly do: 'delete'; readonly which: number }
  | { readonly do: 'list'; readonly which: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'stepWall'; readonly ms: number };

const which = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('post' as const),
      which,
      size: fc.constantFrom(0, 1, 200, 5_000),
      isJson: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      which,
      after: fc.integer({ min: -2, max: 11 }),
      seconds: fc.integer({ min: 1, max: 30 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('list' as const), which }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 999, 1_000, 10_000, 30_000, 59_999, 60_000, 299_999, 600_000, 3_600_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('stepWall' as const), ms: fc.integer({ min: -1e7, max: 1e7 }) }),
  },
);

const shortOf = (waited: Waited): string => (waited.kind === 'event' ? `event ${waited.eventId}` : waited.kind);

async function run(steps: readonly Step[], areTimersStopped: boolean): Promise<void> {
  const opened = openInbox({ roomCount: 6 });
  const { time, inbox, store } = opened;
  time.areTimersStopped = areTimersStopped;
  const callbacks: ModelCallback[] = [];
  const waits: ModelWait[] = [];
  const nowMs = (): number => time.monotonicMs();
  const stateOf = (callback: ModelCallback): 'live' | 'expired' | 'not-found' => {
    if (callback.isDeleted) return 'not-found';
    if (nowMs() < callback.endsAtMs) return 'live';
    return nowMs() < callback.endsAtMs + HOUR_MS ? 'expired' : 'not-found';
  };
  const liveCount = (): number => callbacks.filter((callback) => stateOf(callback) === 'live').length;
  const openWaits = (of: ModelCallback): ModelWait[] =>
    waits.filter((wait) => wait.of === of && wait.expected === undefined);
  /** Bodies are all different, so that an event in the wrong place shows. */
  let bodyCount = 0;

  for (const step of steps) {
    const callback = 'which' in step && step.do !== 'leave' ? callbacks[step.which] : undefined;
    const id = callback?.created.id as CallbackId;
    switch (step.do) {
      case 'create': {
        if (areTimersStopped && callbacks.length >= 6) break; // room comes back with the look or the sweep
        const claimed = inbox.capacity.tryClaim();
        expect(claimed).toBe(areTimersStopped || liveCount() < 6);
        if (!claimed) break;
        const created = await inbox.create();
        callbacks.push({ created, endsAtMs: nowMs() + LIFETIME_MS, isDeleted: false, events: [], passes: [] });
        break;
      }
      case 'post': {
        if (callback === undefined) break;
        const state = stateOf(callback);
        const recent = callback.passes.filter((pass) => nowMs() - pass < MINUTE_MS);
        const body = `${++bodyCount}${'y'.repeat(step.size)}`;
        const isJson = step.isJson && step.size > 1; // such a body is no JSON
        const admission = inbox.admit(id);
        if (recent.length >= 30) {
          expect(admission.kind).toBe('too-many');
          break;
        }
        callback.passes.push(nowMs());
        if (state !== 'live' || callback.events.length >= 10) {
          expect(admission.kind).toBe(state === 'live' ? 'full' : state);
          break;
        }
        if (admission.kind !== 'admitted') throw new Error(admission.kind);
        const received = await inbox.receive(
          admission.callback,
          webhookOf(body, isJson ? 'application/json' : 'text/plain'),
        );
        expect(received.kind).toBe(isJson ? 'invalid-json' : 'stored');
        if (received.kind !== 'stored') break;
        callback.events.push({ id: received.eventId, body });
        for (const wait of openWaits(callback)) wait.expected = `event ${received.eventId}`;
        break;
      }
      case 'wait': {
        if (callback === undefined) break;
        const after = step.after === -1 ? null : (callback.events[step.after]?.id ?? `evt_${'f'.repeat(32)}`);
        const leaver = client();
        const openCount = openWaits(callback).length;
        const waited = waitOn(inbox, id, after, step.seconds * 1_000, leaver);
        const state = stateOf(callback);
        const index = after === null ? -1 : callback.events.findIndex((event) => event.id === after);
        const timeoutAtMs = nowMs() + step.seconds * 1_000;
        const wait: ModelWait = {
          of: callback,
          deadlineMs: Math.min(timeoutAtMs, callback.endsAtMs),
          leave: leaver.leave,
          expected: undefined,
          actual: undefined,
        };
        if (state !== 'live') wait.expected = state;
        else if (after !== null && index < 0) wait.expected = 'unknown-event';
        else if (index + 1 < callback.events.length) wait.expected = `event ${callback.events[index + 1]!.id}`;
        else if (openCount >= 64) wait.expected = 'too-many-waits';
        waits.push(wait);
        void Promise.resolve(waited).then((result) => {
          wait.actual = shortOf(result);
        });
        break;
      }
      case 'leave': {
        const open = waits.filter((wait) => wait.expected === undefined);
        const wait = open[step.which % Math.max(1, open.length)];
        if (wait === undefined) break;
        wait.leave();
        wait.expected = 'disconnected';
        break;
      }
      case 'delete': {
        if (callback === undefined) break;
        const state = stateOf(callback);
        expect((await inbox.deleteOf(id)).kind).toBe(state === 'live' ? 'deleted' : state);
        if (state !== 'live') break;
        callback.isDeleted = true;
        for (const wait of openWaits(callback)) wait.expected = 'not-found';
        break;
      }
      case 'list': {
        if (callback === undefined) break;
        const state = stateOf(callback);
        const listing = await inbox.eventsOf(id);
        const token = inbox.authorize(id, callback.created.readToken).kind;
        expect(token).toBe(state === 'live' ? 'allowed' : state);
        if (state !== 'live' || listing.kind !== 'events') {
          expect(listing.kind).toBe(state);
          break;
        }
        const shown = listing.events.map(
          (event) => JSON.parse(event) as { id: string; body: string; received_at: string },
        );
        expect(shown.map(({ id, body }) => ({ id, body }))).toEqual(callback.events);
        const times = shown.map(({ received_at }) => received_at);
        expect(times).toEqual([...times].sort());
        break;
      }
      case 'pass': {
        const before = nowMs();
        time.pass(step.ms);
        if (areTimersStopped) break;
        for (const wait of waits) {
          if (wait.expected !== undefined || wait.deadlineMs > nowMs()) continue;
          expect(wait.deadlineMs).toBeGreaterThan(before);
          wait.expected = wait.deadlineMs === wait.of.endsAtMs ? 'expired' : 'timed-out';
        }
        break;
      }
      case 'stepWall':
        time.stepWall(step.ms);
        break;
      default:
        step satisfies never;
    }
    await settle();
    // With every timer stopped a wait past its deadline ends when somebody looks; its answer is not the matter there.
    if (!areTimersStopped) expect(waits.map(({ actual }) => actual)).toEqual(waits.map(({ expected }) => expected));
    expect(inbox.capacity.claimedBytes).toBeLessThanOrEqual(6 * 2_686_976);
  }

  time.areTimersStopped = false;
  inbox.close();
  await settle();
  expect(inbox.counts.waits).toBe(0);
  for (const { created } of callbacks) await inbox.deleteOf(created.id);
  await settle();
  expect(inbox.counts.live).toBe(0);
  expect(inbox.capacity.claimedBytes).toBe(0);
  expect((store as MemoryEventStore).size).toBe(0);
  expect(opened.faults).toEqual([]);
}

it('any schedule of creating, posting, waiting, leaving, deleting and passing time goes as the model says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80 }), (steps) =>
      run([{ do: 'create' }, ...steps], false),
    ),
    { numRuns: partOf(300) },
  );
});

it('any schedule gives the same answers when no timer ever fires (reliability 205)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) =>
      run([{ do: 'create' }, ...steps.filter((each) => each.do !== 'wait' && each.do !== 'leave')], true),
    ),
    { numRuns: partOf(150) },
  );
});

/** Appends end in random turns. */
class SlowStore extends MemoryEventStore {
  /** Whose turns these are; the test sets it for each seed. */
  random = new Chance(0);

  override async append(id: CallbackId, event: EventRecord): Promise<void> {
    for (let turns = this.random.below(6); turns > 0; turns--) await Promise.resolve();
    await super.append(id, event);
  }

  override async read(id: CallbackId, eventId: EventId, index: number): Promise<EventPart | undefined> {
    for (let turns = this.random.below(4); turns > 0; turns--) await Promise.resolve();
    return super.read(id, eventId, index);
  }
}

it('a chain of waits gives each of ten events once, in order, whatever the turns (invariant 10, reliability 194, 195)', async () => {
  // One inbox for all seeds: making one takes longer than a chain.
  const store = new SlowStore();
  const { inbox, create } = openInbox({ store });
  for (let seed = 0; seed < 400; seed++) {
    const random = new Chance(seed);
    store.random = random;
    const { id } = await create();
    const acknowledged: string[] = [];
    const sender = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) {
        for (let turns = random.below(8); turns > 0; turns--) await Promise.resolve();
        const admission = inbox.admit(id);
        if (admission.kind !== 'admitted') throw new Error(admission.kind);
        const received = await inbox.receive(admission.callback, webhookOf('x'.repeat(random.below(2) * 5_000)));
        if (received.kind === 'stored') acknowledged.push(received.eventId);
      }
    };
    const reader = async (): Promise<string[]> => {
      const seen: string[] = [];
      while (seen.length < 10) {
        const leaver = client();
        const waited = waitOn(inbox, id, seen.at(-1) ?? null, 30_000, leaver);
        if (random.below(4) === 0) {
          for (let turns = random.below(5); turns > 0; turns--) await Promise.resolve();
          leaver.leave();
        }
        const end = await waited;
        if (end.kind === 'event') seen.push(end.eventId);
        else expect(end.kind).toBe('disconnected');
      }
      return seen;
    };
    const [first, second] = await Promise.all([reader(), reader(), sender(), sender()]);
    const listing = await inbox.eventsOf(id);
    if (listing.kind !== 'events') throw new Error(listing.kind);
    const stored = listing.events.map((event) => (JSON.parse(event) as { id: string }).id);
    expect(first, `seed ${seed}`).toEqual(stored);
    expect(second, `seed ${seed}`).toEqual(stored);
    expect([...acknowledged].sort()).toEqual([...stored].sort());
    const handle = inbox.find(id);
    if ('id' in handle) await inbox.delete(handle);
  }
});
