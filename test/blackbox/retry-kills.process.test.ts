/**
 * Retries and resolves through kills of a real server, with the target's own log as the judge (siblings §6, §7): nothing
 * acknowledged is lost, no job is sent more often than `max_attempts`, no attempt twice, never two at a time; each job is charged
 * once, in credits or by a sale, and what a sale did not make is on the list of the undelivered.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, MAIN, oneRuntime, type RunningServer, startProcess, startServer } from '../support/server.ts';
import { pause, until } from '../support/until.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../support/wallet.ts';
import { partOf } from '../support/whole.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const RETRIES = '/retry/v1/retries';
const RESOLVES = '/resolve/v1/resolve';
const RESOLVED = '/resolve/v1/resolves';
const KILL_COUNT = partOf(100, 3);
const JOBS_A_LIFE = 20;
const HOST_COUNT = 200;
const MAX_ATTEMPTS = 10;

interface Retry {
  readonly id: string;
  readonly status: string;
  readonly attempt_count: number;
  readonly callback_status: string;
}

interface Resolve {
  readonly status: string;
  readonly result: { readonly metadata: { readonly title: string } | null } | null;
}

interface CallbackStatus {
  readonly status: string;
  readonly next_attempt_at: string | null;
}

/** What the server acknowledged, and what reads it. */
interface Acknowledged {
  readonly id: string;
  readonly authorization: string;
}

