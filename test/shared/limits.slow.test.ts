/**
 * The limits that a database decides for all processes (siblings §9): ten events of a callback and the credits of an
 * organization. More than they allow comes to three processes while connections are cut, a process is killed, or the database is
 * killed or stopped without a checkpoint; afterwards more comes until each limit is full, and it is exactly that.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_COUNT_MAX } from '../../src/callback/limits.ts';
import { type Callback, createCallback, eventsOf, post } from '../support/callback-client.ts';
import { Chance } from '../support/chance.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import type { TcpLink } from '../support/tcp-link.ts';
import { overSocket, type Transport } from '../support/transport.ts';
import { pause } from '../support/until.ts';
import { wallet } from '../support/wallet.ts';
import type { Fleet } from './fleet.ts';
import { ADMIN_TOKEN, openLinkedFleet } from './linked-fleet.ts';
import { CUT_SHARE } from './trial.ts';

const ROUNDS = Number(process.env.PAYGRADE_TRIALS ?? '12');
const SEED = Number(process.env.PAYGRADE_SEED ?? Date.now() % 1_000_000);

const DISTURBANCES = [
  'connections are cut',
  'the database is killed',
  'the database is stopped without a checkpoint',
  'a process is killed',
] as const;

const CALLBACK_COUNT = 3;
/** More than ten, and both together at most thirty, which may come in a minute. */
const WEBHOOKS = { during: 14, after: 12 };
/** A key may have thirty uncharged answers a minute (siblings §5), so both together ask at most thirty too often. */
const CREDITS = 12;
const CHARGES = { during: 20, after: 14 };
const SPAN_MS = 400;
const READY_MS = 20_000;

const database = await startPostgres();
if (database === undefined) console.log('skipping limits under disturbance: there is no PostgreSQL to start');

/** What came of the webhooks of one callback. */
interface Posted {
  readonly callback: Callback;
  /** Bodies by the ids of the events that were acknowledged. */
  readonly acknowledged: Map<string, string>;
  readonly bodies: Set<string>;
}

/** An organization with its credits, and how often an answer was charged to it. */
interface Spender {
  readonly path: string;
  readonly init: RequestInit;
  readonly success: number;
  readonly organization: string;
  charged: number;
  /** Asked without an answer, or answered 503: it may have been charged. */
  unknown: number;
}

