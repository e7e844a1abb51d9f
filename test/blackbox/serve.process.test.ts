/** The process around the server (decisions §2; cases 112, 113, 250, 251, 257, 264, 265, 271, 278): start, signals, log, CORS, rate. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, answerOf, expectError, expectOffer, expectPaid } from '../support/answers.ts';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { startJobsServer } from '../support/jobs-server.ts';
import { binaryOf, type Ended, MAIN, RUNTIMES, type Runtime, startProcess, startServer } from '../support/server.ts';
import { altered, encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';
import { FACILITATOR_TOKEN, openFacilitated, settled } from './facilitated-server.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let folder: string;
let goodFile: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-process-'));
  goodFile = join(folder, 'good.snap');
  await buildSnapshot(goodFile, [jobLine()]);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** `serve` that is expected to end by itself. */
function serveToEnd(
  runtime: Runtime,
  variables: Record<string, string>,
  flags: readonly string[] = [],
): Promise<Ended> {
  const settings = { PORT: '0', STATE_DIR: ':memory:', ...variables };
  const { child, ended } = startProcess(binaryOf(runtime), [MAIN, 'serve', ...flags], settings);
  child.stdout.on('data', (text: string) => {
    if (text.includes('listening on')) child.kill('SIGKILL');
  });
  return ended;
}

type BadStart = readonly [what: string, variables: Record<string, string>, flags: readonly string[], named: string];
const variable = (name: string, ...values: string[]): BadStart[] =>
  values.map((value) => [`${name}=${value}`, { [name]: value }, [], name]);
const flags = (named: string, ...words: string[]): BadStart => [words.join(' '), {}, words, named];

const BAD_STARTS: readonly BadStart[] = [
  ...variable('HOST', ' '),
  ...variable('PORT', '65536', 'http'),
  ...variable('BASE_URL', 'shop.example', 'ftp://shop.example'),
  ...variable('HOOK_BASE_URL', 'https://hooks.example/?a=1'),
  ...variable('SNAPSHOT', ''),
  ...variable('STATE_DIR', ''),
  ...variable('PAY_TO', '0x1234', '0x209693bc6afc0C5328bA36FaF03C514EF312287C'),
  ...variable('SETTLEMENT', 'Local'),
  ...variable('FACILITATOR_URL', 'facilitator'),
  ...variable('FACILITATOR_TOKEN', ' '),
  ...variable('LOCAL_BALANCE', '-1'),
  ...variable('RATE_LIMIT_PER_MINUTE', '1.5'),
  ...variable('TRUST_PROXY', 'yes'),
  ...variable('CALLBACK_BYTES', '-1'),
  ...variable('CORS_ORIGIN', 'https://app.example/'),
  ...variable('LOG_LEVEL', 'loud'),
  ['SETTLEMENT=facilitator without FACILITATOR_URL', { SETTLEMENT: 'facilitator' }, [], 'FACILITATOR_URL'],
  [
    'SETTLEMENT=facilitator without PAY_TO',
    { SETTLEMENT: 'facilitator', FACILITATOR_URL: 'http://127.0.0.1:9' },
    [],
    'PAY_TO',
  ],
  flags('PORT', '--port', '70000'),
  flags('--prot', '--prot', '1'),
  flags('--port', '--port'),
  flags('--port', '--port=1', '--port=2'),
  flags('extra', 'extra'),
  flags('-p', '-p', '1'),
];

/** Bun reads them all, Node (slow to start) the two that take different ways. */
const DAMAGES: readonly (readonly [what: string, damage: (good: Uint8Array) => Uint8Array | undefined])[] = [
  ['is missing', () => undefined],
  ['is empty', () => new Uint8Array(0)],
  ['is cut in half', (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1)],
  ['lacks its last byte', (bytes: Uint8Array) => bytes.subarray(0, -1)],
  ['has a byte more', (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from([0])])],
  [
    'has one bit flipped in the middle',
    (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 1 : byte)),
  ],
  ['is something else', () => Buffer.from('{"id":"1"}\n')],
];

