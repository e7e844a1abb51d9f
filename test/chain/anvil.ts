/**
 * Where the chain of the tests is: `anvil` of the system, else that of npm, installed in a folder of its own. It is no dependency:
 * registries that lack the package for another platform would fail every clean install.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSION = '1.7.1';
/** npm asks a registry that does not answer for minutes. */
const INSTALL_TIMEOUT_MS = 60_000;

/** @returns undefined where neither can be had, which it says */
export function findAnvil(): string | undefined {
  const own = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'anvil'));
  const installed = own.find((path) => existsSync(path));
  if (installed !== undefined) return installed;
  const folder = join(tmpdir(), `paygrade-anvil-${VERSION}`);
  const path = join(folder, 'node_modules', '.bin', 'anvil');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const words = ['install', '--no-save', '--ignore-scripts', '--prefix', folder, `@foundry-rs/anvil@${VERSION}`];
  // With the environment of these tests, which may name npm's registry.
  const { status } = spawnSync('npm', words, { stdio: 'ignore', timeout: INSTALL_TIMEOUT_MS });
  if (status === 0 && existsSync(path)) return path;
  console.warn(`skipping the tests on a local chain: no anvil on the PATH, and npm has none (exit code ${status})`);
  return undefined;
}
