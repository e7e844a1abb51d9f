/**
 * A program for tests: a listener whose handler answers with what it knows of the client. `GET /held` waits for a disconnect;
 * `GET /pieces/...` answers with pieces of 64 KiB, and says on stdout what became of them; `GET /left` does so once its client has
 * left; `GET /watched` says on stdout when its answer has left.
 */
import type { ClientConnection, ServedRequest } from '../../../src/adapters/listen/listen.ts';
import { openListener } from '../../../src/adapters/listen/open-listener.ts';
import { LISTENER_BODIES } from '../../../src/adapters/process/runtime-bodies.ts';
import type { DisconnectListener } from '../../../src/base/disconnect-listener.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import { BodyPieces, Reply } from '../../../src/http/answers.ts';
import { bodySent, Responder } from '../../../src/http/respond.ts';
import type { MadeResponse } from '../../../src/http/response-form.ts';

const { responses } = LISTENER_BODIES;
const made = (body: string | null, status = 200, headers = {}): MadeResponse => responses.make(body, status, headers);

const headerOf = (request: ServedRequest, client: ClientConnection, name: string): string | null =>
  client.header === undefined ? request.headers.get(name) : client.header(name);

function held(client: ClientConnection): Promise<MadeResponse> {
  return new Promise((resolve) => {
    const listener: DisconnectListener = {
      isOver: false,
      handleEvent() {
        process.stdout.write('disconnected\n');
        resolve(made(null, 204));
      },
    };
    client.onDisconnect?.(listener);
    process.stdout.write('held\n');
  });
}

const PIECE_COUNT = 1_000;

/** Ends after PIECE_COUNT pieces, or in the way that the path names after the first of them. */
class Pieces extends BodyPieces {
  readonly #end: string;
  #count = 0;

  constructor(end: string) {
    super('');
    this.#end = end;
  }

  async next(): Promise<Uint8Array | null | 'cut'> {
    if (this.#count === PIECE_COUNT) return null;
    this.#count++;
    if (this.#count > 5 && this.#end === 'fault') throw new Error('the store');
    if (this.#count > 5 && this.#end === 'cut') return 'cut';
    process.stdout.write(`piece ${this.#count}\n`);
    return new Uint8Array(65_536).fill(0x61);
  }
}

const responder = new Responder({}, responses, {
  report: (failure, requestId) => process.stdout.write(`${requestId}: ${(failure as Error).message}\n`),
});

function pieces(end: string, client: ClientConnection): MadeResponse {
  const cut = (): boolean => {
    client.cut?.();
    return client.cut !== undefined;
  };
  const outcome = { body: new Reply(new Pieces(end), {}), receipt: undefined, delivered: undefined };
  return responder.respond({ status: 200, cacheControl: 'no-store' }, outcome, { requestId: 'req_1', cut });
}

async function left(client: ClientConnection): Promise<MadeResponse> {
  await held(client);
  const response = pieces('whole', client);
  void bodySent(response)?.then(() => process.stdout.write('given up\n'));
  return response;
}

/** Says on stdout once its answer has left. */
function watched(client: ClientConnection, byteCount: number): MadeResponse {
  client.onDelivered?.(() => process.stdout.write(`delivered ${byteCount}\n`));
  return made('x'.repeat(byteCount));
}

function metrics(): MadeResponse {
  const page = new Exposition();
  listener.metrics(page);
  return made(page.text);
}

/** Names of the handlers that run at the moment. */
const runningNames: string[] = [];

/** Answers after 20 ms with the names of all handlers that ran at its beginning. */
async function later(name: string): Promise<MadeResponse> {
  runningNames.push(name);
  const running = runningNames.join();
  await new Promise((resolve) => setTimeout(resolve, 20));
  runningNames.splice(runningNames.indexOf(name), 1);
  return made(`ran ${running}\n`);
}

/** Occupies the process for so long, and answers in a later turn of the loop. */
async function spin(ms: number): Promise<MadeResponse> {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
  await new Promise((resolve) => setTimeout(resolve, 1));
  return made('spun');
}

const listener = await openListener({
  host: process.env.HOST ?? '127.0.0.1',
  port: Number(process.env.PORT ?? 0),
  handle(request, client) {
    // Under Bun the address of a request without a Host is a path.
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    if (pathname === '/held') return held(client);
    if (pathname === '/left') return left(client);
    const found = /^\/pieces\/(\w+)$/.exec(pathname);
    if (found !== null) return pieces(found[1]!, client);
    if (pathname === '/metrics') return metrics();
    if (pathname === '/watched') return watched(client, Number(searchParams.get('count')));
    if (pathname === '/bytes') return made('x'.repeat(Number(searchParams.get('count'))));
    if (pathname === '/spin') return spin(Number(searchParams.get('ms')));
    if (pathname === '/promised') return Promise.resolve(made('promised'));
    if (pathname === '/later') return later(searchParams.get('name') ?? '');
    return made(JSON.stringify({ host: headerOf(request, client, 'host'), address: client.address }));
  },
  unreadable: () => made('unreadable', 404),
  report: (failure) => process.stderr.write(`${failure}\n`),
  bounds: {
    connectionsMax: Number(process.env.CONNECTIONS_MAX ?? 0),
    connectionsPerAddress: Number(process.env.CONNECTIONS_PER_ADDRESS ?? 0),
  },
  crowded: (bound) => made(bound, 503, { connection: 'close' }),
});
process.stdout.write(`listening on http://127.0.0.1:${listener.port}\n`);
process.on('SIGTERM', () => {
  void listener.close(Number(process.env.GRACE_MS ?? 1000)).then(() => process.exit(0));
  process.stdout.write('closing\n');
});
