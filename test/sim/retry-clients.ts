/**
 * The customers of retries. Paid jobs come from the buyers; an organization makes others with its key, repeats creations whose answer
 * it did not get, reads how they stand and cancels some. Every answer is checked, and at the end every job on record is held
 * against what the hosts saw (siblings §6): an acknowledged job is not lost and ends, an ended one stays as it ended, and as many
 * credits were charged as there are jobs.
 */
import type { RetryId } from '../../src/retry/identifier.ts';
import { hasEnded, type RetryJob } from '../../src/retry/job.ts';
import { KEPT_MS } from '../../src/retry/limits.ts';
import { decodeJob } from '../../src/storage/retry-record.ts';
import type { Chance } from '../support/chance.ts';
import type { Disk } from './disk.ts';
import { codeOf, isUnread, type Network } from './network.ts';
import { ADMIN_TOKEN, type Answer, BASE_URL, type Exchange, type Server } from './server.ts';
import type { HostLog, Targets } from './targets.ts';
import type { World } from './world.ts';

export const RETRIES_URL = `${BASE_URL}/retry/v1/retries`;
const ORGANIZATION = 'acme';
const TERMINAL: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'expired']);

interface TrackedJob {
  readonly id: string;
  /** Read token, or the organization's key. */
  readonly secret: string;
  readonly isPaid: boolean;
  /** The last status that was shown, and when. */
  shown: { readonly status: string; readonly attemptCount: number; readonly ms: number } | undefined;
  isCancelSent: boolean;
}

interface Shown {
  readonly status: string;
  readonly attempt_count: number;
  readonly max_attempts: number;
  readonly callback_status: string;
}

/** The body of a creation. */
export function drawOrder(chance: Chance, targets: Targets, isPlain = false): string {
  const seconds = chance.pick([1, 2, 10]);
  const method = chance.pick(['GET', 'POST', 'PUT']);
  return JSON.stringify({
    request: {
      method,
      url: targets.newUrl(isPlain),
      ...(method === 'GET' ? {} : { body: chance.pick<unknown>(['text', { n: 1 }, null]) }),
    },
    policy: {
      max_attempts: chance.pick([1, 2, 3, 5, 10]),
      backoff: chance.pick(['exponential', 'fixed']),
      initial_delay_seconds: seconds,
      max_delay_seconds: chance.pick([1, 20, 60]),
      jitter: chance.is(0.5),
      attempt_timeout_seconds: chance.pick([1, 5, 30]),
      respect_retry_after: chance.is(0.7),
    },
    ...(chance.is(0.4) ? { callback_url: targets.newUrl(isPlain) } : {}),
    deadline_seconds: chance.pick([60, 60, 120, 600]),
  });
}

/** Repeats that end uncharged may be thirty a minute (siblings §5). */
const KEYS_ASKED_AGAIN = 10;

export class RetryClients {
  readonly jobs = new Map<string, TrackedJob>();
  readonly #world: World;
  readonly #chance: Chance;
  readonly #server: Server;
  readonly #network: Network;
  readonly #disk: Disk;
  readonly #targets: Targets;
  #key = '';
  /** Creations with a key that came to the server, by their idempotency key. */
  readonly #asked = new Map<string, string | undefined>();
  /** What each of these keys was sent with. */
  readonly #orders = new Map<string, string>();
  #askedWithoutKey = 0;

  constructor(world: World, chance: Chance, server: Server, network: Network, disk: Disk, targets: Targets) {
    this.#world = world;
    this.#chance = chance;
    this.#server = server;
    this.#network = network;
    this.#disk = disk;
    this.#targets = targets;
  }

