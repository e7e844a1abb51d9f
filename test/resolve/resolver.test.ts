/** Outcomes that come after the answer, while the state cannot be asked, and when the server stops. */
import { describe, expect, it, vi } from 'vitest';
import type { DisconnectListener } from '../../src/base/disconnect-listener.ts';
import type { AfterSettlement } from '../../src/http/answers.ts';
import { createResolve } from '../../src/modules/resolve/create.ts';
import { newResolveId, resolveTokenDigest } from '../../src/resolve/identifier.ts';
import {
  KEPT_MS,
  OUTCOME_BYTES_MAX,
  PAYER_WORK_COUNT_MAX,
  STORED_BYTES_IN_MEMORY,
  WORK_COUNT_MAX,
  WORK_MS,
} from '../../src/resolve/limits.ts';
import type { ResolveRecord, ResolveStore } from '../../src/resolve/resolve-store.ts';
import { Resolver, type WaitingClient } from '../../src/resolve/resolver.ts';
import type { Extracted } from '../../src/resolve/work.ts';
import { MemoryResolves } from '../../src/storage/memory/resolves.ts';
import { Chance } from '../support/chance.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { TargetsByAddress } from '../support/targets-by-address.ts';

const URL_ASKED = 'https://slow.example/';
const QUESTION = { url: URL_ASKED, include: ['metadata'] as const };

/** A store as one behind a network is: it answers later, or not at all. */
class StoreThatGoesAway implements ResolveStore {
  isAway = false;
  finishCount = 0;
  pending: ResolveRecord[] = [];
  tellPending = (): void => {};
  room = (): number => 0;
  readonly #store: MemoryResolves;

  constructor(time: ManualTime, capacityBytes: number) {
    this.#store = new MemoryResolves({ clock: time, timers: time, onFailure: () => {} }, { capacityBytes });
  }

  get counts() {
    return this.#store.counts;
  }

  onPending(listener: () => void, room: () => number): void {
    this.tellPending = listener;
    this.room = room;
  }

  takePending() {
    return this.pending.splice(0);
  }

  create: ResolveStore['create'] = (record) => this.#asked(() => this.#store.create(record));
  find: ResolveStore['find'] = (id) => this.#asked(() => this.#store.find(id));
  readOutcome: ResolveStore['readOutcome'] = (id) => this.#asked(() => this.#store.readOutcome(id));
  finish: ResolveStore['finish'] = (...given) => {
    this.finishCount++;
    return this.#asked(() => this.#store.finish(...given));
  };

  async #asked<Answer>(ask: () => Answer): Promise<Awaited<Answer>> {
    if (this.isAway) throw new Error('the database is away');
    return await ask();
  }
}

const readAsNothing = async (): Promise<Extracted> => ({
  kind: 'read',
  sha256: '0'.repeat(64),
  sizeBytes: 1,
  content: { ...NOTHING },
});

function opened(capacityBytes = STORED_BYTES_IN_MEMORY, extracted = readAsNothing) {
  const time = new ManualTime();
  const random = new Chance(1);
  const store = new StoreThatGoesAway(time, capacityBytes);
  const outbound = new TargetsByAddress();
  outbound.targets.set(URL_ASKED, 'held');
  const failures: unknown[] = [];
  const finished: (readonly [status: string, durationMs: number])[] = [];
  const extractionsMs: number[] = [];
  const resolver = new Resolver({
    clock: time,
    timers: time,
    random,
    outbound,
    extractor: {
      extract: async (_, timeoutMs) => {
        extractionsMs.push(timeoutMs);
        return extracted();
      },
    },
    store,
    onFailure: (failure) => failures.push(failure),
    onFinished: ({ status }, durationMs) => finished.push([status, durationMs]),
  });
  /** A place, and the wait for its work. */
  const begun = (waitMs: number, client: WaitingClient | undefined, url = URL_ASKED) => {
    const judged = outbound.policy.judge(url);
    const claim = resolver.tryClaim('0xpayer');
    if (!judged.ok || claim === undefined) throw new Error('the test cannot begin');
    return { claim, waited: claim.run({ ...QUESTION, url }, judged.target, waitMs, client) };
  };
  /** A resolve whose answer was 202. */
  const pending = async () => {
    const { claim, waited } = begun(0, new Leaving());
    expect(await waited).toEqual({ kind: 'pending' });
    return claim.keep(resolver.draft(), QUESTION);
  };
  return { begun, extractionsMs, failures, finished, outbound, pending, random, resolver, store, time };
}

/** A client that leaves, or whose answer was sent, when the test says so. */
class Leaving implements WaitingClient {
  leave = (): void => {};

