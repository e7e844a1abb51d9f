/** `paygrade callback` against a running server: pays, follows, lists, deletes, verifies. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../../src/cli/command.ts';
import type { Io, SignalName } from '../../../src/cli/io.ts';
import { PROGRAM } from '../../../src/cli/program.ts';
import { callbackCounts, post } from '../../support/callback-client.ts';
import { binaryOf, MAIN, type RunningServer, startProcess, startServer } from '../../support/server.ts';
import { capturedIo } from '../captured-io.ts';

interface Running {
  readonly ended: Promise<{ exitCode: number; stdout: string; stderr: string }>;
  stdout(): string;
  signal(name: SignalName): void;
}

function start(words: readonly string[], env: Record<string, string> = {}): Running {
  const { io, written } = capturedIo({});
  const handlers = new Map<SignalName, () => void>();
  const own: Io = {
    ...io,
    env,
    onSignal: (name, handler) => {
      handlers.set(name, handler);
      return () => handlers.delete(name);
    },
  };
  const ended = runProgram(PROGRAM, ['callback', ...words], own).then((exitCode) => ({ exitCode, ...written }));
  return { ended, stdout: () => written.stdout, signal: (name) => handlers.get(name)?.() };
}

const run = (words: readonly string[], env?: Record<string, string>) => start(words, env).ended;

interface NewCallback {
  readonly id: string;
  readonly read_token: string;
}

describe('paygrade callback', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer('node', { SNAPSHOT: 'none', LOG_LEVEL: 'error' });
  });
  afterAll(() => server.stop());

  const at = (): string[] => ['--url', server.url];
  const create = async (env?: Record<string, string>): Promise<NewCallback> => {
    const { exitCode, stdout, stderr } = await run(['new', '--json', ...at()], env);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^paying from 0x/) });
    return JSON.parse(stdout) as NewCallback;
  };

  it('pays from a throwaway wallet, or with a given key, and prints the token once', async () => {
    const shown = await run(['new', ...at()]);
    expect(shown.exitCode).toBe(0);
    expect(shown.stdout).toMatch(/^id {12}cb_\w{24}\ncallback_url {2}\S+\nread_token {4}svc_cb_sk_\w{43}\nexpires_at /);
    expect(shown.stderr).not.toContain('svc_cb_sk_');
    const key = `0x${'11'.repeat(32)}`;
    const { stderr } = await run(['new', '--json', ...at()], { PRIVATE_KEY: key });
    expect(stderr).toBe('paying from 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A\n');
  });

  it('follows events as they come, a line each, values as they were sent, until so many', async () => {
    const { id, read_token } = await create();
    const following = start(['wait', id, '--count', '3', '--json', ...at()], { READ_TOKEN: read_token });
    await post(server, id, '{\n "n": 9007199254740993,\r\n "s": "a\\nb" }', {
      headers: { 'content-type': 'application/json' },
    });
    await expect.poll(() => following.stdout().split('\n').length).toBe(2);
    await post(server, id, 'two');
    await post(server, id, 'three');
    const { exitCode, stdout } = await following.ended;
    expect(exitCode).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('"n": 9007199254740993');
    expect(lines.map((line) => (JSON.parse(line) as { body: unknown }).body)).toEqual([
      { n: 9007199254740992, s: 'a\nb' },
      'two',
      'three',
    ]);
  });

  it('shows people no control character that a sender wrote', async () => {
    const { id, read_token } = await create();
    await post(server, id, '\u001b[2J\u009b31m\u0007evil');
    for (const words of [
      ['wait', id, '--count', '1'],
      ['events', id],
    ]) {
      const { exitCode, stdout } = await run([...words, '--token', read_token, ...at()]);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^[\u0020-\u007e]+\n$/);
      expect(stdout).toContain('evil');
      expect(stdout).not.toContain(read_token);
    }
  });

  it('lists, deletes, and ends a wait that the deletion meets', async () => {
    const { id, read_token } = await create();
    const env = { READ_TOKEN: read_token };
    await post(server, id, 'one');
    const listing = await run(['events', id, '--json', ...at()], env);
    expect(JSON.parse(listing.stdout)).toMatchObject({ callback_id: id, event_count: 1 });
    const following = start(['wait', id, ...at()], env);
    await expect.poll(() => following.stdout()).toContain('one');
    expect((await run(['rm', id, ...at()], env)).exitCode).toBe(0);
    expect(await following.ended).toMatchObject({
      exitCode: 0,
      stderr: 'the callback has ended: CALLBACK_NOT_FOUND\n',
    });
    expect(await run(['rm', id, ...at()], env)).toMatchObject({
      exitCode: 1,
      stderr: 'paygrade: 404 CALLBACK_NOT_FOUND: there is no such callback\n',
    });
  });

  it('waits on while its server restarts', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'paygrade-wait-'));
    const variables = { SNAPSHOT: 'none', LOG_LEVEL: 'error', STATE_DIR: stateDir };
    const first = await startServer('node', variables);
    const named = ['--url', first.url];
    const { id, read_token } = JSON.parse((await run(['new', '--json', ...named])).stdout) as NewCallback;
    const following = start(['wait', id, '--count', '1', ...named], { READ_TOKEN: read_token });
    await expect.poll(async () => (await callbackCounts(first)).waits).toBe(1);
    await first.kill();
    const second = await startServer('node', { ...variables, PORT: String(first.port) });
    try {
      await post(second, id, 'after the restart');
      expect(await following.ended).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining('after the restart'),
        stderr: expect.stringMatching(/^no answer from \S+: \S+; trying again for a minute\n$/),
      });
    } finally {
      await second.stop();
      rmSync(stateDir, { recursive: true, force: true });
    }
  });

  it('ends well when the callback is deleted before its first event, and not when it never was', async () => {
    const { id, read_token } = await create();
    const env = { READ_TOKEN: read_token };
    const following = start(['wait', id, ...at()], env);
    await expect.poll(async () => (await callbackCounts(server)).waits).toBe(1);
    expect((await run(['rm', id, ...at()], env)).exitCode).toBe(0);
    expect(await following.ended).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'the callback has ended: CALLBACK_NOT_FOUND\n',
    });
    expect(await run(['wait', id, ...at()], env)).toMatchObject({ exitCode: 1, stdout: '' });
    const other = await create();
    const unknown = ['wait', other.id, '--after', `evt_${'0'.repeat(32)}`, ...at()];
    expect(await run(unknown, { READ_TOKEN: other.read_token })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^paygrade: 404 EVENT_NOT_FOUND: /),
    });
  });

  it('shows people a body as it came', async () => {
    const { id, read_token } = await create();
    const body = '{"n":\t12345678901234567890,\r\n"2":1e400,"1":1.0,"1":-0}';
    const headers = { 'content-type': 'application/json', 'x-signature': '","body":1,"size_bytes":2}' };
    expect((await post(server, id, body, { headers })).status).toBe(200);
    await post(server, id, 'two, 2.0');
    const env = { READ_TOKEN: read_token };
    for (const words of [
      ['wait', id, '--count', '2'],
      ['events', id],
    ]) {
      const { stdout } = await run([...words, ...at()], env);
      const [first, second, ...more] = stdout.split('\n');
      expect(first).toMatch(/ POST application\/json \d+ B {2}\{/);
      expect(first).toContain('B  {"n": 12345678901234567890, "2":1e400,"1":1.0,"1":-0}');
      expect(second).toMatch(/ POST text\/plain 8 B {2}"two, 2.0"$/);
      expect(more).toEqual(['']);
    }
  });

  it('stops a wait at Ctrl-C', async () => {
    const { id, read_token } = await create();
    const following = start(['wait', id, ...at()], { READ_TOKEN: read_token });
    await expect.poll(async () => (await callbackCounts(server)).waits).toBe(1);
    following.signal('SIGINT');
    expect(await following.ended).toMatchObject({ exitCode: 0, stdout: '' });
    await expect.poll(async () => (await callbackCounts(server)).waits).toBe(0);
  });

  it('verifies a signature with the sender’s library, and says so when it is wrong', async () => {
    const { id, read_token } = await create();
    const body = '{ "amount": 1.0 }';
    const secret = 'whsec_test';
    const signature = new Stripe('sk_test').webhooks.generateTestHeaderString({ payload: body, secret });
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    const { event_id } = (await (await post(server, id, body, { headers })).json()) as { event_id: string };
    const words = ['verify', id, event_id, '--sender', 'stripe', ...at()];
    const env = { READ_TOKEN: read_token, WEBHOOK_SECRET: secret };
    const valid = { exitCode: 0, stdout: 'valid: signed by stripe, 17 bytes\n' };
    expect(await run(words, env)).toMatchObject(valid);
    // Some libraries have other cryptography under Bun, which answers later.
    const underBun = startProcess(binaryOf('bun'), [MAIN, 'callback', ...words], env);
    expect(await underBun.ended).toMatchObject(valid);
    const wrong = await run([...words, '--json'], { ...env, WEBHOOK_SECRET: 'whsec_other' });
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(/^paygrade: the signature is not valid: .+\n$/);
    expect(JSON.parse(wrong.stdout)).toMatchObject({ event_id, valid: false });
    for (const sender of ['svix', 'standardwebhooks', 'github']) {
      const unsigned = await run(['verify', id, event_id, '--sender', sender, ...at()], {
        ...env,
        WEBHOOK_SECRET: `whsec_${Buffer.from('x'.repeat(24)).toString('base64')}`,
      });
      expect(unsigned).toMatchObject({ exitCode: 1, stdout: '' });
    }
  });

  it('takes the URL of a callback in place of its id, and the server from it', async () => {
    const shown = await run(['new', '--json'], { PAYGRADE_URL: server.url });
    const { id, callback_url, read_token } = JSON.parse(shown.stdout) as NewCallback & { callback_url: string };
    await post(server, id, 'one');
    const env = { READ_TOKEN: read_token };
    expect(await run(['events', callback_url], env)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"one"'),
    });
    expect((await run(['rm', callback_url], env)).exitCode).toBe(0);
  });

  it.each([
    [['wait', 'cb_x'], {}, 2, 'paygrade: the read token is missing: set READ_TOKEN, or --token\n'],
    [
      ['events', 'cb_x', '--url', 'nonsense'],
      { READ_TOKEN: 'x' },
      2,
      'paygrade: --url must be an address such as http://127.0.0.1:8402\n',
    ],
    [['new', '--url', 'http://127.0.0.1:1'], {}, 1, expect.stringContaining('no answer from http://127.0.0.1:1')],
    [
      ['listen', '--forward-to', 'localhost:3000/hook'],
      {},
      2,
      'paygrade: --forward-to must be an address such as http://localhost:3000/hook\n',
    ],
    [
      ['listen', '--forward-to', 'http://localhost:3000/hook', '--after', 'evt_x'],
      {},
      2,
      'paygrade: --after goes with a CALLBACK\n',
    ],
    [['new'], { PRIVATE_KEY: '0x12' }, 2, 'paygrade: PRIVATE_KEY must be 0x and 64 hex digits\n'],
    [
      ['verify', 'cb_x', 'evt_x', '--sender', 'github'],
      { READ_TOKEN: 'x' },
      2,
      'paygrade: the secret is missing: set WEBHOOK_SECRET\n',
    ],
  ] as const)('ends %j with one line', async (words, env, exitCode, stderr) => {
    expect(await run(words, env)).toMatchObject({ exitCode, stderr });
  });

  it('says what the server refused', async () => {
    const { id } = await create();
    expect(await run(['events', id, '--token', 'wrong', ...at()])).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^paygrade: 401 INVALID_TOKEN: /),
    });
    expect(await run(['events', '../../health', '--token', 'wrong', ...at()])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^paygrade: 400 INVALID_CALLBACK_ID: /),
    });
  });
});
