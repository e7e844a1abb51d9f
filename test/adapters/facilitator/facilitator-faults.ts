/**
 * Every way in which a facilitator can fail or lie (reliability 82 to 97, x402-v2 §4.9 and §5.5) with the outcome that was
 * decided for it. Plain data and a plain function, so that it runs under any runtime: as a program it prints its results.
 */
import { createServer, type Server } from 'node:net';
import {
  type FacilitatorOptions,
  type FacilitatorPorts,
  HttpFacilitator,
} from '../../../src/adapters/facilitator/facilitator-http.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { BASE } from '../../../src/payment/protocol/network.ts';
import { orderFor, payer } from '../../payment/fixture.ts';
import { FakeFacilitator, type Step } from '../../support/fake-facilitator.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const OTHER_HASH = `0x${'cd'.repeat(32)}`;
const NETWORK = BASE.id;
const PAYER = payer().address;
const SUCCESS = { success: true, transaction: HASH, network: NETWORK, payer: PAYER };
const failure = (errorReason: string, transaction = ''): object => ({
  success: false,
  errorReason,
  transaction,
  network: NETWORK,
  payer: PAYER,
});

type Where = '/settle' | '/verify';
type Fault = readonly [where: Where, because: string, steps: readonly Step[], expected: string, calls?: number];

