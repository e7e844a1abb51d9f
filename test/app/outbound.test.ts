/** The guarded client as the app opens it: own webhook addresses, own other addresses, TARGET_ALLOW, metrics. */
import { afterEach, describe, expect, it } from 'vitest';
import { SURFACES, type SurfaceDefinition } from '../../src/app/modules.ts';
import { defineModule } from '../../src/modules/module.ts';
import type { Outbound, OutboundResult } from '../../src/outbound/outbound.ts';
import type { Purpose } from '../../src/outbound/target.ts';
import { bearer, createCallback } from '../support/callback-client.ts';
import { type OpenedApp, openedApp } from '../support/opened-app.ts';

const apps: OpenedApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function open(variables: Readonly<Record<string, string>> = {}) {
  let outbound: Outbound | undefined;
  const probe = defineModule({
    tag: 'probe',
    settings: {},
    routes: [],
    open(context) {
      outbound = context.outbound;
      return { operations: [] };
    },
  });
  const surface: SurfaceDefinition = {
    name: 'probe',
    title: 'probe',
    description: '',
    path: '/probe',
    modules: [probe],
    isUndocumented: true,
  };
  const app = await openedApp(variables, { surfaces: [...SURFACES, surface] });
  apps.push(app);
  return { app, outbound: outbound as unknown as Outbound };
}

function post(
  outbound: Outbound,
  url: string,
  body: string,
  headers: [string, string][] = [],
): Promise<OutboundResult> {
  const judged = outbound.policy.judge(url, 'delivery');
  if (!judged.ok) throw new Error(judged.reason);
  return outbound.send({
    target: judged.target,
    method: 'POST',
    headers: [['content-type', 'application/json'], ...headers],
    body: Buffer.from(body),
    timeoutMs: 5000,
    customer: 'acme',
    wireBytesMax: 65_536,
    unpackedBytesMax: 65_536,
  });
}

const jsonOf = (result: OutboundResult): unknown =>
  result.kind === 'answer' ? JSON.parse(Buffer.from(result.body).toString()) : result;

describe('outbound requests of the app', () => {
  it('reach a webhook address of this server inside the process, with the answers that it gives outside', async () => {
    const { app, outbound } = await open();
    const callback = await createCallback(app);
    const hook = `${app.url}/hooks/${callback.id}`;
    expect(await post(outbound, hook, '{"done":1}')).toMatchObject({ kind: 'answer', status: 200 });
    const events = await app.fetch(`/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
    expect(await events.text()).toContain('{"done":1}');

    expect(await post(outbound, hook, '{"done":')).toMatchObject({ kind: 'answer', status: 400 });
    const unknown = await post(outbound, `${app.url}/hooks/cb_${'0'.repeat(24)}`, '{}');
    expect(jsonOf(unknown)).toMatchObject({ error: { code: 'CALLBACK_NOT_FOUND' } });
  });

  it('may go to public addresses and to those of TARGET_ALLOW, and to no other address of this server', async () => {
    const { outbound } = await open({
      PORT: '8080',
      DATA_URL: 'http://data.test:8443',
      TARGET_ALLOW: 'target.test:9000, 10.0.0.0/8:9001',
    });
    const expected: readonly [string, Purpose, string][] = [
      ['http://paygrade.test/v1/jobs/search', 'resolve', 'own-address'],
      ['https://paygrade.test/', 'retry', 'own-address'],
      ['http://data.test:8443/v1/jobs', 'resolve', 'own-address'],
      ['http://127.0.0.1:8080/', 'resolve', 'own-address'],
      ['http://[::1]:8080/', 'resolve', 'own-address'],
      ['http://target.test:9000/', 'retry', 'allowed'],
      ['http://10.1.2.3:9001/', 'delivery', 'allowed'],
      ['http://10.1.2.3:9000/', 'delivery', 'https-only'],
      ['https://example.com/', 'retry', 'allowed'],
    ];
    const judged = expected.map(([url, purpose]) => {
      const one = outbound.policy.judge(url, purpose);
      return [url, purpose, one.ok ? 'allowed' : one.rule];
    });
    expect(judged).toEqual(expected);
  });

  it('are counted, and so is what was blocked', async () => {
    const { app, outbound } = await open();
    outbound.policy.judge('https://169.254.169.254/', 'retry');
    for (const url of ['https://a@example.com/', 'ftp://example.com/', 'http://example.com/', `${app.url}/`])
      outbound.policy.judge(url, 'retry');
    const text = await (await app.fetch('/metrics')).text();
    const counts = Object.fromEntries(
      [...text.matchAll(/^paygrade_outbound_blocked_total\{rule="(.+)"\} (\d+)$/gm)].map(([, rule, count]) => [
        rule,
        count,
      ]),
    );
    // Each rule by its name, from the start, and all ranges of addresses as one.
    expect(counts).toMatchObject({
      'user-info': '1',
      scheme: '1',
      'https-only': '1',
      'own-address': '1',
      address: '1',
    });
    expect(counts).toMatchObject({ length: '0', 'name-internal': '0', 'not-listed': '0' });
    expect(text).toContain('paygrade_outbound_in_flight 0\n');
    expect(text).toContain('paygrade_outbound_requests_total{result="answer"} 0\n');
  });

  it.each(['x', 'http://x:1', '10.0.0.0/8'])('do not start with TARGET_ALLOW=%s', async (entry) => {
    await expect(open({ TARGET_ALLOW: entry })).rejects.toThrow(/^TARGET_ALLOW must be host:port or cidr:port/);
  });
});
