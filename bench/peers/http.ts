/**
 * Pairs of servers under the same load in turn: what a request costs the server's process in processor time (user and
 * system, from /proc/PID/stat, over the requests that wrk counted). The server alone on core 0, wrk alone on core 1.
 * Prints requests a second too, which mean something on an otherwise idle machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeHex } from '../../src/base/codec.ts';
import type { Authorization } from '../../src/payment/protocol/authorization.ts';
import { authorizationDigest } from '../../test/payment/fixture.ts';
import { quantile } from '../harness.ts';
import { PAYER, type WireResponse } from './wire.ts';

const UNPAID = '/v1/jobs/signals?role=engineer&location=germany';
/** A new question each time. */
const UNPAID_NEW = '/v1/jobs/signals?role=engineer+#&location=germany';
const CONNECTIONS = 64;
/** Length of the warm-up, in rounds: compilers need tens of thousands of requests. */
const WARM_UP_ROUNDS = 5;
/** Clock ticks of /proc/PID/stat a second; Linux has shown user space 100 for twenty years. */
const TICKS_A_SECOND = 100;
const KEY = `0x${'01'.repeat(32)}` as const;
// Precomputed tables make a signature several times faster.
secp256k1.Point.BASE.precompute(8);

export interface PairResult {
  readonly pair: string;
  readonly runtime: string;
  /** Median processor time a request, µs, by server. */
  readonly micros: Record<string, number>;
  readonly requestsASecond: Record<string, number>;
  /** Median of the rounds' ratios, by other server: its processor time over the first's. */
  readonly ratios: Record<string, number>;
}

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

interface WrkResult {
  readonly requests: number;
  readonly durationMicros: number;
  readonly socketErrors: number;
  readonly statuses: Record<string, number>;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

async function start(program: string, words: readonly string[]): Promise<Running> {
  const child = spawn('taskset', ['-c', '0', program, here('server.ts'), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${words.join(' ')} ended with ${code}`)));
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const found = /listening on (\d+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
  });
  return { child, port };
}

/** Processor time that a process has taken so far, µs. */
function cpuMicrosOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold blanks; after it come the state and then numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_A_SECOND;
}

function wrk(port: number, path: string, payments: string, seconds: number): Promise<WrkResult> {
  const words = ['-c', '1', 'wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', here('wrk.lua')];
  const child = spawn('taskset', [...words, `http://127.0.0.1:${port}`, '--', path, payments], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return new Promise((resolve, reject) => {
    child.once('error', () => reject(new Error('taskset and wrk are needed (Debian: apt-get install wrk)')));
    child.once('close', () => {
      const line = /^RESULT (.*)$/m.exec(text);
      if (line === null) reject(new Error(`wrk said nothing: ${text}`));
      else resolve(JSON.parse(line[1]!) as WrkResult);
    });
  });
}

interface Accepted {
  readonly amount: string;
  readonly payTo: string;
}

/** Fresh payments for a server's offer, one per line; signed, or with 65 meaningless bytes. */
async function writePayments(port: number, path: string, isSigned: boolean, count: number, out: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  await response.arrayBuffer();
  const header = response.headers.get('payment-required');
  if (header === null) throw new Error(`no offer from ${path}: ${response.status}`);
  const { accepts, resource } = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as {
    accepts: Accepted[];
    resource: unknown;
  };
  const accepted = accepts[0]!;
  const from = isSigned ? privateKeyToAccount(KEY).address : PAYER;
  const validBeforeSeconds = Math.floor(Date.now() / 1000) + 118;
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    const nonce = `0x${randomBytes(32).toString('hex')}`;
    let signature = `0x${'11'.repeat(64)}1b`;
    if (isSigned) {
      const authorization: Authorization = {
        from: from.toLowerCase(),
        to: accepted.payTo.toLowerCase(),
        valueAtomic: BigInt(accepted.amount),
        validAfterSeconds: 0,
        validBeforeSeconds,
        nonce,
      };
      const key = Buffer.from(KEY.slice(2), 'hex');
      // 65 bytes, the recovery bit first.
      const bytes = secp256k1.sign(authorizationDigest(authorization), key, { prehash: false, format: 'recovered' });
      signature = encodeHex(Uint8Array.of(...bytes.subarray(1), bytes[0]! + 27));
    }
    const payment = {
      x402Version: 2,
      resource,
      accepted,
      payload: {
        signature,
        authorization: {
          from,
          to: accepted.payTo,
          value: accepted.amount,
          validAfter: '0',
          validBefore: String(validBeforeSeconds),
          nonce,
        },
      },
    };
    lines.push(Buffer.from(JSON.stringify(payment)).toString('base64'));
  }
  writeFileSync(out, `${lines.join('\n')}\n`);
}

/** The answer of a server, for another one to repeat. */
async function responseOf(port: number, path: string, payment?: string): Promise<WireResponse> {
  const headers = payment === undefined ? undefined : { 'payment-signature': payment };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, headers === undefined ? {} : { headers });
  const body = await response.text();
  const kept = [...response.headers].filter(
    ([name]) => !['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'].includes(name),
  );
  return { status: response.status, headers: Object.fromEntries(kept), body };
}

interface Side {
  readonly name: string;
  readonly kind: string;
  /** Answers without being paid, and makes no offers. */
  readonly isFree?: boolean;
}

interface Pair {
  readonly title: string;
  readonly path: string;
  readonly status: number;
  readonly payments: 'none' | 'unsigned' | 'signed';
  /** Our server, and those it is compared with. */
  readonly sides: readonly [Side, ...Side[]];
}

