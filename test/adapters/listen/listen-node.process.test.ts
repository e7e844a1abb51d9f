import http from 'node:http';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../../../src/adapters/listen/listen-node.ts';
import { PlainResponse } from '../../../src/http/plain-response.ts';

it('serves on after a connection that the system could not accept', async () => {
  const created = vi.spyOn(http, 'createServer');
  onTestFinished(() => created.mockRestore());
  const reported: unknown[] = [];
  const answer = (): PlainResponse => new PlainResponse('served', 200, {});
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handle: answer,
    unreadable: answer,
    crowded: answer,
    report: (failure) => reported.push(failure),
    bounds: { connectionsMax: 0, connectionsPerAddress: 0 },
  });
  onTestFinished(() => listener.close(0));
  const [server] = created.mock.results.map(({ value }) => value as http.Server);
  const failure = Object.assign(new Error('accept EHOSTUNREACH'), { code: 'EHOSTUNREACH' });
  server?.emit('error', failure);
  expect(reported).toEqual([failure]);
  expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe('served');
});