  onDisconnect(listener: DisconnectListener): void {
    this.leave = () => listener.handleEvent();
  }
}

const NOTHING = { metadata: null, text: null, links: null, warnings: [] };

describe('a resolve that was answered with 202', () => {
  it('keeps its outcome while the state is away, and records it once it is back', async () => {
    const { failures, outbound, pending, resolver, store, time } = opened();
    const shown = await pending();
    store.isAway = true;
    await outbound.answer(URL_ASKED, { body: 'x' });
    await expect.poll(() => failures.length).toBe(1);
    time.pass(5000);
    await settle();
    expect([store.finishCount, resolver.claimCount]).toEqual([2, 1]);
    store.isAway = false;
    time.pass(5000);
    await settle();
    expect(await resolver.show(shown)).toMatchObject({ status: 'resolved' });
    expect(resolver.claimCount).toBe(0);
  });

  it('gives its place back when its hour is over and there is nothing to record any more', async () => {
    const { outbound, pending, resolver, store, time } = opened();
    await pending();
    store.isAway = true;
    await outbound.answer(URL_ASKED, { body: 'x' });
    await expect.poll(() => store.finishCount).toBe(1);
    time.pass(KEPT_MS);
    store.isAway = false;
    for (let i = 0; i < 20; i++) {
      time.pass(5000);
      await settle();
    }
    expect(resolver.claimCount).toBe(0);
    expect(store.counts.storedBytes).toBe(0);
  });

  it('gives its place back when its hour is over while its creation could not be recorded', async () => {
    const { begun, outbound, resolver, store, time } = opened();
    const { claim, waited } = begun(0, new Leaving());
    await waited;
    store.isAway = true;
    await expect(claim.keep(resolver.draft(), QUESTION)).rejects.toThrow('away');
    await outbound.answer(URL_ASKED, { body: 'x' });
    for (let passedMs = 0; passedMs < KEPT_MS; passedMs += 5000) {
      expect(resolver.claimCount).toBe(1);
      time.pass(5000);
      await settle();
    }
    time.pass(5000);
    await settle();
    expect(resolver.claimCount).toBe(0);
  });

  it('is recorded with its outcome although its creation failed at first', async () => {
    const { begun, outbound, resolver, store, time } = opened();
    const { claim, waited } = begun(0, new Leaving());
    await waited;
    store.isAway = true;
    const draft = resolver.draft();
    await expect(claim.keep(draft, QUESTION)).rejects.toThrow('away');
    await outbound.answer(URL_ASKED, { body: 'x' });
    await expect.poll(() => store.finishCount + time.pendingCount).toBeGreaterThan(0);
    store.isAway = false;
    time.pass(5000);
    await expect.poll(() => resolver.claimCount).toBe(0);
    expect(await resolver.show(draft)).toMatchObject({ status: 'resolved' });
  });

  it('goes on once it is kept, whether its client leaves or its place is released', async () => {
    const { begun, outbound, resolver } = opened();
    const client = new Leaving();
    const { claim, waited } = begun(0, client);
    await waited;
    await claim.keep(resolver.draft(), QUESTION);
    client.leave();
    claim.release();
    while (!outbound.isHeld(URL_ASKED)) await settle();
    expect([outbound.sent[0]?.signal?.aborted, resolver.claimCount]).toEqual([false, 1]);
  });

  it('has expired when its outcome has gone by the time it is read', async () => {
    const { outbound, pending, resolver, store } = opened();
    const shown = await pending();
    await outbound.answer(URL_ASKED, { body: 'x' });
    await expect.poll(() => resolver.claimCount).toBe(0);
    store.readOutcome = async () => undefined;
    expect(await resolver.show(shown)).toBeUndefined();
  });

  it('is left to the next process when this one closes while the state is away', async () => {
    const { failures, outbound, pending, resolver, store, time } = opened();
    await pending();
    store.isAway = true;
    await outbound.answer(URL_ASKED, { body: 'x' });
    await expect.poll(() => failures.length).toBe(1);
    resolver.close();
    for (let i = 0; i < 5; i++) {
      time.pass(5000);
      await settle();
    }
    expect([store.finishCount, failures.length]).toEqual([1, 1]);
  });

  it('whose work the close ends is recorded as nothing', async () => {
    const { outbound, pending, resolver, store } = opened();
    await pending();
    while (!outbound.isHeld(URL_ASKED)) await settle();
    resolver.close();
    await new Promise((done) => setImmediate(done));
    expect(outbound.sent[0]?.signal?.aborted).toBe(true);
    expect(store.finishCount).toBe(0);
  });
});

