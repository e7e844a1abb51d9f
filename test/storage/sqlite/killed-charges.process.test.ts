/** A kill -9 loses no charge that was answered and doubles none (siblings §3); two hundred of them: `npm run test:long`. */
import { expect, it } from 'vitest';
import { oneRuntime } from '../../support/server.ts';
import { partOf } from '../../support/whole.ts';
import { killChargingProcesses } from './killed-charges.ts';

it.each(oneRuntime('node'))('no charge is lost or doubled by kills under %s', { timeout: 60_000 }, async (runtime) => {
  expect(await killChargingProcesses(runtime, partOf(5, 2), 15)).toBeGreaterThan(partOf(10, 3));
});
