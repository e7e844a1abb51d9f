/** Signals and the life of the process: the listening line, SIGTERM, SIGHUP, a restart (decisions §2; reliability 251, 257, 264, 265). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEADLINES } from '../../src/adapters/facilitator/facilitator-http.ts';
import { DRAIN_MS } from '../../src/cli/serve.ts';
import { expectError, expectPaid, receiptOf } from '../support/answers.ts';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { catalogueFolder } from '../support/catalogue-folder.ts';
import { startJobsServer } from '../support/jobs-server.ts';
import { binaryOf, MAIN, oneRuntime, PROJECT, RUNTIMES, startProcess, startServer } from '../support/server.ts';
import { offerOf, paymentFor, wallet } from '../support/wallet.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { openFacilitated, settled } from './facilitated-server.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const { folder, goodFile } = catalogueFolder();

const SECOND_SIGNALS = [
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGTERM'],
  ['SIGTERM', 'SIGINT'],
] as const;

it('a shutdown ends the calls to a facilitator while their clients can still be answered', () => {
  expect(DEADLINES.drainMs).toBeLessThan(DRAIN_MS);
});

describe.each(oneRuntime('node'))('signals, under %s', (runtime) => {
  it('prints one listening line with the real port, and SIGTERM is exit code 0', async () => {
    const server = await startServer(runtime, { LOG_LEVEL: 'silent' });
    await fetch(`${server.url}/health`).then((response) => response.text());
    expect(server.stdout()).toBe(`listening on http://127.0.0.1:${server.port}\n`);
    expect(await server.stop()).toBe(0);
  });

  it('SIGTERM answers what is under way, takes nothing new, and is exit code 0 (reliability 264)', async () => {
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
    expect(performance.now() - answeredMs).toBeLessThan(DRAIN_MS / 2);
    await expect(fetch(shop.jobs.url('/health'))).rejects.toThrow();
    await shop.facilitator.close();
  });

  it.each(IS_WHOLE ? SECOND_SIGNALS : SECOND_SIGNALS.slice(-1))(
    'a second signal (%s, %s) ends at once, and the next start finds out what was under way (reliability 265)',
    async (first, second) => {
      const settings = { STATE_DIR: mkdtempSync(join(folder, 'signalled-')), BASE_URL: 'https://shop.example' };
      const payTo = wallet().address;
      const shop = await openFacilitated(runtime, payTo, settings);
      const { child, exited } = shop.jobs.server;
      const payment = await shop.payment(wallet());
      shop.plan(payment, '/settle', 'hang', settled);
      const waiting = shop.jobs.pay(shop.jobs.search, payment).catch(() => undefined);
      while (shop.callsOf(payment, '/settle').length === 0) await pause(20);
      const startMs = performance.now();
      child.kill(first);
      await pause(200);
      child.kill(second);
      await exited;
      expect(child.signalCode).toBe(second);
      expect(performance.now() - startMs).toBeLessThan(DRAIN_MS / 2);
      expect(await waiting).toBeUndefined();

      const next = await openFacilitated(runtime, payTo, { ...settings, FACILITATOR_URL: shop.facilitator.url });
      await expect
        .poll(async () => {
          const again = await next.jobs.pay(next.jobs.search, payment);
          expectError(again, 409, 'PAYMENT_ALREADY_USED');
          return receiptOf(again).success;
        })
        .toBe(true);
      expect(await next.close()).toBe(0);
      await shop.facilitator.close();
    },
  );

  it('SIGHUP takes a new catalogue under load, and no answer mixes two (reliability 257)', async () => {
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
    while (!jobs.server.stderr().includes('was reloaded')) await pause(20);
    const after = JSON.parse((await jobs.pay(jobs.search, await jobs.payment(jobs.search, account))).text);
    expect(after.data.jobs[0].id).toBe('new');
    for (const one of seen) expect([`old ${oldTime}`, `new ${newTime}`]).toContain(one);
    expect(seen.length).toBe(payments.length);
    expect(await jobs.server.stop()).toBe(0);
  });

  it.each([
    ['while its code loads does not end it', '/cli/serve.ts', false],
    ['before it listens reloads the catalogue once it does', '/listen-node.ts', true],
  ])('SIGHUP %s', async (_, loaded, isReloaded) => {
    const hook = `import { registerHooks } from 'node:module';
      let isSent = false;
      registerHooks({
        resolve(specifier, context, next) {
          const resolved = next(specifier, context);
          if (!isSent && resolved.url.endsWith('${loaded}')) {
            isSent = true;
            process.kill(process.pid, 'SIGHUP');
          }
          return resolved;
        },
      });`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
    const sources = { binary: binaryOf('node'), entry: join(PROJECT, 'src', 'main.ts') };
    const server = await startServer(sources, { LOG_LEVEL: 'silent', NODE_OPTIONS });
    if (isReloaded) await expect.poll(() => server.stderr()).toContain('was reloaded');
    expect(await server.stop()).toBe(0);
  });

  it('SIGHUP with a bad or missing file changes nothing and says so in one line (reliability 251, 257)', async () => {
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
        .filter((line) => line.includes('catalogue reload failed'));
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
      await expect.poll(() => told().length).toBe(index + 1);
      expect(await firstId()).toBe('kept');
    }
    await buildSnapshot(file, [jobLine({ id: 'mended' })]);
    jobs.server.child.kill('SIGHUP');
    await expect.poll(firstId).toBe('mended');
    expect(await jobs.server.stop()).toBe(0);
  });

  it('a file written over in place sells nothing that it can no longer give, until a sound one is there (reliability 259)', async () => {
    const file = join(folder, `in-place-${runtime}.snap`);
    await buildSnapshot(file, [jobLine({ id: 'old', company_domain: 'acme.example' })]);
    const jobs = await startJobsServer(runtime, { SNAPSHOT: file });
    const statusOf = async (path: string): Promise<number> => (await fetch(jobs.url(path))).status;
    const paths = ['/v1/jobs/search', '/v1/jobs/detail?id=old', '/v1/jobs/signals', '/ready'];
    const statuses = (): Promise<number[]> => Promise.all(paths.map(statusOf));
    expect(await statuses()).toEqual([402, 402, 402, 200]);
    writeFileSync(file, 'garbage');
    expect(await statuses()).toEqual([503, 503, 402, 503]);
    jobs.server.child.kill('SIGHUP');
    while (!jobs.server.stderr().includes('overwritten in place')) await pause(20);
    expect(await statuses()).toEqual([503, 503, 402, 503]);
    const authorization = `Bearer ${/svc_key_[\w-]{43}/.exec(jobs.server.stderr())?.[0]}`;
    for (const path of ['/v1/jobs/search', '/data/v1/jobs/old']) {
      const refused = await fetch(jobs.url(path), { headers: { authorization } });
      expect(await refused.json()).toMatchObject({ error: { code: 'CATALOGUE_UNAVAILABLE' } });
    }
    await buildSnapshot(file, [jobLine({ id: 'new' })]);
    jobs.server.child.kill('SIGHUP');
    while ((await statusOf('/ready')) !== 200) await pause(20);
    expect(await statuses()).toEqual([402, 402, 402, 200]);
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

it.each(RUNTIMES)('with --until-stdin-ends a server does not outlive what started it, under %s', async (runtime) => {
  const settings = { PORT: '0', STATE_DIR: ':memory:', SNAPSHOT: 'none', LOG_LEVEL: 'silent' };
  // Its stdin has ended already.
  const { ended } = startProcess(binaryOf(runtime), [MAIN, 'serve', '--until-stdin-ends'], settings);
  const { exitCode, stdout } = await ended;
  expect(stdout).toMatch(/^listening on /);
  expect(exitCode).toBe(0);
});