it('ends as INTERNAL_ERROR where the server itself is at fault, which is said and gives the place back', async () => {
  const { failures, outbound, pending, resolver } = opened();
  vi.spyOn(outbound, 'send').mockRejectedValue(new Error('a bug'));
  const shown = await pending();
  await expect.poll(() => resolver.claimCount).toBe(0);
  const { status, outcome } = (await resolver.show(shown))!;
  expect([status, JSON.parse(`{${outcome}}`).failure.code]).toEqual(['failed', 'INTERNAL_ERROR']);
  expect(failures).toEqual([new Error('a bug')]);
});

describe('a place', () => {
  it('is given back once, and its payer may take another', () => {
    const { resolver } = opened();
    const claims = Array.from({ length: PAYER_WORK_COUNT_MAX }, () => resolver.tryClaim('0xpayer'));
    expect(resolver.tryClaim('0xpayer')).toBeUndefined();
    for (let i = 0; i < 2; i++) claims[0]?.release();
    expect(resolver.claimCount).toBe(PAYER_WORK_COUNT_MAX - 1);
    expect([resolver.tryClaim('0xpayer'), resolver.tryClaim('0xpayer')]).toEqual([expect.anything(), undefined]);
  });

  it('that is released unpaid ends its work, which counts as no finished one', async () => {
    const { begun, finished, outbound } = opened();
    const { claim, waited } = begun(0, new Leaving());
    await waited;
    while (!outbound.isHeld(URL_ASKED)) await settle();
    claim.release();
    await settle();
    expect([outbound.sent[0]?.signal?.aborted, finished]).toEqual([true, []]);
  });

  it('has its work done within 30 seconds, reading included, and leaves no timer of its wait', async () => {
    const { begun, extractionsMs, finished, outbound, time } = opened();
    const { waited } = begun(20_000, new Leaving());
    while (!outbound.isHeld(URL_ASKED)) await settle();
    time.pass(7000);
    await outbound.answer(URL_ASKED, { body: 'x' });
    expect(await waited).toEqual({ kind: 'resolved' });
    expect([extractionsMs, finished, time.pendingCount]).toEqual([[WORK_MS - 7000], [['resolved', 7000]], 0]);
  });

  it.each(['drain', 'close'] as const)('is waited for no longer from the %s on', async (end) => {
    const { begun, resolver } = opened();
    const { waited } = begun(20_000, new Leaving());
    await settle();
    resolver[end]();
    expect(await waited).toEqual({ kind: 'pending' });
    expect(await begun(20_000, new Leaving()).waited).toEqual({ kind: 'pending' });
  });

  it('counts a look-up that fails as finished, not one whose client has left', async () => {
    const { begun, finished, outbound, time } = opened();
    const looks: ((found: 'unreachable') => void)[] = [];
    vi.spyOn(outbound, 'lookUp').mockImplementation(() => new Promise((resolve) => looks.push(resolve)));
    const client = new Leaving();
    const works = [begun(0, new Leaving()), begun(0, client)];
    client.leave();
    time.pass(1000);
    looks[1]?.('unreachable');
    await settle();
    time.pass(2000);
    looks[0]?.('unreachable');
    for (const { waited } of works) expect(await waited).toMatchObject({ kind: 'failed' });
    expect(finished).toEqual([['failed', 3000]]);
  });

  it('keeps a resolve that was paid for before and fails at its look-up', async () => {
    const { begun, resolver } = opened();
    const { claim, waited } = begun(0, undefined, 'https://missing.example/');
    await waited;
    expect(await claim.keep(resolver.draft(), QUESTION)).toMatchObject({ status: 'failed' });
    expect(resolver.claimCount).toBe(0);
  });

  it('keeps nothing as recorded whose creation failed, though its outcome was taken', async () => {
    const { begun, outbound, resolver, store } = opened();
    outbound.targets.set(URL_ASKED, { body: 'x' });
    vi.spyOn(store, 'create').mockRejectedValueOnce(new Error('full'));
    const { claim, waited } = begun(20_000, new Leaving());
    await waited;
    await expect(claim.keep(resolver.draft(), QUESTION)).rejects.toThrow('full');
  });
});

it.each([
  ['too-large', 'RESPONSE_TOO_LARGE'],
  ['broken', 'TARGET_UNREACHABLE'],
  ['unread', 'INTERNAL_ERROR'],
] as const)('one whose document is %s fails with %s', async (kind, code) => {
  const { begun, outbound } = opened(STORED_BYTES_IN_MEMORY, async () => ({ kind }));
  const { waited } = begun(20_000, new Leaving());
  await outbound.answer(URL_ASKED, { body: 'x' });
  expect(await waited).toMatchObject({ kind: 'failed', failure: { code } });
});

