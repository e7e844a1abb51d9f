/** A request of node:http whose client leaves before anything asks about it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { NodeExchange } from '../../../src/adapters/listen/node-exchange.ts';

it.each(['while it is held', 'before'])('tells a listener once of a client that leaves %s', async (when) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
  const [incoming, outgoing] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const exchange = new NodeExchange('/', incoming, outgoing);
  let heardCount = 0;
  const listen = (): void => exchange.onDisconnect({ isOver: false, handleEvent: () => void heardCount++ });
  if (when !== 'before') listen();
  const closed = once(outgoing, 'close');
  client.destroy();
  await closed;
  if (when === 'before') listen();
  await expect.poll(() => heardCount).toBe(1);
  server.close();
});

it.each([
  ['all of it had come', 'abc'],
  ['a part of it had come', 'a'],
])('gives no body, and not an empty one, of a client that has left: %s', async (_, sent) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(`POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n${sent}`);
  const [incoming, outgoing] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const closed = once(outgoing, 'close');
  client.destroy();
  await closed;
  await expect(new NodeExchange('/', incoming, outgoing).readAtMost(3)).rejects.toThrow('disconnected');
  server.close();
});
