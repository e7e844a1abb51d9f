/** What takes half a minute by contract: the longest wait, and a body that drips (reliability 168, 199), on both runtimes. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallback, eventsOf, wait } from '../support/callback-client.ts';
import { RUNTIMES, type RunningServer, type Runtime, startServer } from '../support/server.ts';

const LONGER_THAN_HALF_A_MINUTE_MS = 60_000;

/** Not earlier, and later only by what a busy machine takes. */
function expectHalfAMinute(tookMs: number): void {
  expect(tookMs).toBeGreaterThan(29_500);
  expect(tookMs).toBeLessThan(35_000);
}

describe('half a minute', () => {
  const servers = new Map<Runtime, RunningServer>();
  beforeAll(async () => {
    for (const runtime of RUNTIMES)
      servers.set(runtime, await startServer(runtime, { SNAPSHOT: 'none', LOG_LEVEL: 'error' }));
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.stop();
  });

  it.concurrent.each(RUNTIMES)(
    'is how long a wait lasts on %s, and then it is answered (reliability 199)',
    async (runtime) => {
      const server = servers.get(runtime)!;
      const callback = await createCallback(server);
      const startMs = performance.now();
      const response = await wait(server, callback);
      expect(await response.json()).toEqual({ received: false, timeout: true, after: null });
      expectHalfAMinute(performance.now() - startMs);
    },
    LONGER_THAN_HALF_A_MINUTE_MS,
  );

  const framings = ['Content-Length: 100', 'Transfer-Encoding: chunked'] as const;
  it.concurrent.each(RUNTIMES.flatMap((runtime) => framings.map((framing) => [runtime, framing] as const)))(
    'is how long a dripping body may take on %s with %s, and then it is 408 and not stored (reliability 168)',
    async (runtime, framing) => {
      const server = servers.get(runtime)!;
      const callback = await createCallback(server);
      const startMs = performance.now();
      const received = await new Promise<string>((resolve) => {
        const socket = connect(server.port, '127.0.0.1');
        let text = '';
        socket.write(
          `POST /hooks/${callback.id} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${framing}\r\n\r\n`,
        );
        const drip = setInterval(() => socket.write(framing === framings[1] ? '1\r\nx\r\n' : 'x'), 1_000);
        const giveUp = setTimeout(() => socket.destroy(), 40_000);
        socket.on('data', (data) => {
          text += data.toString('latin1');
        });
        socket.on('error', () => {});
        socket.on('close', () => {
          clearInterval(drip);
          clearTimeout(giveUp);
          resolve(text);
        });
      });
      expect(received).toMatch(/^HTTP\/1\.1 408 /);
      expect(received).toContain('"code":"REQUEST_TIMEOUT"');
      // The connection ends with the answer: nobody reads the rest.
      expectHalfAMinute(performance.now() - startMs);
      expect(await eventsOf(server, callback)).toEqual([]);
    },
    LONGER_THAN_HALF_A_MINUTE_MS,
  );
});
