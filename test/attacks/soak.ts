/** The long run: one server, all attacks at once, on and off by a seed, and honest customers at a tenth of its capacity. */
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessorTime } from '../support/processor-time.ts';
import type { Runtime } from '../support/server.ts';
import { hangUp } from './ask.ts';
import type { Figures } from './attack.ts';
import { AttackedServer, sinceThen } from './attacked-server.ts';
import { AttackerProcess } from './attacker-process.ts';
import type { AttackOrder } from './attacks.ts';
import {
  allTimes,
  Customer,
  failureCount,
  type HonestFigures,
  KINDS,
  measuredCapacity,
  percentile,
} from './customer.ts';
import { AttackedFacilitator } from './facilitator.ts';
import { type Flatness, flatnessOf } from './flatness.ts';

/** As much of each attack as leaves two processors room for the others and for the customers. */
const ORDERS: readonly AttackOrder[] = [
  { name: 'unread pipelines', intensity: 12 },
  { name: 'pipelined reads', intensity: 400 },
  { name: 'unread reads', intensity: 60 },
  { name: 'ordinary readers', intensity: 20 },
  { name: 'empty wallet', intensity: 60 },
  { name: 'unpaid creations', intensity: 30 },
  { name: 'forged creations', intensity: 30 },
  { name: 'failing contract signatures', intensity: 32 },
  { name: 'hanging contract signatures', intensity: 16 },
  { name: 'disguises', intensity: 15 },
  { name: 'stopped bodies', intensity: 30 },
];

const CAPACITY_IN_FLIGHT = 32;
/** Honest load, as a share of the capacity. */
const HONEST_SHARE = 0.1;
const CALLBACKS_PER_SECOND = 2;
const QUIET_MS = 5000;
const AFTER_MS = 10_000;
const SAMPLE_MS = 1000;
const MINUTE_MS = 60_000;
const P90_MS_MAX = 1000;
/** A shorter run has too few collections of garbage to tell whether memory is flat. */
const JUDGED_MINUTES_MIN = 10;
/** Resident memory above the quiet one: the bodies (64 MB), the output of unread connections, and a busy heap. */
const GROWTH_MEGABYTES_MAX = 600;

export interface SoakOptions {
  readonly runtime: Runtime;
  readonly minutes: number;
  readonly seed: number;
  /** Called with each minute as it ends. */
  readonly onMinute: (minute: Minute) => void;
}

/** Milliseconds. */
interface Times {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Memory in megabytes. */
export interface Minute extends Times {
  readonly name: string;
  readonly honestCount: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly lowestMemory: number;
  readonly highestMemory: number;
  /** Of the server's event loop. */
  readonly processor: ProcessorTime;
  /** Of the machine, at the end of the minute. */
  readonly loadAverage: number;
}

export interface SoakResult {
  readonly runtime: Runtime;
  readonly seed: number;
  readonly capacityPerSecond: number;
  readonly honestPerSecond: number;
  readonly minutes: readonly Minute[];
  readonly p90ByKind: Readonly<Record<string, number>>;
  /** Of all honest answers in the minutes of the attacks. */
  readonly underAttack: Times;
  readonly honestCount: number;
  readonly honestFailures: number;
  readonly memory: Flatness & { readonly quiet: number; readonly peak: number; readonly end: number };
  readonly exitCode: number | null;
  readonly attacks: Readonly<Record<string, Figures>>;
  /** What did not hold, a sentence each. */
  readonly broken: readonly string[];
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

const timesOf = (sorted: readonly number[]): Times => ({
  p50: rounded(percentile(sorted, 0.5)),
  p90: rounded(percentile(sorted, 0.9)),
  p99: rounded(percentile(sorted, 0.99)),
  max: rounded(sorted.at(-1) ?? 0),
});

function minuteOf(name: string, honest: HonestFigures, megabytes: readonly number[], processor: ProcessorTime): Minute {
  const times = allTimes(honest);
  return {
    name,
    honestCount: times.length,
    failures: honest.failures,
    ...timesOf(times),
    lowestMemory: Math.min(...megabytes),
    highestMemory: Math.max(...megabytes),
    processor,
    loadAverage: rounded(loadavg()[0] ?? 0),
  };
}

/** One run, its samples and its minutes. */
class Soak {
  readonly #options: SoakOptions;
  readonly #server: AttackedServer;
  readonly #customer: Customer;
  readonly minutes: Minute[] = [];
  readonly megabytes: number[] = [];
  readonly #underAttack: number[] = [];
  #processor: ProcessorTime;
  readonly #times = new Map<string, number[]>(KINDS.map((kind) => [kind, []]));

  constructor(options: SoakOptions, server: AttackedServer, customer: Customer) {
    this.#options = options;
    this.#server = server;
    this.#customer = customer;
    this.#processor = server.processorTime();
  }

