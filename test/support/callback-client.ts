/** Black-box use of the callback operations: a server in a process of its own, and what its users do. */
import { join } from 'node:path';
import type { PrivateKeyAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { expectPublishedOn } from './published.ts';
import { binaryOf, listeningPort, PROJECT, type Runtime, startProcess } from './server.ts';
import { buy } from './wallet.ts';

/** Any server that has the callback operations. */
interface Served {
  readonly url: string;
}

export interface CallbackServer extends Served {
  readonly port: number;
  counts(): Promise<Record<string, number>>;
  stderr(): string;
  stop(): Promise<number | null>;
}

export interface Callback {
  readonly id: string;
  readonly read_token: string;
  readonly expires_at: string;
}

export async function startCallbackServer(
  runtime: Runtime,
  variables: Record<string, string> = { PAYMENT: 'taken' },
): Promise<CallbackServer> {
  const script = join(PROJECT, 'test', 'support', 'callback-server.ts');
  const started = startProcess(binaryOf(runtime), ['--expose-gc', script], variables);
  const port = await listeningPort(started);
  const url = `http://127.0.0.1:${port}`;
  expectPublishedOn(port, ['/counts']);
  return {
    url,
    port,
    stderr: started.stderr,
    counts: async () => (await (await fetch(`${url}/counts`)).json()) as Record<string, number>,
    stop() {
      started.child.kill('SIGTERM');
      return started.exited;
    },
  };
}

async function createdBy(response: Response): Promise<Callback> {
  expect(response.status).toBe(201);
  return (await response.json()) as Callback;
}

/** Of a server that takes no payment. */
export const createCallback = async ({ url }: Served): Promise<Callback> =>
  createdBy(await fetch(`${url}/v1/callbacks`, { method: 'POST' }));

export const buyCallback = async ({ url }: Served, account: PrivateKeyAccount): Promise<Callback> =>
  createdBy(await buy(`${url}/v1/callbacks`, account, { method: 'POST' }));

export const bearer = ({ read_token }: Callback): Record<string, string> => ({ authorization: `Bearer ${read_token}` });

export interface Post {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A webhook; text/plain unless the headers say otherwise. */
export function post(server: Served, id: string, body: string | Uint8Array, init: Post = {}): Promise<Response> {
  return fetch(`${server.url}/hooks/${id}`, {
    method: init.method ?? 'POST',
    headers: { 'content-type': 'text/plain', ...init.headers },
    body: body as BodyInit,
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });
}

export const postJson = (server: Served, id: string, body: string | Uint8Array): Promise<Response> =>
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

export async function eventsText(server: Served, callback: Callback): Promise<string> {
  const response = await fetch(`${server.url}/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
  expect(response.status).toBe(200);
  return response.text();
}

export async function eventsOf(server: Served, callback: Callback): Promise<ShownEvent[]> {
  return (JSON.parse(await eventsText(server, callback)) as { events: ShownEvent[] }).events;
}

export function wait(server: Served, callback: Callback, query = '', signal?: AbortSignal): Promise<Response> {
  const url = `${server.url}/v1/callbacks/${callback.id}/wait${query}`;
  return fetch(url, { headers: bearer(callback), ...(signal === undefined ? {} : { signal }) });
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
