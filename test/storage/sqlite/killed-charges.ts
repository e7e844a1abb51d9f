/** Kills processes that charge credits, one after another on one folder, and checks after each what is on record. */
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { MemoryAccounts } from '../../../src/storage/memory/accounts.ts';
import { Chance } from '../../support/chance.ts';
import { binaryOf, type Runtime, startProcess } from '../../support/server.ts';
import { Folder } from './folder.ts';

const PROGRAM = fileURLToPath(new URL('charging-process.ts', import.meta.url));
/** Plenty: no charge is refused. One grant lapses first, so that charges take from two. */
const MONTHLY = 200;
const ONCE = 1_000_000_000;
/** From the first charge of a process to its kill. */
const LIFE_MS_MAX = 120;

/** Sums of what a process has written. */
function sumsOf(output: string): { readonly asked: number; readonly answered: number; readonly count: number } {
  const sumOf = (mark: string): number =>
    output.split('\n').reduce((sum, line) => sum + (line.startsWith(mark) ? Number(line.slice(1)) : 0), 0);
  return { asked: sumOf('>'), answered: sumOf('<'), count: output.split('<').length - 1 };
}

/** @returns the number of answered charges */
export async function killChargingProcesses(runtime: Runtime, killCount: number, seed: number): Promise<number> {
  const folder = new Folder();
  const chance = new Chance(seed);
  const using = async <T>(work: (accounts: MemoryAccounts) => T | Promise<T>): Promise<T> => {
    const { persistence } = await folder.open();
    const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
    const result = await work(new MemoryAccounts(ports, { isPlay: true, ...persistence.accounts }));
    await folder.close();
    return result;
  };
  await using(async (accounts) => {
    await accounts.grant({ organization: 'acme', kind: 'subscription', amount: MONTHLY, expiresAtMs: null });
    await accounts.grant({ organization: 'acme', kind: 'onboarding', amount: ONCE, expiresAtMs: null });
  });
  let [recorded, count] = [0, 0];
  for (let kill = 1; kill <= killCount; kill++) {
    const started = startProcess(binaryOf(runtime), [PROGRAM, folder.path, String(chance.next())]);
    await expect.poll(() => started.stdout() + started.stderr(), { interval: 2, timeout: 20_000 }).toContain('<');
    await new Promise((resolve) => setTimeout(resolve, chance.below(LIFE_MS_MAX)));
    started.child.kill('SIGKILL');
    const { stdout, stderr } = await started.ended;
    const sums = sumsOf(stdout);
    count += sums.count;
    const usage = await using((accounts) => accounts.usage('acme'));
    const charged = (usage?.charged ?? 0) - recorded;
    const about = `kill ${kill} of seed ${seed}: answered ${sums.answered}, asked ${sums.asked}\n${stderr}`;
    expect(charged, `lost: ${about}`).toBeGreaterThanOrEqual(sums.answered);
    expect(charged, `doubled: ${about}`).toBeLessThanOrEqual(sums.asked);
    expect(usage?.remaining, about).toBe(MONTHLY + ONCE - recorded - charged);
    recorded += charged;
  }
  await folder.remove();
  return count;
}
