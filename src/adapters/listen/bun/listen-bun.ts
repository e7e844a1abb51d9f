/**
 * `Bun.serve` around the handler. This folder is a separate type-check project with Bun's types, so that the other sources do
 * not see Bun's globals.
 */
import type { DisconnectListener } from '../../../base/disconnect-listener.ts';
import { DisconnectSweep } from '../disconnect-sweep.ts';
import {
  type ClientConnection,
  IDLE_TIMEOUT_SECONDS,
  type Listener,
  type ListenOptions,
  RUNTIME_BODY_BYTES_MAX,
} from '../listen.ts';

type Server = Bun.Server<undefined>;

/** Looks the address up on use: most requests never need it, and the lookup is dear beside a small answer. */
class BunConnection implements ClientConnection {
  readonly #request: Request;
  readonly #server: Server;
  readonly #sweep: DisconnectSweep;
  #address: string | undefined;

  constructor(request: Request, server: Server, sweep: DisconnectSweep) {
    this.#request = request;
    this.#server = server;
    this.#sweep = sweep;
  }

  onDisconnect(listener: DisconnectListener): void {
    this.#sweep.watch(this.#request.signal, listener);
  }

  get address(): string {
    this.#address ??= this.#server.requestIP(this.#request)?.address ?? '';
    return this.#address;
  }
}

/** @throws the error of `Bun.serve`, with its code, when the address cannot be listened on */
export async function listen({ host, port, fetch, unreadable }: ListenOptions): Promise<Listener> {
  const sweep = new DisconnectSweep();
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
    development: false,
    fetch: (request, self) => fetch(request, new BunConnection(request, self, sweep)),
    error: unreadable,
  });
  return {
    port: server.port as number, // listens on a port, not on a Unix socket
    async close(graceMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const grace = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), graceMs);
      });
      const ended = await Promise.race([server.stop(false), grace]);
      clearTimeout(timer);
      if (ended === 'late') await server.stop(true);
    },
  };
}
