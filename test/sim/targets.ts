/**
 * The internet of a run: names and hosts behind the guarded client, which is the real one but for its sockets. What a host does
 * stands in its name: it answers, fails, is slow, never answers, acts and loses its answer, lies about when to come back, redirects,
 * or moves to an address that is not public. Hosts keep a log of what reached them, and every request is held against the durable
 * record when it leaves: a message of a process that dies may still arrive.
 */
import type { ExchangeResult, Exchange as Send } from '../../src/adapters/outbound/exchange.ts';
import type { NameResolver, Resolved } from '../../src/adapters/outbound/resolver.ts';
import type { OutboundRequest } from '../../src/outbound/outbound.ts';
import type { RetryId } from '../../src/retry/identifier.ts';
import { openAttempt, type RetryJob } from '../../src/retry/job.ts';
import type { RetryRecord } from '../../src/retry/store.ts';
import { RETRIES } from '../../src/storage/sqlite/tables/retries.ts';
import type { Chance } from '../support/chance.ts';
import type { Disk } from './disk.ts';
import type { Life } from './server.ts';
import type { World } from './world.ts';

/** Tries of a delivery (siblings §6). */
const DELIVERY_COUNT_MAX = 5;

const FAULTY = [
  'flaky',
  'slow',
  'hangs',
  'loses',
  'lies',
  'gone',
  'huge',
  'moves',
  'unknown',
  'hops',
  'circles',
] as const;
type Kind = 'well' | (typeof FAULTY)[number];

/** Public and of nobody: the policy judges them as any other. */
const PUBLIC = '93.184.216.34';
const PRIVATE = '10.1.2.3';

/** One attempt as it left the server. */
export interface Reached {
  readonly number: number;
  readonly life: Life;
  isOver: boolean;
  /** What the host answered; undefined when nothing came that far, or nothing was answered. */
  status: number | undefined;
  /** It was seen by the host. */
  hasArrived: boolean;
}

/** What the hosts saw of one job. */
export interface HostLog {
  readonly attempts: Reached[];
  /** Statuses that were answered to its completion events. */
  readonly deliveries: Reached[];
}

const headerOf = ({ headers }: OutboundRequest, name: string): string | undefined =>
  headers.find(([given]) => given.toLowerCase() === name)?.[1];

export class Targets {
  /** Jobs to what the hosts saw of them. */
  readonly logs = new Map<string, HostLog>();
  /** Clocks were set, so times of a record may be out of order. */
  hasSkewed = (): boolean => false;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #disk: Disk;
  readonly #faultShare: number;
  #hostCount = 0;

  constructor(world: World, chance: Chance, disk: Disk, faultShare: number) {
    this.#world = world;
    this.#chance = chance;
    this.#disk = disk;
    this.#faultShare = faultShare;
  }

