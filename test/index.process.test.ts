/** The library in a process that does nothing else. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { pause } from './support/until.ts';

const LIBRARY = JSON.stringify(new URL('../src/index.ts', import.meta.url).href);

const PROGRAM = `
  import { createPaygrade } from ${LIBRARY};
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

/** Makes the process an older Node: by its version, and without a module that the older one lacks. */
const OLD_NODE = `
  import { registerHooks } from 'node:module';
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.17.1' } });
  registerHooks({
    resolve(name, context, next) {
      if (name === 'node:sqlite') throw new Error('No such built-in module');
      return next(name, context);
    },
  });
`;

it('cannot be imported by an older Node, and the error names the version that it needs', () => {
  const program = `await import(${LIBRARY}).catch(({ message }) => console.log(message));`;
  const words = [
    '--import',
    `data:text/javascript,${encodeURIComponent(OLD_NODE)}`,
    '--input-type=module',
    '--eval',
    program,
  ];
  expect(execFileSync(process.execPath, words, { encoding: 'utf8' })).toBe(
    'paygrade: Node 22.18 or newer is needed, this is 22.17.1\n',
  );
});
