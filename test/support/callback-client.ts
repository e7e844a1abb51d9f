/** Black-box use of the callback operations: a server in a process of its own, and what its users do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { expectPublishedOn } from './published.ts';
import { binaryOf, PROJECT, type Runtime } from './server.ts';

const START_TIMEOUT_MS = 30_000;

export interface CallbackServer {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
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
  const child = spawn(binaryOf(runtime), ['--expose-gc', join(PROJECT, 'test', 'support', 'callback-server.ts')], {
    cwd: PROJECT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const found = /listening on (http:\/\/\S+)/.exec(stdout)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
    void exited.then((code) => reject(new Error(`${runtime} ended with ${code} before it listened\n${stderr}`)));
  });
  const port = Number(new URL(url).port);
  expectPublishedOn(port, ['/counts']);
  return {
    url,
    port,
    child,
    stderr: () => stderr,
    counts: async () => (await (await fetch(`${url}/counts`)).json()) as Record<string, number>,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

export async function createCallback(server: CallbackServer): Promise<Callback> {
  const response = await fetch(`${server.url}/v1/callbacks`, { method: 'POST' });
  expect(response.status).toBe(201);
  return (await response.json()) as Callback;
}

export const bearer = ({ read_token }: Callback): Record<string, string> => ({ authorization: `Bearer ${read_token}` });

export interface Post {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A webhook; text/plain unless the headers say otherwise. */
export function post(
  server: CallbackServer,
  id: string,
  body: string | Uint8Array,
  init: Post = {},
): Promise<Response> {
  return fetch(`${server.url}/hooks/${id}`, {
    method: init.method ?? 'POST',
    headers: { 'content-type': 'text/plain', ...init.headers },
    body: body as BodyInit,
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });
}

export const postJson = (server: CallbackServer, id: string, body: string | Uint8Array): Promise<Response> =>
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

export async function eventsText(server: CallbackServer, callback: Callback): Promise<string> {
  const response = await fetch(`${server.url}/v1/callbacks/${callback.id}/events`, { headers: bearer(callback) });
  expect(response.status).toBe(200);
  return response.text();
}

export async function eventsOf(server: CallbackServer, callback: Callback): Promise<ShownEvent[]> {
  return (JSON.parse(await eventsText(server, callback)) as { events: ShownEvent[] }).events;
}

export function wait(server: CallbackServer, callback: Callback, query = '', signal?: AbortSignal): Promise<Response> {
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
