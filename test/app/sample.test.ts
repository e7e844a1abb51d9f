/** The built-in sample, whose times are counted back from its build, is built again every day, also in a library. */
import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/base/durations.ts';
import { ManualTime } from '../support/manual-time.ts';
import { openedApp } from '../support/opened-app.ts';
import { until } from '../support/until.ts';

const START_MS = Date.UTC(2026, 0, 10);

it('is built again each day', async () => {
  const time = new ManualTime(START_MS);
  const { app, close } = await openedApp({ SNAPSHOT: '', SURFACES: 'jobs' }, { clock: time, timers: time });
  const builtAtMs = (): number => app.catalogue.current()?.catalogue.snapshot.facts.builtAtMs ?? 0;
  expect(builtAtMs()).toBe(START_MS);
  for (let day = 1; day <= 2; day++) {
    time.pass(DAY_MS - 1);
    expect(builtAtMs()).toBe(START_MS + (day - 1) * DAY_MS);
    time.pass(1);
    await until('the new sample', () => builtAtMs() === START_MS + day * DAY_MS);
  }
  await close();
});
