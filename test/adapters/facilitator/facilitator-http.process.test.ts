import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpFacilitator } from '../../../src/adapters/facilitator/facilitator-http.ts';
import { facilitatorBodyOf } from '../../../src/payment/protocol/order.ts';
import { orderFor } from '../../payment/fixture.ts';
import { FakeFacilitator } from '../../support/fake-facilitator.ts';
import { binaryOf, RUNTIMES } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { DEADLINES, type FaultResult, facilitatorAt, runFaults } from './facilitator-faults.ts';

const PROGRAM = fileURLToPath(new URL('facilitator-faults.ts', import.meta.url));
const VALID = { status: 200, body: { isValid: true } };

/** At the end of the file: some tests are beside each other. */
const undo: (() => unknown)[] = [];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

const fakeWith = async (...args: ConstructorParameters<typeof FakeFacilitator>): Promise<FakeFacilitator> => {
  const fake = await new FakeFacilitator(...args).listen();
  undo.push(() => fake.close());
  return fake;
};

const adapterAt = (...args: Parameters<typeof facilitatorAt>): HttpFacilitator => {
  const adapter = facilitatorAt(...args);
  undo.push(() => adapter.stop());
  return adapter;
};

/** Both wait for the deadlines of faults that never end: under Node nothing else is late meanwhile, under Bun the tests below run. */
let ofNode: readonly FaultResult[];
let ofBun: Promise<readonly FaultResult[]>;
beforeAll(async () => {
  ofNode = await runFaults();
  ofBun = promisify(execFile)(binaryOf('bun'), [PROGRAM]).then(({ stdout }) => JSON.parse(stdout) as FaultResult[]);
  // A failure is that of its tests.
  ofBun.catch(() => {});
}, 60_000);

