/** The state file keeps what every store of its kind promises. */
import { afterAll } from 'vitest';
import { MemoryReservations } from '../../../src/payment/reservations.ts';
import { callbackStateSuite } from '../../suites/callback-state.ts';
import { describeReservations } from '../../suites/reservations.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { Folder } from './folder.ts';

const folder = new Folder();
const state = await folder.open();
afterAll(() => folder.remove());

/** One file under all stores of this suite: their serials are kept apart. */
let opened = 0;
describeReservations('reservations in a state file', (time, countMax) => {
  const recovered = { ends: [], cases: [], usedBeforeSeconds: 0, lastSerial: ++opened * 1_000_000 };
  return new MemoryReservations(time, countMax, state.payments, recovered);
});

callbackStateSuite('a state file', async () => {
  const time = new ManualTime(Date.UTC(2026, 7, 1, 12));
  let place = new Folder();
  let current = await place.open({}, time);
  const places = [place];
  return {
    store: current.callbacks,
    async reopen() {
      place = place.killed();
      places.push(place);
      current = await place.open({}, time);
      return current.callbacks;
    },
    async close() {
      for (const one of places) await one.remove();
    },
  };
});
