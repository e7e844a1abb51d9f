/** Callbacks, credits and retries of several processes on one database (siblings §9), through their public routes. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, createCallback } from '../support/callback-client.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import { runToEnd } from '../support/server.ts';
import { overSocket } from '../support/transport.ts';
import { until } from '../support/until.ts';
import { wallet } from '../support/wallet.ts';
import { Fleet } from './fleet.ts';

const database = await startPostgres();
if (database === undefined) console.log('skipping several processes on one database: there is no PostgreSQL to start');

/** A target that counts what reaches it, by the job and the number of the attempt. */
class Target {
  readonly seen = new Map<string, number>();
  /** Status of the answer to an attempt. */
  statusOf: (attempt: number) => number = () => 200;
  readonly #server: Server = createServer((request, response) => {
    const attempt = Number(request.headers['x-retry-attempt']);
    const name = `${request.headers['x-retry-id']} ${attempt}`;
    this.seen.set(name, (this.seen.get(name) ?? 0) + 1);
    request.resume().on('end', () => response.writeHead(this.statusOf(attempt)).end('{}'));
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

describe.skipIf(database === undefined)('three processes on one database', () => {
  const server = database as OwnServer;
  const target = new Target();
  let fleet: Fleet;
  let url = '';
  let key = '';
  beforeAll(async () => {
    url = await target.start();
    fleet = await new Fleet(await server.freshUrl(), ['node', 'node', 'bun'], {
      SURFACES: 'jobs,callbacks,data,retry',
      TARGET_ALLOW: new URL(url).host,
    }).start();
    const variables = { DATABASE_URL: fleet.databaseUrl };
    const scopes = 'jobs:read,retries:read,retries:write';
    const made = runToEnd('node', ['keys', 'create', '--org', 'acme', '--scopes', scopes, '--json'], variables);
    ({ key } = JSON.parse(made.stdout) as { key: string });
    runToEnd('node', ['credits', 'grant', '--org', 'acme', '--kind', 'onboarding', '--amount', '40'], variables);
  });
  afterAll(async () => {
    target.stop();
    await fleet.stop();
    await server.close();
  });
  const address = (place: number): string => fleet.members[place % 3]!.server.url;

  it('store ten of thirty webhooks that come to all at once, and wake a wait at another', async () => {
    const created = await createCallback(overSocket(address(0)), wallet());
    const { id } = created;
    const { authorization } = bearer(created) as { authorization: string };
    const waiting = fetch(`${address(1)}/v1/callbacks/${id}/wait?timeout=20`, { headers: { authorization } });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const startMs = performance.now();
    const posted = await Promise.all(
      Array.from({ length: 30 }, (_, i) => fetch(`${address(i)}/hooks/${id}`, { method: 'POST', body: `event ${i}` })),
    );
    const statuses = posted.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(200), ...Array(20).fill(410)]);
    expect((await fetch(`${address(2)}/hooks/${id}`, { method: 'POST', body: 'x' })).status).toBe(429);
    expect(await (await waiting).json()).toMatchObject({ received: true });
    console.log(`a wait at another process, with 30 webhooks at once: ${(performance.now() - startMs).toFixed(0)} ms`);
    const listed = await fetch(`${address(2)}/v1/callbacks/${id}/events`, { headers: { authorization } });
    const { events } = (await listed.json()) as { events: { id: string }[] };
    expect(new Set(events.map((event) => event.id)).size).toBe(10);
  });

  it('spend forty credits exactly, and send each attempt once though a process is killed', async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    target.statusOf = (attempt) => (attempt === 1 ? 503 : 200);
    const body = JSON.stringify({
      request: { method: 'GET', url },
      policy: { max_attempts: 5, initial_delay_seconds: 1, backoff: 'fixed', jitter: false },
    });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => fetch(`${address(i)}/retry/v1/retries`, { method: 'POST', headers, body })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(40).fill(201), ...Array(20).fill(402)]);
    const ids = await Promise.all(
      answers.filter(({ status }) => status === 201).map(async (one) => ((await one.json()) as { id: string }).id),
    );
    await fleet.members[0]!.server.kill();
    const ended = async (): Promise<boolean> => {
      const [left] = await fleet.rows<{ count: number }>(
        `SELECT count(*)::int AS count FROM paygrade.retries WHERE state NOT LIKE '%"succeeded"%'`,
      );
      return left?.count === 0;
    };
    const killedMs = performance.now();
    await until('every job ends', ended, 30_000);
    console.log(`all jobs have ended ${((performance.now() - killedMs) / 1000).toFixed(1)} s after a kill`);
    expect([...target.seen].filter(([, count]) => count > 1)).toEqual([]);
    for (const id of ids) {
      const read = await fetch(`${address(2)}/retry/v1/retries/${id}/attempts`, { headers });
      const { attempts } = (await read.json()) as { attempts: { number: number; outcome: string }[] };
      expect(attempts.at(-1)?.outcome).toBe('success');
      expect(attempts.length).toBeLessThanOrEqual(5);
    }
    const [sum] = await fleet.rows<{ amount: number }>(
      'SELECT sum(amount)::int AS amount FROM paygrade.credit_entries',
    );
    expect(sum).toEqual({ amount: 40 });
  }, 60_000);
});
