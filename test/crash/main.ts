/**
 * The crash harness: a real server on a real folder, killed with SIGKILL at chosen moments under load, started again on what
 * it left, and audited (reliability 114 to 121; I1 to I5, I8, I9). Plain `node test/crash/main.ts --help` says how.
 *
 * A seed decides what the clients do and where the kills are aimed; how far the server had got by then is the machine's own
 * affair, so a seed makes a fault likely again, not certain. SIGKILL loses nothing that was handed to the system: what lost
 * power may take is another test's matter (test/adapters/sqlite).
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PROJECT, RUNTIMES, type Runtime } from '../support/server.ts';
import { type AuditCounts, audit, emptyCounts, settleDown } from './audit.ts';
import { Chance } from './chance.ts';
import { Deployment, SETTLEMENTS, type SettlementKind, type Stage } from './deployment.ts';
import { load } from './load.ts';
import { BrokenPromise } from './oracle.ts';
import type { ServerLife } from './server-life.ts';

const USAGE = `crash [--cycles N] [--runtime node|bun|both] [--settlement local|facilitator|both] [--seed S] [--json]

Kills a server under load N times (10 by default, shared out among runtimes and settlements), starts it again on the same
folder and looks for what it promised. Exit code 1, the seed and the folder at the first broken promise.

  --entry FILE   the program to start, src/main.ts by default
  --aim STAGE    one kind of kill only: any of those that the summary counts, but at the start
`;

/** How a life ends, and how often. */
const AIMS = {
  'any moment': 22,
  'heavy, any moment': 8,
  'verify-arrived': 6,
  'verify-answered': 6,
  'settle-arrived': 8,
  'settle-moved': 8,
  'settle-answered': 12,
  paid: 8,
  created: 6,
  'webhook-written': 10,
  'webhook-acknowledged': 6,
  'deletion-sent': 4,
  'deletion-acknowledged': 3,
} as const satisfies Record<string, number>;
type AimName = keyof typeof AIMS;

const LIFE_MS_MIN = 20;
const LIFE_MS_MAX = 900;
/** A stage that is not reached by then is given up. */
const AIM_MS_MAX = 1500;
const AIM_COUNT_MAX = 25;
/** Of what happens seldom. */
const RARE_AIM_COUNT_MAX = 4;
const AIM_DELAY_MS_MAX = 6;
/** Share of the cycles whose server is killed while it starts, once to three times, before it is let live. */
const KILLED_STARTS_SHARE = 0.4;
const KILLED_STARTS_MAX = 3;
const FOLDER_CHANGES_MAX = 14;
/** After so many cycles everything is given the time to come to its end. */
const SETTLED_EVERY = 10;

interface Tally {
  readonly kills: Map<string, number>;
  /** Purchases under way when the server was killed, by the stage of their settlement. */
  readonly cut: Map<string, number>;
  readonly audited: AuditCounts;
  cycles: number;
}

const count = (counts: Map<string, number>, name: string, by = 1): void => {
  counts.set(name, (counts.get(name) ?? 0) + by);
};

class Options {
  readonly cycles: number;
  readonly runtimes: readonly Runtime[];
  readonly settlements: readonly SettlementKind[];
  readonly seed: number;
  readonly entry: string;
  /** undefined: any, by its weight. */
  readonly aim: AimName | undefined;
  readonly isJson: boolean;

  constructor(words: readonly string[]) {
    const { values } = parseArgs({
      args: [...words],
      options: {
        cycles: { type: 'string', default: '10' },
        runtime: { type: 'string', default: 'both' },
        settlement: { type: 'string', default: 'both' },
        seed: { type: 'string' },
        aim: { type: 'string' },
        entry: { type: 'string', default: join(PROJECT, 'src', 'main.ts') },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    this.cycles = wholeNumber('cycles', values.cycles, 1);
    this.runtimes = oneOrAll('runtime', values.runtime, RUNTIMES);
    this.settlements = oneOrAll('settlement', values.settlement, SETTLEMENTS);
    this.seed = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000_000), 0);
    this.entry = resolve(values.entry);
    if (!existsSync(this.entry)) throw new Error(`--entry: there is no ${this.entry}`);
    this.aim = values.aim === undefined ? undefined : aimNamed(values.aim);
    this.isJson = values.json;
  }
}

function wholeNumber(name: string, text: string, min: number): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < min)
    throw new Error(`--${name}: a whole number from ${min}, not ${text}`);
  return Number(text);
}

function oneOrAll<Name extends string>(name: string, text: string, all: readonly Name[]): readonly Name[] {
  if (text === 'both') return all;
  const one = all.find((known) => known === text);
  if (one === undefined) throw new Error(`--${name}: ${all.join(', ')} or both, not ${text}`);
  return [one];
}

function aimNamed(text: string): AimName {
  const names = Object.keys(AIMS) as AimName[];
  const name = names.find((known) => known === text);
  if (name === undefined) throw new Error(`--aim: one of ${names.join('; ')}, not ${text}`);
  return name;
}