interface Sale {
  readonly operation: string;
  readonly delivered: boolean;
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
    if (id === undefined) {
      // A resolve.
      setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>A page</title>'), 100);
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
  const stateDir = suiteFolder();
  const target = new Target();
  beforeAll(() => new Promise<void>((resolve) => target.server.listen(0, '0.0.0.0', resolve)));
  afterAll(() => {
    target.server.closeAllConnections();
    target.server.close();
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
    const keyed = `Bearer ${String(key)}`;
    // Many hosts, because each gets four requests at a time.
    const url = (n: number): string => `http://127.0.1.${1 + (n % HOST_COUNT)}:${target.port}/`;
    const retryOrder = (n: number) => ({
      request: { method: 'POST', url: url(n), body: { n } },
      policy: { max_attempts: MAX_ATTEMPTS, initial_delay_seconds: 1, backoff: 'fixed' },
      callback_url: `${url(n + 1)}hook`,
    });
    const resolveOrder = (n: number) => ({ url: url(n), max_wait_seconds: 0 });
    const post = (path: string, order: object, headers: Record<string, string> = {}): Promise<Response> => {
      const init = { 'content-type': 'application/json', ...headers };
      return fetch(server.url + path, { method: 'POST', headers: init, body: JSON.stringify(order) });
    };
    const payer = wallet();
    type Paid = typeof RETRIES | typeof RESOLVES;
    // An offer names the port, which is another in each life.
    const offerOf = (path: Paid) => offerFrom(post(path, path === RETRIES ? retryOrder(0) : resolveOrder(0)));
    const signed = async (path: Paid): Promise<string> => encodeHeader(await paymentFor(await offerOf(path), payer));
    const paidFor = async (path: Paid, order: object, payment: string): Promise<Acknowledged | undefined> => {
      const made = await post(path, order, { 'payment-signature': payment });
      if (made.status !== 201 && made.status !== 202) return undefined;
      const { id, read_token: token } = (await made.json()) as { id: string; read_token: string };
      return { id, authorization: `Bearer ${token}` };
    };
    const acknowledged = { keyed: [] as Acknowledged[], paid: [] as Acknowledged[], resolves: [] as Acknowledged[] };
    const creations = [
      async (n: number) => {
        const made = await post(RETRIES, retryOrder(n), { authorization: keyed });
        const { id } = (await made.json()) as Retry;
        if (made.status === 201) acknowledged.keyed.push({ id, authorization: keyed });
      },
      async (n: number, payment: string) => {
        const made = await paidFor(RETRIES, retryOrder(n), payment);
        if (made !== undefined) acknowledged.paid.push(made);
      },
      async (n: number, payment: string) => {
        const made = await paidFor(RESOLVES, resolveOrder(n), payment);
        if (made !== undefined) acknowledged.resolves.push(made);
      },
    ] as const;
    for (let life = 0; life < KILL_COUNT; life++) {
      // Signed before the life begins: lives are short.
      const creating = await Promise.all(
        Array.from({ length: JOBS_A_LIFE }, async (_, n) => {
          const create = creations[n % 3] as (typeof creations)[number];
          const payment = n % 3 === 0 ? '' : await signed(n % 3 === 1 ? RETRIES : RESOLVES);
          return () => create(life * JOBS_A_LIFE + n, payment).catch(() => {});
        }),
      );
      const before = Object.values(acknowledged).map(({ length }) => length);
      const created = creating.map((create) => create());
      // Moments all over a life, from the first creations to the end of the first attempts.
      // A payment takes longer than most lives: some begin to count when one of each kind is there.
      const hasEach = (): boolean => Object.values(acknowledged).every(({ length }, i) => length > (before[i] ?? 0));
      if (life % 4 === 0) await until('a creation of each kind', hasEach, 20_000);
      await pause(60 + ((life * 97) % 400));
      await server.kill();
      await Promise.all(created);
      server = await start();
    }
    const read = async <T>(path: string, { authorization }: Acknowledged): Promise<T> =>
      (await (await fetch(server.url + path, { headers: { authorization } })).json()) as T;
    const retries: Retry[] = [];
    for (const one of [...acknowledged.keyed, ...acknowledged.paid]) {
      const path = `${RETRIES}/${one.id}`;
      await until(`the end of ${one.id}`, async () => TERMINAL.has((await read<Retry>(path, one)).status), 60_000);
      // Tries that kills interrupted count: the next may be minutes away.
      const isSettled = async (): Promise<boolean> => {
        const { status, next_attempt_at: next } = await read<CallbackStatus>(`${path}/callback`, one);
        return status === 'delivered' || status === 'failed' || Date.parse(next ?? '') > Date.now() + 20_000;
      };
      await until(`the event of ${one.id}`, isSettled, 60_000);
      retries.push(await read<Retry>(path, one));
    }
    for (const one of acknowledged.resolves) {
      const isResolved = async (): Promise<boolean> => {
        const { status, result } = await read<Resolve>(`${RESOLVED}/${one.id}`, one);
        if (status === 'pending') return false;
        expect([one.id, status, result?.metadata?.title]).toEqual([one.id, 'resolved', 'A page']);
        return true;
      };
      await until(`the end of ${one.id}`, isResolved, 60_000);
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
    const usage = await fetch(`${server.url}/retry/v1/usage`, { headers: { authorization: keyed } });
    const counts = (await usage.json()) as { retries_created: number; credits: { charged: number } };
    // A job whose answer a kill cut off may be there too: it is charged, and it is sent.
    expect(counts.credits.charged).toBe(counts.retries_created);
    expect(counts.retries_created).toBeGreaterThanOrEqual(acknowledged.keyed.length);
    const paidIds = (): number => target.numbers.size - counts.retries_created;
    await until('every charged job at the target', () => paidIds() >= acknowledged.paid.length, 20_000);
    expect(await server.stop()).toBe(0);
    const listed = await startProcess(binaryOf(runtime), [MAIN, 'sales', '--json', '--state-dir', stateDir]).ended;
    expect([listed.exitCode, listed.stderr]).toEqual([0, '']);
    const sales = listed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Sale);
    const sold = sales.filter(({ operation }) => operation === 'createRetry');
    const soldInVain = sold.filter(({ delivered }) => !delivered).length;
    // Each paid job has its sale; a sale that made none, or whose answer was cut off, is one of the undelivered.
    expect(paidIds()).toBeLessThanOrEqual(sold.length);
    expect(paidIds()).toBeGreaterThanOrEqual(sold.length - soldInVain);
    const soldResolves = sales.filter(({ operation }) => operation === 'createResolve').length;
    expect(soldResolves).toBeGreaterThanOrEqual(acknowledged.resolves.length);
    const delivered = retries.filter(({ callback_status: callback }) => callback === 'delivered').length;
    expect(delivered).toBeGreaterThan(retries.length / 2);
    const made = Object.entries(acknowledged).map(([kind, ids]) => `${ids.length} ${kind}`);
    console.info(
      `${KILL_COUNT} kills, ${delivered} events delivered, acknowledged ${made.join(', ')}; of ${sold.length} sold retries ${soldInVain} undelivered`,
    );
  }, 900_000);
});
