/** Bun's own server around the handler. */
import type { DisconnectListener } from '../../base/disconnect-listener.ts';
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

/** How late a client's going away may be noticed. 10,000 signals are looked through in 0.2 ms. */
const DEPARTURE_PAUSE_MS = 500;

/** Clients that are looked after now and then, since listening to a signal takes a third of what a held request takes. */
class Departures {
  #signals: AbortSignal[] = [];
  /** Of the signal at the same place. */
  #listeners: DisconnectListener[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  watch(signal: AbortSignal, listener: DisconnectListener): void {
    this.#signals.push(signal);
    this.#listeners.push(listener);
    this.#timer ??= setInterval(() => this.#look(), DEPARTURE_PAUSE_MS).unref();
  }

  #look(): void {
    const signals = this.#signals;
    const listeners = this.#listeners;
    this.#signals = [];
    this.#listeners = [];
    for (const [i, listener] of listeners.entries()) {
      if (listener.isOver) continue;
      const signal = signals[i] as AbortSignal;
      if (signal.aborted) {
        listener.handleEvent();
        continue;
      }
      this.#signals.push(signal);
      this.#listeners.push(listener);
    }
    if (this.#signals.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** A caller whose address is looked up when it is asked for, which costs a fifth of a small answer; most requests never do. */
class BunCaller implements Caller {
  readonly #request: Request;
  readonly #server: BunServer;
  readonly #departures: Departures;
  #address: string | undefined;

  constructor(request: Request, server: BunServer, departures: Departures) {
    this.#request = request;
    this.#server = server;
    this.#departures = departures;
  }

  onDisconnect(listener: DisconnectListener): void {
    this.#departures.watch(this.#request.signal, listener);
  }

  get address(): string {
    this.#address ??= this.#server.requestIP(this.#request)?.address ?? '';
    return this.#address;
  }
}

export async function listen({ host, port, fetch, unreadable }: ListenOptions): Promise<Listener> {
  const { Bun } = globalThis as unknown as { Bun: BunRuntime };
  const departures = new Departures();
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
    development: false,
    fetch: (request, self) => fetch(request, new BunCaller(request, self, departures)),
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
