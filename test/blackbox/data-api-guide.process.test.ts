/**
 * What docs/data-api.md shows, run as it stands there: the commands from `keys create` to a first answer, and the scripts that
 * follow the feed, over reloads of a real server and over their own restarts.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { binaryOf, PROJECT, type RunningServer, type Started, startProcess, startServer } from '../support/server.ts';

const GUIDE = readFileSync(join(PROJECT, 'docs', 'data-api.md'), 'utf8');
const ADMIN_TOKEN = 'a'.repeat(40);
const SCRIPT_LINES_MAX = 15;

/** The blocks of a language, in the order of the page. */
const blocksOf = (language: string): readonly string[] =>
  [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) => text);

const [script = ''] = blocksOf('js');
const [pythonScript = ''] = blocksOf('python');

/** That of the path, or that for which Debian packages requests. */
const python = ['python3', '/usr/bin/python3'].find(
  (binary) => spawnSync(binary, ['-c', 'import requests']).status === 0,
);
if (python === undefined) {
  console.log(
    'skipping the Python script of docs/data-api.md: no python3 with requests (apt-get install python3-requests)',
  );
}

const FOLLOWERS = [
  { name: 'node', binary: binaryOf('node'), file: 'follow.mjs', text: script },
  { name: 'bun', binary: binaryOf('bun'), file: 'follow.mjs', text: script },
  ...(python === undefined ? [] : [{ name: 'python', binary: python, file: 'follow.py', text: pythonScript }]),
];
type Follower = (typeof FOLLOWERS)[number];

/** More than a page of 100: observed one after another, so that the feed has them in this order. */
const START_MS = Date.UTC(2026, 9, 1);
const timeOf = (n: number): string => new Date(START_MS + n * 60_000).toISOString();
const jobOf = (n: number, changes: object = {}) =>
  jobLine({
    id: `job-${n}`,
    title: `Engineer ${n}`,
    first_observed_at: timeOf(n),
    last_observed_at: timeOf(1_000),
    ...changes,
  });
const FIRST = Array.from({ length: 103 }, (_, n) => jobOf(n));
const lineOf = (n: number, type = 'first_observed'): string => `${timeOf(n)} ${type} Example Engineer ${n}\n`;
const FIRST_LINES = FIRST.map((_, n) => lineOf(n)).join('');

describe('the guide to the Jobs Data API', () => {
  let folder: string;
  let file: string;
  let server: RunningServer;
  let key = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'paygrade-guide-'));
    file = join(folder, 'jobs.snap');
    await buildSnapshot(file, FIRST);
    server = await startServer('node', { SNAPSHOT: file, ADMIN_TOKEN, LOG_LEVEL: 'silent' });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    rmSync(folder, { recursive: true });
  });

  const follow = ({ name, binary, file, text }: Follower): Started => {
    const cwd = join(folder, name);
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, file), text);
    const variables = { DATA_URL: `${server.url}/data`, KEY: key, PAUSE_SECONDS: '0.2' };
    return startProcess(binary, [file], variables, '', cwd);
  };

  /** Every follower has printed this and no more. */
  const expectPrinted = async (followers: readonly Started[], text: string): Promise<void> => {
    for (const { stdout, stderr } of followers) {
      await expect.poll(() => stdout() + stderr(), { timeout: 15_000, interval: 50 }).toBe(text);
    }
  };

  const reload = async (jobs: readonly Readonly<Record<string, unknown>>[]): Promise<void> => {
    await buildSnapshot(file, jobs);
    server.child.kill('SIGHUP');
  };

  it('gets from the commands to a first answer', async () => {
    const commands = blocksOf('sh').find((block) => block.includes('keys create')) ?? '';
    const run = startProcess('sh', ['-euc', `${commands}\nprintf '\\n%s' "$KEY"`], {
      PAYGRADE_URL: server.url,
      ADMIN_TOKEN,
    });
    const { exitCode, stdout, stderr } = await run.ended;
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('acme has 10,000 onboarding credits')]);
    const [answer = '', printed = ''] = stdout.split('\n');
    key = printed;
    expect(key).toMatch(/^svc_key_[\w-]{43}$/);
    expect(JSON.parse(answer)).toMatchObject({
      data: { returned_jobs: 3, next_cursor: expect.any(String) },
      meta: { credits: { charged: 3, remaining: 9_997 } },
    });
  });

  it(`follows the feed with ${SCRIPT_LINES_MAX} lines of script over reloads and restarts, and misses and repeats nothing`, async () => {
    expect(script.trim().split('\n').length).toBeLessThanOrEqual(SCRIPT_LINES_MAX);
    const followers = FOLLOWERS.map(follow);
    await expectPrinted(followers, FIRST_LINES);
    const closed = { status: 'closed', closed_at: timeOf(2_001) };
    const second = [...FIRST.with(5, jobOf(5, closed)), jobOf(2_000, { last_observed_at: timeOf(2_000) })];
    await reload(second);
    const secondLines = lineOf(2_000) + lineOf(5, 'closed').replace(timeOf(5), timeOf(2_001));
    await expectPrinted(followers, FIRST_LINES + secondLines);
    for (const { child, exited } of followers) {
      child.kill('SIGKILL');
      await exited;
    }
    await reload([...second, jobOf(3_000, { last_observed_at: timeOf(3_000) })]);
    const restarted = FOLLOWERS.map(follow);
    await expectPrinted(restarted, lineOf(3_000));
    for (const { child } of restarted) child.kill('SIGKILL');
  });

  it('says what a script is told that has no valid key', async () => {
    key = `svc_key_${'a'.repeat(43)}`;
    for (const follower of FOLLOWERS) {
      const name = `${follower.name}-refused`;
      const { exitCode, stderr } = await follow({ ...follower, name }).ended;
      expect([name, exitCode, stderr]).toEqual([name, 1, expect.stringContaining('INVALID_API_KEY')]);
    }
  });
});