  /** The address of a host; one in four is shared by several jobs. */
  newUrl(isPlain = false): string {
    const chance = this.#chance;
    const kind: Kind = !isPlain && chance.is(this.#faultShare) ? chance.pick(FAULTY) : 'well';
    const number = chance.is(0.25) ? chance.below(3) : 10 + this.#hostCount++;
    return `https://${kind}-${number}.example.com/${chance.below(1000)}`;
  }

  resolver(life: Life): NameResolver {
    return {
      resolve: (name, signal) => {
        if (!life.touch('look-up')) return new Promise(() => {});
        const kind = name.slice(0, name.indexOf('-')) as Kind;
        const chance = this.#chance;
        let found: Resolved = { kind: 'addresses', addresses: [PUBLIC] };
        if (kind === 'unknown' && chance.is(0.6)) found = { kind: 'unknown', code: 'ENOTFOUND' };
        if (kind === 'moves' && chance.is(0.3)) found = { kind: 'addresses', addresses: [PUBLIC, PRIVATE] };
        const delayMs = kind === 'unknown' && chance.is(0.2) ? 60_000 : chance.between(0, 40);
        return new Promise((resolve) => {
          const cancel = this.#world.after(delayMs, () => !life.isDead && resolve(found));
          signal.addEventListener('abort', () => {
            cancel();
            if (!life.isDead) resolve({ kind: 'timeout', code: 'ECANCELLED' });
          });
        });
      },
    };
  }

  /** The way out of one life. */
  exchange(life: Life): Send {
    return (request, addresses, { signal, onAnswer }) => {
      // A message may leave with the process's last breath.
      const wasAlive = !life.isDead;
      if (!life.touch('exchange') && !(wasAlive && this.#chance.is(0.5))) return new Promise(() => {});
      this.#world.met('O1 public addresses');
      if (addresses.includes(PRIVATE)) this.#world.fail('O1 public addresses', request.target.url.hostname);
      const reached = this.#left(request, life);
      return new Promise((resolve) => {
        const end = (result: ExchangeResult): void => {
          if (reached !== undefined) reached.isOver = true;
          if (life.isDead) return;
          if (result.kind === 'answer') onAnswer();
          resolve(result);
        };
        signal.addEventListener('abort', () => end({ kind: 'aborted', detail: 'ended' }));
        if (signal.aborted) end({ kind: 'aborted', detail: 'ended' });
        else this.#act(request, reached, end);
      });
    };
  }

  #logOf(id: string): HostLog {
    let log = this.logs.get(id);
    if (log === undefined) {
      log = { attempts: [], deliveries: [] };
      this.logs.set(id, log);
    }
    return log;
  }

  #recordOf(id: string): RetryRecord | undefined {
    const query = { table: RETRIES, kind: 'find', id: id as RetryId } as const;
    return this.#disk.records.database.read(query) as RetryRecord | undefined;
  }

  /** A request leaves: the record must permit it. @returns its entry in the log; undefined for a resolve */
  #left(request: OutboundRequest, life: Life): Reached | undefined {
    const event = headerOf(request, 'webhook-id');
    if (event !== undefined) return this.#deliveryLeft(request, event, life);
    const id = headerOf(request, 'x-retry-id');
    if (id === undefined) {
      this.#world.count('fetches of resolves');
      return undefined;
    }
    const number = Number(headerOf(request, 'x-retry-attempt'));
    const { attempts } = this.#logOf(id);
    const what = `${id} attempt ${number}`;
    this.#world.count('attempts of retries');
    this.#world.note(`${what} leaves for ${request.target.url.hostname}`);
    const isRepeat = attempts.some((other) => other.number === number);
    if (attempts.length > 0) this.#world.judge('J2 no attempt twice', !isRepeat, () => what);
    this.#checkAlone(attempts, life, what);
    const job = this.#recordOf(id)?.job;
    this.#checkAttempt(job, number, what);
    const reached: Reached = { number, life, isOver: false, status: undefined, hasArrived: false };
    attempts.push(reached);
    return reached;
  }

