/** `paygrade load` against servers that stall, fail or lie: what is measured is what a user would have waited. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { LoadResult } from '../../src/load/result.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { loaded, runLoadCommand, startLoad } from './load-support.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function open(handler: Handler): Promise<string> {
  const listening = createServer(handler);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(listening.address() as { port: number }).port}`;
}

const OK = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}');
};

const STALL_START_MS = 250;
const STALL_END_MS = 750;

/** Answers at once, but for half a second from a quarter of a second after the first request: then not before its end. */
function stalling(): { handler: Handler; heldCount: () => number } {
  let startMs: number | undefined;
  let heldCount = 0;
  return {
    heldCount: () => heldCount,
    handler(_, response) {
      startMs ??= performance.now();
      const atMs = performance.now() - startMs;
      if (atMs < STALL_START_MS || atMs > STALL_END_MS) return OK(response);
      heldCount++;
      setTimeout(() => OK(response), STALL_END_MS - atMs + 5); // a timer may be a millisecond early
    },
  };
}

const outcomesOf = (result: LoadResult): Record<string, number> =>
  Object.fromEntries(
    result.operations.flatMap(({ outcomes }) => outcomes.map(({ outcome, count }) => [outcome, count] as const)),
  );

describe('a stall of the server', () => {
  const words = ['--scenario', 'health', '--warmup', '0', '--connections', '1'];

  it('shows in full in an open loop: each request that was due in it has waited for its end', async () => {
    const { handler, heldCount } = stalling();
    const { exitCode, result } = await loaded([await open(handler), ...words, '--rate', '200']);
    expect(exitCode).toBe(0);
    // One connection: the server itself has seen a single slow request. By the plan about half of them were late.
    expect(heldCount()).toBe(1);
    const { latency_us: latency, requests, generator } = result;
    expect(latency?.count).toBe(200);
    expect(requests.expected + requests.unsent).toBe(200);
    expect(latency?.max).toBeGreaterThan(450_000);
    expect(latency?.p99).toBeGreaterThan(430_000);
    expect(latency?.p75).toBeGreaterThan(150_000);
    expect(generator.connections_busy_share).toBeGreaterThan(0.4);
  });

  it('is one slow request in a closed loop, and 19 of 20 know nothing of it', async () => {
    const { handler, heldCount } = stalling();
    const { result } = await loaded([await open(handler), ...words]);
    expect(heldCount()).toBe(1);
    expect(result.latency_us?.max).toBeGreaterThan(400_000);
    expect(result.latency_us?.p95).toBeLessThan(150_000);
    expect(result.requests.expected).toBeGreaterThan(40);
  });
});

describe('a rate', () => {
  it('is kept, and what is due is neither sent twice nor left out', async () => {
    let count = 0;
    const url = await open((_, response) => {
      count++;
      OK(response);
    });
    const { exitCode, result } = await loaded([url, '--scenario', 'health', '--warmup', '1', '--rate', '300']);
    expect(exitCode).toBe(0);
    expect(result.requests).toMatchObject({ expected: 300, unexpected: 0, unsent: 0, in_warmup: 300 });
    expect(count).toBe(1 + 600);
    expect(result).toMatchObject({ loop: 'open', rate: 300, ended: 'in time', warmup_ms: 1000, duration_ms: 1000 });
    const seen = result.timeline.stretches.reduce((sum, stretch) => sum + stretch.expected, 0);
    // Those that a busy machine answers after the last stretch are in none.
    expect(seen).toBeGreaterThan(IS_WHOLE ? 270 : 150);
    expect(result.generator.lag_us?.count).toBe(600);
  });

  it('above what the server gives leaves requests unsent, which count with the time they have waited', async () => {
    const url = await open((_, response) => void setTimeout(() => OK(response), 100));
    const words = [url, '--scenario', 'health', '--warmup', '0', '--rate', '500', '--connections', '2'];
    const { exitCode, result } = await loaded(words);
    expect(exitCode).toBe(0);
    const { expected, unsent } = result.requests;
    expect(expected + unsent).toBe(500);
    expect(expected).toBeLessThanOrEqual(22);
    expect(outcomesOf(result)).toEqual({ 200: expected, UNSENT: unsent });
    expect(result.latency_us?.count).toBe(500);
    expect(result.latency_us?.p50).toBeGreaterThan(350_000);
    expect(result.generator.connections_busy_share).toBeGreaterThan(0.8);
    expect(result.generator.was_the_limit).toBe(false);
  });
});

