/**
 * The callback operations alone behind the real listener of this runtime, with payment taken for granted: black-box tests
 * of webhooks and waits start it under Node and Bun. Prints `listening on URL`; `CALLBACK_BYTES` bounds it; SIGTERM drains.
 */
import type { Caller } from '../../src/adapters/listen.ts';
import { systemTimers } from '../../src/adapters/system-timers.ts';
import { createCallback } from '../../src/api/callbacks/create.ts';
import { deleteCallback } from '../../src/api/callbacks/delete.ts';
import { listEvents } from '../../src/api/callbacks/events.ts';
import { rawEvent } from '../../src/api/callbacks/raw-event.ts';
import { waitForEvent } from '../../src/api/callbacks/wait.ts';
import { patchWebhook, postWebhook, putWebhook } from '../../src/api/callbacks/webhook.ts';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { Inbox } from '../../src/callback/inbox.ts';
import { MemoryStore } from '../../src/callback/memory-store.ts';
import { capacityGate } from '../../src/gates/capacity.ts';
import { readTokenGate } from '../../src/gates/read-token.ts';
import type { Gate } from '../../src/http/access.ts';
import { refuse } from '../../src/http/errors.ts';
import { Responder } from '../../src/http/respond.ts';
import type { Call } from '../../src/http/route.ts';
import { pathFinder } from '../../src/http/router.ts';
import { servedRoute } from '../../src/http/serve.ts';
import { targetOf } from '../../src/http/target.ts';

const store = new MemoryStore();
const inbox = new Inbox(Number(process.env.CALLBACK_BYTES ?? 2 ** 40), {
  clock: systemClock,
  random: systemRandom,
  timers: systemTimers,
  store,
  onStoreFault: (fault) => process.stderr.write(`${String(fault)}\n`),
});
const services = { inbox, timers: systemTimers, baseUrl: 'http://api.test', hookBaseUrl: 'http://hooks.test' };
const responder = new Responder({});
const taken: Gate = { admit: () => ({ settle: async () => ({ 'payment-response': 'taken' }), release: () => {} }) };
const gates = { x402: taken, capacity: capacityGate(inbox.room), 'read-token': readTokenGate(inbox) } as const;
const routes = [
  createCallback,
  postWebhook,
  putWebhook,
  patchWebhook,
  waitForEvent,
  listEvents,
  rawEvent,
  deleteCallback,
];
const find = pathFinder(
  routes.map((route) =>
    servedRoute(
      route,
      services,
      (_, access) => gates[access.kind as keyof typeof gates],
      responder,
      () => {},
    ),
  ),
);

async function answer(call: Call): Promise<Response> {
  if (call.path === '/counts') {
    globalThis.gc?.();
    const counts = {
      ...inbox.counts,
      claimedBytes: inbox.room.claimedBytes,
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
    return await route.serve({ ...call, params: match.params }, call.search);
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
    gone: () => request.signal.aborted,
  });
}

const isBun = process.versions.bun !== undefined;
const { listen } = isBun
  ? await import('../../src/adapters/listen-bun.ts')
  : await import('../../src/adapters/listen-node.ts');
const listener = await listen({
  host: '127.0.0.1',
  port: Number(process.env.PORT ?? 0),
  fetch,
  unreadable: () => responder.refusal(refuse('INTERNAL_ERROR', 'unreadable'), 'req_unreadable'),
});
process.stdout.write(`listening on http://127.0.0.1:${listener.port}\n`);
process.on('SIGTERM', () => {
  inbox.close();
  void listener.close(5_000).then(() => process.exit(0));
});
