/**
 * 10,000 retries due in the same second at 1,000 hosts, of which every tenth never answers: through the real worker, a state on
 * disk and the guarded client with 1,024 slots, over sockets. Prints one JSON object: how late the first attempts to hosts that
 * answer went out, how long the loop waited for a processor meanwhile, how many slots silent hosts and the largest customer got, and
 * CPU and memory.
 *
 *   node bench/retry-crowd.ts          ten customers with as many jobs each
 *   node bench/retry-crowd.ts large    one of the ten has two thirds of the jobs
 */
import { ok } from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OutboundClient } from '../src/adapters/outbound/outbound-client.ts';
import { OwnHooks } from '../src/adapters/outbound/own-hooks.ts';
import { SystemResolver } from '../src/adapters/outbound/resolver.ts';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { systemClock } from '../src/base/clock.ts';
import { systemRandom } from '../src/base/random.ts';
import { targetList } from '../src/config/parsers.ts';
import type { Outbound, OutboundRequest, OutboundResult } from '../src/outbound/outbound.ts';
import { OutboundPolicy } from '../src/outbound/policy.ts';
import type { Target } from '../src/outbound/target.ts';
import { newRetryId } from '../src/retry/identifier.ts';
import { newJob } from '../src/retry/job.ts';
import { RetryMeter } from '../src/retry/meter.ts';
import { DEFAULT_POLICY } from '../src/retry/policy.ts';
import { Sealer } from '../src/retry/sealer.ts';
import { secretsText } from '../src/retry/secrets.ts';
import type { RetryStore } from '../src/retry/store.ts';
import { RetryWorker } from '../src/retry/worker.ts';
import { openSqliteBackend } from '../src/storage/sqlite/backend.ts';
import { waitedMs } from '../test/support/processor-time.ts';

const JOBS = 10_000;
const HOSTS = 1_000;
const SLOTS = 1_024;
/** A host is silent after two seconds; the client looks when a slot is free. */
const SILENT_MS = 2_100;
/** From the first record until the first job is due. */
const LEAD_MS = 8_000;
const LATE_MS_MAX = 60_000;

const isHanging = (host: number): boolean => host % 10 === 0;
/** Every host is a loopback address of one server. */
const addressOf = (host: number): string => `127.1.${host >> 8}.${host & 255}`;
const hostOf = (address: string): number => {
  const [, , high, low] = address.split('.').map(Number);
  return (high ?? 0) * 256 + (low ?? 0);
};
const isLarge = process.argv[2] === 'large';
const LARGE = 'org:0';
/** The large one has two thirds of the jobs at every host. */
const customerOf = (job: number): string => {
  const round = Math.floor(job / HOSTS) + job;
  return isLarge && round % 3 !== 0 ? LARGE : `org:${round % 10}`;
};

function serve(): void {
  const server = createServer((request, response) => {
    request.resume();
    if (!isHanging(hostOf(request.socket.localAddress ?? ''))) setTimeout(() => response.end('ok'), 20);
  });
  server.listen({ port: 0, host: '0.0.0.0', backlog: 8192 }, () => process.send?.(server.address()));
}

/** Judges like the policy and records when: a request's addresses are judged when it gets its turn. */
class WatchedPolicy extends OutboundPolicy {
  onTurn: (target: Target) => void = () => {};

  override judgeAddresses(target: Target, addresses: readonly string[]): ReturnType<OutboundPolicy['judgeAddresses']> {
    this.onTurn(target);
    return super.judgeAddresses(target, addresses);
  }
}

function policyFor(port: number): WatchedPolicy {
  const own = { urls: [], hookBaseUrl: 'https://hooks.example.com', listening: { ranges: [], port: 1 } };
  return new WatchedPolicy({ own, allow: targetList(`127.0.0.0/8:${port}`) });
}

/** Records what goes out, until the first attempts at all answering hosts have gone out. */
class Watched implements Outbound {
  readonly lateMs: number[] = [];
  /** Turns of hosts that were silent by then. */
  silentTurns = 0;
  /** Most slots of one customer while another waited. */
  slotsMax = 0;
  readonly done: Promise<void>;
  readonly policy: Outbound['policy'];
  readonly #client: OutboundClient;
  readonly #dueMs: ReadonlyMap<string, number>;
  #end = (): void => {};
  #isOver = false;
  readonly #firstMs = new Map<string, number>();
  readonly #customers = new WeakMap<Target, string>();
  readonly #inUse = new Map<string, number>();
  readonly #waiting = new Map<string, number>();
  #waitingCount = 0;

