/**
 * A cache in front of the server that keeps whatever it may, of every status and method (reliability 109): what it keeps is
 * what the server allows it to, and that is nothing which was offered, bought or refused.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectError, expectPaid, receiptOf } from '../support/answers.ts';
import { bearer, createCallback, post } from '../support/callback-client.ts';
import { freePort } from '../support/free-port.ts';
import { JobsClient } from '../support/jobs-client.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import { type Started, startProcess } from '../support/server.ts';
import { overSocket, type Transport } from '../support/transport.ts';
import { until } from '../support/until.ts';
import { buyOver, wallet } from '../support/wallet.ts';

const hasNginx = spawnSync('nginx', ['-v']).error === undefined;
if (!hasNginx) console.log('skipping the shared cache: apt-get install nginx brings what its test needs');

/** Where an answer came from: nginx's $upstream_cache_status. */
const SOURCE = 'x-cache';

/** `proxy_cache_valid` is for answers that do not say whether they may be kept. */
const siteOf = (folder: string, port: number, upstream: number): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  proxy_cache_path ${folder}/cache keys_zone=shared:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${upstream};
      proxy_buffer_size 32k; proxy_buffers 8 32k;
      proxy_cache shared; proxy_cache_key "$request_method $request_uri";
      proxy_cache_methods GET HEAD POST; proxy_cache_valid any 10m;
      add_header X-Cache $upstream_cache_status always;
    }
  }
}`;

describe.skipIf(!hasNginx)('a shared cache', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-cache-'));
  let jobs: JobsServer;
  let nginx: Started;
  let cached: Transport;
  let shop: JobsClient;
  beforeAll(async () => {
    const port = await freePort();
    const BASE_URL = `http://127.0.0.1:${port}`;
    jobs = await startJobsServer('bun', { BASE_URL, HOOK_BASE_URL: BASE_URL });
    writeFileSync(join(folder, 'nginx.conf'), siteOf(folder, port, jobs.port));
    nginx = startProcess('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')]);
    cached = overSocket(BASE_URL);
    shop = new JobsClient(cached, jobs.domain);
    await until('the cache', () => fetch(BASE_URL).then(Boolean, () => false));
  });
  afterAll(async () => {
    nginx?.child.kill('SIGTERM');
    await nginx?.exited;
    expect(await jobs?.server.stop()).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  });

  const sourceOf = ({ headers }: Answer | Response): string | null => headers.get(SOURCE);

  it('keeps what the server lets it keep', async () => {
    const path = '/data/v1/public/overview';
    expect(sourceOf(await shop.get(path))).toBe('MISS');
    expect(sourceOf(await shop.get(path))).toBe('HIT');
  });

  it('gives no offer, no bought answer and no refusal to anybody a second time (reliability 109)', async () => {
    const [first, second] = [wallet(), wallet()];
    for (const path of [shop.search, shop.company, shop.signals]) {
      const mine = await shop.payment(path, first);
      const bought = await shop.pay(path, mine);
      const { transaction } = expectPaid(bought, first.address);
      const unpaid = await shop.get(path);
      expectError(unpaid, 402, 'PAYMENT_REQUIRED');
      const other = await shop.pay(path, await shop.payment(path, second));
      expect(expectPaid(other, second.address).transaction).not.toBe(transaction);
      const replayed = await shop.pay(path, mine);
      expectError(replayed, 409, 'PAYMENT_ALREADY_USED');
      expect(receiptOf(replayed).transaction).toBe(transaction);
      const bad = await shop.get(`${path}&unknown=1`);
      const again = await shop.get(`${path}&unknown=1`);
      expectError(again, 400, 'UNKNOWN_PARAMETER');
      for (const answer of [bought, unpaid, other, replayed, bad, again]) expect(sourceOf(answer)).toBe('MISS');
    }
  });

  it('gives no callback, no webhook and no event to anybody a second time (reliability 109)', async () => {
    const bought = await buyOver(cached, '/v1/callbacks', wallet(), { method: 'POST' });
    expect([bought.status, sourceOf(bought)]).toEqual([201, 'MISS']);
    const callback = await createCallback(cached);
    const read = (headers: Record<string, string>): Promise<Answer> =>
      shop.send(`/v1/callbacks/${callback.id}/events`, { headers });
    const counts: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const listed = await read(bearer(callback));
      counts.push([sourceOf(listed), (JSON.parse(listed.text) as { event_count: number }).event_count]);
      expectError(await read({}), 401, 'MISSING_AUTHORIZATION');
      expect((await post(cached, callback.id, 'same')).status).toBe(200);
    }
    expect(counts).toEqual([0, 1, 2].map((count) => ['MISS', count]));
  });
});
