/** Two hundred kills -9 of processes that charge credits, under each runtime (siblings §3). A failure prints its seed. */
import { expect, it } from 'vitest';
import { RUNTIMES } from '../../support/server.ts';
import { killChargingProcesses } from './killed-charges.ts';

it.each(RUNTIMES)('no charge is lost or doubled by kills under %s', { timeout: 1_200_000 }, async (runtime) => {
  expect(await killChargingProcesses(runtime, 200, Date.now())).toBeGreaterThan(2000);
});
