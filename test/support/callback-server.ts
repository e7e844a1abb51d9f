/**
 * The callback operations alone behind the real listener of this runtime: black-box tests and benches start it under Node
 * and Bun. Prints `listening on URL`; SIGTERM drains. `CALLBACK_BYTES` bounds it; with `PAYMENT=taken` creation is free,
 * otherwise it is paid for in the play ledger. `GET /counts` shows what it holds.
 */

import { capacityGate } from '../../src/access/capacity.ts';
import { readTokenGate } from '../../src/access/read-token.ts';
import { createX402Gate } from '../../src/access/x402.ts';
import { bazaarOf } from '../../src/access/x402-discovery.ts';
import type { Caller } from '../../src/adapters/listen/listen.ts';
import { systemTimers } from '../../src/adapters/process/system-timers.ts';
import { openTill } from '../../src/app/till.ts';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { Inbox } from '../../src/callback/inbox/inbox.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Access, Gate } from '../../src/http/access.ts';
import { refuse } from '../../src/http/errors.ts';
import { Responder } from '../../src/http/respond.ts';
import { type Call, Held, type Route } from '../../src/http/route.ts';
import { pathFinder } from '../../src/http/router.ts';
import { servedRoute } from '../../src/http/serve.ts';
import { targetOf } from '../../src/http/target.ts';
import { CALLBACK_ROUTES } from '../../src/modules/routes.ts';
import { RecoveryQueue } from '../../src/payment/signature/recovery-queue.ts';
import { MemoryEventStore } from '../../src/storage/memory/event-store.ts';
import { MemoryPlayLedger } from '../../src/storage/memory/play-ledger.ts';
import { MemoryReservations } from '../../src/storage/memory/reservations.ts';
import { promptPlace } from './recovery.ts';

const store = new MemoryEventStore();
const inbox = new Inbox(Number(process.env.CALLBACK_BYTES ?? 2 ** 40), {
  clock: systemClock,
  random: systemRandom,
  timers: systemTimers,
  store,
  onStoreFault: (fault) => process.stderr.write(`${String(fault)}\n`),
});
const services = {
  callbacks: inbox,
  timers: systemTimers,
  baseUrl: 'http://api.test',
  hookBaseUrl: 'http://hooks.test',
};
const responder = new Responder({}, process.versions.bun !== undefined);
const config = { ...readConfig({ STATE_DIR: ':memory:' }), baseUrl: services.baseUrl };
const till = openTill(
  config,
  systemClock,
  systemRandom,
  new RecoveryQueue([promptPlace()], systemClock, systemTimers),
  () => {},
  {
    reservations: new MemoryReservations(systemClock),
    playLedger: new MemoryPlayLedger(config.localBalanceAtomic, systemClock),
  },
);
const taken: Gate = { admit: () => ({ settle: async () => ({ 'payment-response': 'taken' }), release: () => {} }) };
const capacity = capacityGate(inbox.capacity);
const readToken = readTokenGate(inbox);

function gateFor(route: Route, access: Access): Gate {
  switch (access.kind) {
    case 'x402': {
      if (process.env.PAYMENT === 'taken') return taken;
      const { method, path, summary: description } = route;
      return createX402Gate(
        { method, path, description, priceUsdc: access.priceUsdc, bazaar: bazaarOf(route) },
        till.gate,
      );
    }
    case 'capacity':
      return capacity;
    case 'read-token':
      return readToken;
    case 'caller-rate':
      throw new Error('no callback operation counts callers');
    default:
      return access satisfies never;
  }
}

const find = pathFinder(CALLBACK_ROUTES.map((route) => servedRoute(route, services, gateFor, responder, () => {})));

async function answer(call: Call): Promise<Response> {
  if (call.path === '/counts') {
    globalThis.gc?.();
    const counts = {
      ...inbox.counts,
      claimedBytes: inbox.capacity.claimedBytes,
      long: store.size,
      ...process.memoryUsage(),
    };
    return responder.json(200, JSON.stringify(counts), 'no-store', undefined, call.requestId);
  }
  const match = find(call.path);
  if (match === undefined) return responder.refusal(refuse('NOT_FOUND', 'nothing here'), call.requestId);
  const route = match.table.methods.get(call.request.method);
  if (route === undefined) {
    const { allow } = match.table;
    return responder.refusal(refuse('METHOD_NOT_ALLOWED', allow, { headers: { allow } }), call.requestId);
  }
  try {
    const served = route.serve({ ...call, params: match.params }, call.search);
    return await (served instanceof Held ? served.response(call, (_, respond) => respond()) : served);
  } catch (failure) {
    process.stderr.write(`${String((failure as Error).stack)}\n`);
    return responder.refusal(refuse('INTERNAL_ERROR', 'unexpected error'), call.requestId);
  }
}

function fetch(request: Request, caller: Caller): Promise<Response> {
  const { path, search } = targetOf(request.url);
  return answer({
    request,
    requestId: `req_${systemRandom.uuid()}`,
    path,
    search,
    params: {},
    header: (name) => request.headers.get(name),
    clientAddress: () => caller.address,
    isDisconnected: () => (caller.isDisconnected === undefined ? request.signal.aborted : caller.isDisconnected()),
    onDisconnect(listener) {
      if (caller.onDisconnect !== undefined) caller.onDisconnect(listener);
      else request.signal.addEventListener('abort', listener, { once: true });
    },
  });
}

const isBun = process.versions.bun !== undefined;
const { listen } = isBun
  ? await import('../../src/adapters/listen/listen-bun.ts')
  : await import('../../src/adapters/listen/listen-node.ts');
const listener = await listen({
  host: '127.0.0.1',
  port: Number(process.env.PORT ?? 0),
  fetch,
  unreadable: () => responder.refusal(refuse('INTERNAL_ERROR', 'unreadable'), 'req_unreadable'),
});
process.stdout.write(`listening on http://127.0.0.1:${listener.port}\n`);
process.on('SIGTERM', () => {
  inbox.close();
  till.close();
  void listener.close(5_000).then(() => process.exit(0));
});
