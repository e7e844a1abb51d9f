/** The module of libsecp256k1 is what its sources make, byte for byte: compiled again from the release that Debian distributes. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const BUILD = fileURLToPath(new URL('../../../tools/libsecp256k1/build.ts', import.meta.url));
const NEEDED = ['clang-19', 'wasm-ld-19', 'xz'];

const lacks = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
};
const missing = NEEDED.filter(lacks);
if (missing.length > 0)
  console.log(`skipping the build of libsecp256k1: no ${missing.join(', ')} (apt-get install clang-19 lld-19)`);

it.skipIf(missing.length > 0)('the module is what its sources make', () => {
  expect(execFileSync(process.execPath, [BUILD, '--check'], { encoding: 'utf8' })).toContain('what its sources make');
});
