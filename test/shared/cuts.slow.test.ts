/** Three processes whose connections to their database are cut in the middle of statements (siblings §9). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, type Callback, createCallback, eventsOf, post } from '../support/callback-client.ts';
import { Chance } from '../support/chance.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import type { TcpLink } from '../support/tcp-link.ts';
import { overSocket, type Transport } from '../support/transport.ts';
import { pause } from '../support/until.ts';
import { wallet } from '../support/wallet.ts';
import type { Fleet } from './fleet.ts';
import { ADMIN_TOKEN, openLinkedFleet } from './linked-fleet.ts';
import { CUT_SHARE, CUTTING_MS, Trial } from './trial.ts';

const CYCLES = Number(process.env.PAYGRADE_TRIALS ?? '40');
const SEED = Number(process.env.PAYGRADE_SEED ?? Date.now() % 1_000_000);
const WEBHOOK_COUNT = 8;
const JOB_COUNT = 12;
const CREDITS = 100_000;

const database = await startPostgres();
if (database === undefined) console.log('skipping cut connections: there is no PostgreSQL to start');

describe.skipIf(database === undefined)(`three processes whose connections are cut, seed ${SEED}`, () => {
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
  const sometime = (): Promise<void> => pause(chance.below(CUTTING_MS));
  const cutting = async (work: Promise<unknown>): Promise<void> => {
    link.cutAtRandom(chance.fork(), CUT_SHARE);
    if (chance.is(0.3)) {
      await pause(chance.below(CUTTING_MS / 2));
      link.close();
      await pause(chance.below(200));
      link.open();
    }
    await work;
    link.cutAtRandom(chance, 0);
    await fleet.ready();
  };

  it(`sell nothing twice and charge nothing unanswered in ${CYCLES} trials`, { timeout: 3_600_000 }, async () => {
    const trial = new Trial(fleet, server, SEED, link);
    try {
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        await trial.cycle('connections are cut').catch((failure: unknown) => {
          throw new Error(`cycle ${cycle}, seed ${SEED}: ${failure}`);
        });
      }
      expect(trial.counts.sold).toBeGreaterThan(CYCLES);
      expect(link.cutCount).toBeGreaterThan(CYCLES);
    } finally {
      console.log(JSON.stringify(trial.counts));
    }
  });

  /** Bodies by the ids of the events that were acknowledged; bodies that were sent. */
  interface Sent {
    readonly acknowledged: Map<string, string>;
    readonly bodies: Set<string>;
  }

  async function send(callback: Callback, body: string, { acknowledged, bodies }: Sent): Promise<void> {
    await sometime();
    bodies.add(body);
    const answer = await post(member(), callback.id, body);
    expect([200, 500]).toContain(answer.status);
    const { event_id: id } = (await answer.json()) as { event_id: string };
    if (answer.status === 200) acknowledged.set(id, body);
  }

  async function auditEvents(callback: Callback, { acknowledged, bodies }: Sent): Promise<void> {
    const events = await eventsOf(member(), callback);
    const listed = new Map(events.map(({ id, body }) => [id, body as string]));
    for (const [id, body] of acknowledged) expect([id, listed.get(id)]).toEqual([id, body]);
    expect(new Set(listed.values()).size).toBe(events.length);
    for (const body of listed.values()) expect(bodies).toContain(body);
  }

  it(`lose no webhook that they acknowledged, and delete callbacks once, in ${CYCLES} rounds`, {
    timeout: 3_600_000,
  }, async () => {
    for (let round = 0; round < CYCLES; round++) {
      const made = await Promise.all(Array.from({ length: 4 }, () => createCallback(member(), wallet())));
      const callbacks = made.map((callback) => ({
        callback,
        sent: { acknowledged: new Map(), bodies: new Set<string>() },
      }));
      const sending = callbacks.flatMap(({ callback, sent }, place) =>
        Array.from({ length: WEBHOOK_COUNT }, (_, i) => send(callback, `${round} ${place} ${i}`, sent)),
      );
      await cutting(Promise.all(sending));
      for (const { callback, sent } of callbacks) await auditEvents(callback, sent);
      const remove = (callback: Callback): Promise<Response> =>
        member().fetch(`/v1/callbacks/${callback.id}`, { method: 'DELETE', headers: bearer(callback) });
      const deleting = callbacks.map(async ({ callback }) => {
        await sometime();
        return (await remove(callback)).status;
      });
      await cutting(Promise.all(deleting));
      for (const [i, first] of (await Promise.all(deleting)).entries()) {
        const again = (await remove(callbacks[i]!.callback)).status;
        expect(first === 200 ? [404] : [200, 404], `${first}, then ${again}`).toContain(again);
        expect([200, 500]).toContain(first);
      }
    }
  });

  it(`charge for each job that they make, and make one for a key, in ${CYCLES} rounds`, {
    timeout: 3_600_000,
  }, async () => {
    const body = JSON.stringify({ request: { method: 'GET', url: targetUrl } });
    const admin = async (path: string, what: object): Promise<Record<string, string>> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const text = JSON.stringify({ organization: 'acme', ...what });
      return (await member().fetch(`/admin/v1/${path}`, { method: 'POST', headers, body: text })).json() as never;
    };
    await admin('grants', { kind: 'onboarding', amount: CREDITS });
    let keyed: Record<string, string> = {};
    const create = (key: string): Promise<Response> =>
      member().fetch('/retry/v1/retries', { method: 'POST', headers: { ...keyed, 'idempotency-key': key }, body });
    for (let round = 1; round <= CYCLES; round++) {
      // A key may have thirty uncharged answers a minute (siblings §5).
      const { key: secret } = await admin('keys', { scopes: ['retries:read', 'retries:write'] });
      keyed = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const keys = Array.from({ length: JOB_COUNT }, (_, i) => `round-${round}-of-seed-${SEED}-${i}`);
      const made = keys.map(async (key) => {
        await sometime();
        const answer = await create(key);
        expect([200, 201, 503]).toContain(answer.status);
        await answer.arrayBuffer();
      });
      await cutting(Promise.all(made));
      const [before] = await fleet.rows<{ charged: number; jobs: number }>(
        `SELECT (SELECT sum(amount)::int FROM paygrade.credit_entries) AS charged,
          (SELECT count(*)::int FROM paygrade.retries) AS jobs`,
      );
      expect(before?.charged).toBe(before?.jobs);
      for (const key of keys) expect([200, 201]).toContain((await create(key)).status);
      const usage = await member().fetch('/retry/v1/usage', { headers: keyed });
      expect(await usage.json()).toMatchObject({
        retries_created: round * JOB_COUNT,
        credits: { charged: round * JOB_COUNT, remaining: CREDITS - round * JOB_COUNT },
      });
    }
  });
});
