/** A port of loopback that nothing listens on. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Outside the ephemeral range, so that no outgoing connection takes the port between the check and the server's start. */
const PORTS = { first: 20_000, count: 12_000 };

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const port = PORTS.first + randomInt(PORTS.count);
    const server = createServer();
    server.once('error', () => resolve(freePort()));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)));
  });