describe('a start that is refused', () => {
  // What is checked is ours and not the runtime's, and Node takes a second to start: it runs every sixth row, Bun the rest.
  it.each(BAD_STARTS.map((row, index) => [row[0], RUNTIMES[index % 6 === 1 ? 0 : 1], row] as const))(
    'case 112, 271: %s is exit code 2 and one line (%s)',
    async (_, runtime, [, variables, words, named]) => {
      const { exitCode, stdout, stderr } = await serveToEnd(runtime, variables, words);
      expect(stderr).toMatch(/^paygrade: [^\n]+\n$/);
      expect(stderr).toContain(named);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    },
  );

  it('a flag wins over its variable', async () => {
    const { exitCode, stderr } = await serveToEnd('bun', { LOG_LEVEL: 'info' }, ['--log-level', 'loud']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('loud');
  });

  describe.each(RUNTIMES)('under %s', (runtime) => {
    it.each(DAMAGES.filter(([what]) => runtime === 'bun' || /missing|flipped/.test(what)))(
      'case 250, 251: a catalogue file that %s is exit code 1 and one line',
      async (what, damage) => {
        const file = join(folder, `${runtime}-${what.replaceAll(' ', '-')}.snap`);
        const bytes = damage(readFileSync(goodFile));
        if (bytes !== undefined) writeFileSync(file, bytes);
        const { exitCode, stdout, stderr } = await serveToEnd(runtime, { SNAPSHOT: file });
        expect(stderr).toMatch(/^paygrade: [^\n]+\n$/);
        expect(stderr).toContain(file);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      },
    );

    it('case 260: a folder for a catalogue is exit code 1 and one line', async () => {
      const { exitCode, stderr } = await serveToEnd(runtime, { SNAPSHOT: folder });
      expect(stderr).toMatch(/^paygrade: [^\n]+\n$/);
      expect(exitCode).toBe(1);
    });

    it('case 271: a port in use is exit code 1 and one line', async () => {
      const other = createServer();
      const port = await new Promise<number>((resolve) =>
        other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
      );
      const { exitCode, stdout, stderr } = await serveToEnd(runtime, { PORT: String(port) });
      expect(stderr).toMatch(/^paygrade: [^\n]*port is in use\n$/);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      await new Promise((resolve) => other.close(resolve));
    });
  });
});

describe.each(RUNTIMES)('signals, under %s', (runtime) => {
  it('prints one listening line with the real port, and SIGTERM is exit code 0', async () => {
    const server = await startServer(runtime, { LOG_LEVEL: 'silent' });
    await fetch(`${server.url}/health`).then((response) => response.text());
    expect(server.stdout()).toBe(`listening on http://127.0.0.1:${server.port}\n`);
    expect(await server.stop()).toBe(0);
  });

  it('case 264: SIGTERM answers what is under way, takes nothing new, and is exit code 0', async () => {
    const account = wallet();
    const shop = await openFacilitated(runtime, wallet().address);
    const payment = await shop.payment(account);
    shop.plan(payment, '/settle', async (call) => {
      shop.jobs.server.child.kill('SIGTERM');
      await pause(400);
      return settled(call);
    });
    const answer = await shop.jobs.pay(shop.jobs.search, payment);
    expectPaid(answer, account.address);
    // The client keeps its connection alive; the server does not wait for it.
    const answeredMs = performance.now();
    expect(await shop.jobs.server.exited).toBe(0);
    expect(performance.now() - answeredMs).toBeLessThan(3000);
    await expect(fetch(shop.jobs.url('/health'))).rejects.toThrow();
    await shop.facilitator.close();
  });

  it('case 265: a second SIGTERM ends at once', async () => {
    const shop = await openFacilitated(runtime, wallet().address);
    const payment = await shop.payment(wallet());
    shop.plan(payment, '/settle', 'hang');
    const waiting = shop.jobs.pay(shop.jobs.search, payment).catch(() => undefined);
    while (shop.callsOf(payment, '/settle').length === 0) await pause(20);
    const { child, exited } = shop.jobs.server;
    const startMs = performance.now();
    child.kill('SIGTERM');
    await pause(200);
    child.kill('SIGTERM');
    await exited;
    expect(performance.now() - startMs).toBeLessThan(2000);
    await waiting;
    await shop.facilitator.close();
  });

  it('case 257: SIGHUP takes a new catalogue under load, and no answer mixes two', async () => {
    const file = join(folder, `reload-${runtime}.snap`);
    const [oldTime, newTime] = ['2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z'];
    await buildSnapshot(file, [jobLine({ id: 'old', last_observed_at: oldTime })]);
    const jobs = await startJobsServer(runtime, { SNAPSHOT: file });
    const account = wallet();
    const offer = await offerOf(jobs.url(jobs.search));
    const payments = await Promise.all(Array.from({ length: 120 }, () => paymentFor(offer, account)));
    const seen: string[] = [];
    let sent = 0;
    const buyAll = async (): Promise<void> => {
      for (let payment = payments[sent++]; payment !== undefined; payment = payments[sent++]) {
        const answer = await jobs.pay(jobs.search, payment);
        expectPaid(answer, account.address);
        const { data, meta } = JSON.parse(answer.text);
        seen.push(`${data.jobs[0].id} ${meta.freshness.last_observed_at}`);
      }
    };
    const buyers = [buyAll(), buyAll(), buyAll()];
    await buildSnapshot(file, [jobLine({ id: 'new', last_observed_at: newTime })]);
    jobs.server.child.kill('SIGHUP');
    await Promise.all(buyers);
    while (!jobs.server.stderr().includes('taken anew')) await pause(20);
    const after = JSON.parse((await jobs.pay(jobs.search, await jobs.payment(jobs.search, account))).text);
    expect(after.data.jobs[0].id).toBe('new');
    for (const one of seen) expect([`old ${oldTime}`, `new ${newTime}`]).toContain(one);
    expect(seen.length).toBe(payments.length);
    expect(await jobs.server.stop()).toBe(0);
  });

  it('case 251, 257: SIGHUP with a bad or missing file changes nothing and says so in one line', async () => {
    const file = join(folder, `bad-reload-${runtime}.snap`);
    await buildSnapshot(file, [jobLine({ id: 'kept' })]);
    const jobs = await startJobsServer(runtime, { SNAPSHOT: file });
    const account = wallet();
    const firstId = async (): Promise<string> =>
      JSON.parse((await jobs.pay(jobs.search, await jobs.payment(jobs.search, account))).text).data.jobs[0].id;
    const told = (): string[] =>
      jobs.server
        .stderr()
        .split('\n')
        .filter((line) => line.includes('not taken anew'));
    const damages: (() => void)[] = [
      () => {
        const damaged = `${file}.new`;
        writeFileSync(damaged, readFileSync(file).subarray(0, 100));
        rmSync(file);
        writeFileSync(file, readFileSync(damaged));
      },
      () => rmSync(file),
    ];
    for (const [index, damage] of damages.entries()) {
      damage();
      jobs.server.child.kill('SIGHUP');
      for (let i = 0; told().length <= index && i < 100; i++) await pause(20);
      expect(told().length).toBe(index + 1);
      expect(await firstId()).toBe('kept');
    }
    await buildSnapshot(file, [jobLine({ id: 'mended' })]);
    jobs.server.child.kill('SIGHUP');
    for (let i = 0; (await firstId()) !== 'mended' && i < 50; i++) await pause(20);
    expect(await firstId()).toBe('mended');
    expect(await jobs.server.stop()).toBe(0);
  });

  it('the recipient of the play ledger is kept over a restart', async () => {
    const stateDir = mkdtempSync(join(folder, 'state-'));
    const recipients: (string | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      const jobs = await startJobsServer(runtime, { STATE_DIR: stateDir, SNAPSHOT: goodFile, LOCAL_BALANCE: '50000' });
      recipients.push((await offerOf(jobs.url(jobs.search))).accepts[0]?.payTo);
      expect(await jobs.server.stop()).toBe(0);
    }
    expect(recipients[0]).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(recipients[1]).toBe(recipients[0]);
  });
});

describe.each(RUNTIMES)('the log, under %s', (runtime) => {
  it('case 113: is one JSON line a request, with its id, and holds no secret', async () => {
    const account = wallet();
    const shop = await openFacilitated(runtime, wallet().address, { LOG_LEVEL: 'debug' });
    const { jobs } = shop;
    const good = await shop.payment(account);
    const lost = await shop.payment(account);
    shop.plan(lost, '/settle', 'reset', settled);
    const denied = await shop.payment(account);
    shop.plan(denied, '/verify', { status: 401, body: { error: 'detail-canary' } });
    const forged = altered(good, { signature: lost.payload.signature });
    const answers: Answer[] = [];
    for (const payment of [forged, good, good, lost, denied, 'not-base64-canary!', { canary: 'json-canary' }]) {
      answers.push(await jobs.pay('/v1/jobs/search?keyword=query-canary', payment));
    }
    answers.push(await jobs.get('/v1/jobs/search?limit=bad-canary'));
    answers.push(
      await jobs.get('/v1/jobs/search', { 'X-PAYMENT': 'v1-canary', Authorization: 'Bearer bearer-canary' }),
    );
    answers.push(await jobs.get('/nothing', { Cookie: 'cookie-canary' }));
    expect(answers.map(({ status }) => status)).toEqual([402, 200, 409, 503, 503, 402, 402, 400, 402, 404]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    const lines = (): string[] =>
      jobs.server
        .stdout()
        .split('\n')
        .slice(1)
        .filter((line) => line !== '');
    for (let i = 0; !lines().some((line) => line.includes(ids.at(-1) ?? '')) && i < 100; i++) await pause(20);
    const records = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const [i, id] of ids.entries()) {
      const [record, ...more] = records.filter((one) => one.request_id === id && 'status' in one);
      expect(more).toEqual([]);
      expect(record).toMatchObject({ method: 'GET', status: answers[i]!.status, client: '127.0.0.1' });
      expect(record?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(record?.duration_ms).toBeGreaterThanOrEqual(0);
      expect(record?.path).not.toContain('?');
      if (answers[i]!.status !== 200) expect(record?.code).toBe(JSON.parse(answers[i]!.text).error.code);
    }
    await pause(50);
    const everything = jobs.server.stdout() + jobs.server.stderr();
    const secrets = [good, lost, denied].flatMap((payment) => [
      encodeHeader(payment).slice(0, 200),
      payment.payload.signature,
      payment.payload.signature.slice(2, 66),
    ]);
    for (const secret of [...secrets, FACILITATOR_TOKEN, 'canary']) expect(everything).not.toContain(secret);
    await shop.close();
  });

  it('LOG_LEVEL=error leaves out what went well', async () => {
    const server = await startServer(runtime, { LOG_LEVEL: 'error', SNAPSHOT: goodFile });
    await fetch(`${server.url}/health`).then((response) => response.text());
    await fetch(`${server.url}/nothing`).then((response) => response.text());
    expect(await server.stop()).toBe(0);
    expect(server.stdout()).toBe(`listening on http://127.0.0.1:${server.port}\n`);
  });
});

describe.each(RUNTIMES)('browsers, under %s', (runtime) => {
  const CORS_NAMES = ['access-control-allow-origin', 'access-control-expose-headers', 'access-control-allow-methods'];

  it.each(['*', 'https://app.example'])(
    'case 278: CORS_ORIGIN=%s is on every answer, and preflights are 204',
    async (origin) => {
      const jobs = await startJobsServer(runtime, { CORS_ORIGIN: origin, RATE_LIMIT_PER_MINUTE: '6' });
      const account = wallet();
      const payment = await jobs.payment(jobs.search, account);
      const answers = [
        await jobs.get('/health'),
        await jobs.get('/nothing'),
        await jobs.get('/v1/jobs/search?limit=0'),
        await jobs.get(jobs.search),
        await jobs.pay(jobs.search, payment),
        await jobs.pay(jobs.search, payment),
        await answerOf(await fetch(jobs.url(jobs.search), { method: 'POST' })),
      ];
      while (answers.at(-1)?.status !== 429) answers.push(await jobs.get(jobs.search));
      expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 400, 402, 404, 405, 409, 429]);
      for (const { headers } of answers) {
        expect(headers.get('access-control-allow-origin')).toBe(origin);
        const exposed = (headers.get('access-control-expose-headers') ?? '').toUpperCase().split(', ');
        for (const name of ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'RETRY-AFTER']) expect(exposed).toContain(name);
        expect(headers.get('access-control-allow-credentials')).toBeNull();
      }
      for (const path of ['/v1/jobs/search', '/v1/jobs/company', '/health']) {
        const preflight = await fetch(jobs.url(path), {
          method: 'OPTIONS',
          headers: {
            Origin: 'https://app.example',
            'Access-Control-Request-Method': 'GET',
            'Access-Control-Request-Headers': 'payment-signature, access-control-expose-headers',
          },
        });
        expect(preflight.status).toBe(204);
        expect(await preflight.text()).toBe('');
        expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
        expect(preflight.headers.get('access-control-allow-methods')).toContain('GET');
        const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
        for (const name of ['payment-signature', 'content-type', 'access-control-expose-headers']) {
          expect(allowed).toContain(name);
        }
      }
      expect(await jobs.server.stop()).toBe(0);
    },
  );

  it('case 278: without CORS_ORIGIN no answer carries any of it, and OPTIONS is 405', async () => {
    const jobs = await startJobsServer(runtime);
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' };
    const options = await answerOf(await fetch(jobs.url('/v1/jobs/search'), { method: 'OPTIONS', headers }));
    expectError(options, 405, 'METHOD_NOT_ALLOWED');
    const paid = await jobs.pay(jobs.search, await jobs.payment(jobs.search, wallet()));
    for (const answer of [options, paid, await jobs.get(jobs.search, headers), await jobs.get('/nothing', headers)]) {
      for (const name of CORS_NAMES) expect(answer.headers.get(name)).toBeNull();
    }
    expect(await jobs.server.stop()).toBe(0);
  });
});