/** A line a cycle, over itself on a terminal; elsewhere nothing. */
function tell(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${line}\n`);
}

const generationOf = (stateDir: string): number => {
  try {
    return (JSON.parse(readFileSync(join(stateDir, 'state.json'), 'utf8')) as { generation: number }).generation;
  } catch {
    return 0;
  }
};

/** Starts a server and kills it before it serves anybody: some time after its start, or at some change in its folder. */
async function killStart(deployment: Deployment, chance: Chance, usualStartMs: number, tally: Tally): Promise<void> {
  const { stateDir } = deployment.options;
  const generation = generationOf(stateDir);
  const life = deployment.start();
  if (chance.isLucky(0.5) || !existsSync(stateDir)) {
    await Promise.race([pause(chance.below(Math.ceil(usualStartMs * 1.1))), life.exited]);
    life.kill();
  } else {
    let left = chance.between(1, FOLDER_CHANGES_MAX);
    const watcher = watch(stateDir, () => {
      if (--left === 0) life.kill();
    });
    await Promise.race([life.listening.then(() => life.kill()), life.exited]);
    watcher.close();
  }
  await life.exited;
  count(tally.kills, generationOf(stateDir) > generation ? 'start, state taken over' : 'start');
}

/** Arms the kill of a life that is about to be under load. */
function armKill(deployment: Deployment, life: ServerLife, aim: AimName, chance: Chance, tally: Tally): () => void {
  const kill = (): void => {
    if (life.isOver) return;
    life.kill();
    for (const authorization of deployment.oracle.authorizations) {
      if (authorization.inFlightCount === 0) continue;
      const movement = deployment.facilitator?.movementOf(authorization.nonce);
      count(tally.cut, movement?.stage ?? 'before verification');
    }
  };
  const isTimed = aim === 'any moment' || aim === 'heavy, any moment';
  const timer = setTimeout(kill, isTimed ? chance.between(LIFE_MS_MIN, LIFE_MS_MAX) : AIM_MS_MAX);
  let left = chance.between(1, /^(created|deletion)/.test(aim) ? RARE_AIM_COUNT_MAX : AIM_COUNT_MAX);
  const delayMs = chance.isLucky(0.5) ? 0 : chance.between(1, AIM_DELAY_MS_MAX);
  deployment.onStage = (stage: Stage) => {
    if (stage !== aim || --left !== 0) return;
    if (delayMs === 0) kill();
    else setTimeout(kill, delayMs);
  };
  return () => {
    clearTimeout(timer);
    deployment.onStage = () => {};
  };
}

/** With `local` only what the clients see can be aimed at. */
const canAim = (aim: AimName, settlement: SettlementKind): boolean =>
  settlement === 'facilitator' || !/^(verify|settle)-/.test(aim);

function aimOf(chance: Chance, settlement: SettlementKind, only: AimName | undefined): AimName {
  if (only !== undefined) return only;
  for (;;) {
    const aim = chance.weighted(AIMS);
    if (canAim(aim, settlement)) return aim;
  }
}

async function cycleOf(
  deployment: Deployment,
  chance: Chance,
  only: AimName | undefined,
  usualStartMs: number,
  tally: Tally,
): Promise<number> {
  const { runtime, settlement } = deployment.options;
  if (chance.isLucky(KILLED_STARTS_SHARE)) {
    for (let i = chance.between(1, KILLED_STARTS_MAX); i > 0; i--)
      await killStart(deployment, chance, usualStartMs, tally);
  }
  const bornMs = performance.now();
  const life = await deployment.startWhole();
  const startMs = performance.now() - bornMs;
  const counts = await audit(deployment, chance.of('audit'));
  add(tally.audited, counts);
  if (deployment.cycle % SETTLED_EVERY === 0) await settleDown(deployment);
  const aim = aimOf(chance, settlement, only);
  const disarm = armKill(deployment, life, aim, chance, tally);
  const loadedMs = performance.now();
  try {
    await load(deployment, chance.of('load'), aim === 'heavy, any moment');
  } finally {
    disarm();
    life.kill();
  }
  await life.exited;
  count(tally.kills, aim);
  tally.cycles++;
  tell(
    `cycle ${deployment.cycle}  ${runtime} ${settlement}  up in ${startMs.toFixed(0)} ms, audited ${counts.payments} payments ` +
      `(${counts.free} free, ${counts.unknown} unknown, ${counts.settled} settled unseen), ${counts.callbacks} callbacks, ` +
      `${counts.events} events; killed at "${aim}" after ${(performance.now() - loadedMs).toFixed(0)} ms`,
  );
  return startMs;
}

function add(total: AuditCounts, more: AuditCounts): void {
  for (const name of Object.keys(total) as (keyof AuditCounts)[]) total[name] += more[name];
}

/** The last life: everything comes to its end, the server ends well, and what it left adds up. */
async function lastLife(deployment: Deployment, chance: Chance, tally: Tally): Promise<void> {
  await deployment.startWhole();
  add(tally.audited, await audit(deployment, chance.of('audit')));
  await settleDown(deployment);
  const code = await deployment.life.stop();
  if (code !== 0) throw new BrokenPromise(`SIGTERM is exit code ${code}\n${deployment.life.output}`);
  if (deployment.facilitator === undefined) auditPlayLedger(deployment);
}

/** Each payer has spent what its settled authorizations say. */
function auditPlayLedger(deployment: Deployment): void {
  const expected = new Map<string, number>();
  for (const { payer, valueAtomic, isSettled } of deployment.oracle.authorizations) {
    if (isSettled) count(expected, payer.toLowerCase(), valueAtomic);
  }
  const database = new DatabaseSync(join(deployment.options.stateDir, 'state.db'), { readOnly: true });
  const rows = database.prepare('SELECT payer, atomic FROM spent').all() as { payer: string; atomic: number }[];
  database.close();
  for (const payer of new Set([...expected.keys(), ...rows.map((row) => row.payer)])) {
    const spent = rows.find((row) => row.payer === payer)?.atomic ?? 0;
    if (spent !== (expected.get(payer) ?? 0)) {
      throw new BrokenPromise(
        `${payer} has spent ${spent}, and its settled authorizations say ${expected.get(payer) ?? 0}`,
      );
    }
  }
}

/** What the server left when it was killed is kept beside its folder until the next kill. */
const leftBy = (stateDir: string): string => `${stateDir}.as-killed`;

async function run(options: Options): Promise<number> {
  const chance = new Chance(options.seed);
  const kinds = options.runtimes.flatMap((runtime) =>
    options.settlements.map((settlement) => ({ runtime, settlement })),
  );
  const tally: Tally = { kills: new Map(), cut: new Map(), audited: emptyCounts(), cycles: 0 };
  const outcomes = new Map<string, number>();
  let settledCount = 0;
  let movedCount = 0;
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-crash-'));
  for (const [index, { runtime, settlement }] of kinds.entries()) {
    const name = `${runtime}-${settlement}`;
    const stateDir = join(folder, name, 'state');
    const deployment = await new Deployment({
      runtime,
      settlement,
      stateDir,
      entry: options.entry,
      chance: chance.of(name),
    }).open();
    const cycles = Math.floor((options.cycles + index) / kinds.length);
    try {
      let usualStartMs = 500;
      for (deployment.cycle = 1; deployment.cycle <= cycles; deployment.cycle++) {
        usualStartMs = await cycleOf(
          deployment,
          deployment.options.chance.of('cycle', deployment.cycle),
          options.aim,
          usualStartMs,
          tally,
        );
        rmSync(leftBy(stateDir), { recursive: true, force: true });
        cpSync(stateDir, leftBy(stateDir), { recursive: true });
      }
      if (cycles > 0) await lastLife(deployment, deployment.options.chance.of('last'), tally);
    } catch (failure) {
      if (!(failure instanceof BrokenPromise)) throw failure;
      process.stderr.write(
        `broken promise in cycle ${deployment.cycle} (${runtime}, ${settlement}): ${failure.message}\n` +
          `seed ${options.seed}; the state is kept in ${stateDir}, as it was killed before in ${leftBy(stateDir)}\n`,
      );
      process.stdout.write(
        options.isJson
          ? `${JSON.stringify({ ok: false, seed: options.seed, runtime, settlement, cycle: deployment.cycle, broken: failure.message, stateDir })}\n`
          : `crash: a promise was broken in cycle ${deployment.cycle}, seed ${options.seed}\n`,
      );
      await deployment.close();
      return 1;
    }
    await deployment.close();
    for (const [outcome, times] of deployment.outcomes) count(outcomes, outcome, times);
    settledCount += deployment.oracle.authorizations.filter(({ isSettled }) => isSettled).length;
    movedCount += deployment.facilitator?.movedCount ?? 0;
  }
  rmSync(folder, { recursive: true, force: true });
  const summary = {
    ok: true,
    seed: options.seed,
    cycles: tally.cycles,
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
    kills: sorted(tally.kills),
    cutShort: sorted(tally.cut),
    requests: sorted(outcomes),
    settled: settledCount,
    movedByFacilitator: movedCount,
    audited: tally.audited,
  };
  process.stdout.write(options.isJson ? `${JSON.stringify(summary)}\n` : shown(summary));
  return 0;
}

const sorted = (counts: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));

function shown(summary: Readonly<Record<string, unknown>>): string {
  const { cycles, seconds, seed } = summary;
  const lines = Object.entries(summary)
    .filter(([name]) => !['ok', 'cycles', 'seconds', 'seed'].includes(name))
    .map(([name, value]) =>
      typeof value === 'object'
        ? `${name}: ${Object.entries(value as object)
            .map(([key, times]) => `${key} ${times}`)
            .join(', ')}`
        : `${name}: ${value}`,
    );
  return `${lines.join('\n')}\ncrash: ${cycles} cycles, no broken promise, ${seconds} s, seed ${seed}\n`;
}

let options: Options;
try {
  options = new Options(process.argv.slice(2));
} catch (failure) {
  process.stderr.write(`crash: ${(failure as Error).message}\n`);
  process.exit(2);
}
process.exit(await run(options));
