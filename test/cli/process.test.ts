/** The command line as a process, under each runtime: exit codes, streams, and files that do not depend on it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const MAIN = path('src/main.ts');
const SAMPLE = path('data/sample.jsonl');
const RUNTIMES = [
  ['node', path('node_modules/.bin/node')],
  ['bun', path('node_modules/.bin/bun')],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'paygrade-process-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `stdoutBytes`: close our end of stdout after that many. */
function paygrade(
  runtime: string,
  words: readonly string[],
  stdin = '',
  stdoutBytes = Number.POSITIVE_INFINITY,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(runtime, [MAIN, ...words], { stdio: 'pipe' });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.length >= stdoutBytes) child.stdout.destroy();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }));
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  });
}

describe.each(RUNTIMES)('paygrade under %s', (name, runtime) => {
  const at = (file: string) => join(folder, `${name}-${file}`);

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
      stderr: `paygrade: ${at('missing')}: cannot be opened (ENOENT)\n`,
    });
    const misused = await paygrade(runtime, ['snapshot', 'build', '--frob']);
    expect(misused).toEqual({ exitCode: 2, stdout: '', stderr: 'paygrade: unknown option --frob\n' });
    const bad = await paygrade(runtime, ['snapshot', 'build', '--format', 'native', '--out', at('bad')], 'x\n');
    expect(bad.exitCode).toBe(1);
    expect(bad.stderr.split('\n')[0]).toBe('line 1: is not JSON');
    expect(bad.stderr).not.toContain('\r');
    expect(readdirSync(folder)).not.toContain(`${name}-bad`);
  });

  it('stops quietly when its reader goes away', async () => {
    const words = ['snapshot', 'synth', '--jobs', '20000', '--seed', '1'];
    const { exitCode, stderr } = await paygrade(runtime, words, '', 1000);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });
});

describe('the runtimes agree', () => {
  it('on every byte of a synthetic catalogue and of its export', async () => {
    const files: Buffer[] = [];
    const exports: string[] = [];
    for (const [name, runtime] of RUNTIMES) {
      const out = join(folder, `synth-${name}`);
      const words = ['snapshot', 'synth', '--jobs', '2000', '--seed', '7', '--as-of', '2026-11-20', '--out', out];
      expect((await paygrade(runtime, words)).exitCode).toBe(0);
      files.push(readFileSync(out));
      exports.push((await paygrade(runtime, ['snapshot', 'export', out])).stdout);
    }
    expect(files[0]!.equals(files[1]!)).toBe(true);
    expect(exports[0]!.split('\n').length).toBe(2001);
    expect(exports[0] === exports[1]).toBe(true);
  });
});
