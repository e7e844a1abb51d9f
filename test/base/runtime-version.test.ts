import { expect, it } from 'vitest';
import { versionFault } from '../../src/base/runtime-version.ts';

it.each([
  ['22.18.0', undefined, true],
  ['23.0.0', undefined, true],
  ['26.10.0', undefined, true],
  ['22.17.9', undefined, false],
  ['20.20.2', undefined, false],
  ['18.0.0', '1.4.5', true],
])('Node %s, Bun %s: it runs here: %s', (node, bun, canRun) => {
  expect(versionFault({ node, ...(bun !== undefined && { bun }) }) === undefined).toBe(canRun);
});