  /** The operator makes the organization and its key, before anything goes wrong. */
  async openAccount(fetch: (request: Request) => Response | Promise<Response>): Promise<void> {
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const made = await fetch(new Request(BASE_URL + path, { method: 'POST', headers, body: JSON.stringify(body) }));
      if (made.status !== 201) throw new Error(`${path}: ${made.status} ${await made.text()}`);
      return (await made.json()) as Record<string, unknown>;
    };
    await post('/admin/v1/grants', { organization: ORGANIZATION, kind: 'onboarding', amount: 1_000_000 });
    const scopes = ['retries:read', 'retries:write'];
    this.#key = String((await post('/admin/v1/keys', { organization: ORGANIZATION, scopes })).key);
  }

  /** A creation with the key, sent again when its answer is lost. */
  create(): void {
    const chance = this.#chance;
    const order = drawOrder(chance, this.#targets);
    const idempotencyKey = chance.is(0.7) ? chance.hex(12) : undefined;
    if (idempotencyKey !== undefined) this.#orders.set(idempotencyKey, order);
    if (idempotencyKey !== undefined && chance.is(0.2)) this.#send(order, idempotencyKey, 99);
    this.#send(order, idempotencyKey, 1);
  }

  /** @param isEnd faults have stopped for longer than any work lasts */
  #send(order: string, idempotencyKey: string | undefined, number: number, isEnd = false): void {
    const world = this.#world;
    const again = (): void => {
      if (idempotencyKey === undefined || number > 4) return;
      world.after(this.#chance.between(0, 6_000), () => this.#send(order, idempotencyKey, number + 1));
    };
    this.#network.send({
      name: `creation of a retry ${idempotencyKey ?? ''}`,
      method: 'POST',
      url: RETRIES_URL,
      headers: {
        authorization: `Bearer ${this.#key}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: order,
      mayLeave: true,
      onArrival: () => {
        if (idempotencyKey === undefined) this.#askedWithoutKey++;
        else if (!this.#asked.has(idempotencyKey)) this.#asked.set(idempotencyKey, undefined);
      },
      judge: (answer, exchange) => {
        const isBad = isEnd && answer.status !== 200 && answer.status !== 429 && !this.#hasDiskTrouble();
        if (isBad) world.fail('J6 one job for a key', `${exchange.name}: asked again it is ${answer.status}`);
        this.#judgeCreation(answer, exchange, idempotencyKey);
      },
      onAnswer: (answer) => {
        if (answer.status >= 429) again();
      },
      onLost: again,
    });
  }

  #judgeCreation(answer: Answer, exchange: Exchange, idempotencyKey: string | undefined): void {
    const world = this.#world;
    const { status } = answer;
    if (status === 200 || status === 201) {
      const { id } = JSON.parse(answer.text) as { id: string };
      const known = idempotencyKey === undefined ? undefined : this.#asked.get(idempotencyKey);
      if (known !== undefined)
        world.judge('J6 one job for a key', known === id, () => `${exchange.name}: ${known} and ${id}`);
      if (status === 200 && idempotencyKey === undefined) world.fail('A4 right answers', `${exchange.name}: 200`);
      if (idempotencyKey !== undefined) this.#asked.set(idempotencyKey, id);
      if (status === 201) {
        if (answer.headers.get('x-credits-charged') !== '1') world.fail('C2 charges', `${exchange.name}: no charge`);
        if (this.jobs.has(id)) world.fail('J6 one job for a key', `${id} was created twice`);
      }
      if (!this.jobs.has(id)) this.#follow({ id, secret: this.#key, isPaid: false });
      return;
    }
    const code = codeOf(answer);
    if (status === 400 && code === 'TARGET_NOT_ALLOWED') return;
    if (status === 429 || (status === 503 && code !== 'SETTLEMENT_PENDING')) return;
    if (isUnread(answer, exchange, world.nowMs)) return;
    if (status === 500 && this.#hasDiskTrouble()) return;
    world.fail('A4 right answers', `${exchange.name}: ${status} ${answer.text}`);
  }

  /** A buyer's job; the same answer may come again, under an idempotency key without its secrets. */
  created(answer: Answer): void {
    const { id, read_token: token } = JSON.parse(answer.text) as { id: string; read_token: string | undefined };
    if (!this.jobs.has(id) && token !== undefined) this.#follow({ id, secret: token, isPaid: true });
  }

  #follow(job: Pick<TrackedJob, 'id' | 'secret' | 'isPaid'>): void {
    const world = this.#world;
    const chance = this.#chance;
    const tracked: TrackedJob = { ...job, shown: undefined, isCancelSent: false };
    this.jobs.set(job.id, tracked);
    world.count('retry jobs');
    const spanMs = chance.pick([2_000, 30_000, 200_000]);
    for (let i = chance.below(3); i > 0; i--) world.after(chance.unit() * spanMs, () => this.#read(tracked));
    if (!job.isPaid && chance.is(0.1)) world.after(chance.unit() * spanMs, () => this.#cancel(tracked));
  }

  readAll(): void {
    for (const job of this.jobs.values()) this.#read(job);
    const made = [...this.#asked].filter(([, id]) => id !== undefined);
    for (const [key] of made.slice(-KEYS_ASKED_AGAIN)) this.#send(this.#orders.get(key) as string, key, 99, true);
  }

  #read(job: TrackedJob): void {
    this.#network.send({
      name: `${job.id.slice(0, 8)} read`,
      method: 'GET',
      url: `${RETRIES_URL}/${job.id}`,
      headers: { authorization: `Bearer ${job.secret}` },
      judge: (answer, exchange) => this.#judgeRead(job, answer, exchange),
    });
  }

  #judgeRead(job: TrackedJob, answer: Answer, exchange: Exchange): void {
    const world = this.#world;
    if (answer.status !== 200) {
      if (answer.status >= 500 && this.#hasDiskTrouble()) return;
      if (answer.status === 404) world.fail('J7 nothing acknowledged is lost', `${job.id} is 404`);
      else world.fail('A4 right answers', `${exchange.name}: ${answer.status} ${answer.text}`);
      return;
    }
    const { status, attempt_count: attemptCount, max_attempts: maxAttempts } = JSON.parse(answer.text) as Shown;
    const { shown } = job;
    if (attemptCount > maxAttempts)
      world.fail('J2 no attempt too many', `${job.id}: ${attemptCount} of ${maxAttempts}`);
    if (status === 'cancelled' && !job.isCancelSent) world.fail('J8 ends as it should', `${job.id} was not cancelled`);
    if (shown !== undefined && exchange.arrivedMs > shown.ms) {
      if (TERMINAL.has(shown.status)) world.met('J8 an end stays');
      const isOther = TERMINAL.has(shown.status) && (shown.status !== status || shown.attemptCount !== attemptCount);
      if (isOther || attemptCount < shown.attemptCount) {
        world.fail('J8 an end stays', `${job.id} was ${shown.status} and is ${status} (${attemptCount})`);
      }
    }
    job.shown = { status, attemptCount, ms: world.nowMs };
  }

  #cancel(job: TrackedJob): void {
    job.isCancelSent = true;
    this.#network.send({
      name: `${job.id.slice(0, 8)} cancel`,
      method: 'POST',
      url: `${RETRIES_URL}/${job.id}/cancel`,
      headers: { authorization: `Bearer ${job.secret}` },
      judge: (answer, exchange) => {
        const isEnded = answer.status === 409 && codeOf(answer) === 'RETRY_NOT_CANCELLABLE';
        if (answer.status === 200) {
          this.#world.count('retries cancelled');
          job.shown ??= { status: 'cancelled', attemptCount: 0, ms: Number.POSITIVE_INFINITY };
        } else if (!isEnded && !(answer.status >= 500 && this.#hasDiskTrouble())) {
          this.#world.fail('A4 right answers', `${exchange.name}: ${answer.status} ${answer.text}`);
        }
      },
    });
  }

  #hasDiskTrouble(): boolean {
    return this.#server.hasStateFault || this.#world.nowMs - this.#server.lastDiskFaultMs < 60_000;
  }

  #recorded(): RetryJob[] {
    const rows = this.#disk.records.database.connection.all(
      'SELECT id, customer, key_digest, next_ms, state FROM retry',
    );
    return rows.map(({ id, customer, key_digest: key, next_ms: nextMs, state }) =>
      decodeJob(id as RetryId, customer as string, key as string | null, nextMs as number, state as string),
    );
  }

  /** Every deadline, pause and try of a delivery is over. @param soldCount retries that payments on record have bought */
  judgeEnd(soldCount: number): void {
    const world = this.#world;
    const recorded = this.#recorded();
    for (const job of recorded) this.#judgeEnded(job, this.#targets.logs.get(job.id));
    const ids = new Set<string>(recorded.map(({ id }) => id));
    const isKept = this.#server.hasSkewed === false || KEPT_MS > 3_600_000;
    for (const { id } of this.jobs.values()) {
      if (isKept) world.judge('J7 nothing acknowledged is lost', ids.has(id), () => `${id} is not on record`);
    }
    for (const id of this.#targets.logs.keys()) {
      if (!ids.has(id)) world.fail('J1 recorded first', `${id} was sent, and is not on record`);
    }
    const keyed = recorded.filter(({ organization }) => organization !== null).length;
    if (keyed > this.#asked.size + this.#askedWithoutKey) world.fail('J6 one job for a key', `${keyed} jobs`);
    world.met('C1 a charge for an answer', recorded.length - keyed);
    if (recorded.length - keyed > soldCount) {
      world.fail('C1 a charge for an answer', `${recorded.length - keyed} paid jobs and ${soldCount} payments`);
    }
    this.#askUsage(keyed);
  }

  #judgeEnded(job: RetryJob, log: HostLog | undefined): void {
    const world = this.#world;
    const { id, status, attempts, policy, failure, delivery } = job;
    world.count(`retries ${status}`);
    world.judge('J9 every job ends', hasEnded(job), () => `${id} is ${status} after ${attempts.length} attempts`);
    if (delivery !== null && delivery.status !== 'delivered' && delivery.status !== 'failed') {
      world.fail('J9 every job ends', `the delivery of ${id} is ${delivery.status}`);
    }
    if (attempts.length > policy.maxAttempts) world.fail('J2 no attempt too many', `${id}: ${attempts.length}`);
    if (failure?.code === 'ATTEMPTS_EXHAUSTED') {
      const detail = (): string => `${id} is exhausted after ${attempts.length} of ${policy.maxAttempts}`;
      world.judge('J8 ends as it should', attempts.length === policy.maxAttempts, detail);
    }
    for (const { number, outcome, statusCode } of attempts) {
      const seen = log?.attempts.find((one) => one.number === number);
      if (outcome === 'success' && number !== attempts.length)
        world.fail('J8 an end stays', `${id} went on after success`);
      if (statusCode !== null && seen?.status !== statusCode) {
        world.fail(
          'J10 at least once',
          `attempt ${number} of ${id} is ${statusCode}, the host answered ${seen?.status}`,
        );
      }
    }
    for (const { number } of log?.attempts ?? []) {
      if (number > attempts.length) world.fail('J1 recorded first', `${id} has no attempt ${number}, and it was sent`);
    }
    if (status === 'succeeded') world.met('J10 at least once');
    if (status === 'succeeded' && log?.attempts.some((one) => one.hasArrived) !== true) {
      world.fail('J10 at least once', `${id} succeeded, and nothing came to its host`);
    }
    if (delivery?.status === 'delivered' && log?.deliveries.some((one) => (one.status ?? 0) < 300) !== true) {
      world.fail('J10 at least once', `the event of ${id} was not delivered`);
    }
  }

  /** Every charge has its job, and every job its charge: both share a commit. */
  #askUsage(keyedCount: number): void {
    const world = this.#world;
    this.#network.send({
      name: 'usage',
      method: 'GET',
      url: `${BASE_URL}/retry/v1/usage`,
      headers: { authorization: `Bearer ${this.#key}` },
      judge: (answer) => {
        const usage = JSON.parse(answer.text) as { retries_created: number; credits: { charged: number } };
        world.count('credits charged', usage.credits.charged);
        world.met('C2 charges', keyedCount);
        if (usage.credits.charged !== keyedCount || usage.retries_created !== keyedCount) {
          world.fail('C2 charges', `${keyedCount} jobs, ${answer.text}`);
        }
      },
    });
  }
}
