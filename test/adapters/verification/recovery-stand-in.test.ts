/** The main thread in place of recovery threads: when it takes jobs, and what comes of a library that cannot be loaded. */
import { expect, it } from 'vitest';
import { inlineRecovery } from '../../../src/adapters/verification/recovery-inline.ts';
import { StandIn } from '../../../src/adapters/verification/recovery-stand-in.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

function setUp() {
  const time = new ManualTime();
  const state = { isNeeded: true, canLoad: true, loadCount: 0 };
  const standIn = new StandIn({
    timers: time,
    isNeeded: () => state.isNeeded,
    async load() {
      state.loadCount++;
      if (!state.canLoad) throw new Error('no file\ndescriptors');
      return inlineRecovery(() => ({ ok: false, reason: 'no-key' }), 0.1, setImmediate);
    },
    onChange() {
      // Its owner asks at each change while no thread runs.
      if (state.isNeeded) void standIn.load();
    },
  });
  return { standIn, state, time };
}

it('takes jobs while no thread runs, and none while one does', async () => {
  const { standIn, state } = setUp();
  expect([standIn.isHealthy(), standIn.freeCount()]).toEqual([true, 0]);
  await standIn.load();
  expect(standIn.freeCount()).toBe(1);
  state.isNeeded = false;
  expect(standIn.freeCount()).toBe(0);
  state.isNeeded = true;
  expect(standIn.freeCount()).toBe(1);
  await standIn.load();
  expect(state.loadCount).toBe(1);
});

it('that cannot be loaded is out of order, and is tried once a second', async () => {
  const { standIn, state, time } = setUp();
  state.canLoad = false;
  const loading = standIn.load();
  for (let tries = 1; tries <= 3; tries++) {
    await settle();
    expect([standIn.fault, standIn.isHealthy(), state.loadCount]).toEqual(['no file', false, tries]);
    time.pass(1000);
  }
  state.canLoad = true;
  await settle();
  time.pass(1000);
  await loading;
  expect([standIn.fault, standIn.isHealthy(), standIn.freeCount()]).toEqual([undefined, true, 1]);
  expect(time.pendingCount).toBe(0);
});

it('that cannot be loaded is not tried while a thread runs, and is again when none does', async () => {
  const { standIn, state, time } = setUp();
  state.canLoad = false;
  const loading = standIn.load();
  await settle();
  state.isNeeded = false;
  time.pass(1000);
  await loading;
  expect([standIn.fault, state.loadCount, time.pendingCount]).toEqual([undefined, 1, 0]);
  state.isNeeded = true;
  state.canLoad = true;
  await standIn.load();
  expect(standIn.freeCount()).toBe(1);
});

it('that is closed is not tried again', async () => {
  const { standIn, state, time } = setUp();
  state.canLoad = false;
  void standIn.load();
  await settle();
  standIn.close();
  const late = setUp();
  late.state.canLoad = false;
  void late.standIn.load();
  late.standIn.close();
  await settle();
  expect([time.pendingCount, late.time.pendingCount]).toEqual([0, 0]);
});
