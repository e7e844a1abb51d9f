/** The sockets of the Node listener with fakes in their place, on time that the test moves. */
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  AT_ONCE_COUNT,
  UNREAD_BYTES_MAX,
  UNREAD_BYTES_TOTAL_LEFT,
  UNREAD_BYTES_TOTAL_MAX,
  UNREAD_BYTES_UNCHECKED_MAX,
  UNREAD_MS,
  WAITED_TURN_MS,
  WAITING_BYTES_MAX,
  WAITING_BYTES_TOTAL_MAX,
  WAITING_COUNT_MAX,
  WAITING_OVERHEAD_BYTES,
  WRITE_TIMEOUT_MS,
} from '../../../src/adapters/listen/limits.ts';
import { ServedSockets } from '../../../src/adapters/listen/served-sockets.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import type { PlainResponse } from '../../../src/http/plain-response.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { MetricsPage } from '../../support/metrics-page.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  destroyed = false;
  isPaused = false;
  bytesRead = 0;
  bytesWritten = 0;
  writableLength = 0;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.emit('resume');
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }

  /** Output that the client has not read. */
  leaveUnread(bytes: number): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes;
  }

  readAll(): void {
    this.writableLength = 0;
  }
}

class FakeResponse extends EventEmitter {
  readonly req: { complete: boolean; readonly headers: Record<string, string> } = { complete: true, headers: {} };
  shouldKeepAlive = true;
  request: Pick<Running, 'socket' | 'name'> | undefined;
}

const RESPONSE: PlainResponse = { status: 200, headers: {}, body: null };

interface Running {
  readonly socket: FakeSocket;
  readonly name: string;
  /** Ends the answer; the kernel has accepted it. */
  finish(): void;
}

function setUp(connectionsPerAddress = 0, isLater = false) {
  const time = new ManualTime();
  const running: Running[] = [];
  const begun: string[] = [];
  const written: string[] = [];
  const last: string[] = [];
  /** Bytes that each answer leaves unread, and time that it takes. */
  let unreadBytes = 0;
  let handledMs = 0;
  const sockets = new ServedSockets(
    { connectionsMax: 0, connectionsPerAddress },
    {
      answer(incoming, outgoing) {
        const { socket, name } = incoming as unknown as Running;
        begun.push(name);
        time.pass(handledMs);
        const response = outgoing as unknown as FakeResponse;
        response.request = { socket, name };
        running.push({ socket, name, finish: () => response.emit('finish') });
        return isLater ? Promise.resolve(RESPONSE) : RESPONSE;
      },
      write(_, outgoing) {
        const { request, shouldKeepAlive } = outgoing as unknown as FakeResponse;
        const { socket, name } = request!;
        written.push(name);
        if (!shouldKeepAlive) last.push(name);
        socket.leaveUnread(unreadBytes);
      },
    },
    time,
  );
  return {
    time,
    sockets,
    begun,
    written,
    /** Answers written as the last of their connection. */
    last,
    running,
    leaveUnread(bytes: number) {
      unreadBytes = bytes;
    },
    takeTime(ms: number) {
      handledMs = ms;
    },
    connect(address = '192.0.2.1') {
      const socket = new FakeSocket(address);
      sockets.open(socket as never);
      return socket;
    },
    send(socket: FakeSocket, name: string, bytes = 50) {
      socket.bytesRead += bytes;
      sockets.receive({ socket, name, headers: {} } as never, new FakeResponse() as never);
    },
    /** A request whose parser has not come to the end. */
    begin(socket: FakeSocket, name: string, headers: Record<string, string>) {
      const response = new FakeResponse();
      Object.assign(response.req, { complete: false, headers });
      sockets.receive({ socket, name, headers } as never, response as never);
    },
    /** Ends the answer of the request that runs, and lets the next one have its turn. */
    async finish() {
      running.shift()!.finish();
      await turn();
    },
    metric(name: string, labels?: Record<string, string>) {
      const page = new Exposition();
      sockets.metrics(page);
      return new MetricsPage(page.text).value(name, labels);
    },
  };
}

/** The rest of a turn of the loop, answers by promise included. */
async function turn(): Promise<void> {
  await undefined;
  await new Promise((resolve) => setImmediate(resolve));
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `r${i}`);

