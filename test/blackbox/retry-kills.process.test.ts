/**
 * Retries through kills of a real server, with the target's own log as the judge (siblings §6): nothing acknowledged is lost, no job
 * is sent more often than `max_attempts`, no attempt twice, never two at a time, and each job is charged once.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';
import { pause, until } from '../support/until.ts';
import { IS_WHOLE } from '../support/whole.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const KILL_COUNT = IS_WHOLE ? 100 : 3;
const JOBS_A_LIFE = 20;
const HOST_COUNT = 200;
const MAX_ATTEMPTS = 10;

interface Retry {
  readonly id: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly callback_status: string;
}

interface CallbackStatus {
  readonly status: string;
  readonly next_attempt_at: string | null;
}

const TERMINAL: ReadonlySet<string> = new Set(['succeeded', 'failed']);

/** Answers slowly, every third time with 503; its log is what it saw. */
class Target {
  readonly numbers = new Map<string, number[]>();
  /** Attempts that it answered with a success, by job. */
  readonly answered = new Map<string, number[]>();
  readonly events = new Set<string>();
  readonly overlaps: string[] = [];
  readonly #open = new Map<string, number>();
  #count = 0;
  readonly server: Server = createServer((request, response) => {
    request.resume();
    const { 'x-retry-id': id, 'x-retry-attempt': number, 'webhook-id': event } = request.headers;
    if (typeof event === 'string') {
      this.events.add(event);
      response.writeHead(204).end();
      return;
    }
    const key = String(id);
    this.numbers.set(key, [...(this.numbers.get(key) ?? []), Number(number)]);
    const open = (this.#open.get(key) ?? 0) + 1;
    this.#open.set(key, open);
    if (open > 1) this.overlaps.push(key);
    response.once('close', () => this.#open.set(key, (this.#open.get(key) ?? 1) - 1));
    const status = ++this.#count % 3 === 0 ? 503 : 200;
    setTimeout(
      () => {
        if (status === 200) this.answered.set(key, [...(this.answered.get(key) ?? []), Number(number)]);
        response.writeHead(status).end();
      },
      50 + (this.#count % 7) * 30,
    );
  });

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }
}

describe.each(oneRuntime('bun'))('retries of a server under %s that is killed', (runtime) => {
  const stateDir = mkdtempSync(join(tmpdir(), 'paygrade-retry-kills-'));
  const target = new Target();
  beforeAll(() => new Promise<void>((resolve) => target.server.listen(0, '0.0.0.0', resolve)));
  afterAll(() => {
    target.server.closeAllConnections();
    target.server.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  const start = () =>
    startServer(runtime, {
      STATE_DIR: stateDir,
      LOG_LEVEL: 'error',
      ADMIN_TOKEN,
      RATE_LIMIT_PER_MINUTE: '0',
      KEY_RATE_LIMIT_PER_MINUTE: '0',
      TARGET_ALLOW: `127.0.0.0/8:${target.port}`,
    });

  const admin = async (server: RunningServer, path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const made = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await made.json()) as Record<string, unknown>;
  };

  it('reach their target at least once, never too often, and are charged once', async () => {
    let server = await start();
    await admin(server, '/admin/v1/grants', { organization: 'acme', kind: 'onboarding', amount: 10_000 });
    const scopes = ['retries:read', 'retries:write'];
    const { key } = await admin(server, '/admin/v1/keys', { organization: 'acme', scopes });
    const authorization = { authorization: `Bearer ${String(key)}` };
    // Many hosts, because each gets four requests at a time.
    const url = (n: number): string => `http://127.0.1.${1 + (n % HOST_COUNT)}:${target.port}/`;
    const order = (n: number): string =>
      JSON.stringify({
        request: { method: 'POST', url: url(n), body: { n } },
        policy: { max_attempts: MAX_ATTEMPTS, initial_delay_seconds: 1, backoff: 'fixed' },
        callback_url: `${url(n + 1)}hook`,
      });
    const ids: string[] = [];
    let askedCount = 0;
    const create = async (): Promise<void> => {
      const headers = { ...authorization, 'content-type': 'application/json' };
      const made = await fetch(`${server.url}/retry/v1/retries`, {
        method: 'POST',
        headers,
        body: order(askedCount++),
      });
      if (made.status === 201) ids.push(((await made.json()) as Retry).id);
    };
    for (let life = 0; life < KILL_COUNT; life++) {
      const creating = Array.from({ length: JOBS_A_LIFE }, () => create().catch(() => {}));
      // Moments all over a life, from the first creations to the end of the first attempts.
      if (life === 0) await until('a creation', () => ids.length > 0, 20_000);
      await pause(60 + ((life * 97) % 400));
      await server.kill();
      await Promise.all(creating);
      server = await start();
    }
    expect(ids.length).toBeGreaterThan(0);
    const read = async <T>(path: string): Promise<T> =>
      (await (await fetch(`${server.url}/retry/v1/retries/${path}`, { headers: authorization })).json()) as T;
    const retries: Retry[] = [];
    for (const id of ids) {
      await until(`the end of ${id}`, async () => TERMINAL.has((await read<Retry>(id)).status), 60_000);
      // Tries that kills interrupted count: the next may be minutes away.
      const isSettled = async (): Promise<boolean> => {
        const { status, next_attempt_at: next } = await read<CallbackStatus>(`${id}/callback`);
        return status === 'delivered' || status === 'failed' || Date.parse(next ?? '') > Date.now() + 20_000;
      };
      await until(`the event of ${id}`, isSettled, 60_000);
      retries.push(await read<Retry>(id));
    }
    expect(target.overlaps).toEqual([]);
    for (const { id, status, attempt_count: count, callback_status: callback } of retries) {
      const numbers = target.numbers.get(id) ?? [];
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(count).toBeLessThanOrEqual(MAX_ATTEMPTS);
      expect(Math.max(...numbers)).toBeLessThanOrEqual(count);
      // What kills interrupted ten times is exhausted; all others end with the answer that the target gave.
      if (count < MAX_ATTEMPTS) expect([id, status]).toEqual([id, 'succeeded']);
      if (status === 'succeeded') expect(target.answered.get(id)).toContain(count);
      if (callback === 'delivered') expect(target.events).toContain(`msg_${id.slice(3)}`);
    }
    const usage = await fetch(`${server.url}/retry/v1/usage`, { headers: authorization });
    const counts = (await usage.json()) as { retries_created: number; credits: { charged: number } };
    // A job whose answer a kill cut off may be there too: it is charged, and it is sent.
    expect(counts.credits.charged).toBe(counts.retries_created);
    expect(counts.retries_created).toBeGreaterThanOrEqual(ids.length);
    await until('every charged job at the target', () => target.numbers.size === counts.retries_created, 20_000);
    expect(await server.stop()).toBe(0);
    const delivered = retries.filter(({ callback_status: callback }) => callback === 'delivered').length;
    expect(delivered).toBeGreaterThan(retries.length / 2);
    console.info(
      `${KILL_COUNT} kills, ${delivered} events delivered, ${ids.length} of ${counts.retries_created} jobs acknowledged`,
    );
  }, 900_000);
});
