/** `demo` against the app in this process: what it pays, from which wallet, and what it never pays. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OpenedApp, openedApp } from '../../support/opened-app.ts';
import { decodeHeader, encodeHeader, generatedKey, type PaymentRequired } from '../../support/wallet.ts';
import { run } from '../captured-io.ts';

const URL_OF_SERVER = 'http://paygrade.test';
const KEY = generatedKey();

let opened: OpenedApp;
/** Of the offers that the server makes; with the words of play money or without them. */
let isPlay = true;
/** Prices in micro USDC that the server was paid. */
let paid: string[] = [];
/** Changes the amount of an offer on its way. */
let amountOf = (amount: string): string => amount;
/** A receipt in place of the server's own. */
let receipt: string | undefined;
/** Answers that the server gives before all others. */
let overloaded: Response[] = [];

beforeAll(async () => {
  opened = await openedApp();
});
afterAll(() => opened.close());
beforeEach(() => {
  [isPlay, paid, amountOf, receipt, overloaded] = [true, [], (amount) => amount, undefined, []];
  vi.stubGlobal('fetch', async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    const busy = overloaded.shift();
    if (busy !== undefined) return busy;
    const answer = await opened.app.fetch(request);
    const payment = request.headers.get('payment-signature');
    if (payment !== null && answer.status === 200) {
      const { accepted } = decodeHeader<{ accepted: { amount: string } }>(payment);
      paid.push(accepted.amount);
      if (receipt !== undefined) answer.headers.set('payment-response', receipt);
    }
    const offered = answer.headers.get('payment-required');
    if (offered === null) return answer;
    const offer = decodeHeader<PaymentRequired>(offered);
    const words = offer.resource.description.replace(/^\[play money\] ?/, '');
    const description = isPlay ? `[play money] ${words}` : words;
    const accepts = offer.accepts.map((one) => ({ ...one, amount: amountOf(one.amount) }));
    const headers = new Headers(answer.headers);
    headers.set('payment-required', encodeHeader({ ...offer, accepts, resource: { ...offer.resource, description } }));
    return new Response(answer.body, { status: answer.status, headers });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const demo = (words: readonly string[] = [], env: Record<string, string> = {}) =>
  run(['demo', '--role', 'engineer', ...words], { env: { PAYGRADE_URL: URL_OF_SERVER, ...env } });

describe('demo', () => {
  it('pays play money from a throwaway wallet, also where PRIVATE_KEY is set, and shows ten lines an answer', async () => {
    const { exitCode, stdout, stderr } = await demo([], { PRIVATE_KEY: KEY });
    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^throwaway wallet: 0x/);
    expect(stderr).not.toContain('wallet of PRIVATE_KEY');
    expect(paid.length).toBeGreaterThanOrEqual(3);
    const answers = stderr.split('\nGET ').slice(1);
    expect(answers).toHaveLength(paid.length);
    for (const answer of answers) {
      expect(answer).toMatch(/\n {2}402 {2}0\.\d\d USDC of play money on eip155:8453 to 0x/);
      expect(answer).toMatch(/\n {2}200 {2}paid, transaction 0x/);
      expect(answer.trimEnd().split('\n').length).toBeLessThanOrEqual(13);
    }
  });

  it('finds the companies that the README shows', async () => {
    const sample = await openedApp({ SNAPSHOT: 'sample' });
    vi.stubGlobal('fetch', (input: RequestInfo | URL, init?: RequestInit) =>
      sample.app.fetch(new Request(input, init)),
    );
    const { stderr } = await run(['demo'], { env: { PAYGRADE_URL: URL_OF_SERVER } });
    await sample.close();
    const shown = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8').match(/^ {9}.+(?=, …$)/gm) ?? [];
    expect(shown).toHaveLength(3);
    for (const company of shown) expect(stderr).toContain(company);
  });

  const busy = (headers: Record<string, string>): Response =>
    new Response('{"error":{"code":"OVERLOADED"}}', { status: 503, headers });

  it('asks a server that refuses for a moment again when it says so, twice, and shows why', async () => {
    const away = new Response('{"error":{"code":"SETTLEMENT_UNAVAILABLE"}}', {
      status: 503,
      headers: { 'retry-after': '0' },
    });
    overloaded = [busy({ 'retry-after': '0' }), away];
    const { exitCode, stderr } = await demo();
    expect([exitCode, overloaded]).toEqual([0, []]);
    expect(stderr.match(/says \w+ and asks to come again in 0 s/g)).toEqual([
      'says OVERLOADED and asks to come again in 0 s',
      'says SETTLEMENT_UNAVAILABLE and asks to come again in 0 s',
    ]);
  });

  it.each<readonly [string, Response[]]>([
    ['a third time', Array.from({ length: 3 }, () => busy({ 'retry-after': '0' }))],
    ['without saying when to come again', [busy({})]],
    ['for longer than ten seconds', [busy({ 'retry-after': '11' })]],
  ])('gives up on a server that is overloaded %s', async (_, answers) => {
    overloaded = answers;
    const { exitCode, stderr } = await demo();
    expect([exitCode, overloaded]).toEqual([1, []]);
    expect(stderr).toContain('expected an offer (402) from /v1/jobs/signals');
  });

  it.each([
    ['no JSON', 'none'],
    ['no object', encodeHeader(5)],
    ['without a transaction', encodeHeader({ success: true })],
  ])('shows what it bought with a receipt that is %s', async (_, sent) => {
    receipt = sent;
    const { exitCode, stderr } = await demo();
    expect(exitCode).toBe(0);
    const answers = stderr.split('\nGET ').slice(1);
    expect(answers).toHaveLength(paid.length);
    for (const answer of answers) {
      expect(answer).toMatch(/\n {2}200 {2}with a receipt that is unreadable\n {5}/);
      expect(answer).not.toContain('not paid');
    }
  });

  it.each([
    ['no object', 5, 'the server sent an offer that is not base64 of a JSON object'],
    ['without entries', {}, 'the offer names no amount'],
    ['of play money without entries', { resource: { description: '[play money]' } }, 'the offer names no amount'],
    ['with an empty entry', { resource: { description: 5 }, accepts: [null] }, 'the offer names no amount'],
  ])('says in one line that an offer is %s', async (_, offer, line) => {
    overloaded = [new Response('{}', { status: 402, headers: { 'payment-required': encodeHeader(offer) } })];
    expect(await demo()).toEqual({ exitCode: 1, stdout: '', stderr: `paygrade: ${line}\n` });
  });

  it('buys no callback from a server that has no Retry API', async () => {
    const { app, close } = await openedApp({ SURFACES: 'jobs,callbacks' });
    const asked: string[] = [];
    vi.stubGlobal('fetch', (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      asked.push(new URL(request.url).pathname);
      return app.fetch(request);
    });
    const { exitCode, stderr } = await run(['demo', '--retry'], { env: { PAYGRADE_URL: URL_OF_SERVER } });
    await close();
    expect([exitCode, asked]).toEqual([1, ['/retry/health']]);
    expect(stderr).toBe(`paygrade: ${URL_OF_SERVER} has no Retry API (404); nothing was bought\n`);
  });

  it('takes no role for a retry, which asks about none', async () => {
    const { exitCode, stderr } = await demo(['--retry']);
    expect([exitCode, stderr]).toEqual([2, 'paygrade: --role does not go with --retry\n']);
  });

  it('says in one line that an answer broke off', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });
    overloaded = [new Response(body, { status: 200 })];
    const { exitCode, stderr } = await demo();
    expect([exitCode, stderr]).toEqual([1, `paygrade: no answer from ${URL_OF_SERVER}: terminated\n`]);
  });

  it('prints all of it with --json', async () => {
    const { stdout } = await demo(['--json']);
    const { wallet, purchases } = JSON.parse(stdout) as {
      wallet: string;
      purchases: { status: number; receipt: { payer: string }; body: { meta: object } }[];
    };
    for (const { status, receipt, body } of purchases) {
      expect(status).toBe(200);
      expect(receipt.payer.toLowerCase()).toBe(wallet.toLowerCase());
      expect(body.meta).toHaveProperty('coverage');
    }
  });

  const refused: readonly [
    because: string,
    words: string[],
    env: Record<string, string>,
    exitCode: number,
    said: RegExp,
  ][] = [
    [
      '--spend is missing',
      [],
      { PRIVATE_KEY: KEY },
      2,
      /wants 0\.\d+ USDC of real money for \S+: --spend USDC with PRIVATE_KEY pays/,
    ],
    ['PRIVATE_KEY is missing', ['--spend', '1'], {}, 2, /--spend needs PRIVATE_KEY/],
    [
      'it costs more',
      ['--spend', '0.01'],
      { PRIVATE_KEY: KEY },
      1,
      /costs 0\.\d+ USDC, and 0\.01 USDC of --spend are left/,
    ],
    ['--spend is nothing', ['--spend', '0'], { PRIVATE_KEY: KEY }, 2, /--spend must be an amount of USDC above 0/],
  ];
  it.each(refused)('pays no real money when %s', async (_because, words, env, exitCode, said) => {
    isPlay = false;
    const ran = await demo(words, env);
    expect([ran.exitCode, ran.stdout]).toEqual([exitCode, '']);
    expect(ran.stderr).toMatch(said);
    expect(paid).toEqual([]);
  });

  it('pays real money within --spend, and stops where it is used up', async () => {
    isPlay = false;
    const { exitCode, stderr } = await demo(['--spend', '0.10'], { PRIVATE_KEY: KEY });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^wallet of PRIVATE_KEY: 0x/);
    expect(stderr).toMatch(/ of --spend are left\n$/);
    const total = paid.reduce((sum, amount) => sum + BigInt(amount), 0n);
    expect(total).toBeGreaterThan(0n);
    expect(total).toBeLessThanOrEqual(100_000n);
  });

  it('pays play money above the 1 USDC that the official client refuses to pass', async () => {
    const usual = opened;
    opened = await openedApp({ PRICES: 'search=1.5' });
    const { exitCode } = await demo();
    await opened.close();
    opened = usual;
    expect([exitCode, paid.includes('1500000')]).toEqual([0, true]);
  });

  it('signs no offer that became dearer between the question and the payment', async () => {
    isPlay = false;
    let offers = 0;
    amountOf = (amount) => (++offers === 2 ? '900000' : amount);
    const { exitCode } = await demo(['--spend', '0.50'], { PRIVATE_KEY: KEY });
    expect(exitCode).toBe(1);
    expect(paid).toEqual([]);
  });
});
