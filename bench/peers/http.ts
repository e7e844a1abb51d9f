/**
 * The pairs of servers that `run.ts --only http` compares, as pairs.ts measures them. Also prints requests a second,
 * which mean something only on an otherwise idle machine.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { privateKeyToAccount } from 'viem/accounts';
import { AMOUNT_MAX } from '../../src/accounts/limits.ts';
import { encodeHex } from '../../src/base/codec.ts';
import type { Authorization } from '../../src/payment/protocol/authorization.ts';
import { authorizationDigest } from '../../test/payment/fixture.ts';
import { type Contender, inTurn, type PairOptions, type PairResult, type Ratio, type Running, start } from './pairs.ts';
import { measureWebhooks, WEBHOOK_PAIRS } from './webhooks.ts';
import { ADMIN_TOKEN, PAYER, type WireResponse } from './wire.ts';

const UNPAID = '/v1/jobs/signals?role=engineer&location=germany';
/** A new question each time. */
const UNPAID_NEW = '/v1/jobs/signals?role=engineer+#&location=germany';
/** A free route with parameters and a short answer: the status of an unknown payment. */
const STATUS = `/v1/payments/eip155:8453/0x${'5a'.repeat(20)}/0x${'3c'.repeat(32)}`;
const KEY = `0x${'01'.repeat(32)}` as const;
// Precomputed tables make a signature several times faster.
secp256k1.Point.BASE.precompute(8);

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

/** A key of an organization with enough credits. */
async function newKey(port: number): Promise<string> {
  const make = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ organization: 'bench', ...body }) };
    const response = await fetch(`http://127.0.0.1:${port}/admin/v1/${path}`, init);
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  await make('grants', { kind: 'onboarding', amount: AMOUNT_MAX });
  return (await make('keys', { scopes: ['jobs:read'] })).key!;
}

/** The answer of one server, for another to repeat. */
async function responseOf(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<WireResponse> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
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
  /** Measured only when it is named. */
  readonly isAskedFor?: boolean;
  readonly path: string;
  readonly status: number;
  /** What requests carry to get in. */
  readonly payments: 'none' | 'unsigned' | 'signed' | 'key';
  /** Our server, and those it is compared with. */
  readonly sides: readonly [Side, ...Side[]];
}

const APP = { name: 'paygrade', kind: 'app' };
const PAIRS: readonly Pair[] = [
  { title: 'health', path: '/health', status: 200, payments: 'none', sides: [APP, { name: 'bare', kind: 'bare' }] },
  {
    title: 'route with parameters',
    path: STATUS,
    status: 404,
    payments: 'none',
    sides: [APP, { name: 'bare', kind: 'bare' }],
  },
  {
    title: 'offer',
    path: UNPAID,
    status: 402,
    payments: 'none',
    sides: [APP, { name: 'constant', kind: 'constant' }, { name: 'constant, own listener', kind: 'constant-own' }],
  },
  {
    title: 'offer, new questions',
    path: UNPAID_NEW,
    status: 402,
    payments: 'none',
    sides: [APP, { name: 'constant', kind: 'constant' }],
  },
  {
    title: 'keyed page',
    path: '/data/v1/jobs?limit=25',
    status: 200,
    payments: 'key',
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
  {
    title: 'paid, verified natively',
    path: UNPAID,
    status: 200,
    payments: 'signed',
    isAskedFor: true, // needs a library that the operator installs
    sides: [
      { name: 'paygrade', kind: 'app-native' },
      { name: 'official + viem', kind: 'official-viem' },
    ],
  },
];

export interface HttpOptions extends PairOptions {
  readonly catalogue: string;
  /** Payments a round: unsigned, signed. */
  readonly paid: readonly [number, number];
  readonly only: readonly string[];
}

export const HTTP_PAIRS: readonly string[] = [...PAIRS, ...WEBHOOK_PAIRS].map(({ title }) => title);

async function measured(pair: Pair, options: HttpOptions, directory: string): Promise<PairResult> {
  const { title, path, payments, status, sides } = pair;
  const { program, catalogue } = options;
  const contenders: Contender[] = [];
  const file = join(directory, 'payments');
  const responseFile = join(directory, 'response.json');
  const isSigned = payments === 'signed';
  let key: string | undefined;
  const add = ({ name, isFree = false }: Side, running: Running): void => {
    const isPaid = payments !== 'none' && !isFree;
    const prepare = async (factor: number): Promise<readonly string[]> => {
      if (key !== undefined) return ['key', key];
      if (!isPaid) return ['-'];
      await writePayments(running.port, path, isSigned, options.paid[isSigned ? 1 : 0] * factor, file);
      return [file];
    };
    contenders.push({ name, running, prepare });
  };
  try {
    const own = await start(program, 'server.ts', ['--kind', sides[0].kind, '--catalogue', catalogue]);
    add(sides[0], own);
    let headers = {};
    if (payments === 'key') {
      key = await newKey(own.port);
      headers = { authorization: `Bearer ${key}` };
    } else if (payments !== 'none') {
      await writePayments(own.port, path, isSigned, 1, file);
      headers = { 'payment-signature': readFileSync(file, 'utf8').trim() };
    }
    const answer = await responseOf(own.port, path, headers);
    if (answer.status !== status) {
      throw new Error(`${title}: ${answer.status} instead of ${status}: ${answer.body.slice(0, 300)}`);
    }
    writeFileSync(responseFile, JSON.stringify(answer));
    const words = ['--response', responseFile, '--catalogue', catalogue];
    for (const side of sides.slice(1)) add(side, await start(program, 'server.ts', ['--kind', side.kind, ...words]));
    return await inTurn(title, path, status, contenders, options);
  } finally {
    for (const { running } of contenders) running.child.kill('SIGKILL');
  }
}

function show({ pair, micros, requestsASecond, ratios, instructions = {} }: PairResult): void {
  const sides = Object.entries(micros).map(
    ([name, each]) => `${name} ${each.toFixed(1)} µs (${requestsASecond[name]!.toFixed(0)}/s)`,
  );
  const text = ({ median, low, high }: Ratio): string =>
    `x ${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  const shown = Object.entries(ratios).map(([name, ratio]) => {
    const counted = instructions[name];
    return counted === undefined ? text(ratio) : `${text(ratio)}, instructions ${text(counted)}`;
  });
  console.log(`  ${pair.padEnd(24)} ${shown.join(', ').padEnd(26)} ${sides.join(', ')}`);
}

export async function measureHttp(options: HttpOptions): Promise<PairResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'paygrade-peers-'));
  const results: PairResult[] = [];
  const isWanted = ({ title, isAskedFor = false }: Pick<Pair, 'title' | 'isAskedFor'>): boolean =>
    options.only.length === 0 ? !isAskedFor : options.only.includes(title);
  const add = (result: PairResult): void => {
    results.push(result);
    show(result);
  };
  try {
    for (const pair of PAIRS.filter(isWanted)) add(await measured(pair, options, directory));
    for (const pair of WEBHOOK_PAIRS.filter(isWanted)) add(await measureWebhooks(pair, options, directory));
    return results;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
