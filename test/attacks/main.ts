/**
 * `npm run attack`: all attacks at once on a real server, for as long as it is asked to, with honest customers beside them.
 * Prints a line a minute, the figures and a verdict; exit code 1 when something did not hold.
 */
import { parseArgs } from 'node:util';
import { RUNTIMES, type Runtime } from '../support/server.ts';
import { type Minute, runSoak, type SoakOptions, type SoakResult } from './soak.ts';

const USAGE = `attack [--runtime node|bun] [--minutes N] [--seed S] [--json]

Starts a server with a fake facilitator, measures how many purchases a second it makes, and then lets all attacks of
test/attacks go at it for N minutes (20 by default), on and off by the seed, while honest customers buy at a tenth of that
and use callbacks. Exit code 0 when the server lived, lost no honest request, answered nine of ten in less than a second in
every minute, and its memory stayed flat; else 1.

  --json   the figures as one JSON object on stdout; the minutes go to stderr
`;

const HEADINGS = [
  '',
  'honest',
  'lost',
  'p50 ms',
  'p90 ms',
  'p99 ms',
  'max ms',
  'MB low',
  'MB high',
  'ran s',
  'waited s',
] as const;
const NAME_WIDTH = 14;
const COLUMN_WIDTH = 9;

const row = (cells: readonly (string | number)[]): string =>
  cells.map((cell, i) => (i === 0 ? String(cell).padEnd(NAME_WIDTH) : String(cell).padStart(COLUMN_WIDTH))).join('');

function minuteRow(minute: Minute): string {
  const { name, honestCount, failures, p50, p90, p99, max, lowestMemory, highestMemory, processor, loadAverage } =
    minute;
  const lost = Object.values(failures).reduce((sum, count) => sum + count, 0);
  const figures = row([
    name,
    honestCount,
    lost,
    p50,
    p90,
    p99,
    max,
    lowestMemory,
    highestMemory,
    processor.ran,
    processor.waited,
    loadAverage,
  ]);
  return lost === 0 ? figures : `${figures}  ${JSON.stringify(failures)}`;
}

function shown(result: SoakResult): string {
  const { runtime, seed, capacityPerSecond, honestPerSecond, memory, attacks, underAttack, p90ByKind, broken } = result;
  const lines = [
    `capacity ${capacityPerSecond} purchases a second; honest ${honestPerSecond} a second`,
    `ms under attack: p50 ${underAttack.p50}, p90 ${underAttack.p90}, p99 ${underAttack.p99}, max ${underAttack.max}`,
    `p90 ms by kind: ${Object.entries(p90ByKind)
      .map(([kind, p90]) => `${kind} ${p90}`)
      .join(', ')}`,
    `memory MB: quiet ${memory.quiet}, peak ${memory.peak}, end ${memory.end}; second half rose by ` +
      `${memory.riseMegabytes.toFixed(1)}, noise ${memory.noiseMegabytes.toFixed(1)}`,
    ...Object.entries(attacks).map(([name, figures]) => `${name}: ${JSON.stringify(figures)}`),
    ...broken.map((sentence) => `BROKEN ${sentence}`),
    `attack: ${runtime}, seed ${seed}: ${broken.length === 0 ? 'held' : 'did not hold'}`,
  ];
  return `${lines.join('\n')}\n`;
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name}: a whole number from 1, not ${text}`);
  return Number(text);
}

function optionsFrom(words: readonly string[]): { options: Omit<SoakOptions, 'onMinute'>; isJson: boolean } {
  const { values } = parseArgs({
    args: [...words],
    options: {
      runtime: { type: 'string', default: 'node' },
      minutes: { type: 'string', default: '20' },
      seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const runtime: Runtime | undefined = RUNTIMES.find((one) => one === values.runtime);
  if (runtime === undefined) throw new Error(`--runtime: node or bun, not ${values.runtime}`);
  const { minutes, seed } = values;
  return {
    options: { runtime, minutes: wholeNumber('minutes', minutes), seed: wholeNumber('seed', seed) },
    isJson: values.json,
  };
}

let parsed: ReturnType<typeof optionsFrom>;
try {
  parsed = optionsFrom(process.argv.slice(2));
} catch (failure) {
  process.stderr.write(`attack: ${(failure as Error).message}\n`);
  process.exit(2);
}
const { options, isJson } = parsed;
const people = isJson ? process.stderr : process.stdout;
people.write(`${row(HEADINGS)}\n`);
const result = await runSoak({ ...options, onMinute: (minute) => people.write(`${minuteRow(minute)}\n`) });
process.stdout.write(isJson ? `${JSON.stringify(result)}\n` : shown(result));
process.exit(result.broken.length === 0 ? 0 : 1);
