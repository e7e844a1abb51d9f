/** Both listeners behind real sockets: what the handler learns about its client. */
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binaryOf, listeningPort, RUNTIMES, type Started, startProcess } from '../../support/server.ts';

const PROGRAM = fileURLToPath(new URL('echo-server.ts', import.meta.url));

describe.each(RUNTIMES)('the listener of %s', (runtime) => {
  let server: Started;
  let port: number;
  beforeAll(async () => {
    server = startProcess(binaryOf(runtime), [PROGRAM]);
    port = await listeningPort(server);
  });
  afterAll(async () => {
    server.child.kill('SIGTERM');
    expect(await server.exited).toBe(0);
  });

  /** The whole answer to the text, on a connection that closes behind it. */
  const ask = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      let received = '';
      socket.setEncoding('utf8').on('data', (part: string) => {
        received += part;
      });
      socket.on('end', () => resolve(received)).on('error', reject);
    });

  it.each([
    ['example.com', 'a name'],
    ['Example.COM:8402', 'a name with capitals and a port'],
    ['[::1]:80', 'an IPv6 address'],
    ['127.0.0.1', 'another address than the listening one'],
  ])('gives the Host as sent: %s, %s', async (host) => {
    const answer = await ask(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))).toEqual({
      host,
      address: '127.0.0.1',
    });
  });

  it('says once when a client disconnects from a held request', async () => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /held HTTP/1.1\r\nHost: x\r\n\r\n'));
    await expect.poll(() => server.stdout()).toContain('held\n');
    socket.destroy();
    await expect.poll(() => server.stdout(), { timeout: 5_000 }).toContain('disconnected\n');
    expect(server.stdout().match(/disconnected/g)).toHaveLength(1);
  });
});
