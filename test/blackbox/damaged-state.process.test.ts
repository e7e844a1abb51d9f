/** A server on a state that is damaged, missing or older, as its operator and its clients meet it (reliability 123, 124). */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { answerOf, expectError } from '../support/answers.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';
import { buy, encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';

const SEARCH = '/v1/jobs/search?limit=1';

/** Its notices come on another pipe than the word that it listens. */
async function says(server: RunningServer, text: string): Promise<void> {
  await expect.poll(() => server.stderr()).toContain(text);
}

describe.each(oneRuntime('bun'))('under %s', (runtime) => {
  const stateDir = suiteFolder();
  const file = join(stateDir, 'state.db');
  const log = `${file}-wal`;
  const olderCopy = join(stateDir, 'older-copy');
  const variables = { STATE_DIR: stateDir, LOG_LEVEL: 'error', BASE_URL: 'https://shop.example' };
  const account = wallet();
  let running: RunningServer | undefined;
  const start = async (more: Record<string, string> = {}): Promise<RunningServer> => {
    running = await startServer(runtime, { ...variables, ...more });
    return running;
  };
  afterEach(() => running?.child.kill('SIGKILL'));
  /** Sold before the damage, and good for two minutes. */
  let used = '';

  const turnBit = (path: string, at: number): void => {
    const bytes = readFileSync(path);
    bytes[at] = bytes[at]! ^ 4;
    writeFileSync(path, bytes);
  };

  it('a damaged log or file sells nothing and names the file; what is free goes on', async () => {
    const sound = await start();
    used = encodeHeader(await paymentFor(await offerOf(sound.url + SEARCH), account));
    expect((await fetch(sound.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': used } })).status).toBe(200);
    expect((await buy(`${sound.url}/v1/callbacks`, account, { method: 'POST' })).status).toBe(201);
    await sound.kill();

    turnBit(log, 32 + 24 + 100);
    const damaged = await start();
    await says(damaged, `${file} is damaged (its log is damaged in the middle): the server accepts no payments`);
    const ask = async (path: string, init: RequestInit = {}) => answerOf(await fetch(damaged.url + path, init));
    expectError(await ask(SEARCH), 503, 'SETTLEMENT_UNAVAILABLE');
    expectError(await ask(SEARCH, { headers: { 'PAYMENT-SIGNATURE': used } }), 503, 'SETTLEMENT_UNAVAILABLE');
    expectError(await ask('/v1/callbacks', { method: 'POST' }), 503, 'SETTLEMENT_UNAVAILABLE');
    const ready = await ask('/ready');
    expect([ready.status, JSON.parse(ready.text)]).toEqual([
      503,
      { snapshot: true, state: false, settlement: true, load: true },
    ]);
    // What the process itself can do: it answers webhooks and reads, and does not end.
    expect(await ask('/ready?only=process')).toMatchObject({ status: 200, text: ready.text });
    for (const query of ['only=state', 'only=', 'ts=1']) {
      expect(await ask(`/ready?${query}`)).toMatchObject({ status: 503, text: ready.text });
    }
    expect((await ask('/health')).status).toBe(200);
    expectError(await ask('/v1/jobs/search?limit=0'), 400, 'INVALID_PARAMETER');
    expectError(await ask('/hooks/cb_000000000000000000000000', { method: 'POST' }), 404, 'CALLBACK_NOT_FOUND');
    expect(await damaged.stop()).toBe(0);
  });

  it('the same state with the damage undone has lost nothing', async () => {
    turnBit(log, 32 + 24 + 100);
    const server = await start();
    expectError(
      await answerOf(await fetch(server.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': used } })),
      409,
      'PAYMENT_ALREADY_USED',
    );
    expect(await server.stop()).toBe(0);
    copyFileSync(file, olderCopy);
  });

  it('a missing file and an older copy stop the start', async () => {
    const between = await start();
    expect(await between.stop()).toBe(0);
    copyFileSync(olderCopy, file);
    await expect(start()).rejects.toThrow(/exited with 1[\s\S]*state\.db is an older copy: clients could/);
    rmSync(file);
    await expect(start()).rejects.toThrow(/exited with 1[\s\S]*state\.db is missing: clients could use/);
  });

  it('STATE_RESET begins with an empty state, and sells nothing for what was signed before', async () => {
    const reset = await start({ STATE_RESET: 'true' });
    await says(reset, 'started with an empty state');
    for (const payment of [used, encodeHeader(await paymentFor(await offerOf(reset.url + SEARCH), account))]) {
      const answer = await fetch(reset.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': payment } });
      expectError(await answerOf(answer), 503, 'SETTLEMENT_UNAVAILABLE');
    }
    expect(await reset.stop()).toBe(0);
  });
});
