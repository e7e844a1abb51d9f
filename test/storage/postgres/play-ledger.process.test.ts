import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { PRUNE } from '../../../src/storage/postgres/play-ledger.ts';
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
