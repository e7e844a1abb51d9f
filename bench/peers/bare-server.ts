/** A server that does nothing but what a bench hands it: node:http, or Bun.serve under Bun. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isBun } from '../harness.ts';

interface BunServe {
  serve(options: {
    hostname: string;
    port: number;
    idleTimeout: number;
    fetch(request: Request): Response | Promise<Response>;
  }): { readonly port: number };
}

/** @returns its port on 127.0.0.1 */
export async function listenBare(
  onNode: RequestListener,
  onBun: (request: Request) => Response | Promise<Response>,
): Promise<number> {
  if (isBun) {
    const { Bun } = globalThis as unknown as { Bun: BunServe };
    return Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 60, fetch: onBun }).port;
  }
  const server = createServer(onNode);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
