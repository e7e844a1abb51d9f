/**
 * One trial: a fresh server, an honest customer alone (quiet), the same beside attacks, the same after them. What must hold
 * is said once, in `brokenIn`.
 */
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessorTime } from '../support/processor-time.ts';
import type { Runtime } from '../support/server.ts';
import { hangUp } from './ask.ts';
import { BEGUN, type Figures } from './attack.ts';
import { AttackedServer, sinceThen } from './attacked-server.ts';
import { AttackerProcess } from './attacker-process.ts';
import type { AttackOrder } from './attacks.ts';
import { allTimes, Customer, type CustomerOptions, failureCount, type HonestFigures, percentile } from './customer.ts';
import { AttackedFacilitator } from './facilitator.ts';

export interface Plan {
  readonly orders: readonly AttackOrder[];
  /** What the attackers must have begun together for the trial to say anything: connections, or requests. */
  readonly begunMin: number;
  readonly variables?: Readonly<Record<string, string>>;
  /** Part of `npm test`, where the others have no time. */
  readonly isQuick?: true;
  /** Node's heap; its default without. */
  readonly heapMegabytes?: number;
  /** Settles through a facilitator, see `facilitator.ts`. */
  readonly isFacilitated?: boolean;
  /** How far the resident memory may rise above the quiet one, at any moment, megabytes. */
  readonly growthMegabytes: Readonly<Record<Runtime, number>>;
  readonly customer?: CustomerOptions;
  /** What the attackers' own figures must show besides; sentences about what is wrong. */
  readonly judge?: (figures: Readonly<Record<string, Figures>>) => string[];
}

export interface Report {
  readonly ending: string | undefined;
  readonly lastWords: string;
  readonly quietMegabytes: number;
  readonly peakMegabytes: number;
  readonly endMegabytes: number;
  readonly quiet: HonestFigures;
  readonly during: HonestFigures;
  readonly after: HonestFigures;
  readonly figures: Readonly<Record<string, Figures>>;
  /** Of the server's event loop, from the beginning of the attack to the end. */
  readonly processor: ProcessorTime;
}

/** The customer has bought and used a callback by then, so that the server knows it as one that pays. */
const QUIET_MS = 800;
/** Linux, shm_overview(7). */
const IN_MEMORY = '/dev/shm';
const AFTER_MS = 500;
const SAMPLE_MS = 100;
/** Longest wait for attackers on a busy machine to begin what the plan asks for. */
const BEGUN_MS_MAX = 30_000;
/** The issue's: p90 of the honest under attack, where it is about 10 ms quiet. */
const HONEST_P90_MS_MAX = 1000;
/** On a machine that others keep busy: so many times the quiet p90. */
const SLOWDOWN_MAX = 20;
const CUSTOMER: CustomerOptions = { purchasesPerSecond: 8, callbacksPerSecond: 2 };

/**
 * In memory where there is such a file system: other tests on the same disk delay a commit by seconds, which is no attack and
 * makes a server refuse payments (reliability 268). The long run keeps its state on the disk.
 */
const stateDir = (): string => mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), 'paygrade-attack-'));

/** @param aliveMs longest wait */
async function whileAlive(server: AttackedServer, aliveMs: number, eachSample: () => void = () => {}): Promise<void> {
  const endMs = performance.now() + aliveMs;
  while (performance.now() < endMs && server.ending === undefined) {
    eachSample();
    await pause(SAMPLE_MS);
  }
}

const begunIn = (figures: Readonly<Record<string, Figures>>): number =>
  Object.values(figures).reduce((sum, { [BEGUN]: begun = 0 }) => sum + begun, 0);

/** Waits until the attackers have begun as much as the plan asks for, or the server is dead. */
async function whileTooLittleBegun(
  server: AttackedServer,
  attackers: AttackerProcess,
  begunMin: number,
): Promise<void> {
  const endMs = performance.now() + BEGUN_MS_MAX;
  while (performance.now() < endMs && server.ending === undefined) {
    if (begunIn(await attackers.figures()) >= begunMin) return;
    await pause(SAMPLE_MS);
  }
}

/**
 * Runs the trial to its end, also when the server dies.
 * @param attackMs how long the attack goes on once it has begun what the plan asks for
 * @throws Error when the attack cannot begin
 */
