/** `npm run attack` and some benches start servers outside of vitest, where nothing has bundled the program. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { binaryOf, PROJECT } from '../support/server.ts';

const PROGRAM = `
  const { AttackedServer } = await import('./test/attacks/attacked-server.ts');
  const { MAIN } = await import('./test/support/server.ts');
  const server = await AttackedServer.start('node', {});
  await server.kill();
  console.log(MAIN);`;

it('starts the sources as they are', () => {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR };
  const words = ['--input-type=module', '-e', PROGRAM];
  const printed = execFileSync(binaryOf('node'), words, { cwd: PROJECT, env, encoding: 'utf8' });
  expect(printed.trim()).toBe(join(PROJECT, 'src', 'main.ts'));
});

it('is not bundled by a bench, into no folder', () => {
  const benches = readdirSync(join(PROJECT, 'bench'), { encoding: 'utf8', recursive: true });
  const bundling = benches
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => readFileSync(join(PROJECT, 'bench', name), 'utf8').includes('bundled-setup'));
  expect(bundling).toEqual([]);
});
