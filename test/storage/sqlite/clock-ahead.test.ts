/** A folder that is opened by a machine whose clock is ahead, as before its time service has set it. */
import { describe, expect, it } from 'vitest';
import type { Created } from '../../../src/callback/callbacks.ts';
import { CLAIM_BYTES, CLOCK_AHEAD_MS_MAX } from '../../../src/callback/limits.ts';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import { KEPT_MS as ANSWER_KEPT_MS } from '../../../src/payment/reservations.ts';
import { newResolveId, resolveTokenDigest } from '../../../src/resolve/identifier.ts';
import { KEPT_MS, START_KEPT_MS, SWEEP_PAUSE_MS } from '../../../src/resolve/limits.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { orderFor } from '../../payment/fixture.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';
import { jsonOf, webhookOf } from '../../support/opened-inbox.ts';
import { SALE } from '../../support/sale.ts';
import { Folder } from './folder.ts';

const OPTIONS = { callbackBytes: 100 * CLAIM_BYTES, play: undefined };

async function created({ callbacks }: Backend): Promise<Created> {
  expect(await callbacks.capacity.tryClaim()).toBe(true);
  return callbacks.create(callbacks.draft());
}

/** @returns `stored`, or why not */
async function posted({ callbacks }: Backend, { id }: Created, body: string): Promise<string> {
  const admission = await callbacks.admit(id);
  if (admission.kind !== 'admitted') return admission.kind;
  return (await callbacks.receive(admission.callback, webhookOf(body))).kind;
}

/** @returns the bodies of its events, or why there are none to read */
async function bodiesOf({ callbacks }: Backend, { id, readToken }: Created): Promise<unknown> {
  const authorized = await callbacks.authorize(id, readToken);
  if (authorized.kind !== 'allowed') return authorized.kind;
  const listing = await callbacks.events(authorized.callback);
  const events = listing.kind === 'events' ? await Promise.all(listing.events.map(jsonOf)) : [];
  return events.map((event) => JSON.parse(event as string).body);
}

describe('callbacks after a start whose clock was ahead', () => {
  const LONG = 'y'.repeat(9_000);

  it.each([
    ['hours', CLOCK_AHEAD_MS_MAX, 'not-found'],
    ['minutes', 500_000, 'expired'],
  ])('by %s live on with their events once it is set back', async (_, aheadMs, meanwhile) => {
    const time = new ManualTime();
    const folder = new Folder();
    const before = await folder.openBackend(OPTIONS, time);
    const over = await created(before);
    time.pass(300_000);
    const live = await created(before);
    for (const one of [over, live]) expect(await posted(before, one, 'one')).toBe('stored');
    expect(await posted(before, live, LONG)).toBe('stored');
    time.pass(295_000);
    const killed = folder.killed();
    try {
      time.stepWall(aheadMs);
      const after = await killed.openBackend(OPTIONS, time);
      expect([await posted(after, live, 'refused'), await bodiesOf(after, live)]).toEqual([meanwhile, meanwhile]);
      time.pass(6_000);
      time.stepWall(-aheadMs);
      time.pass(1_000);
      expect(await bodiesOf(after, live)).toEqual(['one', LONG]);
      expect(await posted(after, live, 'two')).toBe('stored');
      expect(['expired', 'not-found']).toContain(await bodiesOf(after, over));
      expect(after.callbacks.capacity.claimedBytes).toBe(CLAIM_BYTES);
      time.pass(297_999);
      expect(await bodiesOf(after, live)).toEqual(['one', LONG, 'two']);
      time.pass(1);
      await settle();
      expect(await bodiesOf(after, live)).toBe('expired');
    } finally {
      await folder.remove();
      await killed.remove();
    }
  });
});

describe('resolves after a start whose clock was ahead', () => {
  const OUTCOME = '"result":null,"failure":null';
  const question = { url: 'https://target.example/', include: ['text'] as const };

  it.each([
    ['fourteen hours', CLOCK_AHEAD_MS_MAX, undefined],
    ['an hour', KEPT_MS, 'expired'],
  ])('by %s have their results, and are worked on, once it is set back', async (_, aheadMs, meanwhile) => {
    const time = new ManualTime();
    const folder = new Folder();
    const { resolves: before } = await folder.openBackend(OPTIONS, time);
    const random = new Chance(1);
    const [over, done, pending] = [1, 2, 3].map(() => ({ id: newResolveId(random), question }));
    const create = (one: typeof over) =>
      before.create({ ...one!, tokenDigest: resolveTokenDigest('token'), createdAtMs: time.nowMs() });
    await create(over);
    await before.finish(over!.id, 'failed', OUTCOME);
    time.pass(KEPT_MS / 2);
    for (const one of [done, pending]) await create(one);
    await before.finish(done!.id, 'failed', OUTCOME);
    time.pass(KEPT_MS / 2);
    const killed = folder.killed();
    try {
      time.stepWall(aheadMs);
      const { resolves: after } = await killed.openBackend(OPTIONS, time);
      expect((await after.takePending()).map(({ id }) => id)).toContain(pending!.id);
      time.pass(START_KEPT_MS - 1);
      expect((await after.find(done!.id))?.status).toBe(meanwhile);
      time.stepWall(-aheadMs);
      expect(['expired', undefined]).toContain((await after.find(over!.id))?.status);
      expect((await after.find(done!.id))?.status).toBe('failed');
      expect(await after.readOutcome(done!.id)).toBe(OUTCOME);
      await after.finish(pending!.id, 'failed', OUTCOME);
      expect(await after.readOutcome(pending!.id)).toBe(OUTCOME);
      time.pass(SWEEP_PAUSE_MS);
      expect(after.counts.live).toBe(2);
    } finally {
      await folder.remove();
      await killed.remove();
    }
  });
});

describe('kept answers after a start whose clock is ahead', () => {
  it.each([60_000, ANSWER_KEPT_MS, CLOCK_AHEAD_MS_MAX])(
    'by %i ms are given for what looks left of their time, or else for ten minutes more',
    async (aheadMs) => {
      const time = new ManualTime();
      const folder = new Folder();
      const before = await folder.openBackend(OPTIONS, time);
      const order = orderFor({ validAfterSeconds: 0, validBeforeSeconds: Math.floor(time.nowMs() / 1000) + 120 });
      const { validBeforeSeconds } = order.authorization;
      const claims = [identifierClaim(`pay_${'0'.repeat(20)}` as PaymentIdentifier, 'GET /', order.payer)];
      const reserved = await before.reservations.reserve(order.key, validBeforeSeconds, claims);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      await before.reservations.recordIntent(reserved.reservation, order, SALE, [Uint8Array.of(1)]);
      await before.reservations.recordSettled(reserved.reservation, `0x${'ab'.repeat(32)}`);
      time.pass(1_000);
      const killed = folder.killed();
      try {
        time.stepWall(aheadMs);
        const { reservations } = await killed.openBackend(OPTIONS, time);
        const leftMs = aheadMs < ANSWER_KEPT_MS - 1_000 ? ANSWER_KEPT_MS - 1_000 - aheadMs : ANSWER_KEPT_MS;
        time.pass(leftMs - 1);
        const other = orderFor({ nonce: `0x${'77'.repeat(32)}` });
        const known = await reservations.find(other.key, claims);
        if (known?.kind !== 'kept') throw new Error(known?.kind);
        expect(await reservations.readKept(known.kept)).toEqual(Uint8Array.of(1));
        time.pass(1);
        expect(await reservations.find(other.key, claims)).toBeUndefined();
      } finally {
        await folder.remove();
        await killed.remove();
      }
    },
  );
});
