/**
 * Secrets of a whole run, planted and looked for (reliability 277, invariant 20): what the operator, the payer, the owner of a
 * callback and a sender of webhooks trusted the server with is in no log, no metric and no file but where it belongs.
 */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bearer, createCallback, eventsOf, post } from '../support/callback-client.ts';
import { contentOf } from '../support/folder-content.ts';
import { oneRuntime } from '../support/server.ts';
import type { Transport } from '../support/transport.ts';
import { encodeHeader, wallet } from '../support/wallet.ts';
import { FACILITATOR_TOKEN, openFacilitated } from './facilitated-server.ts';

const ADMIN_TOKEN = 'operator-canary-of-at-least-32-characters';
const OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };

/** An organization with credits, and a key that may read jobs. */
async function organizationWithKey(server: Transport): Promise<{ id: string; key: string }> {
  const post = async (path: string, body: object): Promise<unknown> =>
    (await server.fetch(path, { method: 'POST', headers: OPERATOR, body: JSON.stringify(body) })).json();
  await post('/admin/v1/grants', { organization: 'canary', kind: 'onboarding', amount: 100 });
  return (await post('/admin/v1/keys', { organization: 'canary', scopes: ['jobs:read'] })) as {
    id: string;
    key: string;
  };
}

describe.each(oneRuntime('node'))('a whole run under %s', (runtime) => {
  it('leaves no secret in its log, its metrics or its state (reliability 277)', async () => {
    const run = await openFacilitated(runtime, wallet().address, { LOG_LEVEL: 'debug', ADMIN_TOKEN });
    const { server } = run.jobs;
    const { id, key } = await organizationWithKey(server);
    for (const path of ['/v1/jobs?limit=1', `/v1/jobs?cursor=${key}`, `/v1/jobs/${key}`, '/v1/metrics/overview']) {
      await server.fetch(`/data${path}`, { headers: { authorization: `Bearer ${key}` } });
    }
    await server.fetch(`/data/v1/jobs?key=${key}`, { headers: { authorization: `Bearer ${key}x` } });
    await server.fetch(`/admin/v1/keys/${id}`, { method: 'DELETE', headers: OPERATOR });
    await server.fetch('/data/v1/jobs', { headers: { authorization: `Bearer ${key}` } });
    const payment = await run.payment(wallet());
    expect((await run.jobs.pay('/v1/jobs/search?keyword=question-canary', payment)).status).toBe(200);
    const callback = await createCallback(server);
    const headers = { authorization: 'Bearer sender-canary', cookie: 'cookie-canary', 'svix-signature': 'kept-header' };
    expect((await post(server, callback.id, 'kept-body', { headers })).status).toBe(200);
    expect(await eventsOf(server, callback)).toHaveLength(1);
    const wrong = { ...bearer(callback), authorization: 'Bearer svc_cb_sk_wrong-canary' };
    await server.fetch(`/v1/callbacks/${callback.id}/events?token=${callback.read_token}`, { headers: wrong });
    const metrics = await (await server.fetch('/metrics')).text();
    expect(existsSync(server.stateDir)).toBe(true);
    const state = contentOf(server.stateDir);
    const written = (): string => server.stdout() + server.stderr();
    // The line of a request comes after its answer.
    await expect.poll(written).toContain('"operation":"metrics"');
    const log = written();

    // What belongs into the state is there, so the search below can find something.
    expect(state).toContain('kept-body');
    expect(state).toContain('kept-header');
    expect(log).toContain(callback.id);
    expect(state).toContain(id);
    const secrets = [
      FACILITATOR_TOKEN,
      callback.read_token,
      callback.read_token.slice(10),
      'sender-canary',
      key,
      key.slice(8),
      ADMIN_TOKEN,
    ];
    const unwanted = [
      ...secrets,
      'cookie-canary',
      'wrong-canary',
      callback.read_token,
      'question-canary',
      encodeHeader(payment).slice(0, 200),
    ];
    for (const secret of unwanted) {
      for (const [where, text] of Object.entries({ log, metrics, state })) {
        expect(text.includes(secret), `${secret} in the ${where}`).toBe(false);
      }
    }
    // The state may hold the signature, which a repeated settlement needs; log and metrics may not.
    for (const text of [log, metrics]) expect(text).not.toContain(payment.payload.signature.slice(2, 66));
    await run.close();
  });
});
