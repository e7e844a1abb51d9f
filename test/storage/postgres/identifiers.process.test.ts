/** Room for the kept answers of payment identifiers in a database (decisions §4, siblings §9). */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { RecordInDoubtError } from '../../../src/base/outage.ts';
import { identifierClaim, type PaymentIdentifier } from '../../../src/payment/protocol/identifier.ts';
import { ANSWER_BYTES_CLAIMED, KEPT_MS } from '../../../src/payment/reservations.ts';
import type { Backend } from '../../../src/storage/backend.ts';
import { ANSWER_ROOM } from '../../../src/storage/memory/kept-answers.ts';
import { Claims } from '../../../src/storage/postgres/claims.ts';
import type { Statement } from '../../../src/storage/postgres/connections.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { DatabaseAwayError } from '../../../src/storage/postgres/failures.ts';
import { Identifiers } from '../../../src/storage/postgres/identifiers.ts';
import { LOOK_MS } from '../../../src/storage/postgres/owners.ts';
import { orderFor } from '../../payment/fixture.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { SALE } from '../../support/sale.ts';
import { unsettledOf } from '../../support/unsettled.ts';
import { Shared } from './opened.ts';
import { SharedDatabase } from './opened-backend.ts';

const claimOf = (n: number) =>
  identifierClaim(`pay_${String(n).padStart(20, '0')}` as PaymentIdentifier, 'GET /', orderFor().payer);

/** Claims of authorizations, or of identifiers. */
interface Claiming {
  claim(...asked: unknown[]): Promise<unknown>;
}

/** Inserts the answers of purchases `first` to `last`. @param sealed SQL expression */
const insertAnswers = (first: number, last: number, keptMs: number, sealed: string): string => `
  INSERT INTO paygrade.identifiers (digest, fingerprint, owner, attempt, serial, kept_until_ms, sealed)
  SELECT sha256(i::text::bytea), sha256('x'), 'other', i, i, paygrade.now_ms() + ${keptMs}, ${sealed}
  FROM generate_series(${first}, ${last}) i`;

