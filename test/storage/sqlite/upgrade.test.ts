/** A state file of an earlier version, whose used authorizations have keys that nobody can compute from it any more. */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { MemoryReservations } from '../../../src/payment/reservations.ts';
import { FORMAT_VERSION } from '../../../src/storage/sqlite/database.ts';
import { orderFor } from '../../payment/fixture.ts';
import { contentOfState, History, NOW_MS } from '../history/history.ts';
import type { Folder } from './folder.ts';

const NOW_SECONDS = NOW_MS / 1000;

function setFormat(folder: Folder, version: number): void {
  const database = new DatabaseSync(folder.file('state.db'));
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}

describe('a state of format 1', () => {
  it('is taken over, and what may have been used before is refused until its window is over', async () => {
    const history = await History.live();
    const { folder, time } = history;
    const { content } = history.moments.at(-1)!;
    setFormat(folder, 1);

    const state = await folder.open({}, time);
    expect(state.notices[0]).toMatch('the state of an earlier version was taken over');
    const kept = await contentOfState(state);
    const isOpen = ([, standing]: [string, string]): boolean => standing.startsWith('open');
    expect(kept).toEqual({
      ...content,
      payments: Object.fromEntries(Object.entries(content.payments).filter(isOpen)),
    });
    expect(Object.keys(kept.payments)).toHaveLength(1);
    const reservations = new MemoryReservations(time, 100, state.payments, state.recovered);
    const reserved = (validBeforeSeconds: number): string => {
      const order = orderFor({ validBeforeSeconds });
      return reservations.reserve(order.key, validBeforeSeconds).kind;
    };
    expect(reserved(NOW_SECONDS + 120)).toBe('unavailable');
    expect(reserved(NOW_SECONDS + 150)).toBe('unavailable');
    expect(reserved(NOW_SECONDS + 151)).toBe('reserved');
    await folder.close();

    const again = await folder.open({}, time);
    expect(again.notices.join()).not.toMatch('earlier version');
    expect(again.recovered.usedBeforeSeconds).toBe(NOW_SECONDS + 150);
    await folder.close();
    const database = new DatabaseSync(folder.file('state.db'), { readOnly: true });
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: FORMAT_VERSION });
    database.close();
    await folder.remove();
  });
});

describe('a state of a format to come', () => {
  it('is left as it is, and nothing is sold', async () => {
    const { folder, time } = await History.live();
    setFormat(folder, FORMAT_VERSION + 1);
    const state = await folder.open({}, time);
    expect(state.fault()).toMatch('newer than this program');
    await folder.remove();
  });
});
