/** `doctor` beside a running server, under each runtime: it sees the server, changes nothing and disturbs nobody. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { type JobsServer, startJobsServer } from '../support/jobs-server.ts';
import { oneRuntime, runToEnd } from '../support/server.ts';
import { buy, wallet } from '../support/wallet.ts';

/** Name and digest of every file of a folder, without the index of the log, where any reader marks how far it has read. */
const contentsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .sort()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  );

/** Once the server has written what it notes after its answers: that they were delivered. */
async function restingContentsOf(folder: string): Promise<Record<string, string>> {
  for (let before = contentsOf(folder); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 800));
    const now = contentsOf(folder);
    if (JSON.stringify(now) === JSON.stringify(before)) return now;
    before = now;
  }
}

describe.each(oneRuntime('bun'))('doctor beside a server, under %s', (runtime) => {
  let jobs: JobsServer;
  beforeAll(async () => {
    jobs = await startJobsServer(runtime);
  });
  afterAll(async () => {
    expect(await jobs.server.stop()).toBe(0);
  });

  const examine = (
    settings: Record<string, string>,
  ): { exitCode: number | null; stderr: string; findings: Finding[] } => {
    const { exitCode, stdout, stderr } = runToEnd(runtime, ['doctor', '--json'], settings);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return { exitCode, stderr, findings };
  };

  it('finds it ready through its address, and leaves its state as it is', async () => {
    const { port, stateDir, url } = jobs.server;
    const before = await restingContentsOf(stateDir);
    const { exitCode, stderr, findings } = examine({ PORT: String(port), STATE_DIR: stateDir, BASE_URL: url });
    expect([exitCode, stderr]).toEqual([0, '']);
    const found = (check: string): string =>
      findings
        .filter((one) => one.check === check)
        .map((one) => `${one.verdict}: ${one.found}`)
        .join('\n');
    expect(found('state')).toContain(`in use by process ${jobs.server.child.pid}`);
    expect(found('port')).toBe(`ok: a paygrade server runs at ${url} and is ready`);
    expect(found('public')).toContain('ok: an unpaid request through BASE_URL gets the whole offer');
    const after = contentsOf(stateDir);
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual([]);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect((await buy(jobs.url(jobs.search), wallet())).status).toBe(200);
  });

  it('sees that the server at the port works on another folder', () => {
    const { port, stateDir, url } = jobs.server;
    const other = join(stateDir, 'elsewhere');
    const { exitCode, findings } = examine({ PORT: String(port), STATE_DIR: other });
    expect(exitCode).toBe(0);
    expect(
      findings.filter(({ check }) => check === 'port').map(({ verdict, found }) => `${verdict}: ${found}`),
    ).toEqual([
      `ok: a paygrade server runs at ${url} and is ready`,
      `note: no server that this process can see works on STATE_DIR ${other}: the one at the port seems to have other settings`,
    ]);
  });

  it('sees that BASE_URL leads to a server with other settings', () => {
    const { port, stateDir, url } = jobs.server;
    const other = examine({
      PORT: String(port),
      STATE_DIR: stateDir,
      BASE_URL: `${url}/`,
      PAY_TO: `0x${'1'.repeat(40)}`,
    });
    expect(other.exitCode).toBe(1);
    expect(other.findings.filter(({ verdict }) => verdict === 'mend').map(({ found }) => found)).toEqual([
      expect.stringMatching(/^the offer at BASE_URL asks for payment to 0x/),
    ]);
    const wrong = examine({ PORT: String(port), STATE_DIR: stateDir, BASE_URL: `${url}/elsewhere` });
    expect(wrong.findings.filter(({ verdict }) => verdict === 'mend').map(({ found }) => found)).toEqual([
      'BASE_URL answers an unpaid request with 404, not 402',
    ]);
  });
});
