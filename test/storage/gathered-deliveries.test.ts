/** Deliveries that are recorded together: a close loses none, also beside a record that is under way. */
import { expect, it } from 'vitest';
import { GatheredDeliveries } from '../../src/storage/gathered-deliveries.ts';
import { ManualTime } from '../support/manual-time.ts';

/** A state whose records end when the test says so. */
function slowState() {
  const recorded: number[] = [];
  const waiting: ((isKept: boolean) => void)[] = [];
  const record = (serials: readonly number[]): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push((isKept) => {
        if (isKept) {
          recorded.push(...serials);
          resolve();
        } else reject(new Error('refused'));
      });
    });
  const end = async (isKept: boolean): Promise<void> => {
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    waiting.shift()?.(isKept);
  };
  const time = new ManualTime();
  return { time, deliveries: new GatheredDeliveries(time, record), recorded, end };
}

it('records at its end what came while it wrote', async () => {
  const { deliveries, recorded, end } = slowState();
  deliveries.add(1);
  const closed = deliveries.close();
  await Promise.resolve();
  deliveries.add(2);
  await end(true);
  await end(true);
  await closed;
  expect(recorded).toEqual([1, 2]);
});

it('records at its end what a retry under way could not', async () => {
  const { time, deliveries, recorded, end } = slowState();
  deliveries.add(1);
  time.pass(50);
  await end(false);
  await Promise.resolve();
  const retried = deliveries.retry();
  const closed = deliveries.close();
  await end(false);
  await end(true);
  await Promise.all([retried, closed]);
  expect(recorded).toEqual([1]);
});