it('one whose page names no content type says null', async () => {
  const { outbound, pending, resolver } = opened();
  const shown = await pending();
  await outbound.answer(URL_ASKED, { headers: {}, body: 'x' });
  await expect.poll(() => resolver.claimCount).toBe(0);
  const { outcome } = (await resolver.show(shown))!;
  expect(JSON.parse(`{${outcome}}`).result).toMatchObject({ content_type: null, status_code: 200 });
});

it.each([
  ['was paid for before, whose client leaves, goes on', true],
  ['is not paid for yet ends with its client', false],
])('one that %s', async (_, isSold) => {
  const { outbound, resolver } = opened();
  const judged = outbound.policy.judge(URL_ASKED);
  const place = resolver.tryClaim('0xpayer');
  if (!judged.ok || place === undefined) throw new Error('the test cannot begin');
  const draft = resolver.draft();
  let leave = (): void => {};
  const client = {
    onDisconnect(listener: DisconnectListener) {
      leave = () => listener.handleEvent();
    },
  };
  const body = { question: QUESTION, target: judged.target, waitSeconds: 20 };
  const principal = { payer: '0xpayer', place, ...(isSold && { draft }) } as never;
  const handling = createResolve.handle(
    { body } as never,
    { resolver, baseUrl: '' } as never,
    client as never,
    principal,
  );
  while (!outbound.isHeld(URL_ASKED)) await settle();
  leave();
  expect(outbound.sent[0]?.signal?.aborted).toBe(!isSold);
  await outbound.answer(URL_ASKED, { body: 'x' });
  const answer = await handling;
  if (!isSold) return expect(answer).toMatchObject({ code: 'TARGET_TIMEOUT' });
  await (answer as AfterSettlement<unknown>).create();
  expect(await resolver.show(draft)).toMatchObject({ status: 'resolved' });
});

it('one has a place while what is stored leaves room for it, however long the outcomes under way become', async () => {
  const { outbound, pending, resolver, store } = opened(2 * OUTCOME_BYTES_MAX);
  const claims = ['a', 'b', 'c'].map((payer) => resolver.tryClaim(payer));
  expect(claims.map((claim) => claim !== undefined)).toEqual([true, true, false]);
  for (const claim of claims) claim?.release();
  await pending();
  await outbound.answer(URL_ASKED, { body: 'x' });
  await expect.poll(() => resolver.claimCount).toBe(0);
  expect(store.counts.storedBytes).toBeGreaterThan(0);
  expect(['a', 'b'].map((payer) => resolver.tryClaim(payer) !== undefined)).toEqual([true, false]);
});

it('what a dead process left is not begun once this one is closed', async () => {
  const { outbound, random, resolver, store, time } = opened();
  await resolver.start();
  resolver.close();
  const id = newResolveId(random);
  store.pending.push({ id, tokenDigest: resolveTokenDigest('x'), createdAtMs: time.nowMs(), question: QUESTION });
  store.tellPending();
  await settle();
  expect(outbound.sent).toEqual([]);
});

it('what a dead process left is taken up at the start, and fails where its address is not allowed any more', async () => {
  const { outbound, random, resolver, store, time } = opened();
  const record = { tokenDigest: resolveTokenDigest('x'), createdAtMs: time.nowMs() };
  const [allowed, refused] = [URL_ASKED, 'http://127.0.0.1/'].map((url) => {
    return { ...record, id: newResolveId(random), question: { ...QUESTION, url } };
  });
  for (const one of [allowed!, refused!]) {
    await store.create(one);
    store.pending.push(one);
  }
  await resolver.start();
  await outbound.answer(URL_ASKED, { body: 'x' });
  await expect.poll(() => resolver.claimCount).toBe(0);
  expect(await resolver.show(allowed!)).toMatchObject({ status: 'resolved' });
  const shown = await resolver.show(refused!);
  expect(JSON.parse(`{${shown?.outcome}}`).failure.code).toBe('TARGET_NOT_ALLOWED');
});

it('what a dead process left takes room for take-overs until it ends', async () => {
  const { outbound, random, resolver, store, time } = opened();
  await resolver.start();
  expect(store.room()).toBe(WORK_COUNT_MAX);
  const id = newResolveId(random);
  store.pending.push({ id, tokenDigest: resolveTokenDigest('x'), createdAtMs: time.nowMs(), question: QUESTION });
  store.tellPending();
  while (!outbound.isHeld(URL_ASKED)) await settle();
  expect(store.room()).toBe(WORK_COUNT_MAX - 1);
  await outbound.answer(URL_ASKED, { body: 'x' });
  await expect.poll(() => store.room()).toBe(WORK_COUNT_MAX);
});
