/** Servers that are overloaded, or about to be, and what they answer. */
import { expect } from 'vitest';
import { MetricsPage } from '../support/metrics-page.ts';
import { type RunningServer, type Runtime, startServer } from '../support/server.ts';
import { wallet } from '../support/wallet.ts';

/** A question that costs 0.02 USDC. */
export const PATH = '/v1/jobs/search?limit=1';

export const start = (runtime: Runtime, variables: Record<string, string> = {}): Promise<RunningServer> =>
  startServer(runtime, { SHEDDING: 'true', RATE_LIMIT_PER_MINUTE: '0', LOG_LEVEL: 'warn', ...variables });

export const pageOf = async (server: RunningServer): Promise<MetricsPage> =>
  new MetricsPage(await (await server.fetch('/metrics')).text());
export const levelOf = async (server: RunningServer): Promise<number> =>
  (await pageOf(server)).value('paygrade_overload_level');

export async function outcomeOf(answer: Promise<Response>): Promise<string> {
  const { status, headers, text } = await answer.then(async (response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  }));
  if (status !== 503) return String(status);
  expect(headers.get('retry-after')).toBe('5');
  expect(headers.get('payment-required')).toBeNull();
  return `503 ${(JSON.parse(text) as { error: { code: string } }).error.code}`;
}

export async function expectFreeRoutes(server: RunningServer): Promise<void> {
  for (const path of ['/health', '/metrics', '/openapi.json', '/']) {
    const answer = await server.fetch(path, { headers: path === '/' ? { accept: 'text/html' } : {} });
    expect([path, answer.status]).toEqual([path, 200]);
    await answer.arrayBuffer();
  }
  const ready = await server.fetch('/ready');
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { snapshot: true, state: true, settlement: true, load: false },
  ]);
  const unknown = `/v1/payments/eip155:8453/${wallet().address}/0x${'00'.repeat(32)}`;
  expect((await server.fetch(unknown)).status).toBe(404);
}

export const loggedOf = (server: RunningServer): readonly Record<string, unknown>[] =>
  server
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => 'overload_level' in line);
