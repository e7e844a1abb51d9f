/**
 * `npm run simulate -- [--runs N] [--seed S] [--operations K] [--json]`: runs of the simulator, seed after seed. With
 * `--seed` alone that one run, with its trace. Exit code 1 when an invariant broke.
 */
import { parseArgs } from 'node:util';
import { neverMet } from './invariants.ts';
import type { ProfileWishes } from './profile.ts';
import { playRun } from './run.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string' },
    seed: { type: 'string' },
    operations: { type: 'string', default: '200' },
    disk: { type: 'string' },
    signing: { type: 'string' },
    mix: { type: 'string' },
    json: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function wholeNumber(name: string, text: string): number {
  if (!/^(0|[1-9][0-9]{0,14})$/.test(text)) {
    process.stderr.write(`--${name} must be a whole number, not ${JSON.stringify(text)}\n`);
    process.exit(2);
  }
  return Number(text);
}

function oneOf<T extends string>(name: string, text: string | undefined, choices: readonly T[]): T | undefined {
  if (text === undefined) return undefined;
  const found = choices.find((choice) => choice === text);
  if (found === undefined) {
    process.stderr.write(`--${name} must be one of ${choices.join(', ')}\n`);
    process.exit(2);
  }
  return found;
}

if (values.help) {
  process.stdout.write(
    [
      'simulate: the real handler on virtual time, with faults from a seed, and its invariants checked',
      '  --runs N         how many seeds (100; 1 with its trace when only --seed is given)',
      '  --seed S         the first seed (1)',
      '  --operations K   authorizations a run (200); a seed means the same run only with the same K',
      '  --disk both      every run with the real database beside the model; --disk model: none',
      '  --signing keys   every run with real signatures; --signing marks: none',
      '  --mix outbound   retries and resolves above all',
      '  --trace          the trace of every run',
      '  --json           the summary as JSON on stdout',
      '',
    ].join('\n'),
  );
  process.exit(0);
}

/** So many runs put every invariant to the test. */
const WHOLE_COUNT = 500;

const firstSeed = wholeNumber('seed', values.seed ?? '1');
const runCount = wholeNumber('runs', values.runs ?? (values.seed === undefined ? '100' : '1'));
const isTraced = values.trace || (values.seed !== undefined && values.runs === undefined);
const wishes: ProfileWishes = {
  purchaseCount: wholeNumber('operations', values.operations),
  disk: oneOf('disk', values.disk, ['model', 'both']),
  signing: oneOf('signing', values.signing, ['marks', 'keys']),
  mix: oneOf('mix', values.mix, ['any', 'outbound']),
};

/** Asked to end: the run under way is finished, and the summary told. */
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isEnding = true;
  });
}

const startedMs = performance.now();
const totals = new Map<string, number>();
let broken: Awaited<ReturnType<typeof playRun>> | undefined;
let doneCount = 0;
let virtualMs = 0;
let stepCount = 0;
for (let seed = firstSeed; seed < firstSeed + runCount && !isEnding; seed++) {
  const result = await playRun(seed, wishes, isTraced ? (line) => process.stderr.write(`${line}\n`) : undefined);
  doneCount++;
  virtualMs += result.virtualMs;
  stepCount += result.stepCount;
  for (const [name, count] of result.counts) totals.set(name, (totals.get(name) ?? 0) + count);
  if (result.violation !== undefined) {
    broken = result;
    break;
  }
  if (!values.json && doneCount % 100 === 0) {
    const seconds = (performance.now() - startedMs) / 1000;
    process.stderr.write(`${doneCount} runs, ${totals.get('purchases')} purchases, ${seconds.toFixed(0)} s\n`);
  }
}

const seconds = (performance.now() - startedMs) / 1000;
const again =
  broken === undefined
    ? null
    : `npm run simulate -- --seed ${broken.seed} --operations ${wishes.purchaseCount}${wishes.mix === undefined ? '' : ` --mix ${wishes.mix}`}`;
const summary = {
  firstSeed,
  lastSeed: firstSeed + doneCount - 1,
  runs: doneCount,
  operationsPerRun: wishes.purchaseCount,
  seconds: Math.round(seconds * 10) / 10,
  virtualHours: Math.round(virtualMs / 360_000) / 10,
  steps: stepCount,
  broken: broken === undefined ? null : { seed: broken.seed, ...broken.violation, again, traceHash: broken.traceHash },
  counts: Object.fromEntries([...totals].sort(([one], [other]) => (one < other ? -1 : 1))),
};
if (values.json) process.stdout.write(`${JSON.stringify(summary)}\n`);
else {
  for (const [name, count] of Object.entries(summary.counts))
    process.stdout.write(`${String(count).padStart(10)}  ${name}\n`);
  process.stdout.write(
    `seeds ${summary.firstSeed} to ${summary.lastSeed}, ${summary.virtualHours} virtual hours, ${stepCount} steps, ${summary.seconds} s\n`,
  );
}
const untested = neverMet(import.meta.dirname, totals);
if (runCount > 1 && untested.length > 0) process.stderr.write(`never put to the test: ${untested.join('; ')}\n`);
if (runCount >= WHOLE_COUNT && !isEnding && wishes.mix === undefined && untested.length > 0) process.exitCode = 1;
if (broken !== undefined && broken.violation !== undefined) {
  if (!isTraced) process.stderr.write(`${broken.lastLines.join('\n')}\n`);
  const { invariant, detail, step } = broken.violation;
  process.stderr.write(`seed ${broken.seed}, step ${step}: ${invariant}: ${detail}\nreplay: ${again}\n`);
  process.exitCode = 1;
}