describe('a call', () => {
  it('carries our order, our token and no wish for compression', async () => {
    const fake = await fakeWith({ '/x402/verify': [VALID] });
    const order = orderFor();
    expect(await adapterAt(`${fake.url}/x402`, { token: 'secret-token' }).verify(order)).toEqual({ kind: 'valid' });
    const [call] = fake.calls;
    expect(call).toMatchObject({ method: 'POST', path: '/x402/verify', body: facilitatorBodyOf(order) });
    expect(call?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
  });

  it('names neither token nor address in what it says to the log', async () => {
    const adapter = adapterAt('http://127.0.0.1:9/secret-path', { token: 'secret-token' });
    const outcome = await adapter.verify(orderFor());
    expect(JSON.stringify(outcome)).not.toMatch(/secret|127\.0\.0\.1/);
  });

  it('ends before the connection of its client when the server stops, with an outcome that is not known', async () => {
    const fake = await fakeWith({ '/verify': ['hang'], '/settle': ['hang'] });
    const adapter = adapterAt(fake.url, { deadlines: { ...DEADLINES, drainMs: 50 } });
    const startMs = performance.now();
    const outcomes = Promise.all([adapter.settle(orderFor()), adapter.verify(orderFor())]);
    await until('both calls have come', () => fake.calls.length === 2);
    adapter.drain();
    const detail = expect.stringContaining('the server is stopping');
    expect(await outcomes).toMatchObject([
      { kind: 'unknown', transaction: '', detail },
      { kind: 'unavailable', detail },
    ]);
    expect(performance.now() - startMs).toBeLessThan(DEADLINES.verifyMs);
    // One that begins later would be cut off by the end of the process.
    expect(await Promise.all([adapter.settle(orderFor()), adapter.verify(orderFor())])).toMatchObject([
      { kind: 'unavailable' },
      { kind: 'unavailable' },
    ]);
    expect(fake.callsOf('/settle').length + fake.callsOf('/verify').length).toBe(2);
  });

  it('over TLS to somebody with a wrong certificate was never sent', async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'paygrade-tls-'));
    undo.push(() => rmSync(folder, { recursive: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const args = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost'.split(' ');
    try {
      execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    } catch {
      skip('openssl is not installed');
    }
    const server: Server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    undo.push(() => server.close());
    const { port } = server.address() as { port: number };
    const adapter = adapterAt(`https://127.0.0.1:${port}`);
    expect(await adapter.settle(orderFor())).toMatchObject({ kind: 'unavailable' });
    expect(await adapter.verify(orderFor())).toMatchObject({ kind: 'unavailable' });
  });
});

/** Beside each other: the health question comes every second. */
describe.concurrent('the circuit', () => {
  it.each([{ status: 500 }, { status: 503 }, 'reset', 'close', 'hang'] as const)(
    'is not opened by the fate of payloads (%j): the health question decides',
    async (step) => {
      const fake = await fakeWith({ '/verify': [step], '/settle': [step], '/supported': [{ status: 200 }] });
      const news: boolean[] = [];
      const adapter = adapterAt(
        fake.url,
        { deadlines: { ...DEADLINES, verifyMs: 200, settleMs: 200 } },
        { onFacilitatorReachable: (is) => news.push(is) },
      );
      adapter.start();
      await until('the facilitator is reachable', () => adapter.isReachable());
      for (let round = 0; round < 8; round++) {
        await Promise.all([adapter.verify(orderFor()), adapter.settle(orderFor())]);
        expect(adapter.readiness()).toEqual({ kind: 'ready' });
      }
      await until('its health is asked again', () => fake.callsOf('/supported').length >= 2);
      expect(adapter.isReachable()).toBe(true);
      expect(news).toEqual([]);
    },
  );

  it('opens when the health question fails five times, after one payload has raised it, and one success ends it', async () => {
    const fake = await fakeWith({ '/verify': [{ status: 503 }], '/supported': [{ status: 503 }] });
    const news: boolean[] = [];
    const adapter = adapterAt(fake.url, {}, { onFacilitatorReachable: (is) => news.push(is) });
    await adapter.verify(orderFor());
    await until('the circuit opens', () => adapter.readiness().kind === 'unreachable');
    expect(fake.callsOf('/supported')).toHaveLength(5);
    fake.scripts = { '/supported': [{ status: 200, body: { kinds: [] } }] };
    await until('the circuit closes', () => adapter.readiness().kind === 'ready');
    expect(news).toEqual([false, true]);
  }, 20_000);

  it('opens after five calls that never connected', async () => {
    const closed = await new FakeFacilitator({}).listen();
    await closed.close();
    const adapter = adapterAt(closed.url);
    for (let i = 0; i < 4; i++) await adapter.verify(orderFor());
    await adapter.settle(orderFor());
    expect(adapter.readiness()).toEqual({ kind: 'unreachable' });
  });
});

describe('a facilitator that refuses this server', () => {
  it.each([401, 403])(
    'is reported when it begins to answer with %i, and again after it has accepted a call',
    async (status) => {
      const fake = await fakeWith({ '/verify': [VALID, { status }, { status }, VALID, { status }] });
      const told: unknown[] = [];
      const adapter = adapterAt(fake.url, {}, { onFacilitatorSupport: (support) => told.push(support) });
      const counts: number[] = [];
      for (let i = 0; i < 5; i++) {
        await adapter.verify(orderFor());
        counts.push(told.length);
      }
      expect(counts).toEqual([0, 1, 1, 1, 2]);
      const words = `it refuses this server (status ${status}); set FACILITATOR_TOKEN to a token that it accepts`;
      expect(told[0]).toEqual({ kind: 'refused', words });
    },
  );

  it.each([
    [401, 'FACILITATOR_TOKEN'],
    [404, 'FACILITATOR_URL'],
  ])('is reported at the start, where its /supported answers with %i', async (status, setting) => {
    const fake = await fakeWith({ '/supported': [{ status }] });
    const told: unknown[] = [];
    const adapter = adapterAt(fake.url, {}, { onFacilitatorSupport: (support) => told.push(support) });
    adapter.start();
    await until('the refusal is told', () => told.length === 1);
    expect(told).toEqual([{ kind: 'refused', words: expect.stringContaining(setting) }]);
  });
});

describe('the clock of the facilitator', () => {
  it('is read from the answers', async () => {
    const date = new Date(Date.now() - 40_000).toUTCString();
    const fake = await fakeWith({ '/verify': [{ ...VALID, headers: { date } }], '/supported': [{ status: 200 }] });
    const adapter = adapterAt(fake.url);
    expect(adapter.signals.skewSeconds()).toBeUndefined();
    for (let i = 0; i < 3; i++) await adapter.verify(orderFor());
    expect(adapter.signals.skewSeconds()).toBeGreaterThan(38);
    expect(adapter.signals.skewSeconds()).toBeLessThan(43);
  });
});

describe.each(RUNTIMES)('a failing facilitator, seen by %s', { timeout: 60_000 }, (runtime) => {
  const resultsOf = async (): Promise<readonly FaultResult[]> => (runtime === 'node' ? ofNode : ofBun);

  it('gives the decided outcome for every fault', async () => {
    const all = await resultsOf();
    expect(all.length).toBeGreaterThanOrEqual(100);
    expect(all.filter(({ expected, actual }) => expected !== actual)).toEqual([]);
  });

  it('has its endless bodies cut after what buffers hold', async () => {
    const flooded = (await resultsOf()).map(({ floodedBytes }) => floodedBytes).filter((bytes) => bytes > 0);
    expect(flooded).toHaveLength(2);
    expect(Math.max(...flooded)).toBeLessThan(32 * 2 ** 20);
  });
});