/** Expected: kind, and after a colon the transaction, reason or seconds that must come with it. */
export const FAULTS: readonly Fault[] = [
  ['/settle', 'a success', [{ status: 200, body: SUCCESS }], `settled:${HASH}`],
  [
    '/settle',
    'a success with nothing optional',
    [{ status: 200, body: { success: true, transaction: HASH, network: NETWORK } }],
    `settled:${HASH}`,
  ],
  [
    '/settle',
    'a success with nulls',
    [{ status: 200, body: { ...SUCCESS, payer: null, amount: null } }],
    `settled:${HASH}`,
  ],
  [
    '/settle',
    'a success that spells in other case',
    [{ status: 200, body: { ...SUCCESS, payer: PAYER.toLowerCase(), transaction: `0x${'AB'.repeat(32)}` } }],
    `settled:${HASH}`,
  ],
  [
    '/settle',
    'a success with the right amount',
    [{ status: 200, body: { ...SUCCESS, amount: '20000' } }],
    `settled:${HASH}`,
  ],
  [
    '/settle',
    '86 success missing',
    [{ status: 200, body: { transaction: HASH, network: NETWORK } }],
    `unknown:${HASH}`,
  ],
  ['/settle', '86 success as text', [{ status: 200, body: { ...SUCCESS, success: 'true' } }], `unknown:${HASH}`],
  ['/settle', '86 success as a number', [{ status: 200, body: { ...SUCCESS, success: 1 } }], `unknown:${HASH}`],
  [
    '/settle',
    '87 success on another network',
    [{ status: 200, body: { ...SUCCESS, network: 'eip155:84532' } }],
    `unknown:${HASH}`,
  ],
  [
    '/settle',
    '87 success without a network',
    [{ status: 200, body: { success: true, transaction: HASH } }],
    `unknown:${HASH}`,
  ],
  [
    '/settle',
    '87 success for another payer',
    [{ status: 200, body: { ...SUCCESS, payer: payer(1).address } }],
    `unknown:${HASH}`,
  ],
  [
    '/settle',
    '87 success for another amount',
    [{ status: 200, body: { ...SUCCESS, amount: '19999' } }],
    `unknown:${HASH}`,
  ],
  [
    '/settle',
    '87 success for an amount as a number',
    [{ status: 200, body: { ...SUCCESS, amount: 20000 } }],
    `unknown:${HASH}`,
  ],
  [
    '/settle',
    '87 success with an empty transaction',
    [{ status: 200, body: { ...SUCCESS, transaction: '' } }],
    'unknown:',
  ],
  [
    '/settle',
    '87 success with a short transaction',
    [{ status: 200, body: { ...SUCCESS, transaction: HASH.slice(0, 65) } }],
    'unknown:',
  ],
  [
    '/settle',
    '87 success without a transaction',
    [{ status: 200, body: { success: true, network: NETWORK } }],
    'unknown:',
  ],
  ['/settle', '90 HTML', [{ status: 200, raw: '<html>hello</html>' }], 'unknown:'],
  ['/settle', '90 nothing', [{ status: 200, raw: '' }], 'unknown:'],
  ['/settle', '90 no body at all', [{ status: 204, raw: '' }], 'unknown:'],
  ['/settle', '90 truncated JSON', [{ status: 200, raw: '{"success":true,' }], 'unknown:'],
  [
    '/settle',
    '90 a body shorter than declared',
    [{ status: 200, raw: '{"success":true', headers: { 'content-length': '500' } }],
    'unknown:',
  ],
  ['/settle', '90 an empty object', [{ status: 200, raw: '{}' }], 'unknown:'],
  ['/settle', '90 an array', [{ status: 200, raw: '[]' }], 'unknown:'],
  ['/settle', '90 invalid UTF-8', [{ status: 200, raw: '{"success":true,"transaction":"\udc80"}' }], 'unknown:'],
  ['/settle', '91 a body without end', ['flood'], 'unknown:'],
  ['/settle', '91 a byte now and then', ['drip'], 'unknown:'],
  ['/settle', '91 a body over 64 KiB', [{ status: 200, body: { ...SUCCESS, fill: 'x'.repeat(65_536) } }], 'unknown:'],
  [
    '/settle',
    '91 a body just under 64 KiB',
    [{ status: 200, body: { ...SUCCESS, fill: 'x'.repeat(65_000) } }],
    `settled:${HASH}`,
  ],
  [
    '/settle',
    '91 a gzip bomb, or what says it is one',
    [{ status: 200, body: SUCCESS, headers: { 'content-encoding': 'gzip' } }],
    'unknown:',
  ],
  [
    '/settle',
    '91 five thousand encodings',
    [{ status: 200, body: SUCCESS, headers: { 'content-encoding': Array(1500).fill('gzip').join(',') } }],
    'unknown:',
  ],
  [
    '/settle',
    '91 an encoding that is none',
    [{ status: 200, body: SUCCESS, headers: { 'content-encoding': 'identity' } }],
    `settled:${HASH}`,
  ],
  ...[301, 302, 303, 307, 308].map(
    (status): Fault => [
      '/settle',
      `92 a redirect ${status}`,
      [{ status, body: SUCCESS, headers: { location: '/settle' } }],
      'unknown:',
      1,
    ],
  ),
  ...[400, 402, 422].map(
    (status): Fault => [
      '/settle',
      `93 a refusal with ${status}`,
      [{ status, body: failure('insufficient_funds') }],
      'refused:insufficient_funds',
    ],
  ),
  [
    '/settle',
    '93 a refusal with 200',
    [{ status: 200, body: failure('invalid_exact_evm_signature') }],
    'refused:invalid_exact_evm_signature',
  ],
  ['/settle', '93 a refusal in words', [{ status: 400, body: failure('Something <b>bad</b> happened!') }], 'refused:'],
  ['/settle', '93 a refusal without a reason', [{ status: 400, body: { success: false } }], 'refused:'],
  [
    '/settle',
    '93 a transaction that the chain reverted',
    [{ status: 200, body: failure('invalid_exact_evm_transaction_failed', HASH) }],
    'refused:invalid_exact_evm_transaction_failed',
  ],
  [
    '/settle',
    '93 a refusal for other reasons that has a transaction',
    [{ status: 400, body: failure('insufficient_funds', HASH) }],
    `unknown:${HASH}`,
  ],
  [
    '/settle',
    '93 a refusal that has something for a transaction',
    [{ status: 400, body: failure('insufficient_funds', 'soon') }],
    'unknown:',
  ],
  ['/settle', '93 status 400 without a word', [{ status: 400, body: { error: 'bad' } }], 'unknown:'],
  ['/settle', '93 status 401', [{ status: 401, body: { error: 'who' } }], 'unavailable:'],
  ['/settle', '93 status 403', [{ status: 403, raw: 'no' }], 'unavailable:'],
  ['/settle', '94 status 429', [{ status: 429, raw: 'slow', headers: { 'retry-after': '7' } }], 'unavailable:7'],
  [
    '/settle',
    '94 status 429 that says nothing was done',
    [{ status: 429, body: failure('rate_limited') }],
    'unavailable:',
  ],
  [
    '/settle',
    '94 status 429 with a transaction',
    [{ status: 429, body: failure('rate_limited', HASH) }],
    `unknown:${HASH}`,
  ],
  ...[
    'settle_exact_evm_transaction_confirmation_timed_out',
    'settle_exact_node_failure',
    'invalid_exact_evm_failed_to_get_receipt',
    'unexpected_settle_error',
    'unknown_error',
    'duplicate_settlement',
    'invalid_exact_evm_nonce_already_used',
    'settlement_pending',
  ].map(
    (reason): Fault => [
      '/settle',
      `an indeterminate ${reason}`,
      [{ status: 400, body: failure(reason) }],
      'unknown:',
      1,
    ],
  ),
  ...[500, 502, 503, 504].map(
    (status): Fault => [
      '/settle',
      `96 status ${status}`,
      [{ status, body: failure('insufficient_funds') }],
      'unknown:',
    ],
  ),
  ['/settle', '96 a reset', ['reset'], 'unknown:', 1],
  ['/settle', '96 a close', ['close'], 'unknown:', 1],
  ['/settle', '96 no answer', ['hang'], 'unknown:'],
  [
    '/settle',
    '97 pending and then settled',
    [
      { status: 200, body: failure('settlement_pending', HASH) },
      { status: 200, body: SUCCESS },
    ],
    `settled:${HASH}`,
    2,
  ],
  [
    '/settle',
    '97 pending with 500 and then settled',
    [
      { status: 500, body: failure('settlement_pending', HASH) },
      { status: 200, body: SUCCESS },
    ],
    `settled:${HASH}`,
    2,
  ],
  ['/settle', '97 pending twice', [{ status: 200, body: failure('settlement_pending', HASH) }], `unknown:${HASH}`, 2],
  [
    '/settle',
    '97 pending, then with another hash',
    [
      { status: 200, body: failure('settlement_pending', HASH) },
      { status: 200, body: failure('settlement_pending', OTHER_HASH) },
    ],
    `unknown:${OTHER_HASH}`,
    2,
  ],
  [
    '/settle',
    '97 pending and then lost',
    [{ status: 200, body: failure('settlement_pending', HASH) }, 'reset'],
    `unknown:${HASH}`,
    2,
  ],
  [
    '/settle',
    '97 pending and then refused without proof',
    [
      { status: 200, body: failure('settlement_pending', HASH) },
      { status: 400, body: failure('insufficient_funds') },
    ],
    `unknown:${HASH}`,
    2,
  ],
  [
    '/settle',
    '97 pending and then reverted',
    [
      { status: 200, body: failure('settlement_pending', HASH) },
      { status: 400, body: failure('invalid_exact_evm_transaction_failed', HASH) },
    ],
    'refused:invalid_exact_evm_transaction_failed',
    2,
  ],
  [
    '/settle',
    '97 pending, then another transaction reverted',
    [
      { status: 200, body: failure('settlement_pending', HASH) },
      { status: 400, body: failure('invalid_exact_evm_transaction_failed', OTHER_HASH) },
    ],
    `unknown:${HASH}`,
    2,
  ],
  [
    '/settle',
    '97 pending and then forbidden',
    [{ status: 200, body: failure('settlement_pending', HASH) }, { status: 403 }],
    `unknown:${HASH}`,
    2,
  ],

  ['/verify', 'valid', [{ status: 200, body: { isValid: true, payer: PAYER } }], 'valid'],
  ['/verify', 'valid without a payer', [{ status: 200, body: { isValid: true } }], 'valid'],
  [
    '/verify',
    'valid for another payer',
    [{ status: 200, body: { isValid: true, payer: payer(1).address } }],
    'unavailable:',
  ],
  ['/verify', 'valid as text', [{ status: 200, body: { isValid: 'true' } }], 'unavailable:'],
  ['/verify', 'valid with 400', [{ status: 400, body: { isValid: true } }], 'unavailable:'],
  [
    '/verify',
    'invalid with 200',
    [{ status: 200, body: { isValid: false, invalidReason: 'insufficient_funds' } }],
    'invalid:insufficient_funds',
  ],
  [
    '/verify',
    'invalid with 400',
    [{ status: 400, body: { isValid: false, invalidReason: 'kyt_risk_detected' } }],
    'invalid:kyt_risk_detected',
  ],
  [
    '/verify',
    'invalid in words',
    [{ status: 200, body: { isValid: false, invalidReason: 'No way, José' } }],
    'invalid:',
  ],
  ['/verify', 'invalid with 500', [{ status: 500, body: { isValid: false } }], 'unavailable:'],
  ['/verify', 'HTML', [{ status: 200, raw: '<html>' }], 'unavailable:'],
  ['/verify', 'a redirect', [{ status: 307, raw: '', headers: { location: '/verify' } }], 'unavailable:', 1],
  [
    '/verify',
    'an encoding',
    [{ status: 200, body: { isValid: true }, headers: { 'content-encoding': 'br' } }],
    'unavailable:',
  ],
  ['/verify', 'a body without end', ['flood'], 'unavailable:'],
  ['/verify', 'a byte now and then', ['drip'], 'unavailable:'],
  ['/verify', 'no answer', ['hang'], 'unavailable:'],
  ['/verify', 'a reset', ['reset'], 'unavailable:', 1],
  ...[401, 403, 404, 500, 503].map((status): Fault => ['/verify', `status ${status}`, [{ status }], 'unavailable:']),
  ['/verify', 'status 429', [{ status: 429, headers: { 'retry-after': '3' } }], 'unavailable:3'],
];

