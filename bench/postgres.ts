/**
 * The cost of a shared database compared with a state folder with sync `full`: wall time and processor time of a paid
 * request through the whole handler, in turn in one process; and claims a second, compared with `pgbench`, which sends
 * the same insert in groups of the same size to the same server. The server commits durably (`fsync`).
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { systemClock } from '../src/base/clock.ts';
import type { ReservationKey } from '../src/payment/protocol/order.ts';
import { parseDatabaseUrl } from '../src/storage/postgres/address.ts';
import { CONNECTION_LIMITS } from '../src/storage/postgres/backend.ts';
import { Claims } from '../src/storage/postgres/claims.ts';
import { openConnections } from '../src/storage/postgres/connections.ts';
import { Database } from '../src/storage/postgres/database.ts';
import { migrate } from '../src/storage/postgres/migrations.ts';
import { TABLES } from '../src/storage/postgres/tables/tables.ts';
import { type OwnServer, startPostgres } from '../test/support/postgres.ts';
import { type Context, type Figure, figureOf, type Size, shareOf, sized } from './harness.ts';
import { closeShop, FULL, IN_FLIGHT_COUNT, latencies, openShop, paymentsFor, type Shop, throughput } from './state.ts';

const CLAIMS_IN_FLIGHT = 64;
const POSTGRES = 'PostgreSQL';

interface Rounds {
  readonly p50: number[];
  readonly p99: number[];
  readonly rate: number[];
  readonly cpu: number[];
  readonly serverCpu: number[];
}

const noRounds = (): Rounds => ({ p50: [], p99: [], rate: [], cpu: [], serverCpu: [] });

/** One round of one shop: sequential requests, then many in flight. */
async function payRound(shop: Shop, server: OwnServer, size: Size, into: Rounds): Promise<void> {
  const millis = await latencies(await paymentsFor(shop.app, sized(size, 50, 400)));
  into.p50.push(shareOf(millis, 0.5));
  into.p99.push(shareOf(millis, 0.99));
  const asks = await paymentsFor(shop.app, sized(size, 128, 2560));
  const [before, serverBefore] = [process.cpuUsage(), server.cpuMs()];
  into.rate.push((await throughput(asks)).rate);
  const { user, system } = process.cpuUsage(before);
  into.cpu.push((user + system) / asks.length);
  into.serverCpu.push(((server.cpuMs() - serverBefore) * 1000) / asks.length);
}

async function paidFigures(size: Size, server: OwnServer): Promise<Figure[]> {
  const databaseUrl = await server.freshUrl();
  const shops = [await openShop(FULL, false), await openShop({ name: POSTGRES, databaseUrl }, false)];
  const rounds = shops.map(noRounds);
  for (const shop of shops) await latencies(await paymentsFor(shop.app, sized(size, 50, 400)));
  for (let round = 0; round < sized(size, 2, 9); round++) {
    for (const [index, shop] of shops.entries()) await payRound(shop, server, size, rounds[index] as Rounds);
  }
  for (const shop of shops) await closeShop(shop);
  const [full, shared] = rounds as [Rounds, Rounds];
  const ratio = (these: readonly number[], those: readonly number[]): number[] =>
    these.map((one, round) => one / (those[round] as number));
  return [
    ...shops.flatMap(({ name }, index) => {
      const { p50, p99, rate, cpu } = rounds[index] as Rounds;
      return [
        figureOf(`payment, ${name}, p50`, 'ms', p50),
        figureOf(`payment, ${name}, p99`, 'ms', p99),
        figureOf(`payment, ${name}, ${IN_FLIGHT_COUNT} in flight`, '/s', rate),
        figureOf(`payment, ${name}, processor`, 'µs', cpu, 'of this process'),
      ];
    }),
    figureOf(`payment, ${POSTGRES}, processor of the server`, 'µs', shared.serverCpu),
    figureOf(`payment, ${POSTGRES} / ${FULL.name}, p50`, 'x', ratio(shared.p50, full.p50)),
    figureOf(`payment, ${POSTGRES} / ${FULL.name}, p99`, 'x', ratio(shared.p99, full.p99)),
    figureOf(`payment, ${POSTGRES} / ${FULL.name}, processor`, 'x', ratio(shared.cpu, full.cpu)),
  ];
}