const APP = { name: 'paygrade', kind: 'app' };
const PAIRS: readonly Pair[] = [
  { title: 'health', path: '/health', status: 200, payments: 'none', sides: [APP, { name: 'bare', kind: 'bare' }] },
  { title: 'offer', path: UNPAID, status: 402, payments: 'none', sides: [APP, { name: 'constant', kind: 'constant' }] },
  {
    title: 'offer, new questions',
    path: UNPAID_NEW,
    status: 402,
    payments: 'none',
    sides: [APP, { name: 'constant', kind: 'constant' }],
  },
  {
    title: 'offer, official',
    path: UNPAID,
    status: 402,
    payments: 'none',
    sides: [APP, { name: 'official', kind: 'official' }],
  },
  {
    title: 'paid, nothing verified',
    path: UNPAID,
    status: 200,
    payments: 'unsigned',
    sides: [
      { name: 'paygrade', kind: 'app-unverified' },
      { name: 'official', kind: 'official' },
      { name: 'the answer for nothing', kind: 'free', isFree: true },
    ],
  },
  {
    title: 'paid, verified',
    path: UNPAID,
    status: 200,
    payments: 'signed',
    sides: [APP, { name: 'official + viem', kind: 'official-viem' }],
  },
];

export interface HttpOptions {
  readonly program: string;
  readonly runtime: string;
  readonly catalogue: string;
  readonly seconds: number;
  readonly rounds: number;
  /** Payments a round: unsigned, signed. */
  readonly paid: readonly [number, number];
  readonly only: readonly string[];
}

export const HTTP_PAIRS: readonly string[] = PAIRS.map(({ title }) => title);

async function measured(pair: Pair, options: HttpOptions, directory: string): Promise<PairResult> {
  const { title, path, payments, status } = pair;
  const running = new Map<string, Running>();
  const file = join(directory, 'payments');
  const responseFile = join(directory, 'response.json');
  try {
    const own = await start(options.program, ['--kind', pair.sides[0].kind, '--catalogue', options.catalogue]);
    running.set(pair.sides[0].name, own);
    let payment: string | undefined;
    if (payments !== 'none') {
      await writePayments(own.port, path, payments === 'signed', 1, file);
      payment = readFileSync(file, 'utf8').trim();
    }
    const answer = await responseOf(own.port, path, payment);
    if (answer.status !== status) {
      throw new Error(`${title}: ${answer.status} instead of ${status}: ${answer.body.slice(0, 300)}`);
    }
    writeFileSync(responseFile, JSON.stringify(answer));
    const words = ['--response', responseFile, '--catalogue', options.catalogue];
    for (const { name, kind } of pair.sides.slice(1)) {
      running.set(name, await start(options.program, ['--kind', kind, ...words]));
    }

    const micros: Record<string, number[]> = {};
    const rates: Record<string, number[]> = {};
    for (let round = 0; round <= options.rounds; round++) {
      for (const { name, isFree = false } of pair.sides) {
        const { child, port } = running.get(name)!;
        const isPaid = payments !== 'none' && !isFree;
        if (isPaid) {
          const count = options.paid[payments === 'signed' ? 1 : 0] * (round === 0 ? WARM_UP_ROUNDS : 1);
          await writePayments(port, path, payments === 'signed', count, file);
        }
        const before = cpuMicrosOf(child.pid!);
        const seconds = options.seconds * (round === 0 ? WARM_UP_ROUNDS : 1);
        const result = await wrk(port, path, isPaid ? file : '-', seconds);
        const spent = cpuMicrosOf(child.pid!) - before;
        const good = result.statuses[String(status)] ?? 0;
        // The last few of a paid round ask for /health, while wrk is coming to its end.
        const odd = Object.entries(result.statuses).filter(([code]) => code !== String(status) && code !== '404');
        if (good === 0 || odd.length > 0) throw new Error(`${title}, ${name}: ${JSON.stringify(result)}`);
        if (round === 0) continue;
        micros[name] = [...(micros[name] ?? []), spent / result.requests];
        rates[name] = [...(rates[name] ?? []), (result.requests * 1e6) / result.durationMicros];
      }
    }
    const median = (numbers: readonly number[]): number => quantile(Float64Array.from(numbers).sort(), 0.5);
    const medians = (all: Record<string, number[]>): Record<string, number> =>
      Object.fromEntries(Object.entries(all).map(([name, each]) => [name, median(each)]));
    const [ours, ...others] = pair.sides.map(({ name }) => ({ name, each: micros[name]! }));
    return {
      pair: title,
      runtime: options.runtime,
      micros: medians(micros),
      requestsASecond: medians(rates),
      ratios: Object.fromEntries(
        others.map(({ name, each }) => [name, median(each.map((one, round) => one / ours!.each[round]!))]),
      ),
    };
  } finally {
    for (const { child } of running.values()) child.kill('SIGKILL');
  }
}

export async function measureHttp(options: HttpOptions): Promise<PairResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'paygrade-peers-'));
  const results: PairResult[] = [];
  try {
    for (const pair of PAIRS) {
      if (options.only.length > 0 && !options.only.includes(pair.title)) continue;
      const result = await measured(pair, options, directory);
      results.push(result);
      const sides = Object.entries(result.micros).map(
        ([name, micros]) => `${name} ${micros.toFixed(1)} µs (${result.requestsASecond[name]!.toFixed(0)}/s)`,
      );
      const ratios = Object.values(result.ratios).map((ratio) => `x ${ratio.toFixed(2)}`);
      console.log(`  ${result.pair.padEnd(24)} ${ratios.join(', ').padEnd(16)} ${sides.join(', ')}`);
    }
    return results;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