export async function runTrial(runtime: Runtime, plan: Plan, attackMs: number): Promise<Report> {
  const facilitator = plan.isFacilitated === true ? new AttackedFacilitator() : undefined;
  const variables = { ...(await facilitator?.settings()), ...plan.variables, STATE_DIR: stateDir() };
  const server = await AttackedServer.start(runtime, variables, plan.heapMegabytes);
  const attackers = new AttackerProcess();
  const customer = new Customer(server.target, plan.customer ?? CUSTOMER);
  try {
    await customer.start();
    await whileAlive(server, QUIET_MS);
    const quiet = customer.take();
    const quietMegabytes = server.residentMegabytes() ?? 0;
    server.forgetPeak();
    const processorBefore = server.processorTime();
    await attackers.start(server.target, plan.orders);
    await whileTooLittleBegun(server, attackers, plan.begunMin);
    let peakMegabytes = 0;
    const sample = (): void => {
      peakMegabytes = Math.max(peakMegabytes, server.peakMegabytes() ?? 0);
    };
    await whileAlive(server, attackMs, sample);
    const figures = await attackers.stop();
    const during = customer.take();
    await whileAlive(server, AFTER_MS, sample);
    await customer.stop();
    const after = customer.take();
    const endMegabytes = server.residentMegabytes() ?? 0;
    const processor = sinceThen(server.processorTime(), processorBefore);
    const { ending, lastWords } = server;
    return { ending, lastWords, quietMegabytes, peakMegabytes, endMegabytes, quiet, during, after, figures, processor };
  } finally {
    attackers.close();
    await customer.stop();
    hangUp(server.target);
    await server.kill();
    await facilitator?.close();
  }
}

const shown = (failures: Readonly<Record<string, number>>): string =>
  Object.entries(failures)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

/** What did not hold, one sentence each; empty when all did. */
export function brokenIn(report: Report, plan: Plan, runtime: Runtime): string[] {
  const { ending, lastWords, quiet, during, after, quietMegabytes, peakMegabytes, figures } = report;
  const broken: string[] = [];
  if (ending !== undefined) broken.push(`the server died: ${ending}; ${lastWords.slice(0, 300)}`);
  const begun = begunIn(figures);
  if (begun < plan.begunMin && ending === undefined) {
    broken.push(`the attack began ${begun} of at least ${plan.begunMin}, which shows nothing`);
  }
  if (failureCount(quiet) > 0) broken.push(`honest requests failed before the attack: ${shown(quiet.failures)}`);
  const p90MsMax = Math.max(HONEST_P90_MS_MAX, SLOWDOWN_MAX * percentile(allTimes(quiet), 0.9));
  const growthMegabytes = peakMegabytes - quietMegabytes;
  if (growthMegabytes > plan.growthMegabytes[runtime]) {
    broken.push(
      `memory rose by ${growthMegabytes} MB from ${quietMegabytes}, allowed are ${plan.growthMegabytes[runtime]}`,
    );
  }
  for (const [when, honest] of [['during', during] as const, ['after', after] as const]) {
    if (failureCount(honest) > 0) broken.push(`honest requests failed ${when} the attack: ${shown(honest.failures)}`);
    for (const [kind, times] of Object.entries(honest.tookMs)) {
      const p90Ms = Math.round(percentile(times, 0.9));
      if (p90Ms >= p90MsMax) broken.push(`honest p90 ${when} the attack, ${kind}: ${p90Ms} ms`);
    }
  }
  return [...broken, ...(plan.judge?.(figures) ?? [])];
}

/** One line of figures. */
export function summaryOf(report: Report): string {
  const p90 = (honest: HonestFigures): string => `${Math.round(percentile(allTimes(honest), 0.9))} ms`;
  const { quiet, during, after, quietMegabytes, peakMegabytes, endMegabytes, figures, processor } = report;
  return (
    `p90 ${p90(quiet)} | ${p90(during)} | ${p90(after)}; ` +
    `memory ${quietMegabytes} | ${peakMegabytes} | ${endMegabytes} MB; ` +
    `ran ${processor.ran} s, waited for a processor ${processor.waited} s; ${JSON.stringify(figures)}`
  );
}
