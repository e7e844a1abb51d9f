/** `reload` finds the server by the lock of its state, and the lines of the start say what to send a signal to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suiteFolder } from '../support/scratch-folder.ts';
import { startServer } from '../support/server.ts';
import { run } from './captured-io.ts';

const folder = suiteFolder();

const kill = (processId: number, name: string): void => {
  process.kill(processId, name);
};

describe.skipIf(!existsSync('/proc/locks'))('reload', () => {
  it('reaches the server of a state folder, whose start says its pid, its jobs and its reference', async () => {
    const stateDir = join(folder, 'state');
    const server = await startServer('node', { STATE_DIR: stateDir, LOG_LEVEL: 'error' });
    const lines = (): Record<string, unknown>[] =>
      server
        .stderr()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await expect.poll(() => lines().at(-1)?.message).toBe('the server has started');
    const started = lines().at(-1);
    expect(started).toMatchObject({ pid: server.child.pid, docs: `${server.url}/docs` });
    expect(started?.active_jobs).toBeGreaterThan(0);
    expect(server.stdout()).toBe(`listening on ${server.url}\n`);

    const asked = await run(['reload', '--json'], { env: { STATE_DIR: stateDir }, onSent: kill });
    expect(asked).toEqual({ exitCode: 0, stdout: `{"pid":${server.child.pid}}\n`, stderr: '' });
    await expect
      .poll(() => lines().at(-1), { timeout: 20_000 })
      .toMatchObject({ message: 'the catalogue was reloaded' });
    expect(await server.stop()).toBe(0);

    const ended = await run(['reload', '--state-dir', stateDir], { onSent: kill });
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toMatch(
      /^paygrade: no server runs on \S+: --state-dir or STATE_DIR names the folder of the server\n$/,
    );
  });

  it.each([
    [[], { STATE_DIR: ':memory:' }, 2, 'this state is in memory only and has no lock'],
    [['--state-dir', '/nowhere'], {}, 1, 'no server runs on /nowhere'],
  ] as const)('says what to do instead: %j %j', async (words, env, exitCode, said) => {
    const ran = await run(['reload', ...words], { env });
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(said);
  });
});
