/** Bodies that stop a byte short fill their own network's share of the budget and nobody else's (reliability 166, 168). */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Callback, createCallback, eventsOf, post } from '../support/callback-client.ts';
import { MetricsPage } from '../support/metrics-page.ts';
import { RUNTIMES, type RunningServer, startServer } from '../support/server.ts';

const PAYLOAD_BYTES = 262_144;
const BUDGET_BYTES = 4 * PAYLOAD_BYTES;
const POSTS_PER_CALLBACK = 25;
const FLOOD = '198.51.100.66';

describe.each(RUNTIMES)('stalled bodies, under %s', (runtime) => {
  let server: RunningServer;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    server = await startServer(runtime, {
      SNAPSHOT: 'none',
      LOG_LEVEL: 'error',
      TRUST_PROXY: 'true',
      BODY_BYTES: String(BUDGET_BYTES),
    });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    expect(await server.stop()).toBe(0);
  });

  const gauge = async (name: string): Promise<number> =>
    new MetricsPage(await (await server.fetch('/metrics')).text()).value(name);

  /** A post that is one byte short. */
  function stall({ id }: Callback): { readonly socket: Socket; received: string } {
    const head = `POST /hooks/${id} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${FLOOD}\r\nContent-Type: text/plain\r\nContent-Length: ${PAYLOAD_BYTES}\r\n\r\n`;
    const socket = connect(server.port, '127.0.0.1', () => socket.write(head + 'x'.repeat(PAYLOAD_BYTES - 1)));
    const stalled = { socket, received: '' };
    socket
      .on('error', () => {})
      .on('data', (data) => {
        stalled.received += data.toString('latin1');
      });
    sockets.push(socket);
    return stalled;
  }

  it('of one network hold half of the budget; another network is served, and so is the first when they end', async () => {
    const [stalledAt, honest] = [await createCallback(server), await createCallback(server)];
    const stalled = Array.from({ length: POSTS_PER_CALLBACK }, () => stall(stalledAt));
    await expect.poll(() => gauge('paygrade_bodies_waiting')).toBe(POSTS_PER_CALLBACK - 2);
    expect(await gauge('paygrade_body_bytes_in_flight')).toBe(BUDGET_BYTES / 2);
    for (const length of [1, PAYLOAD_BYTES]) {
      const startMs = performance.now();
      const answer = await post(server, honest.id, 'y'.repeat(length), { headers: { 'x-forwarded-for': '192.0.2.1' } });
      expect(answer.status).toBe(200);
      expect(performance.now() - startMs).toBeLessThan(5_000);
    }
    expect(await eventsOf(server, honest)).toHaveLength(2);
    // Those in the budget disconnect, and two that waited are read to their end.
    for (const { socket } of stalled.slice(0, POSTS_PER_CALLBACK - 2)) socket.destroy();
    const last = stalled.slice(-2);
    for (const { socket } of last) socket.write('x');
    await expect.poll(() => last.map(({ received }) => received.slice(9, 12))).toEqual(['200', '200']);
    expect(await eventsOf(server, stalledAt)).toHaveLength(2);
    await expect.poll(() => gauge('paygrade_body_bytes_in_flight')).toBe(0);
    expect(await gauge('paygrade_bodies_waiting')).toBe(0);
  });

  it('that cannot even wait are refused at once with 408 and a closed connection', async () => {
    const callbacks = await Promise.all(Array.from({ length: 6 }, () => createCallback(server)));
    const stalled = callbacks.flatMap((callback) => Array.from({ length: 50 }, () => stall(callback)));
    await expect.poll(() => gauge('paygrade_bodies_crowded_total')).toBeGreaterThan(0);
    await expect.poll(() => stalled.some(({ received }) => received.startsWith('HTTP/1.1 408 '))).toBe(true);
    const refused = stalled.find(({ received }) => received.startsWith('HTTP/1.1 408 '))!;
    expect(refused.received).toContain('"code":"REQUEST_TIMEOUT"');
    await expect.poll(() => refused.socket.destroyed || refused.socket.readableEnded).toBe(true);
    const honest = await createCallback(server);
    const answer = await post(server, honest.id, 'y', { headers: { 'x-forwarded-for': '192.0.2.1' } });
    expect(answer.status).toBe(200);
  });
});