  /** Samples for so long, or until the server is dead, and reports what the customers met. */
  async watch(name: string, durationMs: number, isAttacked = false): Promise<Minute> {
    const endMs = performance.now() + durationMs;
    const megabytes: number[] = [];
    while (performance.now() < endMs && this.#server.ending === undefined) {
      await pause(Math.min(SAMPLE_MS, endMs - performance.now()));
      megabytes.push(this.#server.residentMegabytes() ?? 0);
    }
    return this.report(name, megabytes, isAttacked);
  }

  report(name: string, megabytes: readonly number[], isAttacked = false): Minute {
    const honest = this.#customer.take();
    if (isAttacked) for (const kind of KINDS) this.#underAttack.push(...honest.tookMs[kind]);
    const processor = this.#server.processorTime();
    const minute = minuteOf(name, honest, megabytes, sinceThen(processor, this.#processor));
    this.#processor = processor;
    this.megabytes.push(...megabytes);
    for (const kind of KINDS) this.#times.get(kind)?.push(...honest.tookMs[kind]);
    this.minutes.push(minute);
    this.#options.onMinute(minute);
    return minute;
  }

  underAttack(): Times {
    return timesOf(ascending(this.#underAttack));
  }

  p90ByKind(): Record<string, number> {
    return Object.fromEntries([...this.#times].map(([kind, times]) => [kind, timesOf(ascending(times)).p90]));
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

function brokenIn(result: Omit<SoakResult, 'broken'>, ending: string | undefined): string[] {
  const { memory, minutes, p90ByKind, honestFailures, exitCode } = result;
  const slow = minutes.filter(({ p90 }) => p90 >= P90_MS_MAX);
  const slowKinds = Object.entries(p90ByKind).filter(([, p90]) => p90 >= P90_MS_MAX);
  return [
    ...(ending === undefined ? [] : [`the server died: ${ending}`]),
    ...(ending === undefined && exitCode !== 0 ? [`the server ended with ${exitCode} when it was asked to`] : []),
    ...(honestFailures === 0 ? [] : [`${honestFailures} honest requests were lost`]),
    ...slow.map(({ name, p90 }) => `honest p90 of ${name} is ${p90} ms`),
    ...slowKinds.map(([kind, p90]) => `honest p90 of ${kind} is ${p90} ms`),
    ...(memory.peak - memory.quiet > GROWTH_MEGABYTES_MAX
      ? [`memory rose from ${memory.quiet} to ${memory.peak} MB, allowed are ${GROWTH_MEGABYTES_MAX} more`]
      : []),
    ...(memory.isFlat || minutes.length < JUDGED_MINUTES_MIN
      ? []
      : [
          `memory rose by ${rounded(memory.riseMegabytes)} MB in the second half, noise is ${rounded(memory.noiseMegabytes)}`,
        ]),
  ];
}

/** @throws Error when the run cannot begin */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { runtime, seed } = options;
  const facilitator = new AttackedFacilitator();
  const server = await AttackedServer.start(runtime, {
    ...(await facilitator.settings()),
    TRUST_PROXY: 'true',
  });
  const attackers = new AttackerProcess();
  try {
    const capacityPerSecond = await measuredCapacity(server.target, CAPACITY_IN_FLIGHT);
    const honestPerSecond = Math.max(1, Math.round(capacityPerSecond * HONEST_SHARE));
    const customer = new Customer(server.target, {
      purchasesPerSecond: honestPerSecond,
      callbacksPerSecond: CALLBACKS_PER_SECOND,
    });
    await customer.start();
    const soak = new Soak(options, server, customer);
    const { highestMemory: quiet } = await soak.watch('quiet', QUIET_MS);
    server.forgetPeak();
    const sampleCount = soak.megabytes.length;
    await attackers.start(server.target, ORDERS, seed);
    for (let minute = 1; minute <= options.minutes && server.ending === undefined; minute++) {
      await soak.watch(`minute ${minute}`, MINUTE_MS, true);
    }
    const flatness = flatnessOf(soak.megabytes.slice(sampleCount));
    const peak = server.peakMegabytes() ?? 0;
    const attacks = await attackers.stop();
    await soak.watch('after', AFTER_MS);
    await customer.stop();
    soak.report('last answers', [server.residentMegabytes() ?? 0]);
    const { ending } = server;
    const result = {
      runtime,
      seed,
      capacityPerSecond: Math.round(capacityPerSecond),
      honestPerSecond,
      minutes: soak.minutes,
      p90ByKind: soak.p90ByKind(),
      underAttack: soak.underAttack(),
      honestCount: sumOf(soak.minutes.map(({ honestCount }) => honestCount)),
      honestFailures: sumOf(soak.minutes.map(({ failures }) => failureCount({ failures }))),
      memory: { ...flatness, quiet, peak, end: server.residentMegabytes() ?? 0 },
      exitCode: ending === undefined ? await server.stop() : null,
      attacks,
    };
    return { ...result, broken: brokenIn(result, ending) };
  } finally {
    attackers.close();
    hangUp(server.target);
    await server.kill();
    await facilitator.close();
  }
}
