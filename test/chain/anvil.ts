/**
 * Where the chain of the tests is: `anvil` of the system, else that of npm, installed in a folder of its own. It is no dependency:
 * registries that lack the package for another platform would fail every clean install.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../support/server.ts';

const VERSION = '1.7.1';

/** @returns undefined where neither can be had, which it says */
export async function findAnvil(): Promise<string | undefined> {
  const own = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'anvil'));
  const installed = own.find((path) => existsSync(path));
  if (installed !== undefined) return installed;
  const folder = join(tmpdir(), `paygrade-anvil-${VERSION}`);
  const path = join(folder, 'node_modules', '.bin', 'anvil');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const words = ['install', '--no-save', '--ignore-scripts', '--prefix', folder, `@foundry-rs/anvil@${VERSION}`];
  const { exitCode } = await startProcess('npm', words).ended;
  if (exitCode === 0 && existsSync(path)) return path;
  console.warn(`skipping the tests on a local chain: no anvil on the PATH, and npm has none (exit code ${exitCode})`);
  return undefined;
}