describe.skipIf(SERVER === undefined)('kept answers in a database', () => {
  it('are as many and as long as there is room for, counted for all processes', async () => {
    const shared = await Shared.open(SERVER);
    onTestFinished(() => shared.remove());
    const { database } = await shared.process();
    const room = { countMax: 3, bytesMax: 10 * ANSWER_BYTES_CLAIMED };
    const [one, other] = ['one', 'other'].map((owner) => new Identifiers(database, systemClock, owner, () => {}, room));
    expect(one!.hasRoom(1)).toBe(true);
    expect(await one!.claim([claimOf(1)], 1)).toBe(true);
    expect(await one!.claim([claimOf(2)], 2)).toBe(true);
    expect(await other!.claim([claimOf(3)], 1)).toBe(true);
    expect([one!.hasRoom(1), one!.hasRoom(2), other!.hasRoom(1)]).toEqual([true, false, true]);
    await database.run({ text: "UPDATE paygrade.identifiers SET sealed = 'x', kept_until_ms = 9e15" });
    await one!.prune();
    await other!.prune();
    expect([one!.hasRoom(1), other!.hasRoom(1)]).toEqual([false, false]);
  });

  it('count with their claims’ bytes until they are known', async () => {
    const shared = await Shared.open(SERVER);
    onTestFinished(() => shared.remove());
    const { database } = await shared.process();
    const identifiers = new Identifiers(database, systemClock, 'one', () => {}, {
      countMax: 100,
      bytesMax: 2 * ANSWER_BYTES_CLAIMED,
    });
    await identifiers.claim([claimOf(1)], 1);
    expect(identifiers.hasRoom(1)).toBe(true);
    await identifiers.claim([claimOf(2)], 2);
    expect(identifiers.hasRoom(1)).toBe(false);
    identifiers.noteAnswer(1000);
    expect(identifiers.hasRoom(1)).toBe(false);
    identifiers.noteAnswer(1000);
    expect(identifiers.hasRoom(1)).toBe(true);
    await database.run({ text: "UPDATE paygrade.identifiers SET sealed = 'x', kept_until_ms = 9e15" });
    await identifiers.prune();
    expect(identifiers.hasRoom(1)).toBe(true);
  });

  it('refuse a purchase before it is paid for while there is no room, until their time is over', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const backend = await shared.process({ callbackBytes: 0, play: undefined });
    // Their bytes fill the room: enough to fill it by number take a loaded machine too long. A copy is compressed already.
    const count = 3000;
    const long = `repeat('x', ${Math.ceil(ANSWER_ROOM.bytesMax / count)})::bytea`;
    await shared.run(insertAnswers(1, 1, KEPT_MS, long));
    await shared.run(insertAnswers(2, count, KEPT_MS, '(SELECT sealed FROM paygrade.identifiers LIMIT 1)'));
    let n = 0;
    // A look that comes while the one before still runs is left out, so time passes for as long as it takes.
    const reserve = async (): Promise<string> => {
      const nonce = `0x${String(++n).padStart(64, '0')}`;
      const { key } = orderFor({ nonce });
      time.pass(LOOK_MS);
      return (await backend.reservations.reserve(key, Math.floor(time.nowMs() / 1000) + 120, [claimOf(n)])).kind;
    };
    await expect.poll(reserve).toBe('no-room');
    time.pass(KEPT_MS);
    await expect.poll(reserve).toBe('reserved');
  });

  it('leave room for the next purchase as soon as they are on record, before a look counts them', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const { reservations } = await shared.process({ callbackBytes: 0, play: undefined });
    const size = Math.floor((ANSWER_ROOM.bytesMax - 1.5 * ANSWER_BYTES_CLAIMED) / 3000);
    await shared.run(insertAnswers(1, 1, KEPT_MS, `repeat('x', ${size})::bytea`));
    await shared.run(insertAnswers(2, 3000, KEPT_MS, '(SELECT sealed FROM paygrade.identifiers LIMIT 1)'));
    const run = vi.spyOn(Database.prototype, 'run');
    const counted = (): string | undefined => {
      const at = run.mock.calls.findIndex(([{ name }]) => name === 'count-identifiers');
      if (at < 0) time.pass(LOOK_MS);
      return run.mock.settledResults[at]?.type;
    };
    await expect.poll(counted).toBe('fulfilled');
    run.mockRestore();
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const orders = [1, 2].map((n) => orderFor({ nonce: `0x${String(n).repeat(64)}`, validBeforeSeconds }));
    const reserve = (n: number) => reservations.reserve(orders[n - 1]!.key, validBeforeSeconds, [claimOf(n)]);
    const reserved = await reserve(1);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    expect((await reserve(2)).kind).toBe('no-room');
    await reservations.recordIntent(reserved.reservation, orders[0]!, SALE, [Uint8Array.of(1)]);
    expect((await reserve(2)).kind).toBe('reserved');
  });

  it('go in one look once their time is over, though more than one statement removes', async () => {
    const shared = await Shared.open(SERVER);
    onTestFinished(() => shared.remove());
    const { database } = await shared.process();
    const identifiers = new Identifiers(database, systemClock, 'one', () => {});
    await database.run({ text: insertAnswers(1, 4500, -1, "'x'") });
    await identifiers.prune();
    const rows = await database.run({ text: 'SELECT count(*)::int AS count FROM paygrade.identifiers' });
    expect(rows).toEqual([{ count: 0 }]);
  });

  it('leave nothing of their own with the identifier, which the next purchase alone has once their time is over', async () => {
    const shared = await Shared.open(SERVER);
    onTestFinished(() => shared.remove());
    const { database } = await shared.process();
    const [one, other] = ['one', 'other'].map((owner) => new Identifiers(database, systemClock, owner, () => {})) as [
      Identifiers,
      Identifiers,
    ];
    await database.run({ text: "INSERT INTO paygrade.processes VALUES ('one', 0, 0), ('other', 0, 0)" });
    const claims = [claimOf(1)];
    expect(await other.claim(claims, 5)).toBe(true);
    await database.run({
      text: `UPDATE paygrade.identifiers SET fingerprint = 'x', serial = 7, transaction = 'x', sealed = 'x', kept_until_ms = $1`,
      values: [Date.now() - 1],
    });
    // A repeat of a claim finds its own.
    for (let i = 0; i < 2; i++) expect(await one.claim(claims, 1)).toBe(true);
    for (const [another, attempt] of [
      [one, 2],
      [other, 1],
    ] as const) {
      expect(await another.claim(claims, attempt)).toBe(false);
    }
    expect(await other.find(claims)).toEqual({ kind: 'under-way' });
    const columns = 'owner, attempt, serial, kept_until_ms, transaction, sealed';
    expect(await database.run({ text: `SELECT ${columns} FROM paygrade.identifiers` })).toEqual([
      { owner: 'one', attempt: 1, serial: null, kept_until_ms: null, transaction: '', sealed: null },
    ]);
  });

  it('are given back by the attempt that claimed them alone, and only while there is no answer', async () => {
    const shared = await Shared.open(SERVER);
    onTestFinished(() => shared.remove());
    const { database } = await shared.process();
    const room = { countMax: 100, bytesMax: 2 * ANSWER_BYTES_CLAIMED };
    const [one, other] = ['one', 'other'].map(
      (owner) => new Identifiers(database, systemClock, owner, () => {}, room),
    ) as [Identifiers, Identifiers];
    const claims = [claimOf(1)];
    await database.run({ text: "INSERT INTO paygrade.processes VALUES ('one', 0, 0)" });
    expect(await one.claim(claims, 3)).toBe(true);
    await other.release(claims, 3);
    await one.release(claims, 2);
    await other.freeStrays(9, []);
    await one.freeStrays(2, []);
    await one.freeStrays(9, [2, 3]);
    await one.prune();
    expect([one.hasRoom(1), one.hasRoom(2)]).toEqual([true, false]);
    expect(await one.find(claims)).toEqual({ kind: 'under-way' });
    await one.freeStrays(3, [2]);
    expect(await one.find(claims)).toBeUndefined();
    expect(await one.claim(claims, 4)).toBe(true);
    const keptUntil = async (ms: number): Promise<void> => {
      const text = `UPDATE paygrade.identifiers SET serial = 7, sealed = 'x', kept_until_ms = paygrade.now_ms() + $1`;
      await database.run({ text, values: [ms] });
    };
    await keptUntil(KEPT_MS);
    await one.release(claims, 4);
    await one.freeStrays(9, []);
    const [{ digest }, another] = [claimOf(1), claimOf(2)];
    await one.replace({ serial: 8, digest }, Uint8Array.of(8));
    await one.replace({ serial: 7, digest: another.digest }, Uint8Array.of(9));
    const read = (serial: number, of = digest) => one.read({ serial, digest: of, transaction: '' });
    expect(await Promise.all([read(7), read(8), read(7, another.digest)])).toEqual([
      new Uint8Array(Buffer.from('x')),
      undefined,
      undefined,
    ]);
    await keptUntil(-1);
    expect(await read(7)).toBeUndefined();
  });

  it('give an identifier back whose authorization could not be claimed, because the database went away in between', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const { reservations } = await shared.process({ callbackBytes: 0, play: undefined });
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const reserve = async (): Promise<string> =>
      (await reservations.reserve(orderFor().key, validBeforeSeconds, [claimOf(1)])).kind;
    vi.spyOn(Claims.prototype, 'claim').mockRejectedValueOnce(new DatabaseAwayError('gone'));
    expect(await reserve()).toBe('unavailable');
    expect(await reserve()).toBe('under-way');
    time.pass(LOOK_MS);
    await expect.poll(reserve).toBe('reserved');
  });

  it.each([
    ['authorization', 'reserved', Claims.prototype as unknown as Claiming, []],
    ['identifier', 'under-way', Identifiers.prototype as unknown as Claiming, [claimOf(1)]],
  ])('fail no purchase whose %s another gave back just after it was refused', async (_, kind, part, theirs) => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const options = { callbackBytes: 0, play: undefined };
    const [one, other] = [(await shared.process(options)).reservations, (await shared.process(options)).reservations];
    const { key } = orderFor();
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const { claim } = part;
    vi.spyOn(part, 'claim').mockImplementationOnce(async function (this: unknown, ...asked) {
      const held = await other.reserve(key, validBeforeSeconds, theirs);
      if (held.kind !== 'reserved') throw new Error(held.kind);
      const refused = await claim.apply(this, asked);
      await other.release(held.reservation);
      return refused;
    });
    expect((await one.reserve(key, validBeforeSeconds, [claimOf(1)])).kind).toBe(kind);
  });

  it.each([
    ['the same identifier, which sells', 1, 'kept'],
    ['another identifier, which frees the one', 2, 'reserved'],
  ])('are for no authorization sold meanwhile by another process under %s (decisions §4)', async (_, soldAs, next) => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const options = { callbackBytes: 0, play: undefined };
    const seller = (await shared.process(options)).reservations;
    const { reservations } = await shared.process(options);
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const order = orderFor({ validAfterSeconds: 0, validBeforeSeconds });
    const transaction = `0x${'ab'.repeat(32)}`;
    const sell = async (): Promise<void> => {
      const reserved = await seller.reserve(order.key, validBeforeSeconds, [claimOf(soldAs)]);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      await seller.recordIntent(reserved.reservation, order, SALE, [Uint8Array.of(1)]);
      await seller.recordSettled(reserved.reservation, transaction);
    };
    const statusOf = reservations.statusOf.bind(reservations);
    vi.spyOn(reservations, 'statusOf').mockImplementationOnce(async (key) => {
      const status = await statusOf(key);
      await sell();
      return status;
    });
    const reserved = await reservations.reserve(order.key, validBeforeSeconds, [claimOf(1)]);
    expect(reserved).toEqual({ kind: 'taken', status: { kind: 'settled', transaction } });
    const { key } = orderFor({ nonce: `0x${'2'.repeat(64)}` });
    expect((await reservations.reserve(key, validBeforeSeconds, [claimOf(1)])).kind).toBe(next);
  });

  it('sell once, although a process lost its lease between the reservation and the intent and another took one of its identifiers', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const options = { callbackBytes: 0, play: undefined };
    const [late, other] = [await shared.process(options), await shared.process(options)];
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const reserve = async ({ reservations }: Backend, ...claims: ReturnType<typeof claimOf>[]) => {
      const order = orderFor({ validAfterSeconds: 0, validBeforeSeconds });
      const reserved = await reservations.reserve(order.key, validBeforeSeconds, claims);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      return (...answers: number[]) => {
        const sealed = answers.map((answer) => Uint8Array.of(answer));
        return reservations.recordIntent(reserved.reservation, order, SALE, sealed).then(() => 'intended');
      };
    };
    const intendLate = await reserve(late, claimOf(1), claimOf(2));
    await shared.killAll();
    const intendOther = await reserve(other, claimOf(2));
    await expect(intendLate(1, 1)).rejects.toThrow(RecordInDoubtError);
    expect(await intendOther(2)).toBe('intended');
    const kept = await shared.run('SELECT sealed FROM paygrade.identifiers WHERE sealed IS NOT NULL');
    expect(kept).toEqual([{ sealed: Buffer.of(2) }]);
    // The one that is late lives again, and gives back what it claimed in vain.
    time.pass(LOOK_MS);
    await expect.poll(async () => (await shared.run('SELECT FROM paygrade.processes')).length).toBe(2);
    const { key } = orderFor({ nonce: `0x${'2'.repeat(64)}` });
    const again = async () => (await other.reservations.reserve(key, validBeforeSeconds, [claimOf(1)])).kind;
    await expect.poll(again).toBe('reserved');
  });

  it('are for the later one alone of two purchases of one process between whose claims its lease ran out', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const { reservations } = await shared.process({ callbackBytes: 0, play: undefined });
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const reserve = async (digit: string) => {
      const order = orderFor({ nonce: `0x${digit.repeat(64)}`, validAfterSeconds: 0, validBeforeSeconds });
      const reserved = await reservations.reserve(order.key, validBeforeSeconds, [claimOf(1)]);
      if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
      return () => reservations.recordIntent(reserved.reservation, order, SALE, [Uint8Array.of(Number(digit))]);
    };
    const intends = [await reserve('1')];
    await shared.killAll();
    intends.push(await reserve('2'));
    // Both in one statement.
    const ends = await Promise.allSettled(intends.map((intend) => intend()));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    const kept = await shared.run('SELECT sealed FROM paygrade.identifiers');
    expect(kept).toEqual([{ sealed: Buffer.of(2) }]);
  });

  it('keep their answers, although a try to claim one is carried out after the intent, or after the settlement', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const { reservations } = await shared.process({ callbackBytes: 0, play: undefined });
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    const run = vi.spyOn(Database.prototype, 'run');
    const order = orderFor({ validAfterSeconds: 0, validBeforeSeconds });
    const reserved = await reservations.reserve(order.key, validBeforeSeconds, [claimOf(1)]);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    const at = run.mock.calls.findIndex(([{ name }]) => name === 'claim-identifier');
    const [tried] = run.mock.calls[at] as [Statement];
    const database = run.mock.contexts[at] as Database;
    run.mockRestore();
    await reservations.recordIntent(reserved.reservation, order, SALE, [Uint8Array.of(1)]);
    await database.run(tried);
    await reservations.recordSettled(reserved.reservation, `0x${'ab'.repeat(32)}`);
    await database.run(tried);
    const { key } = orderFor({ nonce: `0x${'2'.repeat(64)}` });
    expect((await reservations.reserve(key, validBeforeSeconds, [claimOf(1)])).kind).toBe('kept');
  });

  it('are for no second charge while the process that knows of the first is cut off, and another ends it as dead', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const options = { callbackBytes: 0, play: undefined };
    const cutOff = (await shared.process(options)).reservations;
    const first = orderFor({ validAfterSeconds: 0, validBeforeSeconds: Math.floor(time.nowMs() / 1000) + 120 });
    const reserved = await cutOff.reserve(first.key, first.authorization.validBeforeSeconds, [claimOf(1)]);
    if (reserved.kind !== 'reserved') throw new Error(reserved.kind);
    await cutOff.recordIntent(reserved.reservation, first, SALE, [Uint8Array.of(1)]);
    // The money moves now; this process learns it, and cannot record it until another has ended the case.
    await shared.killAll();
    const { reservations } = await shared.process(options);
    const again = () => {
      const { key } = orderFor({ nonce: `0x${'2'.repeat(64)}` });
      return reservations.reserve(key, Math.floor(time.nowMs() / 1000) + 120, [claimOf(1)]);
    };
    const [taken] = await unsettledOf(reservations);
    expect(await again()).toEqual({ kind: 'under-way' });
    await reservations.recordDead(taken!.reservation);
    expect(await reservations.statusOf(first.key)).toMatchObject({ kind: 'dead' });
    expect(await again()).toEqual({ kind: 'under-way' });
    const transaction = `0x${'ab'.repeat(32)}`;
    await cutOff.recordSettled(reserved.reservation, transaction);
    const known = await again();
    if (known.kind !== 'kept') throw new Error(known.kind);
    expect(known.kept.transaction).toBe(transaction);
    expect(await reservations.readKept(known.kept)).toEqual(Uint8Array.of(1));
  });

  it('are reserved with an authorization whose process died before its intent, as that is without one', async () => {
    const time = new ManualTime();
    const shared = await SharedDatabase.open(SERVER!, time);
    onTestFinished(() => shared.remove());
    const options = { callbackBytes: 0, play: undefined };
    const [dead, { reservations }] = [await shared.process(options), await shared.process(options)];
    const { key } = orderFor();
    const validBeforeSeconds = Math.floor(time.nowMs() / 1000) + 120;
    expect((await dead.reservations.reserve(key, validBeforeSeconds, [claimOf(1)])).kind).toBe('reserved');
    expect((await reservations.reserve(key, validBeforeSeconds, [claimOf(1)])).kind).toBe('taken');
    await shared.killAll();
    expect((await reservations.reserve(key, validBeforeSeconds, [claimOf(1)])).kind).toBe('reserved');
  });
});
