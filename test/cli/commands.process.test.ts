/**
 * The command line as a process: exit codes, streams, and files that do not depend on the runtime. `npm run test:slow` runs all of
 * it under each runtime, `npm test` what compares them.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binaryOf, MAIN, oneRuntime, PROJECT, RUNTIMES, type Runtime, startProcess } from '../support/server.ts';
import { partOf } from '../support/whole.ts';

const SAMPLE = join(PROJECT, 'data', 'sample.jsonl');

const folder = mkdtempSync(join(tmpdir(), 'paygrade-process-'));
afterAll(() => rmSync(folder, { recursive: true }));

const start = (runtime: Runtime, words: readonly string[], stdin = '') =>
  startProcess(binaryOf(runtime), [MAIN, ...words], {}, stdin);
const paygrade = (...parts: Parameters<typeof start>) => start(...parts).ended;

it('says that a directory as stdin cannot be read, and writes no catalogue, under node', () => {
  const words = [MAIN, 'snapshot', 'build', '--out', join(folder, 'none'), '-'];
  const stdin = openSync(folder, 'r');
  const { status, stderr } = spawnSync(binaryOf('node'), words, { stdio: [stdin, 'pipe', 'pipe'], encoding: 'utf8' });
  closeSync(stdin);
  expect([status, stderr]).toEqual([1, 'paygrade: stdin: cannot be read (EISDIR)\n']);
});

describe.each(oneRuntime('bun'))('paygrade under %s', (runtime) => {
  const at = (file: string) => join(folder, `${runtime}-${file}`);

  it('builds from stdin, exports, and builds the same file again', async () => {
    const built = await paygrade(
      runtime,
      ['snapshot', 'build', '--out', at('one'), '--json'],
      readFileSync(SAMPLE, 'utf8'),
    );
    expect(built.exitCode).toBe(0);
    expect(JSON.parse(built.stdout)).toMatchObject({ written: true, rows: 25 });
    const exported = await paygrade(runtime, ['snapshot', 'export', at('one')]);
    expect(exported).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await paygrade(runtime, ['snapshot', 'build', '--out', at('two')], exported.stdout)).exitCode).toBe(0);
    expect(readFileSync(at('two')).equals(readFileSync(at('one')))).toBe(true);
  });

  it('ends with 0, 1 and 2, one line each, and no progress in a pipe', async () => {
    const help = await paygrade(runtime, ['--help']);
    expect(help).toMatchObject({ exitCode: 0, stderr: '' });
    expect(help.stdout).toContain('paygrade <command>');
    const failed = await paygrade(runtime, ['snapshot', 'inspect', at('missing')]);
    expect(failed).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `paygrade: ${at('missing')}: there is no such file\n`,
    });
    const misused = await paygrade(runtime, ['snapshot', 'build', '--frob']);
    expect(misused).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'paygrade: unknown option --frob; --help lists the options\n',
    });
    const bad = await paygrade(runtime, ['snapshot', 'build', '--format', 'native', '--out', at('bad')], 'x\n');
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr.split('\n')[0]).toBe('line 1: is not JSON');
    expect(bad.stderr).not.toContain('\r');
    expect(readdirSync(folder)).not.toContain(`${runtime}-bad`);
  });

  it.each([
    ['much', ['snapshot', 'synth', '--jobs', '2000', '--seed', '1']],
    ['little', ['--version']],
  ])('says in one line that a full disk takes no stdout, %s of it', async (_, words) => {
    const full = ['-c', 'exec "$0" "$@" >/dev/full', binaryOf(runtime), MAIN, ...words];
    const { exitCode, stderr } = await startProcess('sh', full, {}).ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'paygrade: stdout cannot be written (ENOSPC)\n' });
  });

  it('stops quietly when its reader goes away', async () => {
    const words = ['snapshot', 'synth', '--jobs', '20000', '--seed', '1'];
    const { child, ended } = start(runtime, words);
    child.stdout.once('data', () => child.stdout.destroy());
    const { exitCode, stderr } = await ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });
});

const JOB_COUNT = partOf(2000, 500);

describe('the runtimes agree', () => {
  it('on every byte of a synthetic catalogue and of its export', async () => {
    const files: Buffer[] = [];
    const exports: string[] = [];
    for (const runtime of RUNTIMES) {
      const out = join(folder, `synth-${runtime}`);
      const words = [
        'snapshot',
        'synth',
        '--jobs',
        String(JOB_COUNT),
        '--seed',
        '7',
        '--as-of',
        '2026-11-20',
        '--out',
        out,
      ];
      expect((await paygrade(runtime, words)).exitCode).toBe(0);
      files.push(readFileSync(out));
      exports.push((await paygrade(runtime, ['snapshot', 'export', out])).stdout);
    }
    expect(files[0]!.equals(files[1]!)).toBe(true);
    expect(exports[0]!.split('\n').length).toBe(JOB_COUNT + 1);
    expect(exports[0] === exports[1]).toBe(true);
  });
});