/** Long enough for a hundred faults at once on a busy machine; two of them wait for the end of it. */
export const DEADLINES = { verifyMs: 4000, settleMs: 5000, probeMs: 2000, drainMs: 1000 };

export const facilitatorAt = (
  url: string,
  options: Partial<FacilitatorOptions> = {},
  ports: Partial<FacilitatorPorts> = {},
): HttpFacilitator =>
  new HttpFacilitator(
    { url, token: null, network: BASE, deadlines: DEADLINES, ...options },
    { clock: systemClock, timers: systemTimers, ...ports },
  );

export interface FaultResult {
  readonly name: string;
  readonly expected: string;
  readonly actual: string;
  /** Calls that arrived, when the fault says how many must. */
  readonly calls: string;
  readonly floodedBytes: number;
}

async function outcomeOf(adapter: HttpFacilitator, where: Where): Promise<string> {
  if (where === '/verify') {
    const outcome = await adapter.verify(orderFor());
    if (outcome.kind === 'valid') return 'valid';
    return `${outcome.kind}:${(outcome.kind === 'invalid' ? outcome.reason : outcome.retryAfterSeconds) ?? ''}`;
  }
  const outcome = await adapter.settle(orderFor());
  switch (outcome.kind) {
    case 'settled':
    case 'unknown':
      return `${outcome.kind}:${outcome.transaction}`;
    case 'refused':
      return `refused:${outcome.reason ?? ''}`;
    case 'unavailable':
      return `unavailable:${outcome.retryAfterSeconds ?? ''}`;
  }
}

