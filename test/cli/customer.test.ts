/** What the commands of a customer share: the server's address, a callback by its URL, and words where there is no server. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { callbackOf } from '../../src/cli/callback/callback-client.ts';
import { UsageError } from '../../src/cli/command.ts';
import { noAnswer } from '../../src/cli/exchange.ts';
import { serverOf } from '../../src/cli/server-address.ts';
import { encodeHeader, wallet } from '../support/wallet.ts';
import { run } from './captured-io.ts';

const ID = `cb_${'x'.repeat(24)}`;

describe('the server', () => {
  it.each<[given: string | undefined, env: Record<string, string>, base: string]>([
    [undefined, {}, 'http://127.0.0.1:8402'],
    [undefined, { PAYGRADE_URL: '' }, 'http://127.0.0.1:8402'],
    [undefined, { PAYGRADE_URL: 'https://pay.example/api//' }, 'https://pay.example/api'],
    [undefined, { PAYGRADE_URL: 'http://127.0.0.1:8402 ' }, 'http://127.0.0.1:8402'],
    ['http://other.example/', { PAYGRADE_URL: 'https://pay.example' }, 'http://other.example'],
  ])('of --url %j and %j is %s', (given, env, base) => {
    expect(serverOf(given, env)).toBe(base);
  });

  it('is named by what gave a wrong address', () => {
    expect(() => serverOf('nonsense', {})).toThrow('--url must be an address such as http://127.0.0.1:8402');
    expect(() => serverOf(undefined, { PAYGRADE_URL: 'ftp://x' })).toThrow('PAYGRADE_URL must be an address');
    expect(() => serverOf('http://x/?a=b', {})).toThrow('--url must be an address');
    expect(() => serverOf('http://x/#a', {})).toThrow('--url must be an address');
    expect(() => serverOf('http://user:secret@x', {})).toThrow(/^--url must be an address ((?!secret).)*$/);
  });

  it.each([
    ['ECONNREFUSED', { cause: { code: 'ECONNREFUSED' } }],
    ['ConnectionRefused', { code: 'ConnectionRefused' }],
  ])('that does not listen (%s) is to be started, or named', (_code, failure) => {
    const { message } = noAnswer('http://127.0.0.1:8402/v1/x', Object.assign(new Error('fetch failed'), failure));
    expect(message).toBe(
      'no server listens at http://127.0.0.1:8402: start one with `npm start`, or name its address with --url or PAYGRADE_URL',
    );
  });

  it('that does not answer for another reason is named with it', () => {
    const failure = Object.assign(new Error('fetch failed'), { cause: { code: 'ETIMEDOUT' } });
    expect(noAnswer('https://pay.example/x', failure).message).toBe('no answer from https://pay.example: ETIMEDOUT');
    const blocked = new TypeError('fetch failed', { cause: new Error('bad port') });
    expect(noAnswer('https://pay.example/x', blocked).message).toBe('no answer from https://pay.example: bad port');
  });
});

describe('a credential that no header takes', () => {
  it.each([
    [['callback', 'events', ID], 'READ_TOKEN', 'read token'],
    [['callback', 'wait', ID], 'READ_TOKEN', 'read token'],
    [['retry', 'status', 'rt_1'], 'READ_TOKEN', 'credential'],
    [['retry', 'create', 'https://a.example/'], 'API_KEY', 'API key'],
    [['retry', 'cancel', 'rt_1'], 'API_KEY', 'API key'],
  ])('is named and not repeated: %j', async (words, variable, name) => {
    for (const text of ['svc_secret\nx', 'svc_secret…', 'svc_secret\u0001', '\n']) {
      const { exitCode, stderr } = await run(words, { env: { [variable]: text } });
      expect({ exitCode, stderr: stderr.split('\n', 1)[0] }).toEqual({
        exitCode: 2,
        stderr: `paygrade: the ${name} must be visible ASCII without blanks`,
      });
      expect(stderr).not.toContain('secret');
    }
  });
});

describe('a callback', () => {
  const hook = `https://hooks.example/sub/hooks/${ID}`;
  it.each<[named: string, url: string | undefined, env: Record<string, string>, own: string]>([
    [ID, undefined, {}, `http://127.0.0.1:8402/v1/callbacks/${ID}`],
    [ID, 'https://pay.example/', {}, `https://pay.example/v1/callbacks/${ID}`],
    [hook, undefined, {}, `https://hooks.example/sub/v1/callbacks/${ID}`],
    [`${hook}/?x=1#y`, undefined, {}, `https://hooks.example/sub/v1/callbacks/${ID}`],
    [hook, undefined, { PAYGRADE_URL: 'https://pay.example' }, `https://pay.example/v1/callbacks/${ID}`],
    [
      hook,
      'https://other.example',
      { PAYGRADE_URL: 'https://pay.example' },
      `https://other.example/v1/callbacks/${ID}`,
    ],
    ['../../health', undefined, {}, 'http://127.0.0.1:8402/v1/callbacks/..%2F..%2Fhealth'],
  ])('%s with --url %j and %j is at %s', (named, url, env, own) => {
    expect(callbackOf(named, url, env)).toMatchObject({ own });
  });

  it.each(['https://pay.example/', `https://pay.example/v1/callbacks/${ID}`, 'http://', 'https://pay.example/hooks/'])(
    'is not %s',
    (named) => {
      expect(() => callbackOf(named, undefined, {})).toThrow(UsageError);
    },
  );
});

describe('a purchase', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });
  const answerBy = (...answers: Response[]): void => void vi.stubGlobal('fetch', async () => answers.shift());
  const refusal = (status: number, code: string, message = 'no'): Response =>
    Response.json({ error: { code, message, request_id: 'req_1' } }, { status });
  const OFFER = encodeHeader({
    x402Version: 2,
    resource: { url: 'https://pay.example/', description: '', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:84532',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        amount: '1000',
        payTo: wallet().address,
        maxTimeoutSeconds: 60,
        extra: { name: 'USDC', version: '2' },
      },
    ],
  });
  const offered = (): Response => new Response('{}', { status: 402, headers: { 'payment-required': OFFER } });
  const HINT = 'set PRIVATE_KEY to the key of a wallet with USDC';

  it.each([
    ['callback new', ['callback', 'new'], {}, true],
    ['retry create', ['retry', 'create', 'https://a.example/'], {}, true],
    ['retry create with a key', ['retry', 'create', 'https://a.example/'], { API_KEY: 'key' }, false],
    ['resolve', ['resolve', 'https://a.example/'], {}, true],
  ])(
    'by %s that is refused with 402 names PRIVATE_KEY where a throwaway wallet was to pay',
    async (_, words, env, isHinted) => {
      answerBy(...(isHinted ? [offered()] : []), refusal(402, 'NOT_PAID', 'no.'));
      const { exitCode, stderr } = await run(words, { env });
      const line = isHinted ? '402 NOT_PAID: no; a throwaway' : '402 NOT_PAID: no';
      expect([exitCode, stderr.includes(line), stderr.includes(HINT)]).toEqual([1, true, isHinted]);
    },
  );

  it.each([
    ['callback new', ['callback', 'new'], 201],
    ['callback events', ['callback', 'events', ID, '--token', 'x'], 200],
    ['callback verify', ['callback', 'verify', ID, 'evt_1', '--token', 'x', '--sender', 'github'], 200],
    ['callback wait', ['callback', 'wait', ID, '--token', 'x'], 200],
    ['retry create', ['retry', 'create', 'https://a.example/', '--json'], 201],
    ['retry status', ['retry', 'status', 'rt_1', '--token', 'x', '--json'], 200],
    ['retry wait', ['retry', 'wait', 'rt_1', '--token', 'x'], 200],
    ['resolve', ['resolve', 'https://a.example/', '--json'], 200],
  ])('by %s of another kind of server says so in one line', async (_, words, status) => {
    for (const text of ['<html>', '{"status":"ok"}']) {
      const answer = () => new Response(text, { status });
      answerBy(answer(), answer());
      const { exitCode, stdout, stderr } = await run(words, { env: { WEBHOOK_SECRET: 'x' } });
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toContain(
        `paygrade: the server answered ${status}, but not as paygrade does; check its address: ${text}\n`,
      );
    }
  });

  it('of a resolve that takes longer shows its read token at once, and goes on when the server was away', async () => {
    const pending = {
      id: 'rs_1',
      status: 'pending',
      read_token: 'rt-of-it',
      expires_at: '',
      result: null,
      failure: null,
    };
    const failed = { ...pending, status: 'failed', failure: { code: 'TARGET_TIMEOUT', message: 'no answer' } };
    answerBy(Response.json(pending, { status: 202 }), refusal(503, 'STATE_UNAVAILABLE'), Response.json(failed));
    const { exitCode, stderr } = await run(['resolve', 'https://a.example/']);
    expect([exitCode, stderr.split('\n')]).toEqual([
      1,
      [
        expect.stringContaining('paying from 0x'),
        'rs_1 is under way; its read token is rt-of-it',
        '503 STATE_UNAVAILABLE: no; trying again for a minute',
        'TARGET_TIMEOUT: no answer',
        '',
      ],
    ]);
  });
});
