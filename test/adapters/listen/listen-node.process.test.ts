import http from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AT_ONCE_COUNT } from '../../../src/adapters/listen/limits.ts';
import type { RequestHandler } from '../../../src/adapters/listen/listen.ts';
import { listen } from '../../../src/adapters/listen/listen-node.ts';
import { PlainResponse } from '../../../src/http/plain-response.ts';
import { requestOf } from './started-echo.ts';

const answer = (): PlainResponse => new PlainResponse('served', 200, {});

async function listening(handle: RequestHandler<PlainResponse> = answer) {
  const reported: unknown[] = [];
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handle,
    unreadable: answer,
    crowded: answer,
    report: (failure) => reported.push(failure),
    bounds: { connectionsMax: 0, connectionsPerAddress: 0 },
  });
  onTestFinished(() => listener.close(0));
  return { port: listener.port, reported };
}

/** A connection that sends, and keeps what comes. */
function sending(port: number, text: string) {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  const client = { socket, statuses: [] as string[], isClosed: false };
  socket
    .on('data', (data) => client.statuses.push(...(data.toString('latin1').match(/(?<=HTTP\/1\.1 )\d+/g) ?? [])))
    .on('error', () => {})
    .on('close', () => {
      client.isClosed = true;
    });
  onTestFinished(() => void socket.destroy());
  return client;
}

it('serves on after a connection that the system could not accept', async () => {
  const created = vi.spyOn(http, 'createServer');
  onTestFinished(() => created.mockRestore());
  const { port, reported } = await listening();
  const [server] = created.mock.results.map(({ value }) => value as http.Server);
  const failure = Object.assign(new Error('accept EHOSTUNREACH'), { code: 'EHOSTUNREACH' });
  server?.emit('error', failure);
  expect(reported).toEqual([failure]);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('served');
});

describe('requests that are answered when the test says so', () => {
  async function holding() {
    const held: ((response: PlainResponse) => void)[] = [];
    const { port } = await listening(({ url }) =>
      url === '/held' ? new Promise((resolve) => held.push(resolve)) : answer(),
    );
    /** Answers so many of them in one turn of the loop. */
    const release = async (count: number): Promise<void> => {
      await expect.poll(() => held.length).toBe(count);
      for (const resolve of held.splice(0)) resolve(answer());
    };
    return { port, release };
  }

  it.each([
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['CONNECT with a body to come', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n'],
    ['no request', 'GARBAGE\r\n\r\n'],
  ])('an answer that is gathered leaves before the connection closes for %s', async (_, bytes) => {
    const { port, release } = await holding();
    const many = Array.from({ length: AT_ONCE_COUNT + 1 }, () => sending(port, requestOf('/held')));
    await release(many.length);
    await expect.poll(() => many.every(({ statuses }) => statuses.length === 1)).toBe(true);
    // After a turn with many answers also a single one is gathered.
    const last = sending(port, requestOf('/') + bytes);
    await expect.poll(() => last.isClosed).toBe(true);
    expect(last.statuses).toEqual(['200']);
  });

  it('are answered up to one with Connection: close, whatever follows it', async () => {
    const { port, release } = await holding();
    const ending = 'GET /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const client = sending(port, requestOf('/held') + ending + requestOf('/'));
    await release(1);
    await release(1);
    await expect.poll(() => client.isClosed).toBe(true);
    expect(client.statuses).toEqual(['200', '200']);
  });
});