async function runFault([where, because, steps, expected, calls]: Fault): Promise<FaultResult> {
  const fake = await new FakeFacilitator({ [where]: steps }).listen();
  const adapter = facilitatorAt(fake.url);
  try {
    const actual = await outcomeOf(adapter, where);
    const arrived = fake.callsOf(where).length;
    return {
      name: `${where} ${because}`,
      expected: `${expected} in ${calls ?? arrived} calls`,
      actual: `${actual} in ${arrived} calls`,
      calls: String(arrived),
      floodedBytes: fake.floodedBytes,
    };
  } finally {
    adapter.stop();
    await fake.close();
  }
}

/** Case 95: nothing was sent. */
async function runUnsent(name: string, url: string, expected: string): Promise<FaultResult[]> {
  const results: FaultResult[] = [];
  for (const where of ['/verify', '/settle'] as const) {
    const adapter = facilitatorAt(url);
    results.push({
      name: `${where} 95 ${name}`,
      expected,
      actual: await outcomeOf(adapter, where),
      calls: '0',
      floodedBytes: 0,
    });
    adapter.stop();
  }
  return results;
}

const closedPort = async (): Promise<number> => {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
};

export async function runFaults(): Promise<FaultResult[]> {
  const [faults, refused, nowhere] = await Promise.all([
    Promise.all(FAULTS.map(runFault)),
    closedPort().then((port) => runUnsent('a refused connection', `http://127.0.0.1:${port}`, 'unavailable:')),
    runUnsent('a name that does not exist', 'http://facilitator.invalid', 'unavailable:'),
  ]);
  return [...faults, ...refused, ...nowhere];
}

if (process.argv[1]?.endsWith('facilitator-faults.ts') === true) {
  process.stdout.write(JSON.stringify(await runFaults()));
  process.exit(0);
}
