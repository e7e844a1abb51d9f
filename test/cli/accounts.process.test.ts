/** `keys` and `credits` beside a real server, and what is left of a key's text in its folder and in all output: nothing. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { binaryOf, MAIN, oneRuntime, type RunningServer, startProcess, startServer } from '../support/server.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';
const SECRET = /svc_key_([A-Za-z0-9_-]{43})/g;
/** The one place where a start prints a key. */
const DEMO_LINE = /"message":"key of the organization demo, shown once".*"key":"(svc_key_[A-Za-z0-9_-]{43})"/;

it.each(oneRuntime('node'))('keys under %s', { timeout: 120_000 }, async (runtime) => {
  const variables = { SNAPSHOT: 'none', ADMIN_TOKEN, LOG_LEVEL: 'debug' };
  const servers: RunningServer[] = [];
  const printed: string[] = [];
  const paygrade = async (...words: string[]) => {
    const ended = await startProcess(binaryOf(runtime), [MAIN, ...words], { ADMIN_TOKEN }).ended;
    printed.push(ended.stderr);
    return ended;
  };
  const server = await startServer(runtime, variables);
  servers.push(server);
  const { stateDir } = server;
  await expect.poll(() => server.stderr()).toMatch(DEMO_LINE);
  const demo = DEMO_LINE.exec(server.stderr())?.[1] ?? '';

  const held = await paygrade('keys', 'create', '--org', 'acme', '--scopes', 'jobs:read', '--state-dir', stateDir);
  expect([held.exitCode, held.stdout]).toEqual([1, '']);
  expect(held.stderr).toContain('ask that server with --url and ADMIN_TOKEN');
  const created = await paygrade(
    'keys',
    'create',
    '--org',
    'acme',
    '--scopes',
    'jobs:read',
    '--url',
    server.url,
    '--json',
  );
  const { id, key } = JSON.parse(created.stdout) as { id: string; key: string };
  await paygrade('credits', 'grant', '--org', 'acme', '--kind', 'onboarding', '--amount', '500', '--url', server.url);

  // A key in every place where a request can have one: right, misplaced and mistyped.
  const authorization = `Bearer ${key}`;
  const askedOf = async (path: string, init: RequestInit = {}): Promise<void> => {
    printed.push(await (await fetch(server.url + path, { headers: { authorization }, ...init })).text());
  };
  for (const path of ['/data/v1/jobs/search', '/v1/jobs/search?keyword=rust', '/admin/v1/keys', '/metrics', '/ready']) {
    await askedOf(path);
  }
  await askedOf(`/admin/v1/keys?organization=${key}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  await askedOf('/admin/v1/keys', {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ organization: key, scopes: [key] }),
  });
  await server.kill();

  const revoked = await paygrade('keys', 'revoke', id, '--state-dir', stateDir, '--json');
  expect(JSON.parse(revoked.stdout)).toEqual({ id, revoked: true });
  const again = await startServer(runtime, { ...variables, STATE_DIR: stateDir });
  servers.push(again);
  const listed = await paygrade('keys', 'list', '--url', again.url);
  const shown = await paygrade('credits', 'show', '--org', 'acme', '--url', again.url, '--json');
  expect(listed.stdout.split('\n').filter((line) => line.includes(' demo ') || line.includes(id))).toHaveLength(2);
  expect(JSON.parse(shown.stdout)).toMatchObject({ organization: 'acme', remaining: 500 });
  printed.push(listed.stdout, shown.stdout);
  expect(await again.stop()).toBe(0);

  printed.push(server.stderr().replace(DEMO_LINE, ''), again.stderr(), ...servers.map((one) => one.stdout()));
  const files = readdirSync(stateDir).map((name) => readFileSync(join(stateDir, name), 'latin1'));
  expect(files.length).toBeGreaterThan(1);
  for (const text of [...printed, ...files]) {
    expect([...text.matchAll(SECRET)]).toEqual([]);
    for (const one of [key, demo]) expect(text.includes(one.slice('svc_key_'.length))).toBe(false);
  }
  rmSync(stateDir, { recursive: true, force: true });
});
