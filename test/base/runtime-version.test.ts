import { expect, it } from 'vitest';
import { versionFault } from '../../src/base/runtime-version.ts';

it.each([
  [{ node: '22.18.0' }, true],
  [{ node: '23.0.0' }, true],
  [{ node: '26.10.0' }, true],
  [{ node: '22.17.9' }, false],
  [{ node: '20.20.2' }, false],
  [{ node: '18.0.0', bun: '1.4.5' }, true],
  [{ node: '20.11.1', deno: '2.2.0' }, true],
])('%j can run it: %s', (versions, canRun) => {
  expect(versionFault(versions) === undefined).toBe(canRun);
});
