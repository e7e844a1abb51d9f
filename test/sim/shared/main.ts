/**
 * `npm run simulate:shared -- [--authorizations N] [--seed S] [--operations K] [--trace]`: several processes on one modelled
 * database, K authorizations a run, seed after seed until there were N. Exit code 1 when an invariant broke, and when one
 * was never put to the test by as many as are enough.
 */
import { parseArgs } from 'node:util';
import { neverMet } from '../invariants.ts';
import { playSharedRun } from './run.ts';

/** So many authorizations put every invariant to the test. */
const WHOLE_COUNT = 10_000;

const { values } = parseArgs({
  options: {
    authorizations: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '250' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(
    [
      'simulate:shared: several processes on one modelled database, with faults from a seed, and their invariants checked',
      '  --authorizations N   seed after seed until there were so many (10000)',
      '  --seed S             the first seed (1)',
      '  --operations K       authorizations a run (250); a seed means the same run only with the same K',
      '  --trace              the trace of every run',
      '',
    ].join('\n'),
  );
  process.exit(0);
}

const wholeNumber = (name: 'authorizations' | 'seed' | 'operations'): number => {
  const text = values[name];
  if (/^(0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  process.stderr.write(`--${name} must be a whole number, not ${JSON.stringify(text)}\n`);
  process.exit(2);
};

const firstSeed = wholeNumber('seed');
const purchaseCount = wholeNumber('operations');
const authorizationCount = wholeNumber('authorizations');
const totals = new Map<string, number>();
const startedMs = performance.now();
let virtualMs = 0;
let seed = firstSeed;
let broken: Awaited<ReturnType<typeof playSharedRun>> | undefined;
while (broken === undefined && (totals.get('authorizations') ?? 0) < authorizationCount) {
  const result = await playSharedRun(
    seed,
    { purchaseCount },
    values.trace ? (line) => process.stderr.write(`${line}\n`) : undefined,
  );
  virtualMs += result.virtualMs;
  for (const [name, count] of result.counts) totals.set(name, (totals.get(name) ?? 0) + count);
  if (result.violation !== undefined) broken = result;
  else seed++;
}
for (const [name, count] of [...totals].sort(([one], [other]) => (one < other ? -1 : 1))) {
  process.stdout.write(`${String(count).padStart(10)}  ${name}\n`);
}
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
const hours = (virtualMs / 3_600_000).toFixed(1);
process.stdout.write(
  `seeds ${firstSeed} to ${broken === undefined ? seed - 1 : seed}, ${hours} virtual hours, ${seconds} s\n`,
);
const untested = neverMet(import.meta.dirname, totals);
if (untested.length > 0) process.stdout.write(`never put to the test: ${untested.join('; ')}\n`);
if (untested.length > 0 && authorizationCount >= WHOLE_COUNT) process.exitCode = 1;
if (broken?.violation !== undefined) {
  if (!values.trace) process.stderr.write(`${broken.lastLines.join('\n')}\n`);
  const { invariant, detail, step } = broken.violation;
  process.stderr.write(`seed ${seed}, step ${step}: ${invariant}: ${detail}\n`);
  const again = `npm run simulate:shared -- --seed ${seed} --operations ${purchaseCount} --authorizations 1 --trace`;
  process.stderr.write(`replay: ${again}\n`);
  process.exitCode = 1;
}
