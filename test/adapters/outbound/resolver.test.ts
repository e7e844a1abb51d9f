import { createSocket } from 'node:dgram';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseHosts, SystemResolver } from '../../../src/adapters/outbound/resolver.ts';
import { ManualTime } from '../../support/manual-time.ts';

/** A name server that gives every name one address of each family. @returns its `address:port` */
async function nameServer(): Promise<string> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.on('message', (message, { address, port }) => {
    const end = message.indexOf(0, 12) + 5;
    const isA = message[end - 3] === 1;
    const head = Buffer.from([message[0]!, message[1]!, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
    const record = Buffer.from([0xc0, 12, 0, isA ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, isA ? 4 : 16]);
    socket.send([head, message.subarray(12, end), record, Buffer.alloc(isA ? 4 : 16, 1)], port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return `127.0.0.1:${socket.address().port}`;
}

it('a look-up that both families answered leaves no timer', async () => {
  const time = new ManualTime();
  const servers = [await nameServer()];
  const resolver = new SystemResolver({ clock: time, timers: time, servers, hostsFile: '/nowhere' });
  expect(await resolver.resolve('both.example', new AbortController().signal)).toEqual({
    kind: 'addresses',
    addresses: ['1.1.1.1', '101:101:101:101:101:101:101:101'],
  });
  expect(time.pendingCount).toBe(0);
});

describe('a hosts file', () => {
  it('gives each name its addresses in order, without comments and twice the same', () => {
    const hosts = parseHosts(`# made by hand
127.0.0.1 localhost
::1\tlocalhost ip6-localhost # both
10.0.0.1   DB.example.com db
10.0.0.1 db
  10.0.0.2 db
#10.0.0.3 db

10.0.0.4`);
    expect(Object.fromEntries(hosts)).toEqual({
      localhost: ['127.0.0.1', '::1'],
      'ip6-localhost': ['::1'],
      'db.example.com': ['10.0.0.1'],
      db: ['10.0.0.1', '10.0.0.2'],
    });
  });
});
