/** What is published follows from the sources alone (reliability 276): two builds give the same files, byte for byte. */
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../tools/bundle.ts';
import { PROJECT } from './support/server.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-build-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Digests of all files that the bundler writes, by path. Maps name the sources from where the build lies. */
async function built(name: string): Promise<ReadonlyMap<string, string>> {
  const out = join(folder, name);
  await bundle(PROJECT, out);
  const entries = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(out.length), createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

it('a build made twice, in two places, is the same byte for byte (reliability 276)', async () => {
  const first = await built('first');
  expect(first.has('/main.js')).toBe(true);
  expect(first.has('/writer.js')).toBe(true);
  expect(await built('second')).toEqual(first);
}, 120_000);

it('the files that a start reads import no module of the runtime that it does without', () => {
  const out = join(folder, 'first');
  for (const file of ['main.js', 'commands.js', 'server.js', 'listen-bun.js']) {
    const text = readFileSync(join(out, file), 'utf8');
    expect(text).not.toMatch(/(?:from|import) ?"node:(?:crypto|fs|stream|timers|util|worker_threads|zlib)\b/);
  }
});

it('a warning of the bundler fails the build', async () => {
  const project = join(folder, 'project');
  cpSync(join(PROJECT, 'src'), join(project, 'src'), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(project, 'node_modules'));
  appendFileSync(join(project, 'src/main.ts'), "\neval('1');\n");
  await expect(bundle(project, join(folder, 'warned'))).rejects.toThrow(/eval/);
}, 60_000);
