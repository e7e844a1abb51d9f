/** Two processes never sell from one state folder (reliability 124). */
import { expect, it } from 'vitest';
import { lockState } from '../../../src/storage/sqlite/lock.ts';
import { Folder } from './folder.ts';

it('a state folder is locked for one at a time, and free once the first has gone', async () => {
  const folder = new Folder();
  const first = lockState(folder.path);
  expect(first).toBeDefined();
  expect(lockState(folder.path)).toBeUndefined();
  first?.release();
  const second = lockState(folder.path);
  expect(second).toBeDefined();
  second?.release();
  expect(() => lockState(folder.file('missing'))).toThrow();
  await folder.remove();
});
