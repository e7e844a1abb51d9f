/** `callback listen` between a running server and one of the developer's own. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../../src/cli/command.ts';
import type { Io } from '../../../src/cli/io.ts';
import { PROGRAM } from '../../../src/cli/program.ts';
import { post } from '../../support/callback-client.ts';
import { type RunningServer, startServer } from '../../support/server.ts';
import { capturedIo } from '../captured-io.ts';

interface Received {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let server: RunningServer;
let own: Server;
let target: string;
let received: Received[] = [];
let status = 200;

beforeAll(async () => {
  server = await startServer('node', { SNAPSHOT: 'none', LOG_LEVEL: 'error' });
});
afterAll(() => server.stop());

beforeEach(async () => {
  [received, status] = [[], 200];
  own = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ method: request.method, headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(status, { location: '/elsewhere' }).end('thanks\u001b[2J');
    });
  });
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
  target = `http://127.0.0.1:${(own.address() as AddressInfo).port}/hook?x=1`;
});
afterEach(() => {
  own.closeAllConnections();
  own.close();
});

function start(words: readonly string[], env: Record<string, string> = {}) {
  const { io, written } = capturedIo({});
  let interrupt = (): void => {};
  const inner: Io = {
    ...io,
    env: { PAYGRADE_URL: server.url, ...env },
    onSignal: (_name, handler) => {
      interrupt = handler;
      return () => {};
    },
  };
  const ended = runProgram(PROGRAM, ['callback', 'listen', ...words], inner);
  return { ended, written, interrupt: () => interrupt() };
}

const idsIn = (text: string): string[] => [...text.matchAll(/^id\s+(cb_\w{24})$/gm)].map(([, id]) => id as string);

describe('callback listen', () => {
  it('hands on each event as it came: method, bytes and retained headers, and shows the answer', async () => {
    const { ended, written, interrupt } = start(['--forward-to', target]);
    await expect.poll(() => idsIn(written.stdout)).toHaveLength(1);
    const [id] = idsIn(written.stdout);
    const body = '{ "n": 12345678901234567890,\r\n "s": "\\u00e9" }';
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': 't=1,v1=abc',
      'x-own': 'no',
    };
    await post(server, id!, body, { headers, method: 'PUT' });
    await expect.poll(() => received.length).toBe(1);
    status = 302;
    await post(server, id!, 'two');
    await expect.poll(() => written.stdout).toContain('-> 302');
    interrupt();
    expect(await ended).toBe(0);
    const [first, second] = received;
    expect(first).toMatchObject({ method: 'PUT', body: Buffer.from(body) });
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': 't=1,v1=abc',
    });
    expect(first?.headers).not.toHaveProperty('x-own');
    expect(second?.body.toString()).toBe('two');
    expect(received).toHaveLength(2);
    expect(written.stdout).toMatch(/ {2}PUT \d+ B -> 200 {2}thanks\\u001b\[2J\n/);
  });

  it.each([
    ['is stopped', () => target, 'ECONNREFUSED'],
    ['has a port that fetch refuses', () => 'http://127.0.0.1:1/hook', 'bad port'],
  ])('goes on where the own server %s, and ends with 1', async (_, forwardTo, reason) => {
    own.close();
    const { ended, written, interrupt } = start(['--forward-to', forwardTo()]);
    await expect.poll(() => idsIn(written.stdout)).toHaveLength(1);
    await post(server, idsIn(written.stdout)[0]!, 'lost');
    await expect.poll(() => written.stdout).toContain(`(${reason})`);
    interrupt();
    expect(await ended).toBe(1);
    expect(written.stderr).toMatch(/1 event got no answer\n$/);
  });

  it('buys another callback when one is full, says that the sender must be told, and no more than --renew', async () => {
    const { ended, written } = start(['--forward-to', target, '--renew', '1']);
    for (let round = 1; round <= 2; round++) {
      await expect.poll(() => idsIn(written.stdout)).toHaveLength(round);
      const id = idsIn(written.stdout)[round - 1]!;
      for (let i = 0; i < 10; i++) expect((await post(server, id, `${round} ${i}`)).status).toBe(200);
    }
    expect(await ended).toBe(0);
    expect(received).toHaveLength(20);
    const [, second] = idsIn(written.stdout);
    expect(written.stderr).toContain(`so the sender must be told ${server.url}/hooks/${second}\n`);
    expect(written.stderr.match(/has had its 10 events/g)).toHaveLength(2);
    expect(written.stderr.match(/^paying from /gm)).toHaveLength(1);
  });

  it('follows a callback that it is given by its URL, from an event on, and prints JSON', async () => {
    const { io, written: made } = capturedIo({ env: { PAYGRADE_URL: server.url } });
    expect(await runProgram(PROGRAM, ['callback', 'new', '--json'], io)).toBe(0);
    const { id, callback_url, read_token } = JSON.parse(made.stdout) as Record<string, string>;
    const { event_id } = (await (await post(server, id!, 'one')).json()) as { event_id: string };
    await post(server, id!, 'two');
    const words = [callback_url!, '--forward-to', target, '--after', event_id, '--json'];
    const { ended, written, interrupt } = start(words, { READ_TOKEN: read_token!, PAYGRADE_URL: '' });
    await expect.poll(() => written.stdout.split('\n').length).toBe(2);
    interrupt();
    expect(await ended).toBe(0);
    expect(JSON.parse(written.stdout)).toMatchObject({
      method: 'POST',
      size_bytes: 3,
      forwarded_to: target,
      answer: { status: 200, body: 'thanks\u001b[2J' },
      fault: null,
    });
    expect(received.map(({ body }) => body.toString())).toEqual(['two']);
  });
});
