/**
 * A program for a process of its own: loads a catalogue and reloads it while the event loop turns every millisecond, then prints
 * the processor's time of this thread in the slowest turn of each reload as JSON. Processor time, because a machine with other
 * work gives a turn any time on the clock.
 *
 *   node test/adapters/files/reload-turns.ts FILE RELOADS
 */
import { existsSync, readdirSync } from 'node:fs';
import { catalogueSource } from '../../../src/adapters/files/catalogue-source.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { CatalogueHolder } from '../../../src/catalogue/holder.ts';

export interface ReloadTurns {
  /** Loading at once, as at the start. */
  readonly loadMs: number;
  /** Of each reload: the slowest turn, and how many there were. */
  readonly reloads: readonly { readonly slowestMs: number; readonly turnCount: number }[];
  /** Open descriptors after the first reload, for which the runtime opened its own, and after the last; 0 where the system does not say. */
  readonly descriptors: readonly [number, number];
}

const [, , path = '', count = '1'] = process.argv;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const descriptorCount = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const source = await catalogueSource(path, { clock: systemClock, timers: systemTimers });
const startMs = processorMs();
const holder = new CatalogueHolder(source);
const loadMs = processorMs() - startMs;

let slowestMs = 0;
let turnCount = 0;
let lastMs = processorMs();
const turn = setInterval(() => {
  const nowMs = processorMs();
  slowestMs = Math.max(slowestMs, nowMs - lastMs);
  lastMs = nowMs;
  turnCount++;
}, 1);
await pause(200);
await holder.reload();
await pause(300);
const descriptorsBefore = descriptorCount();
const reloads: { slowestMs: number; turnCount: number }[] = [];
for (let i = 0; i < Number(count); i++) {
  slowestMs = 0;
  turnCount = 0;
  await holder.reload();
  await pause(100);
  reloads.push({ slowestMs, turnCount });
}
await pause(300);
const result: ReloadTurns = { loadMs, reloads, descriptors: [descriptorsBefore, descriptorCount()] };
clearInterval(turn);
await holder.close();
console.log(JSON.stringify(result));
