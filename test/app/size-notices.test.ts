/** Sizes with which a server starts but sells nothing are named, at the start and by `doctor`. */
import { expect, it } from 'vitest';
import { CLAIM_BYTES } from '../../src/callback/limits.ts';
import { run } from '../cli/captured-io.ts';
import { openedApp } from '../support/opened-app.ts';

const LEAST_MEMORY = 32 * 1024 * 1024;
const about = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /(?:MEMORY_LIMIT_BYTES|CALLBACK_BYTES)=\d+ (?:is less|has room)/.exec(line) ?? []);

it.each<[variables: Record<string, string>, named: string[]]>([
  [{ MEMORY_LIMIT_BYTES: '512', CALLBACK_BYTES: '1' }, ['MEMORY_LIMIT_BYTES=512 is less', 'CALLBACK_BYTES=1 has room']],
  [{ MEMORY_LIMIT_BYTES: '512', SHEDDING: 'false', CALLBACK_BYTES: '0', SURFACES: 'jobs' }, []],
  [{ MEMORY_LIMIT_BYTES: String(LEAST_MEMORY), CALLBACK_BYTES: String(CLAIM_BYTES) }, []],
])('a start and doctor name what leaves nothing to sell: %j', async (variables, named) => {
  const app = await openedApp(variables);
  expect(about(app.app.notices)).toEqual(named);
  await app.close();
  const { exitCode, stderr } = await run(['doctor'], { env: { STATE_DIR: ':memory:', PORT: '0', ...variables } });
  expect(about(stderr.split('\n').filter((line) => line.startsWith('FIX')))).toEqual(named);
  expect(exitCode).toBe(named.length > 0 ? 1 : 0);
});
