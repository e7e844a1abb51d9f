/** Deliveries that are recorded together; a close loses none, also beside a record that is under way. */
import { expect, it } from 'vitest';
import { GatheredDeliveries } from '../../src/storage/gathered-deliveries.ts';
import { ManualTime, settle } from '../support/manual-time.ts';

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

it('has one timer, and none after its end, when a retry waits behind a record under way', async () => {
  const { time, deliveries, recorded, end } = slowState();
  deliveries.add(1);
  time.pass(50);
  await settle();
  const retried = deliveries.retry();
  deliveries.add(2);
  await end(true);
  await end(true);
  await retried;
  deliveries.add(3);
  expect(time.pendingCount).toBe(1);
  const closed = deliveries.close();
  expect(time.pendingCount).toBe(0);
  await end(true);
  await closed;
  expect(recorded).toEqual([1, 2, 3]);
});

/** A state that soon records, or refuses. */
function quickState() {
  const time = new ManualTime();
  const records: (readonly number[])[] = [];
  const state = { isRefusing: false };
  const deliveries = new GatheredDeliveries(time, async (serials) => {
    await Promise.resolve();
    records.push(serials);
    if (state.isRefusing) throw new Error('refused');
  });
  return { time, deliveries, records, state };
}

it('records those of fifty milliseconds together, a thousand at once', async () => {
  const { time, deliveries, records } = quickState();
  for (let serial = 0; serial < 2001; serial++) deliveries.add(serial);
  expect(time.pendingCount).toBe(1);
  time.pass(49);
  await settle();
  expect(records).toEqual([]);
  time.pass(1);
  await settle();
  expect(records.map(({ length }) => length)).toEqual([1000, 1000, 1]);
  expect(records.flat()).toEqual(Array.from({ length: 2001 }, (_, serial) => serial));
});

it('records with a retry what was refused, and does not hurry what is due anyway', async () => {
  const { time, deliveries, records, state } = quickState();
  deliveries.add(1);
  await deliveries.retry();
  expect(records).toEqual([]);
  state.isRefusing = true;
  time.pass(50);
  await settle();
  state.isRefusing = false;
  await deliveries.retry();
  expect(records).toEqual([[1], [1]]);
});

it('leaves no timer behind its end', async () => {
  const { time, deliveries, records } = quickState();
  deliveries.add(1);
  const closed = deliveries.close();
  deliveries.add(2);
  expect(time.pendingCount).toBe(0);
  await closed;
  deliveries.add(3);
  expect(time.pendingCount).toBe(0);
  expect(records).toEqual([[1, 2]]);
});