  #checkAlone(earlier: readonly Reached[], life: Life, what: string): void {
    if (earlier.length > 0) this.#world.met('J3 one at a time');
    if (earlier.some((other) => other.life === life && !other.isOver)) {
      this.#world.fail('J3 one at a time', `${what} leaves while another is under way`);
    }
  }

  #checkAttempt(job: RetryJob | undefined, number: number, what: string): void {
    const world = this.#world;
    if (job === undefined) {
      world.fail('J1 recorded first', `${what} of a job that is not on record`);
      return;
    }
    world.met('J1 recorded first');
    if (number === job.policy.maxAttempts) world.met('J2 no attempt too many');
    if (number > job.policy.maxAttempts) world.fail('J2 no attempt too many', `${what} of ${job.policy.maxAttempts}`);
    const open = openAttempt(job);
    // A cancel may have been recorded since: then its attempt stands there as interrupted.
    const isCancelled = job.status === 'cancelled' && job.attempts.some((one) => one.number === number);
    if (open?.number !== number && !isCancelled) {
      world.fail('J1 recorded first', `${what}, but the record has ${job.status} and ${job.attempts.length} attempts`);
    }
    const nextMs = job.attempts[number - 2]?.nextAttemptAtMs;
    const startedMs = job.attempts[number - 1]?.startedAtMs ?? 0;
    if (nextMs !== undefined && nextMs !== null && !this.hasSkewed()) {
      world.judge('J4 never early', startedMs >= nextMs, () => `${what}: ${nextMs - startedMs} ms early`);
    }
  }

  #deliveryLeft(request: OutboundRequest, event: string, life: Life): Reached {
    const world = this.#world;
    const id = `rt_${event.slice(event.indexOf('_') + 1)}`;
    const { deliveries } = this.#logOf(id);
    const what = `${id} delivery ${deliveries.length + 1}`;
    world.count('tries of deliveries');
    world.note(`${what} leaves for ${request.target.url.hostname}`);
    this.#checkAlone(deliveries, life, what);
    const job = this.#recordOf(id)?.job;
    const said = JSON.parse(new TextDecoder().decode(request.body ?? new Uint8Array())) as Record<string, unknown>;
    if (job?.delivery?.isUnderWay !== true) world.fail('J1 recorded first', `${what} is not on record`);
    world.met('J5 true events');
    if (said.retry_id !== id || said.status !== job?.status) {
      world.fail('J5 true events', `${what} says ${String(said.status)}, the record ${job?.status}`);
    }
    if (deliveries.length >= DELIVERY_COUNT_MAX) world.fail('J2 no attempt too many', what);
    const reached: Reached = {
      number: deliveries.length + 1,
      life,
      isOver: false,
      status: undefined,
      hasArrived: false,
    };
    deliveries.push(reached);
    return reached;
  }

  /** What the host does. */
  #act(
    { target: { url } }: OutboundRequest,
    reached: Reached | undefined,
    end: (result: ExchangeResult) => void,
  ): void {
    const chance = this.#chance;
    const kind = url.hostname.slice(0, url.hostname.indexOf('-')) as Kind;
    const after = (delayMs: number, run: () => void): void => {
      this.#world.after(delayMs, run);
    };
    const answer = (
      status: number,
      headers: readonly (readonly [string, string])[] = [],
      body = '{"ok":true}',
    ): void => {
      if (reached !== undefined) reached.status = status;
      const type = ['content-type', reached === undefined ? 'text/html' : 'application/json'] as const;
      const bytes = new TextEncoder().encode(body);
      end({ kind: 'answer', status, headers: [type, ...headers], body: bytes, isTruncated: false });
    };
    after(chance.between(1, 30), () => {
      if (reached !== undefined) reached.hasArrived = true;
      if (kind === 'hangs') return;
      const thinkMs = kind === 'slow' ? chance.pick([800, 4_000, 40_000]) : chance.between(0, 200);
      after(thinkMs, () => {
        switch (kind) {
          case 'flaky':
          case 'lies': {
            if (chance.is(0.4)) return answer(chance.pick([200, 201, 204]));
            const lies = ['0', '-5', '99999999', 'Sun, 22 Nov 2037 08:00:00 GMT', 'soon', '3'];
            const isTelling = kind === 'lies' || chance.is(0.3);
            return answer(chance.pick([500, 503, 429]), isTelling ? [['retry-after', chance.pick(lies)]] : []);
          }
          case 'loses':
            // It acted, and its answer is lost.
            if (chance.is(0.7)) return end({ kind: 'unreachable', detail: 'connection lost (ECONNRESET)' });
            return answer(200);
          case 'gone':
            return answer(chance.pick([301, 404, 410]));
          case 'huge':
            return end({ kind: 'too-large', detail: 'unpacked' });
          case 'hops':
            return answer(302, [['location', `https://${chance.is(0.5) ? 'hops-1' : 'well-1'}.example.com/x`]]);
          case 'circles':
            return answer(307, [['location', url.href]]);
          default:
            return answer(200);
        }
      });
    });
  }
}
