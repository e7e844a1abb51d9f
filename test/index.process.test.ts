/** The library in a process that does nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { pause } from './support/until.ts';

const PROGRAM = `
  import { createPaygrade } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
  const stateKey = Buffer.alloc(32).toString('base64');
  console.log('waits');
  await createPaygrade({ snapshot: 'none', databaseUrl: 'postgres://127.0.0.1:1/nothing', stateKey });
`;

it('stays until its database is there, or has not come in time', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const first = await Promise.race([ended, pause(2000)]);
  child.kill('SIGKILL');
  await ended;
  expect(first).toBeUndefined();
});
