import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { awakeTimers, systemTimers } from '../../../src/adapters/process/system-timers.ts';

it.each([
  ['the system’s', systemTimers],
  ['those that keep the process awake', awakeTimers],
])('a delay that the runtimes have no room for does not end at once: %s', async (_, timers) => {
  let firedCount = 0;
  const cancel = timers.after(2 ** 31, () => firedCount++);
  await pause(20);
  cancel();
  expect(firedCount).toBe(0);
});
