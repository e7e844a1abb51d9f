/**
 * Resolves of real targets through the guarded client, paid by the official client (siblings §5, §7): kills, restarts and shutdown.
 * The targets are servers of the test on loopback, which TARGET_ALLOW opens.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetricsPage } from '../support/metrics-page.ts';
import { bodyFor, type Created, ended, RESOLVE_PATH, resolve, show } from '../support/resolve-client.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import {
  binaryOf,
  type Ended,
  MAIN,
  oneRuntime,
  type RunningServer,
  startProcess,
  startServer,
} from '../support/server.ts';
import { wallet } from '../support/wallet.ts';

const BIG = `<title>Big</title><main>${'<p>some words <a href="/x">and a link</a></p>'.repeat(10_000)}</main>`;

/** Paths to what they answer; `/hang` answers when the test says so. */
class Target {
  readonly paths: string[] = [];
  readonly #server: Server;
  #held: (() => void)[] = [];

  constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '';
      this.paths.push(path);
      const html = { 'content-type': 'text/html; charset=utf-8' };
      // Its body never comes.
      if (path === '/redirect') response.writeHead(302, { location: '/page', 'content-length': 100 }).flushHeaders();
      else if (path === '/big') response.writeHead(200, html).end(BIG);
      else if (path === '/bomb') response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(BOMB);
      else if (path === '/hang') this.#held.push(() => response.writeHead(200, html).end('<title>At last</title>'));
      else if (path === '/private') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      else response.writeHead(200, html).end('<html lang="en"><title>A page</title><p>It is here.</p></html>');
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  async heldCount(count: number): Promise<void> {
    while (this.#held.length < count) await new Promise((done) => setTimeout(done, 5));
  }

  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const BOMB = gzipSync(Buffer.alloc(32 * 1_048_576));

describe.each(oneRuntime('bun'))('the Resolve API under %s', (runtime) => {
  const runPaygrade = (words: readonly string[]): Promise<Ended> =>
    startProcess(binaryOf(runtime), [MAIN, ...words]).ended;
  const target = new Target();
  const stateDir = suiteFolder();
  let server: RunningServer;
  const start = () =>
    startServer(runtime, {
      STATE_DIR: stateDir,
      LOG_LEVEL: 'error',
      SNAPSHOT: 'none',
      TARGET_ALLOW: `127.0.0.1:${target.port}`,
    });
  beforeAll(async () => {
    await target.open();
    server = await start();
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    target.close();
  });

  it('sells a resolve to the official client', async () => {
    const schemes = [{ network: 'eip155:8453' as const, client: new ExactEvmScheme(wallet()) }];
    const payingFetch = wrapFetchWithPaymentFromConfig(fetch, { schemes });
    const body = { url: target.url('/redirect'), include: ['metadata', 'text'] };
    const answer = await payingFetch(server.url + RESOLVE_PATH, bodyFor(body));
    expect(answer.status).toBe(200);
    const { result } = (await answer.json()) as Created;
    expect(result).toMatchObject({
      final_url: target.url('/page'),
      redirects: [{ url: target.url('/redirect'), status_code: 302 }],
      metadata: { title: 'A page', language: 'en' },
      text: 'It is here.',
    });
  });

  it('is bought by `paygrade resolve`, which waits for what takes longer', async () => {
    const words = ['resolve', target.url('/page'), '--include', 'metadata,text', '--url', server.url];
    const shown = await runPaygrade(words);
    expect([shown.exitCode, shown.stdout]).toEqual([
      0,
      expect.stringMatching(/title +A page\n[\s\S]*\n\nIt is here\.\n$/),
    ]);
    const later = runPaygrade(['resolve', target.url('/hang'), '--wait', '0', '--json', '--url', server.url]);
    await target.heldCount(1);
    target.release();
    expect(JSON.parse((await later).stdout)).toMatchObject({ result: { metadata: { title: 'At last' } } });
    const cut = await runPaygrade(['resolve', target.url('/big'), '--include', 'text', '--url', server.url]);
    expect(cut.stdout).toMatch(/^warning {9}\S.*\.$/m);
    const failed = await runPaygrade(['resolve', target.url('/bomb'), '--url', server.url]);
    expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining('502 RESPONSE_TOO_LARGE')]);
  });

  it.each([
    ['/bomb', 502, 'RESPONSE_TOO_LARGE'],
    ['/private', 400, 'TARGET_NOT_ALLOWED'],
  ])('refuses %s for nothing: %i %s', async (path, status, code) => {
    const answer = await resolve(server, { url: target.url(path) });
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([status, code]);
  });

  it('answers other requests while big pages are read', async () => {
    const resolving = Array.from({ length: 6 }, () => resolve(server, { url: target.url('/big'), include: ['text'] }));
    expect((await server.fetch('/health')).status).toBe(200);
    for (const answer of await Promise.all(resolving)) {
      const { result } = await ended(server, (await answer.json()) as Created);
      expect(result?.text?.length).toBe(100_000);
    }
    const page = new MetricsPage(await (await server.fetch('/metrics')).text());
    expect(page.value('paygrade_resolves_under_way')).toBe(0);
    expect(page.value('paygrade_resolves_kept')).toBeGreaterThanOrEqual(6);
  });

  it('keeps results and pending resolves through a kill, and fetches the pending ones again', async () => {
    const before = target.paths.length;
    const done = (await (await resolve(server, { url: target.url('/page') })).json()) as Created;
    const waiting = await resolve(server, { url: target.url('/hang'), max_wait_seconds: 0 });
    expect(waiting.status).toBe(202);
    const pending = (await waiting.json()) as Created;
    await target.heldCount(1);
    await server.kill();
    target.release();
    server = await start();
    expect(((await (await show(server, done)).json()) as Created).result).toEqual(done.result);
    await target.heldCount(1);
    expect(await (await show(server, pending)).json()).toMatchObject({ status: 'pending' });
    target.release();
    expect(await ended(server, pending)).toMatchObject({
      status: 'resolved',
      result: { metadata: { title: 'At last' } },
    });
    expect(target.paths.slice(before).filter((path) => path === '/hang')).toHaveLength(2);
  });

  it('answers 202 for what waits at shutdown, and goes on with it after the next start', async () => {
    const answering = resolve(server, { url: target.url('/hang'), max_wait_seconds: 20 });
    await target.heldCount(1);
    server.child.kill('SIGTERM');
    const answer = await answering;
    expect(answer.status).toBe(202);
    const pending = (await answer.json()) as Created;
    expect(await server.exited).toBe(0);
    target.release();
    server = await start();
    await target.heldCount(1);
    target.release();
    expect(await ended(server, pending)).toMatchObject({ status: 'resolved' });
  });
});