describe('answers that are not as expected', () => {
  it('are counted by status and code, or by what the connection ran into, and fail the run', async () => {
    let count = 0;
    const url = await open((request, response) => {
      switch (count++ % 4) {
        case 0:
          return OK(response);
        case 1:
          return void response.writeHead(503).end('{"error":{"code":"CATALOGUE_UNAVAILABLE","message":"x"}}');
        case 2:
          return void response.writeHead(500).end('<html>');
        default:
          return void request.socket.destroy();
      }
    });
    const { exitCode, result } = await loaded([url, '--scenario', 'health', '--warmup', '0', '--rate', '80']);
    expect(exitCode).toBe(1);
    const outcomes = outcomesOf(result);
    expect(
      Object.keys(outcomes)
        .filter((outcome) => outcome !== 'ECONNRESET' && outcome !== 'CLOSED')
        .sort(),
    ).toEqual(['200', '500', '503 CATALOGUE_UNAVAILABLE']);
    expect((outcomes.ECONNRESET ?? 0) + (outcomes.CLOSED ?? 0)).toBeGreaterThanOrEqual(19);
    expect(result.requests.unexpected).toBe(80 - (outcomes['200'] ?? 0));
    const tolerant = [url, '--scenario', 'health', '--warmup', '0', '--rate', '80', '--unexpected-max', '80'];
    expect((await loaded(tolerant)).exitCode).toBe(0);
  });

  it('include a 402 without an offer, and fail the run where nothing else came, whatever share is accepted', async () => {
    const url = await open((request, response) => {
      if (request.url === '/health') return OK(response);
      response.writeHead(402).end('{"error":{"code":"PAYMENT_REQUIRED","message":"x"}}');
    });
    const words = [url, '--warmup', '0', '--rate', '20', '--unexpected-max', '100'];
    const { exitCode, result } = await loaded(words);
    expect(exitCode).toBe(1);
    expect(outcomesOf(result)).toEqual({ '402 PAYMENT_REQUIRED NO_OFFER': 20 });
  });

  it('include a timeout', async () => {
    const url = await open((_, response) => {
      isFirst ? OK(response) : undefined;
      isFirst = false;
    });
    let isFirst = true;
    const { exitCode, result } = await loaded([
      ...[url, '--scenario', 'health', '--warmup', '0', '--timeout', '1', '--connections', '2'],
    ]);
    expect(exitCode).toBe(1);
    expect(Object.keys(outcomesOf(result))).toEqual(['TIMEOUT']);
    expect(result.latency_us?.min).toBeGreaterThanOrEqual(1_000_000);
  });

  it('are not looked for on a server that is not there', async () => {
    const url = await open(() => {});
    server?.close();
    expect(await runLoadCommand([url])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `paygrade: no server listens at ${url}: start it, for example with \`npm start\`, or name another address\n`,
    });
  });
});

describe('another’s server', () => {
  it.each([
    ['http://192.0.2.1', 'http://192.0.2.1 is not this machine: --i-own-this-server says that you may load it'],
    ['http://[2001:db8::1]:8402', expect.stringContaining('http://[2001:db8::1]:8402 is not this machine: ')],
    ['http://0.0.0.0:8402', expect.stringContaining('is not this machine')],
    ['localhost:8402', 'URL must be an address such as http://127.0.0.1:8402'],
  ])('%s is refused before anything is sent', async (url, line) => {
    const startMs = performance.now();
    const { exitCode, stdout, stderr } = await runLoadCommand([url]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr.replace(/^paygrade: /, '').trimEnd()).toEqual(line);
    // An answer from there would be waited for as long as --timeout says.
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });

  it.each([
    [['--mix', 'paid=0'], '--mix: each part must be one of '],
    [['--mix', 'paid=1'], '--mix goes with --scenario mixed'],
    [['--waits', '5'], '--waits is for wait requests, and this run sends none'],
    [
      ['--scenario', 'data', '--callbacks', '5'],
      '--callbacks is for webhook and wait requests, and this run sends none',
    ],
    [['--scenario', 'mixed', '--mix', 'unpaid=1', '--signers', '2'], '--signers is for paid requests, and this'],
    [['--scenario', 'webhook', '--signed', '9'], '--signed is for paid requests, and this run sends none'],
    [['--key', 'hidden'], '--key is for data requests, and this run sends none'],
    [['--scenario', 'webhook', '--duration', '480'], '--duration and --warmup must not exceed 480 seconds together'],
    [['--rate', '0'], '--rate must be a whole number from 1 to 200000, not "0"'],
    [['--scenario', 'flood'], '--scenario must be one of health, unpaid, paid, webhook, wait, data, mixed'],
  ])('no more than a wrong call %j', async (words, line) => {
    const { exitCode, stderr } = await runLoadCommand(['http://127.0.0.1:1', ...words]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`paygrade: ${line}`);
    expect(stderr.trimEnd()).not.toContain('\n');
  });
});

describe('Ctrl-C', () => {
  it('while the last answers are awaited ends that wait, with the answers so far', async () => {
    let count = 0;
    const url = await open((_, response) => {
      if (count++ < 3) OK(response); // the first is to the question whether a server is there
    });
    const words = ['--scenario', 'health', '--warmup', '0', '--duration', '1', '--connections', '2', '--json'];
    words.push('--timeout', '120'); // longer than this test may take
    const loading = startLoad([url, ...words], true);
    await expect.poll(() => loading.stderr(), { timeout: 10_000 }).toContain('waiting for the last answers');
    loading.signal('SIGINT');
    const { exitCode, stdout } = await loading.ended;
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'interrupted', requests: { expected: 2, unexpected: 0 } });
  });
});
