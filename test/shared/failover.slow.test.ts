/** How long three processes sell nothing when their database dies and comes back: killed, and stopped without a checkpoint. */
import type { PrivateKeyAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { startPostgres } from '../support/postgres.ts';
import { overSocket } from '../support/transport.ts';
import { pause } from '../support/until.ts';
import { buyOver, wallet } from '../support/wallet.ts';
import { Fleet } from './fleet.ts';

const ROUNDS = Number(process.env.PAYGRADE_TRIALS ?? '6');
const CUSTOMER_COUNT = 6;
/** From the moment at which the database takes connections again. */
const SELLING_MS = 5000;

const database = await startPostgres({ fsync: true });
if (database === undefined) console.log('skipping the failover time: there is no PostgreSQL to start');

interface Outage {
  readonly how: string;
  /** Longest time between two sales. */
  readonly withoutSalesMs: number;
  /** From the kill until a new connection of the test was taken. */
  readonly awayMs: number;
  /** From then to the first sale; negative when that came earlier. */
  readonly resumedMs: number;
}

/** The longest time between two sales, and when it ended. @param soldMs ascending */
function longestPause(soldMs: readonly number[]): [lengthMs: number, endMs: number] {
  let longest: [number, number] = [0, 0];
  for (const [i, endMs] of soldMs.entries()) {
    const lengthMs = endMs - (soldMs[i - 1] ?? endMs);
    if (lengthMs > longest[0]) longest = [lengthMs, endMs];
  }
  return longest;
}

describe.skipIf(database === undefined)('three processes whose database dies and comes back', () => {
  it(`sell again soon after it, in ${ROUNDS} rounds`, { timeout: 600_000 }, async () => {
    const server = database!;
    const fleet = await new Fleet(await server.freshUrl(), ['node', 'node', 'bun'], {
      LOCAL_BALANCE: '1000000000000',
      STATE_SYNC: 'full',
    }).start();
    const path = fleet.client(0).search;
    const soldMs: number[] = [];
    let isOpen = true;
    const customer = async (account: PrivateKeyAccount, place: number): Promise<void> => {
      const shop = overSocket(fleet.members[place % fleet.members.length]!.server.url);
      while (isOpen) {
        const answer = await buyOver(shop, path, account).catch(() => undefined);
        if (answer?.status === 200) soldMs.push(performance.now());
        await pause(10);
      }
    };
    const customers = Promise.all(Array.from({ length: CUSTOMER_COUNT }, (_, place) => customer(wallet(), place)));
    const outages: Outage[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await pause(3000);
      const how = round % 2 === 0 ? 'killed' : 'stopped without a checkpoint';
      const downMs = performance.now();
      await (round % 2 === 0 ? server.kill() : server.stopImmediately());
      await server.start();
      const upMs = performance.now();
      while (!soldMs.some((ms) => ms > upMs)) await pause(5);
      // Sales may begin before this test has seen that the database is back.
      const [withoutSalesMs, firstMs] = longestPause(soldMs.filter((ms) => ms > downMs - 1000));
      outages.push({ how, withoutSalesMs, awayMs: upMs - downMs, resumedMs: firstMs - upMs });
    }
    isOpen = false;
    await customers;
    await fleet.stop();
    await server.close();
    for (const { how, withoutSalesMs, awayMs, resumedMs } of outages) {
      const [without, away, resumed] = [withoutSalesMs, awayMs, resumedMs].map((ms) => ms.toFixed(0));
      console.log(
        `${how}: ${without} ms without sales, the database was away for ${away} ms, sold ${resumed} ms after it`,
      );
    }
    expect(Math.max(...outages.map(({ resumedMs }) => resumedMs))).toBeLessThan(SELLING_MS);
  });
});
