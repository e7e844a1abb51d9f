/**
 * Millions of waiting retry jobs: how long a start takes, how much memory they hold, and how late their attempts go out.
 *
 *   node bench/retries.ts fill DIR COUNT LEAD   makes the jobs; LEAD seconds after its start the first fall due: one in a hundred
 *                                               within a minute from then, the others within the hour after it
 *   node bench/retries.ts run DIR SECONDS       starts over them in a fresh process, with targets that answer at once
 */
import { ok } from 'node:assert/strict';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { systemClock } from '../src/base/clock.ts';
import { systemRandom } from '../src/base/random.ts';
import type { Outbound } from '../src/outbound/outbound.ts';
import { newRetryId } from '../src/retry/identifier.ts';
import { newJob } from '../src/retry/job.ts';
import { RetryMeter } from '../src/retry/meter.ts';
import { DEFAULT_POLICY } from '../src/retry/policy.ts';
import { Sealer } from '../src/retry/sealer.ts';
import { secretsText } from '../src/retry/secrets.ts';
import { RetryWorker } from '../src/retry/worker.ts';
import type { Backend } from '../src/storage/backend.ts';
import { openSqliteBackend } from '../src/storage/sqlite/backend.ts';

const MB = 1_048_576;
const HOUR_MS = 3_600_000;
const BATCH_COUNT = 4000;
const sealer = new Sealer(new Uint8Array(32).fill(1), systemRandom);

const open = (stateDir: string): Promise<Backend> =>
  openSqliteBackend(
    { stateDir, sync: 'full', mayReset: false, salesKeptMs: HOUR_MS, callbackBytes: 0, play: undefined },
    {
      clock: systemClock,
      random: systemRandom,
      timers: systemTimers,
      onStateFault: (fault) => console.error(fault),
      onFailure: (fault) => console.error(fault),
    },
  );

async function fill(stateDir: string, count: number, leadMs: number): Promise<void> {
  const firstDueMs = Date.now() + leadMs;
  const backend = await open(stateDir);
  for (let made = 0; made < count; made += BATCH_COUNT) {
    const nowMs = Date.now();
    const batch = Array.from({ length: Math.min(BATCH_COUNT, count - made) }, (_, i) => {
      const id = newRetryId(systemRandom);
      const number = made + i;
      const payer = `payer:0x${(number % 50_000).toString(16).padStart(40, '0')}`;
      const draft = { id, customer: payer, organization: null, tokenDigest: 'x'.repeat(43), idempotency: null };
      const waitMs = number % 100 === 0 ? Math.random() * 60_000 : 120_000 + Math.random() * HOUR_MS;
      const job = newJob({ ...draft, policy: DEFAULT_POLICY, deadlineSeconds: 86_400, hasCallback: false }, nowMs);
      const request = {
        method: 'POST',
        url: `https://t${number % 1000}.example/`,
        headers: [],
        body: '{"a":1}',
      } as const;
      const secrets = sealer.seal(id, secretsText({ request, callback: null }));
      const dueAtMs = Math.round(firstDueMs + waitMs);
      return { job: { ...job, nextAttemptAtMs: dueAtMs, dueAtMs }, secrets, resultBody: null };
    });
    await Promise.all(batch.map((record) => backend.retries.create(record)));
  }
  await backend.close();
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

async function run(stateDir: string, seconds: number): Promise<void> {
  const before = process.memoryUsage().rss;
  const startMs = performance.now();
  const backend = await open(stateDir);
  const openedMs = performance.now() - startMs;
  globalThis.gc?.();
  const opened = process.memoryUsage().rss;
  const lateMs: number[] = [];
  let workingMs = Number.POSITIVE_INFINITY;
  const outbound: Outbound = {
    policy: { judge: (url) => ({ ok: true, target: { url: new URL(url), isOwnHook: false } }) },
    lookUp: async () => 'allowed',
    async send(request) {
      await request.onSent?.();
      const id = request.headers.find(([name]) => name === 'x-retry-id')?.[1];
      const found = await backend.retries.find(id as never);
      const started = found?.job.attempts[0]?.startedAtMs ?? 0;
      const dueMs = dues.get(id as string) ?? 0;
      // Jobs that fell due before the start do not count.
      if (dueMs >= workingMs) lateMs.push(started - dueMs);
      return { kind: 'answer', status: 200, headers: [], body: new Uint8Array(), isTruncated: false, durationMs: 0 };
    },
  };
  const dues = new Map<string, number>();
  const store = {
    create: backend.retries.create.bind(backend.retries),
    buy: backend.retries.buy.bind(backend.retries),
    find: backend.retries.find.bind(backend.retries),
    findByKey: backend.retries.findByKey.bind(backend.retries),
    update: backend.retries.update.bind(backend.retries),
    remove: backend.retries.remove.bind(backend.retries),
    release: backend.retries.release.bind(backend.retries),
    setAside: backend.retries.setAside.bind(backend.retries),
    usage: backend.retries.usage.bind(backend.retries),
    async takeDue(query: Parameters<typeof backend.retries.takeDue>[0]) {
      const taken = await backend.retries.takeDue(query);
      for (const { id } of taken.jobs) dues.set(id, (await backend.retries.find(id))?.job.dueAtMs ?? 0);
      return taken;
    },
  };
  const meter = new RetryMeter();
  const worker = new RetryWorker({
    store,
    outbound,
    sealer,
    clock: systemClock,
    random: systemRandom,
    timers: systemTimers,
    meter,
    onFailure: (failure) => console.error(failure),
  });
  const cpu = process.cpuUsage();
  workingMs = Date.now();
  worker.start();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const used = process.cpuUsage(cpu);
  ok(lateMs.length > 0, 'no attempt fell due');
  lateMs.sort((a, b) => a - b);
  const cpuMs = (used.user + used.system) / 1000;
  console.log(
    JSON.stringify({
      openedMs: Math.round(openedMs),
      rssBeforeMb: Math.round(before / MB),
      rssOpenedMb: Math.round(opened / MB),
      rssEndMb: Math.round(process.memoryUsage().rss / MB),
      attempts: lateMs.length,
      lateP50Ms: percentile(lateMs, 0.5),
      lateP99Ms: percentile(lateMs, 0.99),
      lateMaxMs: lateMs.at(-1),
      cpuMsPerAttempt: Number((cpuMs / lateMs.length).toFixed(2)),
    }),
  );
  await worker.close();
  await backend.close();
}

const [command, stateDir = '', number = '', lead = '20'] = process.argv.slice(2);
if (command === 'fill') await fill(stateDir, Number(number), Number(lead) * 1000);
else if (command === 'run') await run(stateDir, Number(number));
else throw new Error('fill or run');
