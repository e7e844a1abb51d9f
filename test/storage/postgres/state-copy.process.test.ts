/** `state copy`: what it refuses, and what a server finds of a copied box (siblings §9); the whole of it in the slow tests. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CLAIM_BYTES, CLOCK_AHEAD_MS_MAX } from '../../../src/callback/limits.ts';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import { newResolveId, resolveTokenDigest } from '../../../src/resolve/identifier.ts';
import { copyState } from '../../../src/storage/postgres/copy/copy-state.ts';
import { lockState } from '../../../src/storage/sqlite/lock.ts';
import { orderFor } from '../../payment/fixture.ts';
import { describeBackend } from '../../suites/backend.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { webhookOf } from '../../support/opened-inbox.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { SALE } from '../../support/sale.ts';
import { Folder } from '../sqlite/folder.ts';
import { box, options } from './copied-box.ts';
import { SharedDatabase } from './opened-backend.ts';

describe.skipIf(SERVER === undefined)('a copied state', () => {
  describeBackend('a copied box', box);

  it('is refused while a server holds the folder, into a database that is not empty, and a second time', async () => {
    const time = new ManualTime();
    const folder = new Folder();
    const [one, other] = [await SharedDatabase.open(SERVER!, time), await SharedDatabase.open(SERVER!, time)];
    const copy = (to: SharedDatabase) => copyState(folder.path, to.database.url, { clock: time, timers: time });
    try {
      await expect(copy(one)).rejects.toThrow('holds no state');
      const backend = await folder.openBackend(options(), time);
      await backend.accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 5, expiresAtMs: null });
      await expect(copy(one)).rejects.toThrow('a server uses');
      await backend.close();
      const filled = await other.process(options());
      await filled.accounts.grant({ organization: 'beta', kind: 'onboarding', amount: 5, expiresAtMs: null });
      await expect(copy(other)).rejects.toThrow('not empty');
      // Nothing was copied, so the box may go on.
      expect(readFileSync(folder.file('state.json'), 'utf8')).not.toContain('mov');
      expect(await copy(one)).toMatchObject({ organizations: 1, onboarding_grants: 1, claims: 0 });
      await expect(copy(one)).rejects.toThrow('copied to a database already');
      await expect(folder.openBackend(options(), time)).rejects.toThrow(
        /copied to a database, which has it now: set DATABASE_URL; /,
      );
      // The lock is free again.
      lockState(folder.path)!.release();
      const reset = await folder.open({ mayReset: true }, time);
      expect(reset.notices[0]).toContain('started with an empty state');
    } finally {
      await folder.remove();
      await one.remove();
      await other.remove();
    }
  });

  it('loses nothing that was paid for to a clock that is hours ahead while it is copied', async () => {
    const time = new ManualTime();
    const folder = new Folder();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(async () => {
      await folder.remove();
      await shared.remove();
    });
    const before = await folder.openBackend(options(), time);
    const { callbacks, resolves, reservations } = before;
    await callbacks.capacity.tryClaim();
    const { id, readToken } = await callbacks.create(callbacks.draft());
    const admitted = await callbacks.admit(id);
    if (admitted.kind !== 'admitted') throw new Error(admitted.kind);
    await callbacks.receive(admitted.callback, webhookOf('"paid"'));
    const resolve = { id: newResolveId(new Chance(1)), question: { url: 'https://target.example/', include: [] } };
    await resolves.create({ ...resolve, tokenDigest: resolveTokenDigest('token'), createdAtMs: time.nowMs() });
    await resolves.finish(resolve.id, 'failed', '"result":null,"failure":null');
    const order = orderFor({ validAfterSeconds: 0, validBeforeSeconds: Math.floor(time.nowMs() / 1000) + 120 });
    const claims = [identifierClaim(`pay_${'0'.repeat(20)}` as PaymentIdentifier, 'GET /', order.payer)];
    const reserved = await reservations.reserve(order.key, order.authorization.validBeforeSeconds, claims);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await reservations.recordIntent(reserved.reservation, order, SALE, [Uint8Array.of(1)]);
    await reservations.recordSettled(reserved.reservation, `0x${'ab'.repeat(32)}`);
    await before.close();

    const ahead = new ManualTime(time.nowMs() + CLOCK_AHEAD_MS_MAX);
    await copyState(folder.path, shared.database.url, { clock: ahead, timers: ahead });
    const copied = await shared.process(options());
    expect(copied.callbacks.capacity.claimedBytes).toBe(CLAIM_BYTES);
    const authorized = await copied.callbacks.authorize(id, readToken);
    if (authorized.kind !== 'allowed') throw new Error(authorized.kind);
    const listed = await copied.callbacks.events(authorized.callback);
    expect(listed.kind === 'events' && listed.events.length).toBe(1);
    expect(await copied.resolves.readOutcome(resolve.id)).toBe('"result":null,"failure":null');
    const known = await copied.reservations.find(orderFor({ nonce: `0x${'77'.repeat(32)}` }).key, claims);
    if (known?.kind !== 'kept') throw new Error(known?.kind);
    expect(await copied.reservations.readKept(known.kept)).toEqual(Uint8Array.of(1));
  });
});
