/**
 * A facilitator that cannot be reached, and a catalogue that changes while it settles: what is sold, refused and answered in
 * the meantime (reliability 95, 101, 106).
 */
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectError, expectPaid } from '../support/answers.ts';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { oneRuntime } from '../support/server.ts';
import { until } from '../support/until.ts';
import { wallet } from '../support/wallet.ts';
import { expectUnavailable, openFacilitated, settled } from './facilitated-server.ts';

const account = wallet();
const payTo = wallet().address;
const payer = account.address;

// Beside each other: each waits for looks that come every second.
describe.concurrent.each(oneRuntime('node'))('a facilitator that cannot be reached, under %s', (runtime) => {
  it('five failures of the health question stop the offers, and one success brings them back', async () => {
    const shop = await openFacilitated(runtime, payTo);
    const { jobs, facilitator } = shop;
    try {
      await until('readiness', async () => (await jobs.get('/ready')).status === 200);
      const good = facilitator.scripts;
      const payment = await shop.payment(account);
      facilitator.scripts = { '/verify': ['reset'], '/settle': ['reset'], '/supported': ['reset'] };
      const askedBefore = facilitator.callsOf('/supported').length;
      const askedCount = (): number => facilitator.callsOf('/supported').length - askedBefore;
      expectUnavailable(await jobs.pay(jobs.search, payment));
      expectError(await jobs.get(jobs.search), 402, 'PAYMENT_REQUIRED');
      let askedAtOffer = 0;
      await until('the end of the offers', async () => {
        const asked = askedCount();
        if ((await jobs.get(jobs.search)).status === 503) return true;
        askedAtOffer = asked;
        return false;
      });
      expect(askedAtOffer).toBeLessThanOrEqual(5);
      expect(askedCount()).toBeGreaterThanOrEqual(5);
      for (const path of ['/v1/jobs/search', '/v1/jobs/company?company=a.com', '/v1/jobs/signals']) {
        expectUnavailable(await jobs.get(path));
      }
      expectUnavailable(await jobs.pay(jobs.search, payment));
      // What is wrong with a request is still said first.
      expectError(await jobs.get('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
      expect((await jobs.get('/health')).status).toBe(200);
      const ready = await jobs.get('/ready');
      expect(ready.status).toBe(503);
      expect(JSON.parse(ready.text)).toMatchObject({ settlement: false, snapshot: true });
      const probes = facilitator.callsOf('/supported').length;
      await until('a probe', () => facilitator.callsOf('/supported').length > probes);
      expectUnavailable(await jobs.get(jobs.search));
      facilitator.scripts = good;
      await until('offers again', async () => (await jobs.get(jobs.search)).status === 402);
      expect((await jobs.get('/ready')).status).toBe(200);
      expectPaid(await jobs.pay(jobs.search, payment), payer);
    } finally {
      await shop.close();
    }
  });

  it.each([
    ['a refused connection', 'http://127.0.0.1:9'],
    ['a name that does not resolve', 'http://facilitator.invalid'],
    ['TLS where none is spoken', 'tls'],
  ])('%s at start: the server runs, is not ready, and charges nothing (reliability 95, 101)', async (_, address) => {
    const deaf = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    const url = address === 'tls' ? `https://127.0.0.1:${(deaf.address() as AddressInfo).port}` : address;
    const shop = await openFacilitated(runtime, payTo, { FACILITATOR_URL: url });
    const { jobs } = shop;
    try {
      expect((await jobs.get('/health')).status).toBe(200);
      await until('the verdict of readiness', async () => (await jobs.get('/ready')).status === 503);
      const payment = await shop.payment(account);
      expectUnavailable(await jobs.pay(jobs.search, payment));
      expectUnavailable(await jobs.pay(jobs.search, payment));
    } finally {
      await shop.close();
      await new Promise((resolve) => deaf.close(resolve));
    }
  });
});

describe.each(oneRuntime('bun'))('a catalogue that changes during a settlement, under %s', (runtime) => {
  it('the answer is the one that was computed before, whole (reliability 106)', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'paygrade-swap-')), 'jobs.snap');
    await buildSnapshot(file, [jobLine({ id: 'old-1', title: 'Old job', last_observed_at: '2026-11-01T00:00:00Z' })]);
    const shop = await openFacilitated(runtime, payTo, { SNAPSHOT: file });
    try {
      const payment = await shop.payment(account);
      shop.plan(payment, '/settle', async (call) => {
        await buildSnapshot(file, [
          jobLine({ id: 'new-1', title: 'New job', last_observed_at: '2026-11-02T00:00:00Z' }),
        ]);
        shop.jobs.server.child.kill('SIGHUP');
        await until('the reload', () => shop.jobs.server.stderr().includes('was reloaded'));
        return settled(call);
      });
      const answer = await shop.jobs.pay(shop.jobs.search, payment);
      expectPaid(answer, payer);
      const { data, meta } = JSON.parse(answer.text);
      expect(data.jobs[0].id).toBe('old-1');
      expect(meta.freshness.last_observed_at).toBe('2026-11-01T00:00:00.000Z');
      const next = JSON.parse((await shop.jobs.pay(shop.jobs.search, await shop.payment(account))).text);
      expect(next.data.jobs[0].id).toBe('new-1');
      expect(next.meta.freshness.last_observed_at).toBe('2026-11-02T00:00:00.000Z');
    } finally {
      await shop.close();
    }
  });
});
