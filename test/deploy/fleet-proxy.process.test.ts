/**
 * The proxies in front of several gates, `deploy/fleet.Caddyfile` as it stands there and that of `paygrade fleet`: what passes
 * while a gate, every jobs service or the database is away (siblings §8, §9).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CREATION_BYTES_MAX, PAYLOAD_BYTES_MAX } from '../../src/callback/limits.ts';
import { startProxy } from '../../src/cli/fleet/proxy.ts';
import { REQUEST_BYTES_MAX } from '../../src/retry/limits.ts';
import { Fleet, type Member } from '../shared/fleet.ts';
import { expectError } from '../support/answers.ts';
import { type Callback, createCallback, eventsOf, outcomeOf, post, wait } from '../support/callback-client.ts';
import { freePort } from '../support/free-port.ts';
import { JobsClient } from '../support/jobs-client.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import { PROJECT, type RunningServer, startProcess, startServer } from '../support/server.ts';
import { overSocket, type Transport } from '../support/transport.ts';
import { pause, until } from '../support/until.ts';
import { buyOver, wallet } from '../support/wallet.ts';
import { partOf } from '../support/whole.ts';

const ENGINE_TOKEN = 'token-between-gates-and-services-0123456789';
/** More than twice the time between two looks of either proxy. */
const DRAIN_SECONDS = '3';
/** A look of Caddy comes every second. */
const SEEN_MS = 15_000;
const ASKED_COUNT = 12;
/** Begins the lines of `/metrics` that count the requests of a purchase, by status. */
const PURCHASES = 'paygrade_requests_total{operation="describeMarket",';

const database = await startPostgres();
if (database === undefined) console.log('skipping the proxies of gates: there is no PostgreSQL to start');
const hasCaddy = spawnSync('caddy', ['version']).error === undefined;
if (!hasCaddy) console.log('skipping deploy/fleet.Caddyfile: apt-get install caddy brings what its test needs');

/** A refusal by the proxy itself: it reached no gate, so no request id stands in a log. */
async function expectRefusal(response: Response, status: number, code: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({
    error: { code, message: expect.any(String), request_id: expect.stringMatching(/^req_[0-9a-f-]{36}$/) },
  });
}

interface Front {
  readonly shop: Transport;
  stop(): Promise<void>;
}

/** The file as it stands, with the addresses of these gates. */
async function caddyBefore(ports: readonly number[]): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-caddy-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const text = readFileSync(join(PROJECT, 'deploy', 'fleet.Caddyfile'), 'utf8');
  const named = text.replace(/gate-(\d):8402/g, (_, place: string) => `127.0.0.1:${ports[Number(place) - 1]}`);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\tstorage file_system ${folder}\n}\n${named}`);
  const words = ['--config', file, '--adapter', 'caddyfile'];
  const checked = spawnSync('caddy', ['validate', ...words], {
    encoding: 'utf8',
    env: { ...process.env, BASE_URL: url },
  });
  if (checked.status !== 0) throw new Error(checked.stdout + checked.stderr);
  const proxy = startProcess('caddy', ['run', ...words], { BASE_URL: url });
  return {
    shop: overSocket(url),
    async stop() {
      proxy.child.kill('SIGTERM');
      await proxy.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function fleetProxyBefore(ports: readonly number[]): Promise<Front> {
  const proxy = await startProxy(0);
  await proxy.take(ports);
  return { shop: overSocket(`http://127.0.0.1:${proxy.port}`), stop: () => proxy.close() };
}

const PROXIES = [
  ['deploy/fleet.Caddyfile', caddyBefore],
  ['the proxy of `paygrade fleet`', fleetProxyBefore],
] as const;
/** One of them in `npm test`: each starts a fleet and replaces its parts. */
const TRIED = PROXIES.slice(hasCaddy ? 0 : 1).slice(0, partOf(PROXIES.length, 1));

afterAll(() => database?.close());

