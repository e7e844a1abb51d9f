/** Bun's own server around the handler. */
import {
  type Caller,
  IDLE_TIMEOUT_SECONDS,
  type Listener,
  type ListenOptions,
  RUNTIME_BODY_BYTES_MAX,
} from './listen.ts';

/** The part of Bun's API that is used here; its type package would redefine the globals of the whole project. */
interface BunServer {
  readonly port: number;
  requestIP(request: Request): { address: string } | null;
  stop(closeActiveConnections: boolean): Promise<void>;
}

interface BunRuntime {
  serve(options: {
    hostname: string;
    port: number;
    idleTimeout: number;
    maxRequestBodySize: number;
    development: boolean;
    fetch(request: Request, server: BunServer): Response | Promise<Response>;
    error(failure: Error): Response;
  }): BunServer;
}

/** A caller whose address is looked up when it is asked for, which costs a fifth of a small answer; most requests never do. */
class BunCaller implements Caller {
  readonly #request: Request;
  readonly #server: BunServer;
  #address: string | undefined;

  constructor(request: Request, server: BunServer) {
    this.#request = request;
    this.#server = server;
  }

  get address(): string {
    this.#address ??= this.#server.requestIP(this.#request)?.address ?? '';
    return this.#address;
  }
}

export async function listen({ host, port, fetch, unreadable }: ListenOptions): Promise<Listener> {
  const { Bun } = globalThis as unknown as { Bun: BunRuntime };
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
    development: false,
    fetch: (request, self) => fetch(request, new BunCaller(request, self)),
    error: unreadable,
  });
  return {
    port: server.port,
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
