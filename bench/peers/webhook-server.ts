/**
 * One server of webhooks per process, by name; prints `listening on PORT`. The servers of the webhook pairs in http.ts:
 *
 *   app      the whole application, no log; state in memory, or durable in `--state-dir DIR`
 *   echo     node:http, or Bun.serve under Bun, that sends each body back
 *   insert   the same server, which writes each body as an event to a state in `--state-dir DIR`: the inserts, the checksums, the
 *            writer's thread and the group commits of the application without anything around them
 *
 * A line `COUNT FILE` on stdin makes `app` end its earlier callbacks, create new ones, write their ids to the file, and
 * print `made`.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { openListener } from '../../src/adapters/listen/open-listener.ts';
import { LISTENER_BODIES } from '../../src/adapters/process/runtime-bodies.ts';
import { systemTimers } from '../../src/adapters/process/system-timers.ts';
import { openApp } from '../../src/app/app.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { CallbackHandle, Callbacks } from '../../src/callback/callbacks.ts';
import { eventHead } from '../../src/callback/event.ts';
import type { CallbackId, EventId } from '../../src/callback/identifier.ts';
import type { MadeResponse } from '../../src/http/response-form.ts';
import { openBackend } from '../../src/storage/open-backend.ts';
import { openSqliteState } from '../../src/storage/sqlite/state.ts';
import { appPorts } from '../../test/support/app-ports.ts';
import { SALES_KEPT_MS } from '../../test/support/sale.ts';
import { listenBare } from './bare-server.ts';

const { values } = parseArgs({ options: { kind: { type: 'string' }, 'state-dir': { type: 'string' } } });
const stateDir = values['state-dir'];

async function app(): Promise<number> {
  const config = CONFIGURATION.fromOptions({
    stateDir: stateDir ?? ':memory:',
    callbackBytes: 2 ** 40,
    logLevel: 'silent',
  });
  let callbacks: Callbacks | undefined;
  const opened = await openApp(
    { ...config, baseUrl: 'http://127.0.0.1', hookBaseUrl: 'http://127.0.0.1' },
    {
      ...appPorts({ onFailure: (failure) => console.error(failure) }),
      ...LISTENER_BODIES,
      openBackend: async (options, ports) => {
        const backend = await openBackend(options, ports);
        callbacks = backend.callbacks;
        return backend;
      },
    },
  );
  if (callbacks !== undefined) makeOnRequest(callbacks);
  const { handle } = opened;
  const refused = (): MadeResponse => LISTENER_BODIES.responses.make(null, 400, {});
  const bounds = { connectionsMax: 0, connectionsPerAddress: 0 };
  const answers = { handle, unreadable: refused, crowded: refused, report: console.error };
  return (await openListener({ host: '127.0.0.1', port: 0, bounds, ...answers })).port;
}

/** Ended callbacks leave nothing in memory, so that every round starts with the same heap. */
function makeOnRequest(callbacks: Callbacks): void {
  let made: CallbackHandle[] = [];
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const [count, file] = line.split(' ');
    await inBatches(made, (callback) => callbacks.delete(callback));
    made = await inBatches(Array.from({ length: Number(count) }), () => callback(callbacks));
    writeFileSync(file!, made.map(({ id }) => `${id}\n`).join(''));
    console.log('made');
  });
}

/** The state refuses more than 16,384 records that wait for its writer at once. */
const BATCH = 4096;

async function inBatches<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    results.push(...(await Promise.all(items.slice(start, start + BATCH).map(act))));
  }
  return results;
}

async function callback(callbacks: Callbacks): Promise<CallbackHandle> {
  if (!(await callbacks.capacity.tryClaim())) throw new Error('there is no room for a callback');
  const { id, readToken } = await callbacks.create(callbacks.draft());
  const authorized = await callbacks.authorize(id, readToken);
  if (authorized.kind !== 'allowed') throw new Error(`a new callback is ${authorized.kind}`);
  return authorized.callback;
}

/** What a server answers to a POST at a path: text, or the body. */
type Answer = (path: string, body: Uint8Array) => Promise<string> | Uint8Array;

const HEADERS = { 'content-type': 'application/json' };

const bare = (answer: Answer): Promise<number> =>
  listenBare(
    (incoming, outgoing) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () => {
        const body = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
        const answered = answer(incoming.url!.slice(incoming.url!.lastIndexOf('/') + 1), body);
        const send = (sent: string | Uint8Array): void => {
          outgoing.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(sent) }).end(sent);
        };
        if (answered instanceof Promise) void answered.then(send);
        else send(answered);
      });
    },
    async (request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      const answered = answer(request.url.slice(request.url.lastIndexOf('/') + 1), body);
      return new Response((answered instanceof Promise ? await answered : answered) as BodyInit, {
        headers: HEADERS,
      });
    },
  );

async function insert(): Promise<number> {
  if (stateDir === undefined) throw new Error('--state-dir is needed');
  const options = { stateDir, sync: 'full', isPlay: true, mayReset: false, salesKeptMs: SALES_KEPT_MS } as const;
  const state = await openSqliteState(options, { clock: systemClock, timers: systemTimers, onFault: console.error });
  const { events } = state.persistence;
  return bare(async (path, bytes) => {
    const id = `evt_${randomBytes(16).toString('hex')}` as EventId;
    const receivedAtSeconds = Math.floor(Date.now() / 1000);
    const head = eventHead(id, receivedAtSeconds, 'POST', [['content-type', 'application/json']]);
    const event = { id, receivedAtSeconds, head, form: { kind: 'json' }, bytes, isInline: true } as const;
    await events.append(path as CallbackId, event);
    return `{"received":true,"event_id":"${id}"}`;
  });
}

function serve(): Promise<number> {
  switch (values.kind) {
    case 'app':
      return app();
    case 'echo':
      return bare((_, body) => body);
    case 'insert':
      return insert();
    default:
      throw new Error('--kind must be app, echo or insert');
  }
}

console.log(`listening on ${await serve()}`);
