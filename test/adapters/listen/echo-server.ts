/** A program for tests: a listener whose handler answers with what it knows of the client. `GET /held` waits for a disconnect. */
import type { ClientConnection } from '../../../src/adapters/listen/listen.ts';
import { openListener } from '../../../src/adapters/listen/open-listener.ts';
import type { DisconnectListener } from '../../../src/base/disconnect-listener.ts';

const headerOf = (request: Request, client: ClientConnection, name: string): string | null =>
  client.header === undefined ? request.headers.get(name) : client.header(name);

function held(client: ClientConnection): Promise<Response> {
  return new Promise((resolve) => {
    const listener: DisconnectListener = {
      isOver: false,
      handleEvent() {
        process.stdout.write('disconnected\n');
        resolve(new Response(null, { status: 204 }));
      },
    };
    client.onDisconnect?.(listener);
    process.stdout.write('held\n');
  });
}

const listener = await openListener({
  host: '127.0.0.1',
  port: 0,
  fetch(request, client) {
    if (request.url.endsWith('/held')) return held(client);
    return Response.json({ host: headerOf(request, client, 'host'), address: client.address });
  },
  unreadable: () => new Response('unreadable', { status: 404 }),
  bounds: {
    connectionsMax: Number(process.env.CONNECTIONS_MAX ?? 0),
    connectionsPerAddress: Number(process.env.CONNECTIONS_PER_ADDRESS ?? 0),
  },
  crowded: (bound) => new Response(bound, { status: 503, headers: { connection: 'close' } }),
});
process.stdout.write(`listening on http://127.0.0.1:${listener.port}\n`);
process.on('SIGTERM', () => void listener.close(1000).then(() => process.exit(0)));