describe('the requests of one socket', () => {
  it('run one at a time, in order, and the socket is idle in between', async () => {
    const { connect, send, begun, finish, metric } = setUp();
    const socket = connect();
    for (const name of ['a', 'b', 'c']) send(socket, name);
    expect([begun, metric('paygrade_connection_waiting_requests')]).toEqual([['a'], 2]);
    await finish();
    expect(begun).toEqual(['a', 'b']);
    await finish();
    await finish();
    send(socket, 'd');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('keep their order when one arrives between the end of an answer and the turn of the next request', async () => {
    const { connect, send, begun, running, finish } = setUp();
    const socket = connect();
    send(socket, 'a');
    send(socket, 'b');
    running.shift()!.finish();
    send(socket, 'c');
    expect(begun).toEqual(['a']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(['a', 'b']);
    await finish();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('may wait up to the maximum; one more closes the socket, and what its parser still brings is dropped', () => {
    const { connect, send, begun, metric } = setUp();
    const [socket, other] = [connect(), connect()];
    for (const name of names(WAITING_COUNT_MAX + 1)) send(socket, name);
    expect(socket.destroyed).toBe(false);
    send(socket, 'more');
    expect(socket.destroyed).toBe(true);
    for (const name of names(100)) send(socket, name);
    expect([socket.destroyed, other.destroyed, begun]).toEqual([true, false, ['r0']]);
    expect(metric('paygrade_connections_closed_total', { reason: 'waiting' })).toBe(1);
    expect(metric('paygrade_connections_open')).toBe(1);
    expect(metric('paygrade_connection_waiting_requests')).toBe(0);
  });

  it('of several sockets that wait take turns, and a socket closed in the meantime has none', async () => {
    const { connect, send, begun, running } = setUp();
    const [one, two] = [connect(), connect()];
    for (const name of ['1a', '1b']) send(one, name);
    for (const name of ['2a', '2b', '2c']) send(two, name);
    for (const { finish } of running.splice(0)) finish();
    one.destroy();
    expect(begun).toEqual(['1a', '2a']); // in a later turn
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(['1a', '2a', '2b']);
  });

  it('that wait begin for so long a turn, and the rest in the next', async () => {
    const { connect, send, begun, running, takeTime } = setUp();
    for (const name of names(6)) {
      const socket = connect();
      for (let i = 0; i < 3; i++) send(socket, name);
    }
    takeTime(WAITED_TURN_MS / 2);
    for (const { finish } of running.splice(0)) finish();
    for (const count of [2, 4, 6, 6]) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(begun.length).toBe(6 + count);
    }
  });

  it('stop the reading of the socket while they hold many bytes, however often node:http resumes it', async () => {
    const { connect, send, finish } = setUp();
    const socket = connect();
    send(socket, 'a');
    send(socket, 'b');
    send(socket, 'c', WAITING_BYTES_MAX - 1);
    expect(socket.isPaused).toBe(false);
    send(socket, 'd', 1);
    expect(socket.isPaused).toBe(true);
    socket.resume();
    expect(socket.isPaused).toBe(true);
    await finish();
    await finish();
    expect(socket.isPaused).toBe(true);
    await finish();
    expect(socket.isPaused).toBe(false);
  });

  it('of all sockets together have a bound of bytes, and what ended counts no more', async () => {
    const { connect, send, metric, finish } = setUp();
    const each = 1_000_000;
    const fitCount = Math.floor(WAITING_BYTES_TOTAL_MAX / (each + 2 * WAITING_OVERHEAD_BYTES));
    for (let round = 0; round < 3; round++) {
      const sockets = Array.from({ length: fitCount }, () => connect());
      for (const socket of sockets) {
        send(socket, 'a');
        send(socket, 'b');
        send(socket, 'c', each);
      }
      expect(sockets.some(({ destroyed }) => destroyed)).toBe(false);
      const last = connect();
      for (const bytes of [1, 1, each]) send(last, 'x', bytes);
      expect(last.destroyed).toBe(true);
      expect(metric('paygrade_connections_closed_total', { reason: 'waiting_total' })).toBe(round + 1);
      if (round === 0) for (let i = 0; i < 3 * fitCount + 1; i++) await finish();
      else for (const socket of sockets) socket.destroy();
    }
  });
});

describe('answers', () => {
  it('of a busy turn are written at its end, in order, also before a socket is closed for what waits on it', async () => {
    const { connect, send, written } = setUp();
    for (const name of ['a', 'b', 'c', 'd']) send(connect(), name);
    expect(written).toEqual(['a', 'b']);
    await turn();
    expect(written).toEqual(['a', 'b', 'c', 'd']);
    const pipelining = connect();
    for (const name of names(WAITING_COUNT_MAX + 1)) send(pipelining, name);
    expect(written).toHaveLength(4);
    send(pipelining, 'one too many');
    expect([pipelining.destroyed, written.slice(4)]).toEqual([true, ['r0']]);
  });

  it('written before a socket is closed may close it, which counts once', () => {
    const { connect, send, leaveUnread, metric } = setUp();
    leaveUnread(UNREAD_BYTES_TOTAL_MAX + 1);
    const pipelining = connect();
    for (const name of names(WAITING_COUNT_MAX + 2)) send(pipelining, name);
    const closed = (reason: string) => metric('paygrade_connections_closed_total', { reason });
    expect([closed('unread_total'), closed('waiting')]).toEqual([1, 0]);
  });
});

describe('at shutdown', () => {
  it('an answer is the last of its connection, unless a request waits behind it or its own is not there yet', async () => {
    const { connect, send, begin, sockets, last, finish } = setUp();
    for (let i = 0; i <= AT_ONCE_COUNT; i++) send(connect(), 'before');
    sockets.beginClosing();
    await turn(); // one with many answers, so those of the next are gathered
    last.length = 0;
    const pipelining = connect();
    for (const name of ['a', 'b']) send(pipelining, name);
    begin(connect(), 'without a body', {});
    begin(connect(), 'half', { 'content-length': '9' });
    await turn();
    expect(last).toEqual(['without a body']);
    for (let i = 0; i <= AT_ONCE_COUNT + 1; i++) await finish();
    expect(last).toEqual(['without a body', 'b']);
  });

  it('connections close once they were idle from one look to the next', async () => {
    const { connect, send, sockets, running } = setUp();
    const [idle, speaking, answered, unread] = [connect(), connect(), connect(), connect()];
    const closed = () => [idle, speaking, answered, unread].map(({ destroyed }) => destroyed);
    send(unread, 'a');
    sockets.closeIdle();
    expect(closed()).toEqual([false, false, false, false]);
    speaking.bytesRead += 9;
    send(answered, 'b');
    running.pop()!.finish();
    sockets.closeIdle();
    expect(closed()).toEqual([true, false, false, false]);
    sockets.closeIdle();
    expect(closed()).toEqual([true, true, true, false]);
    running.pop()!.finish();
    sockets.closeIdle();
    sockets.closeIdle();
    expect(unread.destroyed).toBe(true);
  });
});

describe('unread output', () => {
  it.each([
    ['of the maximum and one byte', UNREAD_BYTES_MAX + 1, UNREAD_MS, 'unread'],
    ['of the maximum', UNREAD_BYTES_MAX, WRITE_TIMEOUT_MS, 'stalled'],
    ['of one byte', 1, WRITE_TIMEOUT_MS, 'stalled'],
  ])('%s closes its socket when %d bytes stay for %d ms, and no other', (_, bytes, ms, reason) => {
    const { time, sockets, connect, metric } = setUp();
    const [socket, other] = [connect(), connect()];
    socket.leaveUnread(5);
    socket.readAll();
    socket.leaveUnread(bytes);
    sockets.check();
    time.pass(ms - 1);
    sockets.check();
    expect(socket.destroyed).toBe(false);
    expect(metric('paygrade_connection_unread_bytes')).toBe(bytes);
    time.pass(1);
    sockets.check();
    expect([socket.destroyed, other.destroyed]).toEqual([true, false]);
    expect(metric('paygrade_connections_closed_total', { reason })).toBe(1);
    expect(metric('paygrade_connection_unread_bytes')).toBe(0);
  });

  it('of a client that reads on, however slowly, closes nothing', () => {
    const { time, sockets, connect } = setUp();
    const socket = connect();
    for (let i = 0; i < 20; i++) {
      socket.writableLength = 100_000;
      socket.bytesWritten += 1;
      sockets.check();
      time.pass(WRITE_TIMEOUT_MS - 1);
    }
    socket.readAll();
    sockets.check();
    socket.leaveUnread(1);
    sockets.check();
    time.pass(WRITE_TIMEOUT_MS - 1);
    sockets.check();
    expect(socket.destroyed).toBe(false);
  });

  it('of a client that reads nothing closes its socket, also while there is more of it', () => {
    const { time, sockets, connect } = setUp();
    const socket = connect();
    for (let i = 0; i < 2; i++) {
      socket.leaveUnread(1);
      sockets.check();
      time.pass(WRITE_TIMEOUT_MS / 2);
    }
    sockets.check();
    expect(socket.destroyed).toBe(true);
  });

  it.each([0, UNREAD_BYTES_MAX])('that was %d bytes in between has not been too much for long', (bytes) => {
    const { time, sockets, connect } = setUp();
    const socket = connect();
    for (const unread of [UNREAD_BYTES_MAX + 1, bytes, UNREAD_BYTES_MAX + 1]) {
      socket.writableLength = unread;
      sockets.check();
      time.pass(UNREAD_MS / 2);
    }
    sockets.check();
    expect(socket.destroyed).toBe(false);
  });

  it('of all clients together closes those with the most of it, until three quarters are left, and those that stand still first', () => {
    const { time, sockets, connect, metric } = setUp();
    const small = Array.from({ length: 32 }, () => connect());
    const large = Array.from({ length: 33 }, () => connect());
    for (const socket of small) socket.leaveUnread(UNREAD_BYTES_TOTAL_MAX / 64);
    for (const socket of large.slice(15)) socket.leaveUnread(UNREAD_BYTES_TOTAL_MAX / 64 + 1);
    sockets.check();
    time.pass(1);
    for (const socket of large.slice(0, 15)) socket.leaveUnread(UNREAD_BYTES_TOTAL_MAX / 64 + 1);
    sockets.check();
    expect(small.some(({ destroyed }) => destroyed)).toBe(false);
    expect(large.map(({ destroyed }) => destroyed)).toEqual([...Array(15).fill(false), ...Array(18).fill(true)]);
    expect(metric('paygrade_connection_unread_bytes')).toBeLessThanOrEqual(UNREAD_BYTES_TOTAL_LEFT);
  });

  it.each([false, true])(
    'that many answers leave is looked at before the next interval; later: %s',
    async (isLater) => {
      const { connect, send, leaveUnread, metric } = setUp(0, isLater);
      const each = UNREAD_BYTES_UNCHECKED_MAX / 2;
      leaveUnread(each);
      for (const seenCount of [0, 0, 3, 3, 3, 6]) {
        send(connect(), 'a');
        await turn();
        expect(metric('paygrade_connection_unread_bytes')).toBe(seenCount * each);
      }
      for (let i = 0; i * each <= UNREAD_BYTES_TOTAL_MAX; i++) {
        send(connect(), 'a');
        await turn();
      }
      expect(metric('paygrade_connections_closed_total', { reason: 'unread_total' })).toBeGreaterThan(0);
    },
  );
});

describe('the connections of one network', () => {
  it('have a maximum; another network and loopback do not count in it, and a closed one counts no more', () => {
    const { connect, metric, send, begun } = setUp(2);
    const [first, second, third] = [connect(), connect(), connect()];
    expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
    expect([connect('192.0.2.2'), connect('127.0.0.1'), connect('127.0.0.1'), connect('127.0.0.1')]).toEqual(
      Array(4).fill(expect.objectContaining({ destroyed: false })),
    );
    send(third, 'refused');
    expect([begun, metric('paygrade_connections_open')]).toEqual([[], 6]);
    first.destroy();
    expect([connect().destroyed, connect().destroyed]).toEqual([false, true]);
    expect(metric('paygrade_connections_refused_total', { reason: 'address' })).toBe(2);
  });
});
