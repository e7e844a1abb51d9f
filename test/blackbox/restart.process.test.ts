/** What was paid for and what was acknowledged survive a kill -9, under both runtimes (reliability 78, 79, 117 to 119, 133, 134, 181). */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectError, receiptOf } from '../support/answers.ts';
import {
  bearer,
  type Callback,
  callbackCounts,
  createCallback,
  eventsText,
  postJson,
} from '../support/callback-client.ts';
import { suiteFolder, testFolder } from '../support/scratch-folder.ts';
import { oneRuntime, startServer } from '../support/server.ts';
import { encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';
import { type Facilitated, openFacilitated, settled, transactionOf } from './facilitated-server.ts';

const ADMIN_TOKEN = 'admin-token-canary-0123456789-0123456789';

describe.each(oneRuntime('bun'))('a server under %s that is killed', (runtime) => {
  const stateDir = suiteFolder();
  const start = () =>
    startServer(runtime, { STATE_DIR: stateDir, LOG_LEVEL: 'error', BASE_URL: 'https://shop.example' });
  const account = wallet();

  it('still knows used payments, callbacks, their events and deletions (reliability 79, 134, 181)', async () => {
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

describe.each(oneRuntime('bun'))('a server under %s that is killed when the facilitator has settled', (runtime) => {
  const payTo = wallet().address;
  const open = (variables: Record<string, string>): Promise<Facilitated> =>
    openFacilitated(runtime, payTo, {
      STATE_DIR: testFolder(),
      BASE_URL: 'https://shop.example',
      ADMIN_TOKEN,
      ...variables,
    });

  it('and has answered neither a search nor a creation: both have their receipt and are listed as undelivered, and no room is held (reliability 117, 133)', async () => {
    const killed = await open({});
    const { jobs, facilitator } = killed;
    const exited = jobs.server.exited;
    const account = wallet();
    const purchases = await Promise.all(
      (
        [
          ['GET', jobs.search],
          ['POST', '/v1/callbacks'],
        ] as const
      ).map(async ([method, path]) => {
        const payment = await paymentFor(await jobs.offer(path, { method }), account);
        const headers = { 'PAYMENT-SIGNATURE': encodeHeader(payment) };
        return { payment, send: (shop: Facilitated) => shop.jobs.send(path, { method, headers }) };
      }),
    );
    let settledCount = 0;
    for (const { payment } of purchases) {
      killed.plan(
        payment,
        '/settle',
        async (call) => {
          if (++settledCount === purchases.length) jobs.server.child.kill('SIGKILL');
          await exited;
          return settled(call);
        },
        settled,
      );
    }
    for (const sent of await Promise.allSettled(purchases.map(({ send }) => send(killed)))) {
      expect(sent.status).toBe('rejected');
    }
    const next = await open({ STATE_DIR: jobs.server.stateDir, FACILITATOR_URL: facilitator.url });
    for (const { payment, send } of purchases) {
      const { nonce } = payment.payload.authorization;
      await expect
        .poll(async () => {
          const again = await send(next);
          expectError(again, 409, 'PAYMENT_ALREADY_USED');
          return receiptOf(again);
        })
        .toMatchObject({ success: true, transaction: transactionOf(nonce), payer: account.address });
      expect(killed.callsOf(payment, '/verify')).toHaveLength(1);
      const [first, ...repeated] = killed.callsOf(payment, '/settle').map(({ body }) => body);
      expect(repeated).toEqual([first]);
    }
    const authorization = `Bearer ${ADMIN_TOKEN}`;
    const listed = await next.jobs.get('/admin/v1/sales?undelivered=true', { authorization });
    const { data } = JSON.parse(listed.text) as { data: { sales: { nonce: string; delivered: boolean }[] } };
    expect(data.sales.map(({ nonce, delivered }) => `${nonce} ${delivered}`).toSorted()).toEqual(
      purchases.map(({ payment }) => `${payment.payload.authorization.nonce} false`).toSorted(),
    );
    expect(await callbackCounts(next.jobs.server)).toMatchObject({ live: 0, claimedBytes: 0 });
    expect(await next.close()).toBe(0);
    await facilitator.close();
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
