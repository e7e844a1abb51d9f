import { createSocket } from 'node:dgram';
import { getEventListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseHosts, SystemResolver } from '../../../src/adapters/outbound/resolver.ts';
import { OTHER_FAMILY_MS } from '../../../src/outbound/limits.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { testFolder } from '../../support/scratch-folder.ts';

/** Codes of answers (RFC 1035 §4.1.1): the one address of the family, none of it, no such name. */
const [FOUND, NO_DATA, NO_NAME] = ['found', 'no data', 'no name'] as const;
/** null: never. */
type Answered = 'found' | 'no data' | 'no name' | null;

/** A name server that gives every name one address of a family, or answers otherwise. @returns its `address:port` */
async function nameServer(ofA: Answered = FOUND, ofAaaa: Answered = FOUND, onAsked = () => {}): Promise<string> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.on('message', (message, { address, port }) => {
    onAsked();
    const end = message.indexOf(0, 12) + 5;
    const isA = message[end - 3] === 1;
    const answered = isA ? ofA : ofAaaa;
    if (answered === null) return;
    const count = answered === FOUND ? 1 : 0;
    const code = answered === NO_NAME ? 0x83 : 0x80;
    const head = Buffer.from([message[0]!, message[1]!, 0x81, code, 0, 1, 0, count, 0, 0, 0, 0]);
    const record = Buffer.from([0xc0, 12, 0, isA ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, isA ? 4 : 16]);
    const found = count === 1 ? [record, Buffer.alloc(isA ? 4 : 16, 1)] : [];
    socket.send([head, message.subarray(12, end), ...found], port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return `127.0.0.1:${socket.address().port}`;
}

it('a look-up that both families answered leaves no timer', async () => {
  const time = new ManualTime();
  const servers = [await nameServer()];
  const resolver = new SystemResolver({ clock: time, timers: time, servers, hostsFile: '/nowhere' });
  const { signal } = new AbortController();
  expect(await resolver.resolve('both.example', signal)).toEqual({
    kind: 'addresses',
    addresses: ['1.1.1.1', '101:101:101:101:101:101:101:101'],
  });
  expect([time.pendingCount, getEventListeners(signal, 'abort')]).toEqual([0, []]);
});

it.each([
  [FOUND, NO_DATA, { kind: 'addresses', addresses: ['1.1.1.1'] }],
  [FOUND, NO_NAME, { kind: 'addresses', addresses: ['1.1.1.1'] }],
  [NO_DATA, NO_DATA, { kind: 'unknown', code: 'ENODATA' }],
  [NO_DATA, NO_NAME, { kind: 'unknown', code: 'ENOTFOUND' }],
])('a name whose families are %s and %s is %o', async (ofA, ofAaaa, expected) => {
  const time = new ManualTime();
  const servers = [await nameServer(ofA, ofAaaa)];
  const resolver = new SystemResolver({ clock: time, timers: time, servers, hostsFile: '/nowhere' });
  expect(await resolver.resolve('some.example', new AbortController().signal)).toEqual(expected);
});

it('a family that is silent is left some time after the other has answered, and all with the signal', async () => {
  const time = new ManualTime();
  let askedCount = 0;
  const open = async (ofA: Answered): Promise<SystemResolver> =>
    new SystemResolver({
      clock: time,
      timers: time,
      servers: [await nameServer(ofA, null, () => askedCount++)],
      hostsFile: '/nowhere',
    });
  const half = (await open(FOUND)).resolve('half.example', new AbortController().signal);
  await expect.poll(() => time.pendingCount, { interval: 2 }).toBe(1);
  time.pass(OTHER_FAMILY_MS);
  expect(await half).toEqual({ kind: 'addresses', addresses: ['1.1.1.1'] });

  askedCount = 0;
  const silent = await open(null);
  const leaving = new AbortController();
  const left = silent.resolve('silent.example', leaving.signal);
  await expect.poll(() => askedCount, { interval: 2 }).toBe(2);
  leaving.abort();
  expect(await left).toEqual({ kind: 'timeout', code: 'ECANCELLED' });
  expect(await silent.resolve('silent.example', leaving.signal)).toEqual({ kind: 'timeout', code: 'ECANCELLED' });
});

describe('a hosts file', () => {
  it('comes before the name servers, and is read again after a second', async () => {
    const time = new ManualTime();
    const folder = testFolder();
    const hostsFile = join(folder, 'hosts');
    const resolver = new SystemResolver({ clock: time, timers: time, servers: [await nameServer()], hostsFile });
    const addressesOf = async (name: string): Promise<unknown> =>
      Object.entries(await resolver.resolve(name, new AbortController().signal))[1]?.[1];
    expect(await addressesOf('localhost')).toEqual(['127.0.0.1', '::1']);
    writeFileSync(hostsFile, '10.0.0.1 db localhost');
    time.pass(999);
    expect(await addressesOf('localhost')).toEqual(['127.0.0.1', '::1']);
    time.pass(1);
    expect([await addressesOf('localhost'), await addressesOf('db')]).toEqual([['10.0.0.1'], ['10.0.0.1']]);
  });

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
