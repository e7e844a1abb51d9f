/** Reading over sockets: repeated headers, clients that leave, the shutdown (callback.md; reliability 185 to 202). */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Callback,
  callbackCounts,
  createCallback,
  outcomeOf,
  post,
  READING_ROUTES,
  wait,
} from '../support/callback-client.ts';
import { answersIn, exchange, requestText } from '../support/raw-socket.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';

describe.each(oneRuntime('bun'))('reading on %s', (runtime) => {
  const start = (): Promise<RunningServer> => startServer(runtime, { SNAPSHOT: 'none', LOG_LEVEL: 'error' });
  let server: RunningServer;
  let callback: Callback;
  beforeAll(async () => {
    server = await start();
    callback = await createCallback(server);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  const ids = {
    malformed: () => 'cb_short',
    unknown: () => `cb_${'0'.repeat(24)}`,
    known: () => callback.id,
  };
  const authorizations: Record<string, () => readonly string[]> = {
    blank: () => ['Authorization:'],
    repeated: () => [`Authorization: Bearer ${callback.read_token}`, `Authorization: Bearer ${callback.read_token}`],
  };
  const table = READING_ROUTES.flatMap(([method, rest]) =>
    Object.keys(ids).flatMap((id) =>
      Object.keys(authorizations).map(
        (authorization) =>
          [
            method,
            rest,
            id as keyof typeof ids,
            authorization,
            id === 'malformed' ? '400 INVALID_CALLBACK_ID' : '401 INVALID_AUTHORIZATION',
          ] as const,
      ),
    ),
  );

  it.each(table)(
    '%s …%s with a(n) %s id and authorization %s is %s (invariant 12, reliability 185 to 188)',
    async (...row) => {
      const [method, rest, id, authorization, outcome] = row;
      const { answers } = await exchange(
        server.port,
        requestText(method, `/v1/callbacks/${ids[id]()}${rest}`, ['Host: x', ...authorizations[authorization]!()]),
      );
      const [answer] = answers;
      const code =
        answer === undefined || answer.status < 300
          ? ''
          : (JSON.parse(answer.text) as { error: { code: string } }).error.code;
      expect(`${answer?.status} ${code}`.trim()).toBe(outcome);
    },
  );

  it('frees the wait of a client that leaves, at once (reliability 198)', async () => {
    const fresh = await createCallback(server);
    for (let round = 0; round < 5; round++) {
      const leaving = new AbortController();
      const waits = Array.from({ length: 40 }, () =>
        wait(server, fresh, '?timeout=30', leaving.signal).catch(() => 'left'),
      );
      await expect.poll(async () => (await callbackCounts(server)).waits).toBe(40);
      leaving.abort();
      await Promise.all(waits);
      await expect.poll(async () => (await callbackCounts(server)).waits).toBe(0);
    }
  });

  it('reads ten events of 262,144 control characters, and others are not kept waiting (reliability 202)', async () => {
    const fresh = await createCallback(server);
    const worst = new Uint8Array(262_144).fill(1);
    for (let i = 0; i < 10; i++) expect((await post(server, fresh.id, worst)).status).toBe(200);
    // Parsed at the end: it would hold this process, which measures.
    const chunks: Buffer[] = [];
    const socket = connect(server.port, '127.0.0.1', () => {
      const authorization = `Authorization: Bearer ${fresh.read_token}`;
      const head = ['Host: x', authorization, 'Connection: close', ''];
      socket.write(requestText('GET', `/v1/callbacks/${fresh.id}/events`, head));
    });
    const reading = new Promise((resolve, reject) => socket.on('end', resolve).on('error', reject));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    let worstMs = 0;
    for (let i = 0; i < 20; i++) {
      const startMs = performance.now();
      await outcomeOf(await post(server, `cb_${'9'.repeat(24)}`, 'x'));
      worstMs = Math.max(worstMs, performance.now() - startMs);
    }
    await reading;
    const [answer] = answersIn(Buffer.concat(chunks).toString('latin1'), [], true);
    const listing = JSON.parse(answer!.text) as { events: { body: string }[] };
    expect(listing.events).toHaveLength(10);
    expect(listing.events.every(({ body }) => body === '\u0001'.repeat(262_144))).toBe(true);
    expect(worstMs).toBeLessThan(1_000);
  });

  it('answers waits at once at shutdown, in the timed-out shape, and exits 0 (reliability 201)', async () => {
    const ending = await start();
    const fresh = await createCallback(ending);
    const waits = Array.from({ length: 10 }, () =>
      wait(ending, fresh, '?timeout=30').then((response) => response.json()),
    );
    await expect.poll(async () => (await callbackCounts(ending)).waits).toBe(10);
    const startMs = performance.now();
    const exit = ending.stop();
    expect(await Promise.all(waits)).toEqual(Array(10).fill({ received: false, timeout: true, after: null }));
    expect(performance.now() - startMs).toBeLessThan(10_000);
    expect(await exit).toBe(0);
  });
});
