/** `paygrade sales` as a process beside real servers: on their folder, through their routes, and after a kill. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  binaryOf,
  MAIN,
  oneRuntime,
  RUNTIMES,
  type RunningServer,
  startProcess,
  startServer,
} from '../support/server.ts';
import { buy } from '../support/wallet.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';

interface Sale {
  readonly request_id: string;
  readonly payer: string;
  readonly delivered: boolean;
}

describe.each(oneRuntime('bun'))('the books of a server under %s', (runtime) => {
  const other = runtime === 'node' ? 'bun' : 'node';
  const salesBy = async (by: typeof runtime, ...words: string[]): Promise<readonly Sale[]> => {
    const started = startProcess(binaryOf(by), [MAIN, 'sales', '--json', ...words], { ADMIN_TOKEN });
    const { exitCode, stdout, stderr } = await started.ended;
    expect([exitCode, stderr]).toEqual([0, '']);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Sale);
  };
  const idsOf = (sales: readonly Sale[]): readonly string[] => sales.map(({ request_id }) => request_id);
  const soldBy = async (server: RunningServer): Promise<string> => {
    const response = await buy(`${server.url}/v1/callbacks`, undefined, { method: 'POST' });
    expect(response.status).toBe(201);
    return response.headers.get('x-request-id') ?? '';
  };

  it('are the same by folder and by address, and after a kill in its unread log', { timeout: 120_000 }, async () => {
    const server = await startServer(runtime, { SNAPSHOT: 'none', ADMIN_TOKEN });
    const sold = [await soldBy(server), await soldBy(server), await soldBy(server)];
    const byFolder = await salesBy(runtime, '--state-dir', server.stateDir);
    expect(idsOf(byFolder)).toEqual(sold);
    expect(idsOf(await salesBy(other, '--state-dir', server.stateDir))).toEqual(sold);
    expect(idsOf(await salesBy(runtime, '--url', server.url))).toEqual(sold);

    // Readers beside it have not disturbed it.
    sold.push(await soldBy(server));
    await server.kill();
    const [state, log] = ['state.db', 'state.db-wal'].map((name) => join(server.stateDir, name)) as [string, string];
    expect(readFileSync(log).length).toBeGreaterThan(0);
    const before = [readFileSync(state), readFileSync(log)];
    for (const by of RUNTIMES) expect(idsOf(await salesBy(by, '--state-dir', server.stateDir))).toEqual(sold);
    expect([readFileSync(state), readFileSync(log)]).toEqual(before);

    const again = await startServer(runtime, { SNAPSHOT: 'none', ADMIN_TOKEN, STATE_DIR: server.stateDir });
    sold.push(await soldBy(again));
    expect(idsOf(await salesBy(other, '--url', again.url))).toEqual(sold);
    expect(await again.stop()).toBe(0);
    expect(existsSync(log)).toBe(false);
    const files = readdirSync(server.stateDir).sort();
    for (const by of RUNTIMES) {
      const atRest = await salesBy(by, '--state-dir', server.stateDir);
      expect(idsOf(atRest)).toEqual(sold);
      expect(atRest.at(-1)?.delivered).toBe(true);
    }
    expect(readdirSync(server.stateDir).sort()).toEqual(files);
    rmSync(server.stateDir, { recursive: true });
  });
});
