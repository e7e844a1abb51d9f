/**
 * The most that one box can earn: sends each kind of request by `paygrade load` in a closed loop, against a server with durable
 * state, and measures from outside the server's processor time for one request. A core carries as many as fit into a second of
 * its time; the observed rate is lower, because the generator takes the other core or the server cannot use both.
 *
 *   node bench/earnings.ts [--seconds 10] [--runtime node]... [--scenario paid]... [--catalogue FILE]
 *
 * Processor time (all threads of the server), requests and sales are the differences between two looks in the middle of
 * a run. Needs Linux.
 */
import { spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuMsOf, listening, PROJECT, RUNTIMES, type Runtime } from './server-process.ts';

const MAIN = join(PROJECT, 'src/main.ts');
const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
/** Time for buying callbacks, connecting, and the warm-up of `load`, which counts only after it. */
const SETTLING_MS = 6_000;
/** In a closed loop, except for those that end when each of a thousand callbacks has its ten events. */
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  health: [],
  unpaid: [],
  paid: [],
  webhook: ['--rate', '450'],
  wait: ['--rate', '150'],
  data: [],
};

interface Look {
  readonly atMs: number;
  readonly cpuMs: number;
  readonly requests: number;
  readonly soldMicros: number;
}

async function look(url: string, processId: number): Promise<Look> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const requests = [...page.matchAll(/^paygrade_requests_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
  const answer = await fetch(`${url}/admin/v1/sales/days`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  const { data } = (await answer.json()) as { data: { days: { amount_atomic: string }[] } };
  const soldMicros = data.days.reduce((sum, { amount_atomic: amount }) => sum + Number(amount), 0);
  return { atMs: performance.now(), cpuMs: cpuMsOf(processId), requests, soldMicros };
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    runtime: { type: 'string', multiple: true, default: Object.keys(RUNTIMES) },
    scenario: { type: 'string', multiple: true, default: Object.keys(SCENARIOS) },
    catalogue: { type: 'string', default: 'sample' },
  },
});
const measuredMs = Number(values.seconds) * 1000;
const folder = mkdtempSync(join(tmpdir(), 'paygrade-earnings-'));

function settingsOf(stateDir: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    STATE_DIR: stateDir,
    ADMIN_TOKEN,
    LOCAL_BALANCE: '1000000000000',
    RATE_LIMIT_PER_MINUTE: '0',
    CALLBACK_LIMIT_PER_MINUTE: '0',
    KEY_RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'error',
    PORT: '0',
    ...(values.catalogue !== 'sample' && { SNAPSHOT: values.catalogue }),
  };
}

/** A key of the demo organization, which a start shows once on stderr. */
const KEY = /svc_key_[A-Za-z0-9_-]{43}/;

/** The key of the demo organization, which gets enough credits for the scenario. */
async function fundedKey(url: string, stderr: EventEmitter, said: () => string): Promise<string> {
  while (!KEY.test(said())) await once(stderr, 'data');
  const answer = await fetch(`${url}/admin/v1/grants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ organization: 'demo', kind: 'onboarding', amount: 1_000_000_000 }),
  });
  if (!answer.ok) throw new Error(`no credits: ${answer.status} ${await answer.text()}`);
  return KEY.exec(said())?.[0] ?? '';
}

async function measure(runtime: Runtime, scenario: string): Promise<void> {
  const env = settingsOf(mkdtempSync(join(folder, 'state-')));
  const server = spawn(RUNTIMES[runtime], [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  server.stderr.on('data', (bytes: Buffer) => {
    said += bytes;
  });
  try {
    const url = await listening(server);
    const key = scenario === 'data' ? ['--key', await fundedKey(url, server.stderr, () => said)] : [];
    const seconds = String(Math.ceil((measuredMs + SETTLING_MS) / 1000) + 4);
    const words = ['load', url, '--scenario', scenario, '--duration', seconds, '--json', ...key];
    words.push(...(SCENARIOS[scenario] ?? []));
    const load = spawn(RUNTIMES.node, [MAIN, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    load.stdout.on('data', (bytes: Buffer) => {
      text += bytes;
    });
    const ended = new Promise((resolve) => load.once('close', resolve));
    await pause(SETTLING_MS);
    const before = await look(url, server.pid ?? 0);
    await pause(measuredMs);
    const after = await look(url, server.pid ?? 0);
    await ended;
    if (text === '') throw new Error(`load has no result of ${scenario}`);
    const result = JSON.parse(text) as {
      requests: { unexpected: number };
      latency_us: { p50: number; p99: number };
      generator: { was_the_limit: boolean };
    };
    show(scenario, before, after, result);
  } finally {
    server.removeAllListeners('exit');
    server.kill('SIGKILL');
    await new Promise((resolve) => server.once('close', resolve));
  }
}

function show(
  scenario: string,
  before: Look,
  after: Look,
  result: {
    readonly requests: { readonly unexpected: number };
    readonly latency_us: { readonly p50: number; readonly p99: number };
    readonly generator: { readonly was_the_limit: boolean };
  },
): void {
  const requests = after.requests - before.requests;
  const seconds = (after.atMs - before.atMs) / 1000;
  const cpuMicros = ((after.cpuMs - before.cpuMs) * 1000) / requests;
  const usdc = (after.soldMicros - before.soldMicros) / 1e6;
  const columns = [
    `${cpuMicros.toFixed(0)} µs a request`,
    `${(1e6 / cpuMicros).toFixed(0)}/s a core`,
    `${(requests / seconds).toFixed(0)}/s seen`,
    `p50 ${(result.latency_us.p50 / 1000).toFixed(1)} ms`,
    `p99 ${(result.latency_us.p99 / 1000).toFixed(1)} ms`,
    `${(usdc / seconds).toFixed(2)} USDC/s`,
    `${((after.cpuMs - before.cpuMs) / 10 / seconds).toFixed(0)} % of a core`,
    ...(result.generator.was_the_limit ? ['the generator was the limit'] : []),
    ...(result.requests.unexpected > 0 ? [`${result.requests.unexpected} unexpected`] : []),
  ];
  console.log(`  ${scenario.padEnd(10)} ${columns.map((one) => one.padStart(16)).join('  ')}`);
}

try {
  for (const runtime of Object.keys(RUNTIMES) as Runtime[]) {
    if (!values.runtime.includes(runtime)) continue;
    console.log(runtime);
    for (const scenario of values.scenario) await measure(runtime, scenario);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