/** Claims fresh keys, a fixed number of them in flight at all times. @returns claims a second, and claims in a group */
async function claimRound(
  database: Database,
  claims: Claims,
  count: number,
): Promise<{ rate: number; groupSize: number }> {
  const keys = Array.from({ length: count }, () => randomBytes(16).toString('latin1') as ReservationKey);
  const { statementCount } = database;
  let next = 0;
  const walk = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      const key = keys[at] as ReservationKey;
      ok((await claims.claim({ key, validBeforeSeconds: 2_000_000_000, attempt: at })) !== undefined);
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: CLAIMS_IN_FLIGHT }, walk));
  const rate = (count * 1000) / (performance.now() - startMs);
  return { rate, groupSize: count / (database.statementCount - statementCount) };
}

/** The same insert by one pgbench client, whose keys the server generates. @returns claims a second */
async function pgbenchRound(
  server: OwnServer,
  url: string,
  script: string,
  groupSize: number,
  seconds: number,
): Promise<number> {
  const words = ['-n', '-M', 'prepared', '-f', script, '-D', `n=${groupSize}`, '-T', String(seconds), '-c', '1', url];
  const child = spawn(join(server.binaries, 'pgbench'), words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (bytes: Buffer) => {
    said += String(bytes);
  });
  deepStrictEqual(await new Promise((resolve) => child.once('exit', resolve)), 0);
  return Number(/tps = ([\d.]+)/.exec(said)?.[1]) * groupSize;
}

const PGBENCH_CLAIM = `
  INSERT INTO paygrade.claims (key, owner, attempt, valid_before)
  SELECT decode(key, 'hex'), 'pgbench', 1, 2000000000 FROM (
    SELECT md5(random()::text || n) AS key FROM generate_series(1, :n) AS n ORDER BY 1
  ) AS item
  ON CONFLICT (key) DO NOTHING RETURNING encode(key, 'hex') AS key, serial;
`;

async function claimFigures(size: Size, server: OwnServer): Promise<Figure[]> {
  const url = await server.freshUrl();
  const ports = { clock: systemClock, timers: systemTimers, onStateFault() {} };
  const database = new Database(openConnections(parseDatabaseUrl(url), CONNECTION_LIMITS), ports);
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-bench-'));
  const script = join(folder, 'claim.sql');
  writeFileSync(script, PGBENCH_CLAIM);
  try {
    await migrate(database, TABLES, 'bench');
    const claims = new Claims(database, 'bench', {
      identity: { sawClaims() {} },
      retention: { removableSerial: () => 0 },
      onDoubt() {},
    });
    const seconds = sized(size, 1, 3);
    let { rate, groupSize } = await claimRound(database, claims, sized(size, 2000, 20_000));
    const [ours, theirs, sizes]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < sized(size, 2, 7); round++) {
      ({ rate, groupSize } = await claimRound(database, claims, Math.round(rate * seconds)));
      ours.push(rate);
      sizes.push(groupSize);
      theirs.push(await pgbenchRound(server, url, script, Math.round(groupSize), seconds));
    }
    return [
      figureOf(`claims, ${CLAIMS_IN_FLIGHT} in flight`, '/s', ours, `groups of ${Math.round(shareOf(sizes, 0.5))}`),
      figureOf('claims by pgbench, the same groups', '/s', theirs),
      figureOf(
        'claims / claims by pgbench',
        'x',
        ours.map((one, round) => one / (theirs[round] as number)),
      ),
    ];
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function measure({ size }: Context): Promise<Figure[]> {
  const server = await startPostgres({ fsync: true });
  if (server === undefined) {
    console.error('skipping the bench of PostgreSQL: there is no server to start');
    return [];
  }
  try {
    return [...(await paidFigures(size, server)), ...(await claimFigures(size, server))];
  } finally {
    await server.close();
  }
}
