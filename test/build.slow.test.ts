/** What is published follows from the sources alone (reliability 276): two builds give the same files, byte for byte. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROJECT } from './support/server.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-build-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Digests of all files that the compiler writes, by path. */
function built(name: string): ReadonlyMap<string, string> {
  const out = join(folder, name);
  for (const config of ['tsconfig.build.json', 'src/adapters/listen/bun/tsconfig.build.json']) {
    // `npm run types` checks; here only what is written counts.
    const words = [
      '-p',
      config,
      '--noCheck',
      '--outDir',
      config.startsWith('src') ? join(out, 'adapters/listen/bun') : out,
    ];
    const { status, stdout } = spawnSync(join(PROJECT, 'node_modules/.bin/tsc'), words, {
      cwd: PROJECT,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  }
  const entries = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(out.length), createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

it('a build made twice, in two places, is the same byte for byte (reliability 276)', () => {
  const first = built('first');
  expect(first.has('/main.js')).toBe(true);
  expect(built('second')).toEqual(first);
}, 120_000);
