import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { StatementError } from '../../../src/storage/postgres/failures.ts';
import { PostgresPlayLedger, PRUNE } from '../../../src/storage/postgres/play-ledger.ts';
import { orderFor } from '../../payment/fixture.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { SERVER, testDatabase } from '../../support/postgres-database.ts';

it.skipIf(SERVER === undefined)('the index names the transfers that are due, whatever else is on record', async () => {
  const on = await testDatabase(SERVER!);
  const database = new Database(on.connections(), { clock: systemClock, timers: new ManualTime(), onStateFault() {} });
  try {
    const rows = await database.run({ text: `EXPLAIN ${PRUNE}` });
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/play_transfers_window.*\n +Index Cond: \(valid_before < /);
  } finally {
    await database.close();
    await on.remove();
  }
});

it.skipIf(SERVER === undefined)(
  'a transfer that the database refuses moves nothing, is a bug, and fails no neighbour',
  async () => {
    const on = await testDatabase(SERVER!);
    const database = new Database(on.connections(), {
      clock: systemClock,
      timers: new ManualTime(),
      onStateFault() {},
    });
    try {
      const ledger = new PostgresPlayLedger(database, 1_000_000n);
      const validBeforeSeconds = Math.floor(systemClock.nowMs() / 1000) + 100;
      const good = orderFor({ validAfterSeconds: 0, validBeforeSeconds });
      const bad = orderFor({ nonce: `0x${'7'.repeat(64)}`, validAfterSeconds: 0, validBeforeSeconds: Number.NaN });
      const [moved, refused] = await Promise.all([ledger.transfer(good), ledger.transfer(bad)]);
      expect(moved.kind).toBe('settled');
      expect(refused).toMatchObject({ kind: 'unavailable', bug: expect.any(StatementError) });
    } finally {
      await database.close();
      await on.remove();
    }
  },
);
