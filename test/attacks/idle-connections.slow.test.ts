/** Proxies keep connections for 60 s and more; a server that closes one first loses the request that is on its way then. */
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { RUNTIMES } from '../support/server.ts';
import { AttackedServer } from './attacked-server.ts';

/** nginx keeps idle connections to an upstream for 60 s; this is beyond that and the sweep of a runtime. */
const IDLE_MS = 66_000;
const REQUEST = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';

it.concurrent.each(RUNTIMES)(
  'a request after 66 s of silence is answered under %s',
  async (runtime) => {
    const server = await AttackedServer.start(runtime, {});
    let received = '';
    let isClosed = false;
    const socket = connect(server.target.port, '127.0.0.1');
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      received += String(text);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      isClosed = true;
    });
    const answerCount = (): number => received.split('HTTP/1.1 200').length - 1;
    try {
      socket.write(REQUEST);
      while (answerCount() < 1) await pause(20);
      await pause(IDLE_MS);
      expect(isClosed, 'the server closed the connection').toBe(false);
      socket.write(REQUEST);
      for (let i = 0; i < 100 && answerCount() < 2; i++) await pause(20);
      expect(answerCount()).toBe(2);
    } finally {
      socket.destroy();
      await server.kill();
    }
  },
  120_000,
);