describe.skipIf(database === undefined)(`three processes at their limits, seed ${SEED}`, () => {
  const server = database as OwnServer;
  const chance = new Chance(SEED);
  let link: TcpLink;
  let fleet: Fleet;
  let targetUrl: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ fleet, link, targetUrl, close } = await openLinkedFleet(server));
  }, 60_000);
  afterAll(() => close());

  const member = (): Transport => overSocket(chance.pick(fleet.members).server.url);

  async function disturb(kind: (typeof DISTURBANCES)[number]): Promise<void> {
    await pause(chance.below(SPAN_MS));
    switch (kind) {
      case 'connections are cut':
        link.cutAtRandom(chance.fork(), CUT_SHARE);
        return pause(2 * SPAN_MS);
      case 'the database is killed':
        await server.kill();
        return server.start();
      case 'the database is stopped without a checkpoint':
        await server.stopImmediately();
        return server.start();
      case 'a process is killed': {
        const place = chance.below(fleet.members.length);
        await fleet.members[place]?.server.kill();
        return fleet.startMember(place);
      }
      default:
        return kind satisfies never;
    }
  }

  /** Sends everything at random moments, disturbed; resolves when every process is ready again. */
  async function disturbed(kind: (typeof DISTURBANCES)[number], sending: readonly (() => Promise<void>)[]) {
    const sent = sending.map(async (send) => {
      await pause(chance.below(2 * SPAN_MS));
      await send();
    });
    const disturbing = disturb(kind);
    const outcomes = await Promise.allSettled([disturbing, ...sent]);
    link.cutAtRandom(chance, 0);
    // It may have failed to start what it ended.
    await disturbing;
    await fleet.ready(READY_MS);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** @param isSure no disturbance explains a failure */
  async function postOne({ callback, acknowledged, bodies }: Posted, body: string, isSure: boolean): Promise<void> {
    bodies.add(body);
    const answer = await post(member(), callback.id, body).catch(() => undefined);
    if (answer === undefined) return expect(isSure).toBe(false);
    const text = await answer.text();
    // 503: the one that was killed is starting.
    expect(isSure ? [200, 410] : [200, 410, 500, 503], text).toContain(answer.status);
    const { event_id: id } = JSON.parse(text) as { event_id: string };
    if (answer.status === 200) acknowledged.set(id, body);
  }

  async function spendOne(spender: Spender, isSure: boolean): Promise<void> {
    const answer = await member()
      .fetch(spender.path, spender.init)
      .catch(() => undefined);
    await answer?.arrayBuffer().catch(() => {});
    const status = answer?.status ?? 0;
    expect([spender.success, 402, ...(isSure ? [] : [0, 503])]).toContain(status);
    if (status === spender.success) spender.charged++;
    if (status === 0 || status === 503) spender.unknown++;
  }

  const admin = async (path: string, what: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const answer = await member().fetch(`/admin/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(what) });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Record<string, string>;
  };

  async function spenderOf(organization: string, rest: Pick<Spender, 'path' | 'init' | 'success'>): Promise<Spender> {
    await admin('grants', { organization, kind: 'onboarding', amount: CREDITS });
    const { key } = await admin('keys', { organization, scopes: ['jobs:read', 'retries:write'] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return { ...rest, init: { ...rest.init, headers }, organization, charged: 0, unknown: 0 };
  }

  async function auditCredits({ organization, charged, unknown, success }: Spender): Promise<void> {
    const [row] = await fleet.rows<{ sum: number; jobs: number }>(
      `SELECT coalesce(sum(e.amount), 0)::int AS sum,
        (SELECT count(*)::int FROM paygrade.retries r WHERE r.customer = 'org:${organization}') AS jobs
      FROM paygrade.credit_entries e WHERE e.organization = '${organization}'`,
    );
    expect(row?.sum).toBe(CREDITS);
    expect(charged).toBeLessThanOrEqual(CREDITS);
    expect(CREDITS - charged).toBeLessThanOrEqual(unknown);
    // A job is made with its charge, and never without it.
    expect(row?.jobs).toBe(success === 201 ? CREDITS : 0);
  }

  const rounds = Array.from(
    { length: ROUNDS },
    (_, round) => [round, DISTURBANCES[round % DISTURBANCES.length]!] as const,
  );

  it.each(rounds)(
    'store ten events and no more, in round %i while %s',
    async (round, kind) => {
      const all: Posted[] = [];
      for (let i = 0; i < CALLBACK_COUNT; i++) {
        const callback = await createCallback(member(), wallet());
        all.push({ callback, acknowledged: new Map(), bodies: new Set() });
      }
      const bodies = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${round} ${name} ${i}`);
      await disturbed(
        kind,
        all.flatMap((one) => bodies('during', WEBHOOKS.during).map((body) => () => postOne(one, body, false))),
      );
      await Promise.all(all.flatMap((one) => bodies('after', WEBHOOKS.after).map((body) => postOne(one, body, true))));
      for (const { callback, acknowledged, bodies: sent } of all) {
        const events = await eventsOf(member(), callback);
        expect(events).toHaveLength(EVENT_COUNT_MAX);
        const stored = new Map(events.map(({ id, body }) => [id, body as string]));
        // Each was sent, none is there twice, and none that was acknowledged is missing.
        expect(new Set(stored.values()).size).toBe(EVENT_COUNT_MAX);
        for (const body of stored.values()) expect(sent).toContain(body);
        for (const [id, body] of acknowledged) expect([id, stored.get(id)]).toEqual([id, body]);
      }
    },
    60_000,
  );

  it.each(rounds)(
    `spend ${CREDITS} credits and no more, in round %i while %s`,
    async (round, kind) => {
      const body = JSON.stringify({ request: { method: 'GET', url: targetUrl } });
      const spenders = [
        await spenderOf(`data-${round}`, { path: '/data/v1/jobs/search?limit=1', init: {}, success: 200 }),
        await spenderOf(`retry-${round}`, { path: '/retry/v1/retries', init: { method: 'POST', body }, success: 201 }),
      ];
      const times = (count: number, isSure: boolean) =>
        spenders.flatMap((one) => Array.from({ length: count }, () => () => spendOne(one, isSure)));
      await disturbed(kind, times(CHARGES.during, false));
      await Promise.all(times(CHARGES.after, true).map((spend) => spend()));
      for (const spender of spenders) await auditCredits(spender);
    },
    60_000,
  );
});
