/**
 * Invariant I15 of the reliability catalogue: Node and Bun give the same bytes. Two servers over the same catalogue, the same
 * recipient and the same public address get the same requests, payments included; what is compared is status, every header
 * that we set, and the body, after masking the request id and the time of the answer.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answers.ts';
import { BAD_INPUTS, GOOD_INPUTS } from '../support/jobs-inputs.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import { exchange, requestText } from '../support/raw-socket.ts';
import { runToEnd } from '../support/server.ts';
import { altered, encodeHeader, offerOf, type Payment, paymentFor, wallet } from '../support/wallet.ts';

/** Headers that the server itself sets; the rest (date, connection, lengths) are the runtime's. */
const OUR_HEADERS = [
  'content-type',
  'cache-control',
  'x-request-id',
  'payment-required',
  'payment-response',
  'allow',
  'retry-after',
  'etag',
  'vary',
  'x-content-type-options',
  'content-security-policy',
  'access-control-allow-origin',
];

const masked = (text: string): string =>
  text
    .replace(/req_[0-9a-f-]{36}/g, 'req_…')
    .replace(/"generated_at":"[^"]*"/g, '"generated_at":"…"')
    .replace(/("observation_period":\{"start":")[^"]*(","end":")[^"]*/g, '$1…$2…')
    .replace(/"uptime_seconds":\d+/g, '"uptime_seconds":0');

/** Everything of an answer that must be the same. */
function shown(answer: Answer | undefined): unknown {
  if (answer === undefined) return 'no answer';
  const headers: Record<string, string> = {};
  for (const name of OUR_HEADERS) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = masked(value);
  }
  return { status: answer.status, headers, body: masked(answer.text) };
}

const FREE: readonly string[] = [
  '/health',
  '/ready',
  '/openapi.json',
  '/llms.txt',
  '/.well-known/api-catalog',
  '/nothing',
  '/',
  '/v1',
  '/v1/jobs',
  '/v1/jobs/search/',
  '//v1/jobs/search',
  '/v1/%6aobs/search',
  '/v1/jobs%2Fsearch',
  '/V1/jobs/search',
];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const PAID: readonly string[] = [
  '/v1/jobs/search',
  '/v1/jobs/search?keyword=engineer',
  '/v1/jobs/search?keyword=SECURITY%20engineer&limit=2',
  '/v1/jobs/search?location=lisbon',
  '/v1/jobs/search?location=%E6%9D%B1%E4%BA%AC',
  '/v1/jobs/search?remote=true',
  '/v1/jobs/search?remote=false&employment_type=part_time',
  '/v1/jobs/search?company=nordlicht.example',
  '/v1/jobs/search?keyword=nothing-like-it',
  '/v1/jobs/company?company=harborline.example',
  '/v1/jobs/company?company=midorilab.example&period=7d',
  '/v1/jobs/company?company=VANTAGEORCHARD.example',
  '/v1/jobs/company?company=unknown.example',
  '/v1/jobs/signals',
  '/v1/jobs/signals?limit=1',
  '/v1/jobs/signals?role=engineer',
  '/v1/jobs/signals?department=engineering&location=lisbon',
  '/v1/jobs/signals?role=nothing-like-it',
  '/v1/jobs/detail?id=unknown',
  '/v1/jobs/changes',
  '/v1/jobs/changes?company=nordlicht.example&limit=2',
  '/v1/jobs/skills',
  '/v1/jobs/skills?department=engineering&limit=3',
  '/v1/jobs/market',
  '/v1/jobs/market?role=engineer&location=lisbon',
];

const SPOILED: readonly (readonly [what: string, spoil: (payment: Payment) => unknown])[] = [
  ['no JSON', () => 'bm90IGpzb24='],
  ['no base64', () => '*'],
  ['blanks', (payment) => encodeHeader(payment).replace(/^(.{4})/, '$1 ')],
  ['version 1', (payment) => ({ ...payment, x402Version: 1 })],
  ['another scheme', (payment) => altered(payment, { accepted: { scheme: 'upto' } })],
  ['another network', (payment) => altered(payment, { accepted: { network: 'base' } })],
  ['another amount', (payment) => altered(payment, { accepted: { amount: '1' } })],
  ['another value', (payment) => altered(payment, { authorization: { value: '1' } })],
  ['a value in hex', (payment) => altered(payment, { authorization: { value: '0x4e20' } })],
  ['a closed window', (payment) => altered(payment, { authorization: { validBefore: '1' } })],
  ['a short nonce', (payment) => altered(payment, { authorization: { nonce: '0x12' } })],
  ['a short signature', (payment) => altered(payment, { signature: '0x12' })],
  ['a zero signature', (payment) => altered(payment, { signature: `0x${'00'.repeat(65)}` })],
  ['a long signature', (payment) => altered(payment, { signature: `0x${'11'.repeat(97)}` })],
  ['another resource', (payment) => ({ ...payment, resource: { url: 'https://a.example/' } })],
  ['deep nesting', () => Buffer.from('['.repeat(5000)).toString('base64')],
];

describe('the same request to Node and to Bun', () => {
  let folder: string;
  let counters: readonly JobsServer[];
  const account = wallet();
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'paygrade-parity-'));
    const file = join(folder, 'sample.snap');
    const built = runToEnd('node', ['snapshot', 'build', '--out', file, 'data/sample.jsonl']);
    if (built.exitCode !== 0) throw new Error(built.stderr);
    const variables = {
      SNAPSHOT: file,
      PAY_TO: wallet().address,
      BASE_URL: 'https://shop.example',
      HOOK_BASE_URL: 'https://shop.example',
    };
    counters = await Promise.all([startJobsServer('node', variables), startJobsServer('bun', variables)]);
  });
  afterAll(async () => {
    for (const jobs of counters) expect(await jobs.server.stop()).toBe(0);
    rmSync(folder, { recursive: true });
  });

  const both = async (method: string, target: string, headers: readonly string[] = []): Promise<readonly unknown[]> => {
    const bytes = requestText(method, target, ['Host: x', ...headers, 'Connection: close']);
    const ended = await Promise.all(counters.map(({ port }) => exchange(port, bytes, { methods: [method] })));
    return ended.map(({ answers }) => shown(answers[0]));
  };

  const expectSame = ([node, bun]: readonly unknown[]): void => {
    expect(node).not.toBe('no answer');
    expect(bun).toEqual(node);
  };

  it.each(FREE)('GET %s', async (path) => expectSame(await both('GET', path)));

  it.each(
    METHODS.flatMap((method) => ['/v1/jobs/search', '/health', '/nothing'].map((path) => [method, path] as const)),
  )('%s %s', async (method, path) => expectSame(await both(method, path, ['Content-Length: 0'])));

  it.each([...new Set([...BAD_INPUTS.map(([, path]) => path), ...GOOD_INPUTS.map(([, path]) => path)])])(
    'unpaid %s',
    async (path) => expectSame(await both('GET', path)),
  );

  it.each(PAID)('paid %s, and its replay', async (path) => {
    const [jobs] = counters as readonly [JobsServer];
    const header = `PAYMENT-SIGNATURE: ${encodeHeader(await paymentFor(await offerOf(jobs.url(path)), account))}`;
    expectSame(await both('GET', path, [header]));
    expectSame(await both('GET', path, [header]));
  });

  it.each(SPOILED)('a payment with %s', async (_, spoil) => {
    const [jobs] = counters as readonly [JobsServer];
    const spoiled = spoil(await paymentFor(await offerOf(jobs.url('/v1/jobs/search')), account));
    const header = typeof spoiled === 'string' ? spoiled : encodeHeader(spoiled);
    expectSame(await both('GET', '/v1/jobs/search', [`PAYMENT-SIGNATURE: ${header}`]));
  });

  it.each([
    ['X-PAYMENT', ['X-PAYMENT: e30=']],
    ['two payments', ['PAYMENT-SIGNATURE: e30=', 'PAYMENT-SIGNATURE: e30=']],
    ['an empty payment', ['PAYMENT-SIGNATURE: ']],
    ['forwarded headers', ['X-Forwarded-Host: evil.example', 'Forwarded: host=evil.example']],
    ['a browser’s headers', ['Accept: text/html', 'User-Agent: Mozilla/5.0', 'Origin: https://a.example']],
    ['conditions', ['If-None-Match: *', 'If-Modified-Since: Sat, 21 Nov 2026 00:00:00 GMT', 'Range: bytes=0-1']],
    ['an encoding', ['Accept-Encoding: gzip, br']],
  ] as const)('unpaid with %s', async (_, headers) => expectSame(await both('GET', '/v1/jobs/search', headers)));
});
