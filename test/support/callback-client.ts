/** What users of the callback operations do, over whichever transport. */
import type { PrivateKeyAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { MetricsPage } from './metrics-page.ts';
import type { Transport } from './transport.ts';
import { buyOver, wallet } from './wallet.ts';

export interface Callback {
  readonly id: string;
  readonly read_token: string;
  readonly expires_at: string;
}

/** Method and end of the path of each operation that needs a read token. */
export const READING_ROUTES = [
  ['GET', '/events'],
  ['GET', '/wait?timeout=1'],
  ['GET', `/events/evt_${'0'.repeat(32)}/raw`],
  ['DELETE', ''],
] as const;

async function createdBy(response: Response): Promise<Callback> {
  expect(response.status).toBe(201);
  return (await response.json()) as Callback;
}

const somePayer = wallet();

/** A paid callback. */
export const createCallback = async (server: Transport, account: PrivateKeyAccount = somePayer): Promise<Callback> =>
  createdBy(await buyOver(server, '/v1/callbacks', account, { method: 'POST' }));

/** What the server holds, by its metrics. */
export interface CallbackCounts {
  readonly live: number;
  readonly waits: number;
  readonly claimedBytes: number;
  readonly residentBytes: number;
}

export async function callbackCounts(server: Transport): Promise<CallbackCounts> {
  const page = new MetricsPage(await (await server.fetch('/metrics')).text());
  return {
    live: page.value('paygrade_callbacks_live'),
    waits: page.value('paygrade_callback_waits'),
    claimedBytes: page.value('paygrade_callback_claimed_bytes'),
    residentBytes: page.value('process_resident_memory_bytes'),
  };
}

export const bearer = ({ read_token }: Callback): Record<string, string> => ({ authorization: `Bearer ${read_token}` });

export interface Post {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A webhook; text/plain unless the headers say otherwise. */
export function post(server: Transport, id: string, body: string | Uint8Array, init: Post = {}): Promise<Response> {
  return server.fetch(`/hooks/${id}`, {
    method: init.method ?? 'POST',
    headers: { 'content-type': 'text/plain', ...init.headers },
    body: body as BodyInit,
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });
}

export const postJson = (server: Transport, id: string, body: string | Uint8Array): Promise<Response> =>
  post(server, id, body, { headers: { 'content-type': 'application/json' } });

export interface ShownEvent {
  readonly id: string;
  readonly received_at: string;
  readonly method: string;
  readonly content_type: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
  readonly size_bytes: number;
}

export async function eventsText(server: Transport, callback: Callback): Promise<string> {
  const response = await server.fetch(`/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
  expect(response.status).toBe(200);
  return response.text();
}

export async function eventsOf(server: Transport, callback: Callback): Promise<ShownEvent[]> {
  return (JSON.parse(await eventsText(server, callback)) as { events: ShownEvent[] }).events;
}

export function wait(server: Transport, callback: Callback, query = '', signal?: AbortSignal): Promise<Response> {
  const path = `/v1/callbacks/${callback.id}/wait${query}`;
  return server.fetch(path, { headers: bearer(callback), ...(signal === undefined ? {} : { signal }) });
}

/** The code of an error answer, its shape checked (callback.md, "Error object"; reliability 207). */
export async function codeOf(response: Response): Promise<string> {
  const text = await response.text();
  const body = JSON.parse(text) as { error: { code: string; message: string; request_id: string } };
  expect(Object.keys(body.error)).toEqual(['code', 'message', 'request_id']);
  expect(body.error.request_id).toMatch(/^req_[0-9a-f-]{36}$/);
  expect(response.headers.get('x-request-id')).toBe(body.error.request_id);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toMatch(/no-store/);
  if (response.status !== 402) expect(Object.keys(body)).toEqual(['error']);
  return body.error.code;
}

export async function outcomeOf(response: Response): Promise<string> {
  if (response.status < 300) {
    await response.arrayBuffer();
    return String(response.status);
  }
  return `${response.status} ${await codeOf(response)}`;
}
