/** The bounds of both listeners on real sockets (reliability 169, 210, 213): who is closed, and that the others notice nothing. */
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { UNREAD_BYTES_TOTAL_MAX, WAITING_COUNT_MAX } from '../../../src/adapters/listen/limits.ts';
import { MetricsPage } from '../../support/metrics-page.ts';
import { binaryOf, listeningPort, RUNTIMES, type Runtime, type Started, startProcess } from '../../support/server.ts';
import { pause } from '../../support/until.ts';
import { ECHO_PROGRAM, requestOf } from './started-echo.ts';

const answerCountIn = (received: string): number => received.match(/HTTP\/1.1 200/g)?.length ?? 0;
/** They take the echo server 50 ms and more. */
const PIPELINED_COUNT = 10_000;

/** Of this machine, and not loopback, which no rule counts. */
const OWN_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;
if (OWN_ADDRESS === undefined) console.warn('SKIPPED: no address but loopback, so bounds by address were not tried');

/** A client that keeps what it reads. */
class Client {
  readonly socket: Socket;
  received = '';
  isClosed = false;

  constructor(port: number, sent: string, reads = true, host = '127.0.0.1') {
    this.socket = connect(port, host, () => this.socket.write(sent));
    this.socket
      .on('error', () => {})
      .on('close', () => {
        this.isClosed = true;
      });
    if (reads) this.read();
    else this.socket.pause();
  }

  read(): void {
    this.socket
      .on('data', (data) => {
        this.received += data.toString('latin1');
      })
      .resume();
  }
}

