/**
 * A process that charges credits until it is killed: `node charging-process.ts FOLDER SEED`. It writes `>N` right before it asks
 * for a charge of N credits, and `<N` once that charge was answered, so what it wrote last bounds what must be on record.
 */
import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { openSqliteBackend } from '../../../src/storage/sqlite/backend.ts';
import { Chance } from '../../support/chance.ts';

const [, , stateDir = '', seed = '1'] = process.argv;
/** Charges in flight. */
const LOOP_COUNT = 8;
const AMOUNT_MAX = 9;

const failed = (failure: unknown): void => {
  if (failure !== undefined) throw new Error('the state cannot be used', { cause: failure });
};

const { accounts } = await openSqliteBackend(
  {
    stateDir,
    sync: 'normal',
    mayReset: false,
    salesKeptMs: Number.MAX_SAFE_INTEGER,
    callbackBytes: 1,
    play: undefined,
  },
  { clock: systemClock, timers: systemTimers, random: systemRandom, onStateFault: failed, onFailure: failed },
);

async function charge(chance: Chance): Promise<never> {
  for (;;) {
    const amount = chance.wholeBetween(1, AMOUNT_MAX);
    writeSync(1, `>${amount}\n`);
    const charged = await accounts.charge('acme', amount);
    if (charged.kind !== 'charged') throw new Error(`a charge of plenty of credits was ${charged.kind}`);
    writeSync(1, `<${amount}\n`);
    if (chance.is(0.2)) await setImmediate();
  }
}

const chance = new Chance(Number(seed));
await Promise.all(Array.from({ length: LOOP_COUNT }, () => charge(chance.fork())));
