/** The `retry` commands and `demo --retry` against a real server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { binaryOf, MAIN, type RunningServer, runToEnd, startProcess, startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

let server: RunningServer;
let key = '';
beforeAll(async () => {
  server = await startServer('node', { SNAPSHOT: 'none', LOG_LEVEL: 'info' });
  const printedKey = () => /svc_key_[A-Za-z0-9_-]{43}/.exec(server.stdout() + server.stderr())?.[0];
  await until('the key of the first organization', () => printedKey() !== undefined);
  key = printedKey() ?? '';
});
afterAll(() => server.stop());

const run = (words: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
  runToEnd('node', words, { PAYGRADE_URL: server.url, ...variables });

it('demo --retry shows a retry whose completion event lands in a callback of the same server', () => {
  const { exitCode, stdout, stderr } = run(['demo', '--retry', '--json']);
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('throwaway wallet')]);
  const { events } = JSON.parse(stdout) as { events: { body: Record<string, unknown> }[] };
  expect(events.map(({ body }) => body)).toMatchObject([
    { hello: 'from a retry' },
    { type: 'retry.completed', status: 'succeeded', result: { status_code: 200, body: { received: true } } },
  ]);
  const [, token, words] = /READ_TOKEN=(\S+) paygrade (.+)/.exec(stderr) ?? [];
  // As in another terminal, where nothing names the server.
  const shown = run((words ?? '').split(' '), { PAYGRADE_URL: '', READ_TOKEN: token ?? '' });
  expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('succeeded') });
});

it('a job is created with a key, shown, waited for and cancelled', () => {
  const owned = { API_KEY: key };
  const words = ['retry', 'create', 'https://nothing.invalid/', '--data', '{"n": 1.0}', '--json'];
  const created = run([...words, '--idempotency-key', 'one-key-for-the-test'], owned);
  expect([created.exitCode, created.stderr]).toEqual([0, '']);
  const { id } = JSON.parse(created.stdout) as { id: string };
  const again = run([...words, '--idempotency-key', 'one-key-for-the-test'], owned);
  expect((JSON.parse(again.stdout) as { id: string }).id).toBe(id);
  const shown = run(['retry', 'status', id], owned);
  expect(shown.stdout).toMatch(/^id {12}rt_\w{24}\nstatus {8}(?:scheduled|running|waiting)\n/);
  expect(run(['retry', 'cancel', id], owned)).toMatchObject({ exitCode: 0 });
  expect(run(['retry', 'cancel', id], owned)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('RETRY_NOT_CANCELLABLE'),
  });
  const waited = run(['retry', 'wait', id, '--json'], owned);
  expect([waited.exitCode, JSON.parse(waited.stdout)]).toMatchObject([1, { id, status: 'cancelled' }]);
});

it('waits for a job on while the server restarts', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'paygrade-wait-'));
  const variables = { SNAPSHOT: 'none', LOG_LEVEL: 'info', STATE_DIR: stateDir };
  const first = await startServer('node', variables);
  const printedKey = () => /svc_key_[A-Za-z0-9_-]{43}/.exec(first.stdout() + first.stderr())?.[0];
  await until('the key of the first organization', () => printedKey() !== undefined);
  const owned = { API_KEY: printedKey() ?? '', PAYGRADE_URL: first.url };
  const created = run(['retry', 'create', 'https://nothing.invalid/', '--json'], owned);
  const { id } = JSON.parse(created.stdout) as { id: string };
  const waiting = startProcess(binaryOf('node'), [MAIN, 'retry', 'wait', id], owned);
  await until('the command to ask', () => first.stdout().includes(`/v1/retries/${id}`));
  await first.kill();
  await until('the command to miss the server', () => waiting.stderr().includes('trying again'));
  const second = await startServer('node', { ...variables, PORT: String(first.port) });
  try {
    expect(run(['retry', 'cancel', id], owned).exitCode).toBe(0);
    expect(await waiting.ended).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('cancelled') });
  } finally {
    await second.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
});

it('a command without its credential says how to give one', () => {
  const { exitCode, stderr } = run(['retry', 'status', 'rt_AAAAAAAAAAAAAAAAAAAAAAAA']);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('READ_TOKEN or API_KEY')]);
});
