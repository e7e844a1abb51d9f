import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HttpFacilitator } from '../../../src/adapters/facilitator/facilitator-http.ts';
import type { Timers } from '../../../src/base/timers.ts';
import { facilitatorBodyOf } from '../../../src/payment/protocol/order.ts';
import { orderFor } from '../../payment/fixture.ts';
import { FakeFacilitator } from '../../support/fake-facilitator.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { binaryOf } from '../../support/server.ts';
import { type FaultResult, facilitatorAt, runFaults } from './facilitator-faults.ts';

const PROGRAM = fileURLToPath(new URL('facilitator-faults.ts', import.meta.url));
/** Between two probes of a facilitator that cannot be reached. */
const PROBE_PAUSE_MS = 1000;
const VALID = { status: 200, body: { isValid: true } };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
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

async function until(isTrue: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error('it never came to that');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe.each(['node', 'bun'] as const)('a failing facilitator, seen by %s', (runtime) => {
  let results: FaultResult[];
  beforeAll(async () => {
    if (runtime === 'node') {
      results = await runFaults();
      return;
    }
    const { stdout } = await promisify(execFile)(binaryOf('bun'), [PROGRAM]);
    results = JSON.parse(stdout) as FaultResult[];
  }, 60_000);

  it('gives the decided outcome for every fault', () => {
    expect(results.length).toBeGreaterThanOrEqual(100);
    expect(results.filter(({ expected, actual }) => expected !== actual)).toEqual([]);
  });

  it('has its endless bodies cut after what buffers hold', () => {
    const flooded = results.map(({ floodedBytes }) => floodedBytes).filter((bytes) => bytes > 0);
    expect(flooded).toHaveLength(2);
    expect(Math.max(...flooded)).toBeLessThan(32 * 2 ** 20);
  });
});

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

describe('the cap on calls under way', () => {
  it('refuses new payments at the cap and takes them again below it', async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const fake = await fakeWith({ '/verify': () => gate.then(() => VALID) });
    const adapter = adapterAt(fake.url, { inFlightMax: 2 });
    expect(adapter.readiness()).toEqual({ kind: 'ready' });
    const first = adapter.verify(orderFor());
    expect(adapter.readiness()).toEqual({ kind: 'ready' });
    const second = adapter.verify(orderFor());
    expect(adapter.readiness()).toEqual({ kind: 'busy' });
    open();
    expect(await Promise.all([first, second])).toEqual([{ kind: 'valid' }, { kind: 'valid' }]);
    expect(adapter.readiness()).toEqual({ kind: 'ready' });
  });
});

describe('the circuit', () => {
  /** Deadlines run on the test's time too, so every call here must be answered or reset by the fake. */
  const circuit = async (step: 'reset' | { status: number }) => {
    const fake = await fakeWith({ '/verify': [step], '/supported': ['reset'] });
    const time = new ManualTime();
    const news: boolean[] = [];
    let pauseCount = 0;
    const timers: Timers = {
      after(delayMs, run) {
        if (delayMs === PROBE_PAUSE_MS) pauseCount++;
        return time.after(delayMs, run);
      },
    };
    const adapter = adapterAt(fake.url, { timers, clock: time, onReachable: (is) => news.push(is) });
    return { fake, time, news, adapter, pauseCount: () => pauseCount };
  };

  it.each(['reset', { status: 502 }] as const)(
    'opens after five failures in a row (%j), is probed every second, and one success ends it',
    async (step) => {
      const { fake, time, adapter, pauseCount } = await circuit(step);
      for (let i = 0; i < 4; i++) await adapter.verify(orderFor());
      expect(adapter.readiness()).toEqual({ kind: 'ready' });
      await adapter.verify(orderFor());
      expect(adapter.readiness()).toEqual({ kind: 'unreachable' });
      expect(fake.callsOf('/supported')).toHaveLength(0);
      for (let probes = 1; probes <= 3; probes++) {
        time.pass(999);
        expect(fake.callsOf('/supported')).toHaveLength(probes - 1);
        time.pass(1);
        await until(() => pauseCount() === probes + 1);
        expect(fake.callsOf('/supported')).toHaveLength(probes);
        expect(adapter.readiness()).toEqual({ kind: 'unreachable' });
      }
      fake.scripts = { '/supported': [{ status: 200, body: { kinds: [] } }] };
      time.pass(1000);
      await until(() => adapter.readiness().kind === 'ready');
      expect(adapter.isReachable()).toBe(true);
      expect(time.pendingCount).toBe(0);
    },
  );

  it('stays closed while every fifth call arrives, whatever the answer', async () => {
    const { fake, adapter } = await circuit('reset');
    for (let round = 0; round < 3; round++) {
      fake.scripts = { '/verify': ['reset'] };
      for (let i = 0; i < 4; i++) await adapter.verify(orderFor());
      fake.scripts = { '/verify': [{ status: 401 }] };
      await adapter.verify(orderFor());
      expect(adapter.readiness()).toEqual({ kind: 'ready' });
    }
  });

  it('reports a facilitator that is down at start, keeps asking, and says when it is there (reliability 101)', async () => {
    const { fake, time, news, adapter, pauseCount } = await circuit('reset');
    expect(adapter.isReachable()).toBe(false);
    adapter.start();
    await until(() => pauseCount() === 1);
    expect(fake.callsOf('/supported')).toHaveLength(1);
    expect(adapter.isReachable()).toBe(false);
    expect(adapter.readiness()).toEqual({ kind: 'ready' });
    fake.scripts = { '/supported': [{ status: 200 }] };
    time.pass(1000);
    await until(() => adapter.isReachable());
    expect(news).toEqual([true]);
    expect(time.pendingCount).toBe(0);
  });

  it('asks nothing more after it was stopped', async () => {
    const { fake, time, adapter } = await circuit('reset');
    for (let i = 0; i < 5; i++) await adapter.verify(orderFor());
    adapter.stop();
    time.pass(10_000);
    expect(time.pendingCount).toBe(0);
    expect(fake.callsOf('/supported')).toHaveLength(0);
  });
});
