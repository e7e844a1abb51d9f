/** Clients that leave before their answer: Bun's server forgets their addresses, which the log and what is shared by address need. */
import { expect, it } from 'vitest';
import { HttpRequestView } from '../../src/app/request.ts';
import type { RequestRecord } from '../../src/app/request-record.ts';
import { systemRandom } from '../../src/base/random.ts';
import { openedApp } from '../support/opened-app.ts';

/** As on Bun: no address once the client has left. */
class LeavingClient {
  hasLeft = false;

  get address(): string {
    return this.hasLeft ? '' : '203.0.113.9';
  }
}

const ask = (path: string): Request =>
  new Request(`http://paygrade.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });

it('a listener hears of a client that has left before, where only a signal says so', async () => {
  const request = new Request('http://paygrade.test/', { signal: AbortSignal.abort() });
  const parts = { random: systemRandom, trustProxy: false };
  const view = new HttpRequestView(request, { path: '/', search: '' }, {}, 0, { address: '' }, parts);
  let heardCount = 0;
  view.onDisconnect({ isOver: false, handleEvent: () => void heardCount++ });
  await expect.poll(() => heardCount).toBe(1);
});

it('a request is in the log with the address of a client that has left', async () => {
  const records: RequestRecord[] = [];
  const { app, close } = await openedApp({}, { onRequest: (record) => void records.push(record) });
  const client = new LeavingClient();
  const answer = app.handle(ask('/v1/callbacks'), client);
  expect(answer).toBeInstanceOf(Promise);
  client.hasLeft = true;
  await answer;
  expect(records.map((record) => record.client)).toEqual(['203.0.113.9']);
  await close();
});

it('a request with a body that pays is counted under the network of a client that has left, without a log, too', async () => {
  const { app, close } = await openedApp();
  const client = new LeavingClient();
  let lookCount = 0;
  const watched = {
    get address(): string {
      lookCount++;
      return client.address;
    },
  };
  const answer = app.handle(ask('/v1/callbacks'), watched);
  expect(lookCount).toBe(1);
  client.hasLeft = true;
  await answer;
  await close();
});