describe.each(RUNTIMES)('the usage rate, under %s', (runtime) => {
  const from = (address: string) => ({ 'X-Forwarded-For': address });

  it('counts requests that passed validation, over all jobs routes, and says when to come back', async () => {
    const jobs = await startJobsServer(runtime, {
      RATE_LIMIT_PER_MINUTE: '4',
      SNAPSHOT: goodFile,
      LOCAL_BALANCE: '50000',
    });
    for (let i = 0; i < 6; i++) {
      expectError(await jobs.get('/v1/jobs/search?limit=0', from(`198.51.100.${i}`)), 400, 'INVALID_PARAMETER');
      expect((await jobs.get('/health')).status).toBe(200);
    }
    const paths = ['/v1/jobs/search', '/v1/jobs/company?company=a.com', '/v1/jobs/signals', '/v1/jobs/search?limit=2'];
    // Another address in X-Forwarded-For is only a claim where no proxy is trusted.
    for (const [i, path] of paths.entries()) {
      expectError(await jobs.get(path, from(`203.0.113.${i}`)), 402, 'PAYMENT_REQUIRED');
    }
    for (const path of paths) {
      const answer = await jobs.get(path, from('203.0.113.99'));
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(answer.headers.get('payment-required')).toBeNull();
    }
    // Validation comes first, and free routes have no rate.
    expectError(await jobs.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
    expect((await jobs.get('/health')).status).toBe(200);
    expect(await jobs.server.stop()).toBe(0);
  });

  it('TRUST_PROXY=true counts by the address that the proxy wrote', async () => {
    const jobs = await startJobsServer(runtime, {
      RATE_LIMIT_PER_MINUTE: '2',
      TRUST_PROXY: 'true',
      SNAPSHOT: goodFile,
      LOCAL_BALANCE: '50000',
    });
    for (let i = 0; i < 2; i++) {
      expectError(await jobs.get(jobs.search, from(`192.0.2.${i}, 198.51.100.7`)), 402, 'PAYMENT_REQUIRED');
    }
    expectError(await jobs.get(jobs.search, from('192.0.2.50, 198.51.100.7')), 429, 'RATE_LIMIT_EXCEEDED');
    expectError(await jobs.get(jobs.search, from('198.51.100.8')), 402, 'PAYMENT_REQUIRED');
    expectError(await jobs.get(jobs.search), 402, 'PAYMENT_REQUIRED');
    expect(await jobs.server.stop()).toBe(0);
  });
});

describe.each(RUNTIMES)('addresses, under %s', (runtime) => {
  it('BASE_URL with a path prefix is the one in every offer, whatever Host says', async () => {
    const jobs = await startJobsServer(runtime, {
      BASE_URL: 'https://shop.example/x402/',
      SNAPSHOT: goodFile,
      LOCAL_BALANCE: '50000',
    });
    const offer = expectOffer(await jobs.get('/v1/jobs/search?limit=3'));
    expect(offer.resource.url).toBe('https://shop.example/x402/v1/jobs/search?limit=3');
    const account = wallet();
    expectPaid(await jobs.pay('/v1/jobs/search?limit=3', await paymentFor(offer, account)), account.address);
    expect(await jobs.server.stop()).toBe(0);
  });
});
