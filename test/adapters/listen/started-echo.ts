/** The echo server as a process of its own, for the tests of a block, and plain sockets to it. */
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import { binaryOf, listeningPort, type Runtime, type Started, startProcess } from '../../support/server.ts';

export const ECHO_PROGRAM = fileURLToPath(new URL('echo-server.ts', import.meta.url));
export const BODY_PROGRAM = fileURLToPath(new URL('body-server.ts', import.meta.url));

/** The head of a GET request without a body. */
export const requestOf = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;

export class StartedEcho {
  #server: Started | undefined;
  #port = 0;

  get server(): Started {
    if (this.#server === undefined) throw new Error('the echo server is started before the first test');
    return this.#server;
  }

  get port(): number {
    return this.#port;
  }

  async start(runtime: Runtime, program: string, variables: Readonly<Record<string, string>>): Promise<void> {
    this.#server = startProcess(binaryOf(runtime), [program], variables);
    this.#port = await listeningPort(this.#server);
  }

  /** Connects, and then sends the text. */
  socket(sent: string): Socket {
    const socket = connect(this.#port, '127.0.0.1', () => socket.write(sent));
    return socket;
  }

  /** Resolves once the text is on its way; what goes wrong with the connection later is no failure. */
  opened(sent: string): Promise<Socket> {
    const socket = this.socket(sent);
    socket.on('error', () => {});
    return new Promise((resolve) => socket.once('connect', () => resolve(socket)));
  }
}

/** Starts the server, or another program, before the tests of the block, and expects it to end well after them. */
export function startedEcho(
  runtime: Runtime,
  program = ECHO_PROGRAM,
  variables: Readonly<Record<string, string>> = {},
): StartedEcho {
  const echo = new StartedEcho();
  beforeAll(() => echo.start(runtime, program, variables));
  afterAll(async () => {
    echo.server.child.kill('SIGTERM');
    expect(await echo.server.exited).toBe(0);
  });
  return echo;
}