describe('the bounds of the listener', () => {
  let server: Started | undefined;
  const clients: Client[] = [];
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    server?.child.kill('SIGTERM');
    expect(await server?.exited).toBe(0);
  });

  async function start(runtime: Runtime, variables: Record<string, string> = {}) {
    const started = startProcess(binaryOf(runtime), [ECHO_PROGRAM], variables);
    server = started;
    const port = await listeningPort(started);
    const open = (sent: string, reads = true, host?: string): Client => {
      const client = new Client(port, sent, reads, host);
      clients.push(client);
      return client;
    };
    /** Undefined when the connection was refused. */
    const metric = async (name: string, labels?: Record<string, string>): Promise<number | undefined> => {
      const client = open(`GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      await expect.poll(() => client.isClosed).toBe(true);
      const bodyAt = client.received.indexOf('\r\n\r\n');
      return bodyAt < 0 ? undefined : new MetricsPage(client.received.slice(bodyAt + 4)).value(name, labels);
    };
    return { open, metric };
  }

  it.each(RUNTIMES)('runs one handler at a time on a connection, in order, under %s', async (runtime) => {
    const { open } = await start(runtime);
    const names = runtime === 'node' ? ['a', 'b', 'c', 'd'] : ['a'];
    const client = open(names.map((name) => requestOf(`/later?name=${name}`)).join(''));
    await expect.poll(() => client.received.match(/ran .*/g)).toEqual(names.map((name) => `ran ${name}`));
  });

  it('Bun closes a connection on which a request arrives while another is pending', async () => {
    const { open } = await start('bun');
    const client = open(requestOf('/later?name=a') + requestOf('/later?name=b'));
    await expect.poll(() => client.isClosed).toBe(true);
    expect(client.received).toBe('');
  });

  it('Bun ends a pipeline of requests that are answered at once, after a few milliseconds', async () => {
    const { open } = await start('bun');
    const target = '/bytes?count=4096';
    const pipeline = open(requestOf(target).repeat(PIPELINED_COUNT));
    await expect.poll(() => pipeline.isClosed).toBe(true);
    expect(answerCountIn(pipeline.received)).toBeLessThan(PIPELINED_COUNT / 4);
    // A client that waits for each answer gets them all, in however many turns.
    const patient = open('');
    for (let count = 1; count <= 50; count++) {
      patient.socket.write(requestOf(target));
      await expect.poll(() => answerCountIn(patient.received), { interval: 1 }).toBe(count);
    }
  });

  it('Node answers as many pipelined requests as may wait, and closes a connection with one more', async () => {
    const { open, metric } = await start('node');
    const fits = open(requestOf('/later?name=x').repeat(WAITING_COUNT_MAX + 1));
    const exceeds = open(requestOf('/later?name=y').repeat(WAITING_COUNT_MAX + 2));
    await expect.poll(() => exceeds.isClosed).toBe(true);
    expect(exceeds.received).toBe('');
    await expect.poll(() => fits.received.match(/ran /g)?.length).toBe(WAITING_COUNT_MAX + 1);
    expect(await metric('paygrade_connections_closed_total', { reason: 'waiting' })).toBe(1);
  });

  it.each([
    ['nothing like a request', 'GARBAGE\r\n\r\n', '400'],
    ['a head that is too large', requestOf(`/${'x'.repeat(20_000)}`), '431'],
  ])('Node answers the requests before %s, and then closes the connection', async (_, bytes, status) => {
    const { open } = await start('node');
    const statusesOf = async (sent: string): Promise<string[] | undefined> => {
      const client = open(sent);
      await expect.poll(() => client.isClosed).toBe(true);
      return client.received.match(/(?<=^HTTP\/1\.1 )\d+/gm)?.slice();
    };
    expect(await statusesOf(requestOf('/bytes?count=7') + bytes)).toEqual(['200']);
    expect(await statusesOf(bytes)).toEqual([status]);
  });

  it.each(RUNTIMES)('a flood of pipelined requests that reads nothing takes no memory, under %s', async (runtime) => {
    const { open, metric } = await start(runtime, { NODE_OPTIONS: '--max-old-space-size=256' });
    const flood = requestOf('/bytes?count=300000').repeat(16_000);
    for (let i = 0; i < 40; i++) open(flood, false);
    for (let i = 0; i < 20; i++) {
      const honest = open(requestOf('/bytes?count=7'));
      await expect.poll(() => honest.received).toContain('xxxxxxx');
      honest.socket.destroy();
    }
    if (runtime === 'node') expect(await metric('paygrade_connections_closed_total', { reason: 'waiting' })).toBe(40);
    expect(server?.child.exitCode).toBeNull();
  });

  it('Node closes the connections with the most unread output when all together have too much', async () => {
    const { open, metric } = await start('node');
    const eachBytes = 8 * 1_048_576;
    const small = open(requestOf('/bytes?count=6000000'), false);
    const large = Array.from({ length: UNREAD_BYTES_TOTAL_MAX / eachBytes + 8 }, () =>
      open(requestOf(`/bytes?count=${eachBytes + 6_000_000}`), false),
    );
    await expect.poll(() => metric('paygrade_connections_closed_total', { reason: 'unread_total' })).toBeGreaterThan(0);
    expect(await metric('paygrade_connection_unread_bytes')).toBeLessThanOrEqual(UNREAD_BYTES_TOTAL_MAX);
    small.read();
    await expect.poll(() => small.received.length).toBeGreaterThan(6_000_000);
    for (const client of large) client.read();
    await expect.poll(() => large.some(({ isClosed }) => isClosed)).toBe(true);
  });

  it('Node closes a connection above the maximum at once, and accepts one again when another has ended', async () => {
    const { open, metric } = await start('node', { CONNECTIONS_MAX: '2' });
    const [first, second] = [open(requestOf('/bytes?count=1')), open(requestOf('/bytes?count=1'))];
    await expect.poll(() => [first, second].map(({ received }) => received.length > 0)).toEqual([true, true]);
    const third = open(requestOf('/bytes?count=1'));
    await expect.poll(() => third.isClosed).toBe(true);
    expect([third.received, first.isClosed, second.isClosed]).toEqual(['', false, false]);
    first.socket.destroy();
    await expect.poll(() => metric('paygrade_connections_refused_total', { reason: 'all' })).toBeGreaterThan(0);
  });

  it('Bun refuses a request while as many as the maximum are in flight', async () => {
    const { open } = await start('bun', { CONNECTIONS_MAX: '2' });
    const held = [open(requestOf('/held')), open(requestOf('/held'))];
    await expect.poll(() => server?.stdout().match(/held/g)?.length).toBe(2);
    const refused = open(requestOf('/bytes?count=1'));
    await expect.poll(() => refused.received).toMatch(/^HTTP\/1\.1 503 .*\r\n\r\nall$/s);
    await expect.poll(() => refused.isClosed).toBe(true);
    held[0]!.socket.destroy();
    await expect.poll(() => server?.stdout()).toContain('disconnected');
    const next = open(requestOf('/metrics'));
    await expect.poll(() => next.received).toContain('paygrade_connections_refused_total{reason="all"} 1');
  });

  it.runIf(OWN_ADDRESS)('Bun counts a request until its client has all of the answer, or has left', async () => {
    const { open, metric } = await start('bun', { HOST: '0.0.0.0', CONNECTIONS_PER_ADDRESS: '3' });
    const ask = (reads = true) => open(requestOf('/pieces/whole'), reads, OWN_ADDRESS);
    const unread = [ask(false), ask(false), ask(false)];
    await expect.poll(() => metric('paygrade_requests_in_flight')).toBeGreaterThan(3);
    const refused = ask();
    await expect.poll(() => refused.received).toMatch(/^HTTP\/1\.1 503 .*\r\n\r\naddress$/s);
    // One that leaves and one that reads to the end make room for one each.
    unread[0]!.socket.destroy();
    unread[1]!.read();
    await expect.poll(() => unread[1]!.received.length, { timeout: 20_000 }).toBeGreaterThan(65_536_000);
    await pause(700); // until the sweep of those who have left
    const answered = [ask(), ask()];
    await expect
      .poll(() => answered.map(({ received }) => received.slice(0, 12)))
      .toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it.each(['/health', '/ready?a=b', '/metrics'])('Bun refuses %s for no number of requests', async (path) => {
    const { open } = await start('bun', { CONNECTIONS_MAX: '1' });
    open(requestOf('/held'));
    await expect.poll(() => server?.stdout()).toMatch(/held/);
    const asked = open(requestOf(path));
    await expect.poll(() => asked.received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each(RUNTIMES)('the maximum of one address does not bind loopback, under %s', async (runtime) => {
    const { open } = await start(runtime, { CONNECTIONS_PER_ADDRESS: '1' });
    const all = Array.from({ length: 4 }, () => open(requestOf('/held')));
    await expect.poll(() => server?.stdout().match(/held/g)?.length).toBe(4);
    expect(all.some(({ isClosed }) => isClosed)).toBe(false);
  });
});
