/**
 * `demo --retry`: a retry that needs no other machine. One callback of the same server is its target and receives its
 * completion event; the demo follows that callback as `callback wait` does.
 */
import { printable } from '../../base/printable.ts';
import { callbackOf } from '../callback/callback-client.ts';
import { eventLine } from '../callback/event-line.ts';
import { eventsOf } from '../callback/follow.ts';
import { CommandError } from '../command.ts';
import { exchange } from '../exchange.ts';
import type { Io } from '../io.ts';
import type { Purchase, Purchases } from './purchases.ts';

/** The request of the retry, and its completion event. */
const EVENT_COUNT = 2;
const EVENTS_TIMEOUT_MS = 30_000;

const JSON_POST = { method: 'POST', headers: { 'content-type': 'application/json' } } as const;

function memberOf(body: unknown, name: string): string {
  const value = (body as Record<string, unknown> | null)?.[name];
  if (typeof value !== 'string') throw new CommandError(`the server's answer has no ${name}`);
  return value;
}

export interface RetryDemo {
  readonly purchases: readonly Purchase[];
  /** As the callback received them. */
  readonly events: readonly unknown[];
}

/** @param base address of the server @throws CommandError */
export async function demoRetry(base: string, shop: Purchases, io: Io): Promise<RetryDemo> {
  const say = (line: string): void => io.stderr.write(`${printable(line)}\n`);
  const bought = async (path: string, body: string): Promise<Purchase> => {
    const purchase = await shop.buy(path, { ...JSON_POST, body });
    if (purchase.status !== 201) throw new CommandError(`the paid request ${path} got ${purchase.status}`);
    return purchase;
  };
  // The callback would be paid for in vain.
  const { status } = await exchange(`${base}/retry/health`, {});
  if (status !== 200) throw new CommandError(`${base} has no Retry API (${status}); nothing was bought`);
  const callback = await bought('/v1/callbacks', '{}');
  const hook = memberOf(callback.body, 'callback_url');
  io.stderr.write('\n');
  say(`callback    ${hook}`);
  const request = { method: 'POST', url: hook, body: { hello: 'from a retry' } };
  const retry = await bought('/retry/v1/retries', JSON.stringify({ request, callback_url: hook }));
  const id = memberOf(retry.body, 'id');
  say(`retry       ${id}: POST to that callback until it works; its completion event goes there too`);
  const following = {
    callback: callbackOf(memberOf(callback.body, 'id'), base, io.env),
    readToken: memberOf(callback.body, 'read_token'),
    after: undefined,
    signal: AbortSignal.timeout(EVENTS_TIMEOUT_MS),
    io,
  };
  const events: unknown[] = [];
  for await (const event of eventsOf(following)) {
    say(`event       ${eventLine(event)}`);
    events.push(JSON.parse(event));
    if (events.length === EVENT_COUNT) break;
  }
  if (events.length < EVENT_COUNT) throw new CommandError('the completion event did not come');
  io.stderr.write('\n');
  const [token, url] = [memberOf(retry.body, 'read_token'), memberOf(retry.body, 'status_url')];
  say(`its status: READ_TOKEN=${token} ${io.programWords} retry status ${url}`);
  return { purchases: [callback, retry], events };
}
