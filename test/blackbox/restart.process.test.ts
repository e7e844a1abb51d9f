/** What was paid for and what was acknowledged survive a kill -9, under both runtimes (reliability 78, 79, 117 to 119, 133, 134, 181). */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bearer, type Callback, createCallback, eventsText, postJson } from '../support/callback-client.ts';
import { suiteFolder, testFolder } from '../support/scratch-folder.ts';
import { oneRuntime, startServer } from '../support/server.ts';
import { encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';

describe.each(oneRuntime('bun'))('a server under %s that is killed', (runtime) => {
  const stateDir = suiteFolder();
  const start = () =>
    startServer(runtime, { STATE_DIR: stateDir, LOG_LEVEL: 'error', BASE_URL: 'https://shop.example' });
  const account = wallet();

  it('still knows used payments, callbacks, their events and deletions (reliability 79, 133, 134, 181)', async () => {
    const before = await start();
    const search = '/v1/jobs/search?keyword=engineer';
    const payment = encodeHeader(await paymentFor(await offerOf(before.url + search), account));
    const paid = await fetch(before.url + search, { headers: { 'PAYMENT-SIGNATURE': payment } });
    expect(paid.status).toBe(200);

    const [kept, gone] = [await createCallback(before, account), await createCallback(before, account)];
    const bodies = ['{"n":12345678901234567890}', `{"long":"${'x'.repeat(200_000)}"}`];
    const eventIds: string[] = [];
    for (const body of bodies) {
      const posted = await postJson(before, kept.id, body);
      eventIds.push(((await posted.json()) as { event_id: string }).event_id);
    }
    const removed = await fetch(`${before.url}/v1/callbacks/${gone.id}`, {
      method: 'DELETE',
      headers: bearer(gone),
    });
    expect(removed.status).toBe(200);
    await before.kill();

    const after = await start();
    const replay = await fetch(after.url + search, { headers: { 'PAYMENT-SIGNATURE': payment } });
    expect(replay.status).toBe(409);
    expect(replay.headers.get('payment-response')).toBe(paid.headers.get('payment-response'));

    const read = (callback: Callback, path = 'events') =>
      fetch(`${after.url}/v1/callbacks/${callback.id}/${path}`, { headers: bearer(callback) });
    const listed = await eventsText(after, kept);
    const { events, expires_at } = JSON.parse(listed) as { events: { id: string }[]; expires_at: string };
    expect(events.map(({ id }) => id)).toEqual(eventIds);
    expect(expires_at).toBe(kept.expires_at);
    for (const body of bodies) expect(listed).toContain(`"body":${body}`);
    const raw = await read(kept, `events/${eventIds[1]}/raw`);
    expect(await raw.text()).toBe(bodies[1]);
    expect((await read({ ...kept, read_token: `${kept.read_token}x` })).status).toBe(401);
    expect((await read(gone)).status).toBe(404);
    expect(await after.stop()).toBe(0);
  });

  it('gives its state to one process at a time, and to the next after a kill (reliability 78)', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(
      /exited with 1 before .*in use by another process: stop that one, give this one another folder, or let both share a database \(DATABASE_URL\)/s,
    );
    await first.kill();
    const next = await start();
    expect((await (await fetch(`${next.url}/ready`)).json()) as object).toEqual({
      snapshot: true,
      state: true,
      settlement: true,
      load: true,
    });
    expect(await next.stop()).toBe(0);
  });
});

describe.each(oneRuntime('node'))('a state folder under a server on %s', (runtime) => {
  const search = '/v1/jobs/search?keyword=engineer';
  const start = (stateDir: string) =>
    startServer(runtime, { STATE_DIR: stateDir, LOG_LEVEL: 'error', BASE_URL: 'https://shop.example' });

  it.each<[what: string, hand: (stateDir: string) => void, file: string]>([
    ['is moved', (stateDir) => renameSync(stateDir, `${stateDir}.old`), 'state.db'],
    ['is deleted', (stateDir) => rmSync(stateDir, { recursive: true }), 'state.db'],
    ['loses its lock', (stateDir) => rmSync(join(stateDir, 'lock')), 'lock'],
  ])('that %s sells nothing more there, so that the next server may (reliability 78)', async (_, hand, file) => {
    const stateDir = join(testFolder(), 'state');
    const first = await start(stateDir);
    const account = wallet();
    const headers = {
      'PAYMENT-SIGNATURE': encodeHeader(await paymentFor(await offerOf(first.url + search), account)),
    };
    hand(stateDir);
    // It has the same recipient and network, so only the state tells that an authorization was used.
    const payTo = (await offerOf(first.url + search)).accepts[0]?.payTo as string;
    const second = await startServer(runtime, { STATE_DIR: stateDir, PAY_TO: payTo, BASE_URL: 'https://shop.example' });

    const refused = await fetch(first.url + search, { headers });
    expect([refused.status, refused.headers.get('payment-required')]).toEqual([503, null]);
    expect((await fetch(`${first.url}/v1/callbacks`, { method: 'POST' })).status).toBe(503);
    expect(await (await fetch(`${first.url}/ready`)).json()).toMatchObject({ state: false, snapshot: true });
    const line = `${join(stateDir, file)} was moved, deleted or replaced while the server ran`;
    await expect.poll(first.stdout).toContain(line);
    expect((await fetch(second.url + search, { headers })).status).toBe(200);
    expect(await first.stop()).toBe(0);
    expect(await second.stop()).toBe(0);
  });
});
