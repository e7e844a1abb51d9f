/**
 * A process that loses only its database while an attempt of a retry is open (siblings §6, §9): another process takes the job
 * over, and never sends while that attempt is under way.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../support/postgres.ts';
import type { Runtime } from '../support/server.ts';
import { TcpLink } from '../support/tcp-link.ts';
import { overSocket } from '../support/transport.ts';
import { until } from '../support/until.ts';
import { Fleet } from './fleet.ts';
import { ADMIN_TOKEN } from './linked-fleet.ts';

const database = await startPostgres();
if (database === undefined) console.log('skipping lost leases: there is no PostgreSQL to start');
afterAll(() => database?.close());

/** An attempt as the target saw it. */
interface Seen {
  readonly startMs: number;
  endMs: number | undefined;
}

/** A target that answers nothing, and when each of its requests began and ended. */
async function silentTarget(): Promise<{ readonly seen: Seen[]; readonly url: string }> {
  const seen: Seen[] = [];
  const server = createServer((request) => {
    const one: Seen = { startMs: performance.now(), endMs: undefined };
    seen.push(one);
    request.socket.on('close', () => {
      one.endMs = performance.now();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe.skipIf(database === undefined)('a process without its database', () => {
  it.each<Runtime>(['node', 'bun'])(
    'ends its attempt before another one sends the next, on %s',
    async (runtime) => {
      const { seen, url } = await silentTarget();
      const databaseUrl = await database!.freshUrl();
      const link = await TcpLink.to(databaseUrl);
      const variables = {
        STATE_KEY: randomBytes(32).toString('base64'),
        SURFACES: 'jobs,callbacks,data,retry',
        TARGET_ALLOW: new URL(url).host,
        ADMIN_TOKEN,
      };
      const lost = await new Fleet(databaseUrl, [runtime], { ...variables, DATABASE_URL: link.url }).start();
      const other = new Fleet(databaseUrl, [runtime], variables);
      onTestFinished(async () => {
        await Promise.all([lost.stop(), ...(other.members.length > 0 ? [other.stop()] : [])]);
        await link.end();
      });
      const post = async (path: string, token: string, body: object): Promise<{ key: string }> => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const answer = await overSocket(lost.members[0]!.server.url).fetch(path, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        expect(answer.status).toBe(201);
        return (await answer.json()) as { key: string };
      };
      await post('/admin/v1/grants', ADMIN_TOKEN, { organization: 'acme', kind: 'onboarding', amount: 100 });
      const { key } = await post('/admin/v1/keys', ADMIN_TOKEN, { organization: 'acme', scopes: ['retries:write'] });
      await post('/retry/v1/retries', key, {
        request: { method: 'GET', url },
        policy: { attempt_timeout_seconds: 30, initial_delay_seconds: 1, max_attempts: 3 },
      });
      await until('the first attempt', () => seen.length === 1);
      await other.start();
      link.close();
      await until('the second attempt', () => seen.length === 2, 40_000);
      const [first, second] = seen;
      expect(first!.endMs).toBeLessThan(second!.startMs);
      console.log(
        `${runtime}: sent again ${Math.round(second!.startMs - first!.endMs!)} ms after the end of the first`,
      );
    },
    90_000,
  );
});
