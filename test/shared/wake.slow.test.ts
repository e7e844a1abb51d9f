/**
 * How long a wait at one process takes to learn of a webhook to another (siblings §9): with the database's NOTIFY, and without,
 * when only the poll finds it. Prints the figures of docs/benchmarks.md.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallback, post, wait } from '../support/callback-client.ts';
import { Chance } from '../support/chance.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import { overSocket, type Transport } from '../support/transport.ts';
import { pause } from '../support/until.ts';
import { wallet } from '../support/wallet.ts';
import { Fleet } from './fleet.ts';

const CALLBACK_COUNT = Number(process.env.PAYGRADE_TRIALS ?? '30');
/** Waits at a callback, one after the other. */
const EVENT_COUNT = 10;
const WOKEN_P50_MS = 20;
/** The poll of a process looks every 200 ms; 250 ms with its statement (siblings §9). */
const POLLED_MS = 250;
/** What a machine that does other work may add to a single wait. */
const NOISE_MS = 250;

const database = await startPostgres({ fsync: true });
if (database === undefined) console.log('skipping wake-ups: there is no PostgreSQL to start');

/** @param millis ascending */
const shareOf = (millis: readonly number[], share: number): number =>
  millis[Math.min(millis.length - 1, Math.floor(share * millis.length))] ?? Number.NaN;

describe.skipIf(database === undefined)('a wait at another process', () => {
  const server = database as OwnServer;
  const chance = new Chance(1);
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await new Fleet(await server.freshUrl(), ['node', 'node', 'bun'], { STATE_SYNC: 'full' }).start();
  }, 60_000);
  afterAll(async () => {
    await fleet.stop();
    await server.close();
  });
  const member = (place: number): Transport => overSocket(fleet.members[place % 3]!.server.url);

  /** From the acknowledgement of each webhook to the answer of the wait at the next process, ascending. */
  async function wakeUps(callbackCount: number, before: () => Promise<void>): Promise<number[]> {
    const millis: number[] = [];
    for (let i = 0; i < callbackCount; i++) {
      const callback = await createCallback(member(i), wallet());
      let after = '';
      for (let event = 0; event < EVENT_COUNT; event++) {
        const waiting = wait(member(i + 1), callback, `?timeout=20&after=${after}`).then(async (answer) => {
          const { event: woken } = (await answer.json()) as { event: { id: string } };
          return { id: woken.id, endMs: performance.now() };
        });
        await before();
        // Anywhere between two polls.
        await pause(chance.wholeBetween(30, 230));
        const posted = await post(member(i + 2), callback.id, `event ${event}`);
        const acknowledgedMs = performance.now();
        const { event_id: id } = (await posted.json()) as { event_id: string };
        const woken = await waiting;
        expect(woken.id).toBe(id);
        after = id;
        millis.push(woken.endMs - acknowledgedMs);
      }
    }
    return millis.sort((a, b) => a - b);
  }

  function print(how: string, millis: readonly number[]): void {
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => shareOf(millis, share).toFixed(1));
    console.log(`${how}, ${millis.length} waits: p50 ${p50} ms, p99 ${p99} ms, longest ${max} ms`);
  }

  it('is woken by a hint within 20 ms at p50, and no later than the poll', async () => {
    const millis = await wakeUps(CALLBACK_COUNT, async () => {});
    print('woken by a hint', millis);
    expect(shareOf(millis, 0.5)).toBeLessThan(WOKEN_P50_MS);
    expect(shareOf(millis, 0.99)).toBeLessThan(POLLED_MS);
    expect(shareOf(millis, 1)).toBeLessThan(POLLED_MS + NOISE_MS);
  }, 300_000);

  it('is woken by the poll when no hint can reach it', async () => {
    let endedCount = 0;
    // Processes connect again after a second, so their connections are ended before each webhook.
    const endHints = async (): Promise<void> => {
      const rows = await fleet.rows(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%' OR query LIKE 'NOTIFY%')
           AND pid <> pg_backend_pid()`,
      );
      endedCount += rows.length;
    };
    const millis = await wakeUps(Math.ceil(CALLBACK_COUNT / 3), endHints);
    print(`woken by the poll (${endedCount} listening connections ended)`, millis);
    expect(endedCount).toBeGreaterThan(0);
    expect(shareOf(millis, 0.5)).toBeGreaterThan(WOKEN_P50_MS);
    expect(shareOf(millis, 0.99)).toBeLessThan(POLLED_MS + NOISE_MS);
  }, 300_000);
});
