/**
 * Readers of one full callback beside customers who pay (reliability 202): ten events of 262,144 control characters, 15.7 MB an
 * answer. The memory that a reader takes is a few pieces, whatever it leaves unread, and customers are answered meanwhile.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Callback, createCallback, post } from '../support/callback-client.ts';
import { requestText } from '../support/raw-socket.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';
import { buyOver, wallet } from '../support/wallet.ts';

const EVENT_BYTES = 262_144;
const ANSWER_BYTES = 10 * 6 * EVENT_BYTES;
/** What all readers of one test may add to the process. One answer for each of them would be 0.9 GB and more. */
const ADDED_MIB_MAX = 200;
const HONEST_COUNT = 20;
/** On a machine that others keep busy: so many times the quiet percentile. */
const SLOWDOWN_MAX = 20;

const payer = wallet();

describe.each(oneRuntime('node'))('readers of a full callback on %s', (runtime) => {
  let server: RunningServer;
  let saidAtStart: string;
  let callback: Callback;
  let quietMib: number;
  let honestMsMax: number;
  const sockets = new Set<Socket>();

  /** The most that the process has taken since the last call (Linux, proc(5)). */
  const peakMib = (): number => {
    const proc = `/proc/${server.child.pid}`;
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`${proc}/status`, 'utf8'));
    writeFileSync(`${proc}/clear_refs`, '5');
    return Number(peak?.[1]) / 1024;
  };
  const open = (text: string): Socket => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };
  const request = (): string =>
    requestText('GET', `/v1/callbacks/${callback.id}/events`, [
      'Host: x',
      `Authorization: Bearer ${callback.read_token}`,
      '',
    ]);
  /** The 90th percentile of paid creations, one after the other, milliseconds. */
  const honestP90Ms = async (): Promise<number> => {
    const tookMs: number[] = [];
    for (let i = 0; i < HONEST_COUNT; i++) {
      const startMs = performance.now();
      const bought = await buyOver(server, '/v1/callbacks', payer, { method: 'POST' });
      expect(bought.status).toBe(201);
      await bought.arrayBuffer();
      tookMs.push(performance.now() - startMs);
    }
    return tookMs.sort((a, b) => a - b)[Math.floor(0.9 * HONEST_COUNT)]!;
  };
  const leave = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => sockets.size).toBe(0);
  };

  beforeAll(async () => {
    server = await startServer(runtime, { SNAPSHOT: 'none', LOG_LEVEL: 'error' });
    saidAtStart = server.stderr();
    callback = await createCallback(server);
    const worst = new Uint8Array(EVENT_BYTES).fill(1);
    for (let i = 0; i < 10; i++) expect((await post(server, callback.id, worst)).status).toBe(200);
    await honestP90Ms();
    peakMib();
    honestMsMax = Math.max(1_000, SLOWDOWN_MAX * (await honestP90Ms()));
    quietMib = peakMib();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    expect(await server.stop()).toBe(0);
    expect(server.stderr().slice(saidAtStart.length)).not.toMatch(/error|warn|aborted/i);
  });

  it('that leave sixty answers unread hold a few pieces each', async () => {
    for (let i = 0; i < 60; i++) open(request()).pause();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await honestP90Ms()).toBeLessThan(honestMsMax);
    expect(peakMib() - quietMib).toBeLessThan(ADDED_MIB_MAX);
    await leave();
  });

  it('that pipeline four hundred requests and read nothing hold a few pieces each', async () => {
    open(request().repeat(400)).pause();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await honestP90Ms()).toBeLessThan(honestMsMax);
    expect(peakMib() - quietMib).toBeLessThan(ADDED_MIB_MAX);
    await leave();
  });

  it('that read fifty answers at a time delay no customer by a second', { timeout: 60_000 }, async () => {
    const fresh = await createCallback(server);
    callback = fresh;
    const worst = new Uint8Array(EVENT_BYTES).fill(1);
    for (let i = 0; i < 10; i++) expect((await post(server, fresh.id, worst)).status).toBe(200);
    let byteCount = 0;
    for (let i = 0; i < 50; i++) open(request().repeat(3)).on('data', (chunk: Buffer) => (byteCount += chunk.length));
    await expect.poll(() => byteCount).toBeGreaterThan(0);
    expect(await honestP90Ms()).toBeLessThan(honestMsMax);
    expect(peakMib() - quietMib).toBeLessThan(ADDED_MIB_MAX);
    await leave();
  });

  it('that have begun when the callback is deleted get the whole or a broken connection', async () => {
    const socket = open(request());
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const deleted = await server.fetch(`/v1/callbacks/${callback.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${callback.read_token}` },
    });
    expect(deleted.status).toBe(200);
    let byteCount = 0;
    let end = '';
    socket.on('data', (chunk: Buffer) => {
      byteCount += chunk.length;
      end = (end + chunk.toString('latin1')).slice(-16);
    });
    socket.resume();
    await expect.poll(() => sockets.has(socket)).toBe(false);
    // A reset drops what the client has not read yet.
    expect(byteCount).toBeLessThan(ANSWER_BYTES);
    expect(end).not.toContain('0\r\n\r\n');
  });
});