  /** @param dueMs by the id of the job */
  constructor(policy: WatchedPolicy, dueMs: ReadonlyMap<string, number>) {
    this.#dueMs = dueMs;
    this.#client = new OutboundClient({
      policy,
      concurrency: SLOTS,
      resolver: new SystemResolver({ clock: systemClock, timers: systemTimers }),
      ownHooks: new OwnHooks(() => new Response(), 'https://hooks.example.com', 'bench'),
      userAgent: 'bench',
      clock: systemClock,
      timers: systemTimers,
    });
    this.policy = this.#client.policy;
    policy.onTurn = (target) => this.#turnGiven(target);
    this.done = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  lookUp(...given: Parameters<Outbound['lookUp']>): ReturnType<Outbound['lookUp']> {
    return this.#client.lookUp(...given);
  }

  async send(request: OutboundRequest): Promise<OutboundResult> {
    const { customer, target, headers } = request;
    const headerOf = (name: string): string => headers.find(([given]) => given === name)?.[1] ?? '';
    this.#customers.set(target, customer);
    this.#waiting.set(customer, (this.#waiting.get(customer) ?? 0) + 1);
    this.#waitingCount++;
    const result = await this.#client.send({
      ...request,
      onSent: async () => {
        await request.onSent?.();
        if (headerOf('x-retry-attempt') === '1') this.#sent(target.url.hostname, headerOf('x-retry-id'));
      },
    });
    this.#inUse.set(customer, (this.#inUse.get(customer) ?? 1) - 1);
    return result;
  }

  #turnGiven(target: Target): void {
    const customer = this.#customers.get(target) ?? '';
    const ownWaiting = (this.#waiting.get(customer) ?? 1) - 1;
    const inUse = (this.#inUse.get(customer) ?? 0) + 1;
    this.#waiting.set(customer, ownWaiting);
    this.#inUse.set(customer, inUse);
    this.#waitingCount--;
    if (this.#waitingCount > ownWaiting) this.slotsMax = Math.max(this.slotsMax, inUse);
    const { hostname } = target.url;
    if (!isHanging(hostOf(hostname)) || this.#isOver) return;
    const nowMs = performance.now();
    const firstMs = this.#firstMs.get(hostname) ?? nowMs;
    this.#firstMs.set(hostname, firstMs);
    if (nowMs - firstMs > SILENT_MS) this.silentTurns++;
  }

  #sent(hostname: string, id: string): void {
    if (isHanging(hostOf(hostname)) || this.#isOver) return;
    this.lateMs.push(Date.now() - (this.#dueMs.get(id) ?? 0));
    if (this.lateMs.length < (JOBS * 9) / 10) return;
    this.#isOver = true;
    this.#end();
  }
}

/** @returns when each job is due */
async function fill(store: RetryStore, sealer: Sealer, port: number, firstDueMs: number): Promise<Map<string, number>> {
  const dueMs = new Map<string, number>();
  const records = Array.from({ length: JOBS }, (_, number) => {
    const id = newRetryId(systemRandom);
    const dueAtMs = firstDueMs + ((number * 7) % 1000);
    dueMs.set(id, dueAtMs);
    const draft = {
      id,
      customer: customerOf(number),
      organization: null,
      tokenDigest: 'x'.repeat(43),
      idempotency: null,
    };
    const job = newJob({ ...draft, policy: DEFAULT_POLICY, deadlineSeconds: 86_400, hasCallback: false }, Date.now());
    const url = `http://${addressOf(number % HOSTS)}:${port}/`;
    const request = { method: 'POST', url, headers: [], body: '{"a":1}' } as const;
    const secrets = sealer.seal(id, secretsText({ request, callback: null }));
    return { job: { ...job, nextAttemptAtMs: dueAtMs, dueAtMs }, secrets, resultBody: null };
  });
  await Promise.all(records.map((record) => store.create(record)));
  ok(Date.now() < firstDueMs, 'the jobs fell due before they were on record');
  return dueMs;
}

async function run(): Promise<void> {
  const server = fork(process.argv[1] as string, ['server']);
  const { port } = await new Promise<{ port: number }>((resolve) => {
    server.once('message', (address) => resolve(address as { port: number }));
  });
  const stateDir = mkdtempSync(join(tmpdir(), 'paygrade-crowd-'));
  const ports = { clock: systemClock, random: systemRandom, timers: systemTimers };
  const backend = await openSqliteBackend(
    { stateDir, sync: 'full', mayReset: false, salesKeptMs: 3_600_000, callbackBytes: 0, play: undefined },
    { ...ports, onStateFault: (fault) => console.error(fault), onFailure: (fault) => console.error(fault) },
  );
  const sealer = new Sealer(new Uint8Array(32).fill(1), systemRandom);
  const firstDueMs = Date.now() + LEAD_MS;
  const watched = new Watched(policyFor(port), await fill(backend.retries, sealer, port, firstDueMs));
  const onFailure = (failure: unknown): void => console.error(failure);
  const meter = new RetryMeter();
  const worker = new RetryWorker({ ...ports, store: backend.retries, outbound: watched, sealer, meter, onFailure });
  const rssBefore = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  const waitedBeforeMs = waitedMs();
  worker.start();
  const timer = setTimeout(() => {
    console.error(`only ${watched.lateMs.length} first attempts in ${LATE_MS_MAX} ms`);
    process.exit(1);
  }, LATE_MS_MAX);
  await watched.done;
  clearTimeout(timer);
  const used = process.cpuUsage(cpu);
  const rssBytes = process.memoryUsage.rss() - rssBefore;
  const late = watched.lateMs.sort((one, other) => one - other);
  const at = (share: number): number => late[Math.floor(share * (late.length - 1))] ?? Number.NaN;
  ok(at(0) >= 0, 'an attempt was early');
  const seen = {
    lateP50Ms: at(0.5),
    lateP99Ms: at(0.99),
    lateMaxMs: at(1),
    waitedMs: Math.round(waitedMs() - waitedBeforeMs),
    silentTurns: watched.silentTurns,
    slotsMax: watched.slotsMax,
    slots: SLOTS,
    cpuMsPerJob: Number(((used.user + used.system) / 1000 / late.length).toFixed(2)),
    kbPerJob: Number((rssBytes / 1024 / JOBS).toFixed(1)),
  };
  server.kill();
  rmSync(stateDir, { recursive: true, force: true });
  process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit(0));
}

if (process.argv[2] === 'server') serve();
else await run();
