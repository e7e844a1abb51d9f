/** A program for tests: a listener whose handler answers with what it knows of the client. `GET /held` waits for a disconnect. */
import type { Caller } from '../../../src/adapters/listen/listen.ts';
import { openListener } from '../../../src/adapters/listen/open-listener.ts';
import type { DisconnectListener } from '../../../src/base/disconnect-listener.ts';

const headerOf = (request: Request, caller: Caller, name: string): string | null =>
  caller.header === undefined ? request.headers.get(name) : caller.header(name);

function held(caller: Caller): Promise<Response> {
  return new Promise((resolve) => {
    const listener: DisconnectListener = {
      isOver: false,
      handleEvent() {
        process.stdout.write('disconnected\n');
        resolve(new Response(null, { status: 204 }));
      },
    };
    caller.onDisconnect?.(listener);
    process.stdout.write('held\n');
  });
}

const listener = await openListener({
  host: '127.0.0.1',
  port: 0,
  fetch(request, caller) {
    if (request.url.endsWith('/held')) return held(caller);
    return Response.json({ host: headerOf(request, caller, 'host'), address: caller.address });
  },
  unreadable: () => new Response('unreadable', { status: 404 }),
});
process.stdout.write(`listening on http://127.0.0.1:${listener.port}\n`);
process.on('SIGTERM', () => void listener.close(1000).then(() => process.exit(0)));
