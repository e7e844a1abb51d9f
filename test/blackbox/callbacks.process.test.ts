/** The callbacks in the whole server, started as an operator starts it, on both runtimes: paid, used, and shut down. */
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  callbackAnswer,
  deletedAnswer,
  eventsAnswer,
  receivedAnswer,
  waitAnswer,
} from '../../src/modules/callbacks/answers.ts';
import { RUNTIMES, type RunningServer, startServer } from '../support/server.ts';
import { buy, wallet } from '../support/wallet.ts';

describe.each(RUNTIMES)('callbacks of the whole server on %s', (runtime) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(runtime, { SNAPSHOT: 'none', LOG_LEVEL: 'debug' });
  });

  const create = async () => {
    const response = await buy(`${server.url}/v1/callbacks`, wallet(), { method: 'POST' });
    expect(response.status).toBe(201);
    return v.parse(callbackAnswer, await response.json());
  };

  it('are paid for, posted to, waited for, read and deleted', async () => {
    const callback = await create();
    expect(callback.callback_url).toBe(`${server.url}/hooks/${callback.id}`);
    const headers = { authorization: `Bearer ${callback.read_token}` };
    const waiting = fetch(`${callback.wait_url}?timeout=10`, { headers }).then((response) => response.json());
    const posted = await fetch(callback.callback_url, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"n":1.0}',
    });
    const { event_id } = v.parse(receivedAnswer, await posted.json());
    const waited = v.parse(waitAnswer, await waiting);
    expect(waited.received && waited.event).toMatchObject({
      id: event_id,
      method: 'PUT',
      body: { n: 1 },
      size_bytes: 9,
    });
    const listing = await (await fetch(callback.events_url, { headers })).text();
    expect(listing).toContain('"body":{"n":1.0},');
    expect(v.parse(eventsAnswer, JSON.parse(listing)).event_count).toBe(1);
    const raw = await fetch(`${callback.events_url}/${event_id}/raw`, { headers });
    expect(await raw.text()).toBe('{"n":1.0}');
    const target = `${server.url}/v1/callbacks/${callback.id}`;
    v.parse(deletedAnswer, await (await fetch(target, { method: 'DELETE', headers })).json());
    expect((await fetch(callback.events_url, { headers })).status).toBe(404);
  });

  it('stand in the published contract', async () => {
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v1/callbacks',
        '/v1/callbacks/{id}',
        '/v1/callbacks/{id}/wait',
        '/v1/callbacks/{id}/events',
        '/v1/callbacks/{id}/events/{event_id}/raw',
        '/hooks/{callback_id}',
      ]),
    );
    expect(Object.keys(paths['/hooks/{callback_id}'] ?? {})).toEqual(expect.arrayContaining(['post', 'put', 'patch']));
  });

  // The last test of this server: it stops it.
  it('answer their waits when the server receives SIGTERM, and no token was ever logged (reliability 201, invariant 20)', async () => {
    const callback = await create();
    const headers = { authorization: `Bearer ${callback.read_token}` };
    const waits = Array.from({ length: 5 }, async () => {
      const response = await fetch(callback.wait_url, { headers });
      return response.json() as Promise<unknown>;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const startMs = performance.now();
    const exit = server.stop();
    expect(await Promise.all(waits)).toEqual(Array(5).fill({ received: false, timeout: true, after: null }));
    expect(performance.now() - startMs).toBeLessThan(10_000);
    expect(await exit).toBe(0);
    expect(server.stdout() + server.stderr()).not.toContain(callback.read_token.slice(10));
    expect(server.stdout() + server.stderr()).toContain('waitForEvent');
  });

  afterAll(() => server.stop());
});
