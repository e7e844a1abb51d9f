/**
 * A model of sizes beyond the machines here: which part reaches its limit first at a thousand, a hundred thousand and
 * ten million paid requests a second, over a hundred million jobs, and what replaces it (docs/scale-model.md). Costs
 * are measured, machines assumed (scale/costs.ts); the claims on which the design rests are simulated, and if one fails
 * the run ends with exit code 1. (The merge of shards is compared with the engine in test/bench/scale-merge.test.ts.)
 *
 *   node bench/scale-model.ts [--runs 2000]
 */
import { parseArgs } from 'node:util';
import { firstOf, layouts, type Sizes, sizesAt } from './scale/capacity.ts';
import { FAULTS, type Fault, simulateClaims } from './scale/claims.ts';
import { ASSUMED, MEASURED } from './scale/costs.ts';
import { simulateQueue, waitP99 } from './scale/queue.ts';

const RATES = [1_000, 100_000, 10_000_000];
const JOBS = 100_000_000;

const write = (line = ''): void => void process.stdout.write(`${line}\n`);

/** 1234567 -> `1.2 million`. */
function shown(number: number): string {
  for (const [size, name] of [
    [1e12, ' trillion'],
    [1e9, ' billion'],
    [1e6, ' million'],
  ] as const) {
    if (number >= size) return `${Number((number / size).toPrecision(3))}${name}`;
  }
  return number >= 1000 ? Math.round(number).toLocaleString('en') : String(Math.round(number));
}

function bytes(count: number): string {
  for (const [size, name] of [
    [1e15, 'PB'],
    [1e12, 'TB'],
    [1e9, 'GB'],
    [1e6, 'MB'],
  ] as const) {
    if (count >= size) return `${(count / size).toPrecision(3)} ${name}`;
  }
  return `${(count / 1e3).toPrecision(3)} kB`;
}

function writeLayouts(): void {
  write('| layout | first limit | at, paid requests a second | what replaces it |');
  write('|---|---|---|---|');
  for (const layout of layouts(MEASURED, ASSUMED, 2)) {
    const { part, perSecond } = firstOf(layout);
    write(`| ${layout.name} | ${part} | ${shown(perSecond)} | ${layout.next} |`);
  }
}

function writeSizes(): void {
  const all = RATES.map((rate) => sizesAt(rate, JOBS, MEASURED, ASSUMED));
  const row = (name: string, of: (sizes: Sizes) => string): void => write(`| ${name} | ${all.map(of).join(' | ')} |`);
  write(`| ${shown(JOBS)} jobs | ${RATES.map((rate) => `${shown(rate)}/s`).join(' | ')} |`);
  write('|---|---|---|---|');
  row('layout', ({ layout }) => layout.name);
  row('regions', ({ regions }) => shown(regions));
  row(`gates of ${ASSUMED.gateCores} cores`, ({ gates }) => shown(gates));
  row('partitions of claims', ({ partitions }) => shown(partitions));
  row('shards of the catalogue', ({ shards }) => `${shards} of ${bytes(MEASURED.shardJobs * MEASURED.jobBytes)}`);
  row('replicas of each shard', ({ replicas }) => shown(replicas));
  row(`jobs services of ${ASSUMED.serviceCores} cores`, ({ serviceMachines }) => shown(serviceMachines));
  row('log of the databases', ({ logBytesPerSecond }) => `${bytes(logBytesPerSecond)}/s`);
  row('authorizations that are kept', ({ liveAuthorizations }) => shown(liveAuthorizations));
  row('books', ({ bookBytesPerDay }) => `${bytes(bookBytesPerDay)} a day`);
}

/** @returns whether the claim holds */
function writeClaims(runs: number): boolean {
  const plan = { authorizations: 8, requestsEach: 4 };
  const total = (fault?: Fault) => {
    const sums = { sold: 0, doubleSales: 0, unknown: 0, elections: 0 };
    for (let seed = 1; seed <= runs; seed++) {
      const result = simulateClaims({ ...plan, seed, ...(fault === undefined ? {} : { fault }) });
      sums.sold += result.sold;
      sums.doubleSales += result.doubleSales;
      sums.unknown += result.unknown;
      sums.elections += result.elections;
    }
    return sums;
  };
  write('| planted fault | authorizations sold | sold twice | requests without an answer | elections |');
  write('|---|---|---|---|---|');
  let holds = true;
  for (const fault of [undefined, ...FAULTS]) {
    const { sold, doubleSales, unknown, elections } = total(fault);
    holds &&= fault === undefined ? doubleSales === 0 && sold > 0 : doubleSales > 0;
    write(`| ${fault ?? 'none'} | ${shown(sold)} | ${shown(doubleSales)} | ${shown(unknown)} | ${shown(elections)} |`);
  }
  return holds;
}

/** @returns whether simulation and closed form agree */
function writeQueues(): boolean {
  write('| cores of a gate | busy | p99 of the wait, closed form | simulated | p99 of the time, mixed questions |');
  write('|---|---|---|---|---|');
  let holds = true;
  const requests = 400_000;
  for (const servers of [1, 4, 16]) {
    for (const utilization of [0.6, 0.8, 0.9]) {
      const form = waitP99(servers, utilization);
      const plan = { servers, utilization, requests, seed: 7 };
      const { waitP99: simulated } = simulateQueue({ ...plan, service: 'exponential' });
      const { p99 } = simulateQueue({ ...plan, service: 'mixed' });
      holds &&= Math.abs(simulated - form) <= 0.15 * form + 0.05;
      const ms = (units: number): string => `${((units * MEASURED.gateMicros) / 1000).toFixed(1)} ms`;
      write(`| ${servers} | ${utilization * 100} % | ${ms(form)} | ${ms(simulated)} | ${ms(p99)} |`);
    }
  }
  return holds;
}

const { values } = parseArgs({ options: { runs: { type: 'string', default: '2000' } } });
write('## Layouts\n');
writeLayouts();
write('\n## Sizes\n');
writeSizes();
write(`\n## No double sale: ${values.runs} runs each\n`);
const isSoldOnce = writeClaims(Number(values.runs));
write('\n## Queueing\n');
const isQueueRight = writeQueues();
if (!isSoldOnce || !isQueueRight) {
  write('\na claim does not hold');
  process.exitCode = 1;
}
