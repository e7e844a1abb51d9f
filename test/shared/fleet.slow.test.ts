/** Many trials of several processes on one database; PAYGRADE_TRIALS says how many (test/shared/trial.ts). */
import { describe, expect, it } from 'vitest';
import { startPostgres } from '../support/postgres.ts';
import { Fleet } from './fleet.ts';
import { DISTURBANCES, Trial } from './trial.ts';

const CYCLES = Number(process.env.PAYGRADE_TRIALS ?? '200');
const SEED = Number(process.env.PAYGRADE_SEED ?? Date.now() % 1_000_000);

const database = await startPostgres();
if (database === undefined) console.log('skipping trials on one database: there is no PostgreSQL to start');

describe.skipIf(database === undefined)('three processes on one database', () => {
  it(`sell nothing twice and charge nothing unanswered in ${CYCLES} trials from seed ${SEED}`, {
    timeout: 7_200_000,
  }, async () => {
    const server = database!;
    const fleet = await new Fleet(await server.freshUrl(), ['node', 'node', 'bun'], {
      LOCAL_BALANCE: '1000000000000',
      LOG_LEVEL: 'info',
    }).start();
    const trial = new Trial(fleet, server, SEED);
    try {
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        const disturbance = DISTURBANCES[cycle % DISTURBANCES.length]!;
        await trial.cycle(disturbance).catch((failure: unknown) => {
          throw new Error(`cycle ${cycle}, ${disturbance}, seed ${SEED}: ${failure}`);
        });
      }
      expect(trial.counts.sold).toBeGreaterThan(CYCLES);
    } finally {
      console.log(JSON.stringify(trial.counts));
      await fleet.stop();
      await server.close();
    }
  });
});
