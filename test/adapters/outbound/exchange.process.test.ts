/** One exchange with its timers held; against many kinds of servers see client.process.test.ts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { exchange, sentHeadersOf } from '../../../src/adapters/outbound/exchange.ts';
import type { OutboundRequest } from '../../../src/outbound/outbound.ts';
import { ManualTime } from '../../support/manual-time.ts';

const request = (method: string, text: string | null, url = 'http://some.example'): OutboundRequest =>
  ({
    ...{ target: { url: new URL(url) }, method, headers: [], body: text === null ? null : Buffer.from(text) },
    ...{ wireBytesMax: 100, unpackedBytesMax: 100 },
  }) as unknown as OutboundRequest;

it.each([
  ['GET', null, undefined],
  ['HEAD', null, undefined],
  ['POST', null, ['0']],
  ['DELETE', null, ['0']],
  ['POST', 'text', ['4']],
  ['GET', '', ['0']],
])('%s with the body %j says the length %j', (method, text, length) => {
  expect(sentHeadersOf(request(method, text), 'x')['Content-Length']).toEqual(length);
});

it('passes on each header once with all its values, and none that it sets itself or that concerns one connection', () => {
  const own = [
    'Accept-Encoding',
    'Connection',
    'Content-Length',
    'Expect',
    'Host',
    'Keep-Alive',
    'Proxy-Authorization',
  ];
  const headers = [
    ...[...own, 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'User-Agent'].map((name) => [name, 'theirs'] as const),
    ...([
      ['X-One', '1'],
      ['Cookie', 'a=b'],
      ['x-one', '2'],
    ] as const),
  ];
  expect(sentHeadersOf({ ...request('GET', null), headers }, 'ours')).toEqual({
    'X-One': ['1', '2'],
    Cookie: ['a=b'],
    'User-Agent': ['ours'],
    'Accept-Encoding': ['gzip, deflate, br'],
  });
});

it('has its time to connect for that alone: a server may answer later', async () => {
  const time = new ManualTime();
  const waiting: number[] = [];
  const server = createServer((_, response) => {
    waiting.push(time.pendingCount);
    time.pass(60_000);
    response.end('late');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ports = { timers: time, onAnswer: () => {}, signal: new AbortController().signal, userAgent: 'x' };
  const ask = () => exchange(request('GET', null, `http://some.example:${port}`), ['127.0.0.1'], ports);
  expect([await ask(), waiting]).toMatchObject([{ kind: 'answer', status: 200 }, [0]]);
  await new Promise((resolve) => server.close(resolve));
  expect([await ask(), time.pendingCount]).toMatchObject([{ kind: 'unreachable' }, 0]);
});