describe.skipIf(database === undefined).each(TRIED)('%s', (name, startFront) => {
  const server = database as OwnServer;
  let fleet: Fleet;
  let service: RunningServer;
  let front: Front;
  const startService = (port = 0): Promise<RunningServer> =>
    startServer('node', { PORT: `${port}`, ENGINE_TOKEN, SURFACES: 'none', STATE_DIR: ':memory:', LOG_LEVEL: 'error' });
  const statusOf = async (path: string): Promise<number> => {
    const answer = await front.shop.fetch(path).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status ?? 0;
  };
  const bought = async (): Promise<number> => (await buyOver(front.shop, '/v1/jobs/market')).status;
  const answeredBy = async (member: Member): Promise<string> => {
    const { text } = await member.client.get('/metrics');
    return text
      .split('\n')
      .filter((line) => line.startsWith(PURCHASES))
      .join();
  };
  /** Every gate, so that the proxy has seen each: one that it has not seen takes no requests when the other one leaves. */
  const sells = async (): Promise<void> => {
    const before = await Promise.all(fleet.members.map(answeredBy));
    await until(
      'every gate sells',
      async () => {
        if ((await bought().catch(() => 0)) !== 200) return false;
        const now = await Promise.all(fleet.members.map(answeredBy));
        return now.every((counts, place) => counts !== before[place]);
      },
      SEEN_MS,
    );
  };
  const readyIs = (status: number): Promise<void> =>
    until(
      `every gate says ${status}`,
      async () => {
        const looks = await Promise.all(fleet.members.map(({ client }) => client.get('/ready')));
        return looks.every((look) => look.status === status);
      },
      SEEN_MS,
    );

  beforeAll(async () => {
    service = await startService();
    const variables = {
      ENGINE_TOKEN,
      ENGINE_URL: service.url,
      SNAPSHOT: '',
      SURFACES: 'jobs,callbacks',
      DRAIN_SECONDS,
    };
    fleet = await new Fleet(await server.freshUrl(), ['node', 'node'], variables).start();
    await readyIs(200);
    // The third one is off: nothing listens there.
    front = await startFront([...fleet.members.map((one) => one.server.port), await freePort()]);
    await sells();
  }, 60_000);
  afterAll(async () => {
    await front?.stop();
    await fleet?.stop();
    await service?.stop();
  });

  it('sells though one of the gates cannot be reached', async () => {
    const statuses = [];
    for (let i = 0; i < ASKED_COUNT; i++) statuses.push(await bought());
    expect(statuses).toEqual(Array(ASKED_COUNT).fill(200));
  });

  it.skipIf(name !== PROXIES[0][0])(
    'refuses in the form that customers know',
    async () => {
      for (const path of ['/metrics', '/admin/v1/keys', '/internal/v1/companies?q=acme']) {
        await expectRefusal(await front.shop.fetch(path), 404, 'NOT_FOUND');
      }
      const waiting = wait(front.shop, await createCallback(front.shop, wallet()));
      await pause(500);
      await Promise.all(fleet.members.map((one) => one.server.kill()));
      const lost = await waiting;
      expect(lost.headers.get('retry-after')).toBe('2');
      await expectRefusal(lost, 503, 'INTERNAL_ERROR');
      await Promise.all([fleet.startMember(0), fleet.startMember(1)]);
      await readyIs(200);
      await sells();
    },
    60_000,
  );

  it.skipIf(name !== PROXIES[0][0])('refuses a body that is too long, by a byte or by far', async () => {
    const callback = await createCallback(front.shop, wallet());
    expect((await post(front.shop, callback.id, 'x'.repeat(PAYLOAD_BYTES_MAX))).status).toBe(200);
    const creation = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const largest = { ...creation, body: `{}${' '.repeat(CREATION_BYTES_MAX - 2)}` };
    expect((await front.shop.fetch('/v1/callbacks', largest)).status).toBe(402);
    for (const [path, bytesMax] of [
      ['/v1/callbacks', CREATION_BYTES_MAX],
      [`/hooks/${callback.id}`, PAYLOAD_BYTES_MAX],
      ['/retry/v1/retries', REQUEST_BYTES_MAX],
    ] as const) {
      for (const bytes of [bytesMax + 1, 2 * bytesMax, ...Array(ASKED_COUNT).fill(8_000_000)]) {
        const answer = await front.shop.fetch(path, { ...creation, body: 'x'.repeat(bytes) });
        await expectRefusal(answer, 413, 'PAYLOAD_TOO_LARGE');
      }
    }
    // None of them reached a gate, which would have cut Caddy's connection before it had read them.
    for (const { client } of fleet.members)
      expect((await client.get('/metrics')).text).not.toMatch(/status="413"[^}]*} [1-9]/);
  });

  it('refuses no payment while a gate is replaced', async () => {
    const statuses: number[] = [];
    let isOpen = true;
    const customer = async (): Promise<void> => {
      while (isOpen) {
        statuses.push(await bought());
        await pause(20);
      }
    };
    const customers = Promise.all([customer(), customer()]);
    expect(await fleet.members[0]!.server.stop()).toBe(0);
    await fleet.startMember(0);
    await pause(1500);
    isOpen = false;
    await customers;
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  }, 30_000);

  it('gives callbacks and free routes to the gates while every jobs service is away', async () => {
    await service.stop();
    await readyIs(503);
    // Longer than until the next look.
    await pause(2500);
    const callback = await createCallback(front.shop, wallet());
    expect((await post(front.shop, callback.id, 'event')).status).toBe(200);
    expect(await eventsOf(front.shop, callback)).toHaveLength(1);
    expect(await statusOf('/health')).toBe(200);
    expect(await outcomeOf(await front.shop.fetch('/v1/companies?q=acme'))).toBe('503 CATALOGUE_UNAVAILABLE');
    const client = new JobsClient(front.shop, '');
    expectError(await client.get(client.search), 503, 'CATALOGUE_UNAVAILABLE');
    service = await startService(service.port);
    await readyIs(200);
    await sells();
  }, 60_000);

  it('gives free routes to the gates while the database is away, and their own refusals pass', async () => {
    const callback: Callback = await createCallback(front.shop, wallet());
    await server.kill();
    try {
      await readyIs(503);
      await pause(2500);
      expect(await statusOf('/health')).toBe(200);
      expect(await statusOf('/v1/companies?q=acme')).toBe(200);
      const client = new JobsClient(front.shop, '');
      expectError(await client.get(client.search), 503, 'SETTLEMENT_UNAVAILABLE');
      expect(await outcomeOf(await post(front.shop, callback.id, 'event'))).toBe('500 INTERNAL_ERROR');
    } finally {
      await server.start();
    }
    await readyIs(200);
    await sells();
  }, 60_000);

  it('leaves out a gate that is about to end, though none is ready', async () => {
    await service.stop();
    await readyIs(503);
    const stopping = fleet.members[0]!.server.stop();
    await pause(1000 * Number(DRAIN_SECONDS) - 200);
    const statuses: Promise<number>[] = [];
    for (let i = 0; i < ASKED_COUNT; i++) {
      statuses.push(statusOf('/health'));
      await pause(50);
    }
    expect(await Promise.all(statuses)).toEqual(Array(ASKED_COUNT).fill(200));
    expect(await stopping).toBe(0);
    await fleet.startMember(0);
    service = await startService(service.port);
    await readyIs(200);
    await sells();
  }, 60_000);
});
