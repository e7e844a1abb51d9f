/**
 * The crash harness: a real server on a real folder, killed with SIGKILL at chosen moments under load, started again on what
 * it left, and audited (reliability 114 to 121; I1 to I5, I8, I9). Plain `node test/crash/main.ts --help` says how.
 *
 * A seed decides what the clients do and where the kills are aimed. How far the server has got by then depends on the
 * machine, so a seed makes a fault likely again, not certain. SIGKILL loses nothing that the system has taken; the tests of
 * test/storage/sqlite cover a power failure.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Chance } from '../support/chance.ts';
import { PROJECT, RUNTIMES, type Runtime } from '../support/server.ts';
import { type AuditCounts, audit, emptyCounts, isUnanswered, recoverAll, settleDown } from './audit.ts';
import { auditBooks, type BooksCounts, emptyBooks } from './books.ts';
import { CrashHarness, SETTLEMENTS, type SettlementKind, type Stage } from './harness.ts';
import { type LoadKind, load } from './load.ts';
import { BrokenPromise } from './oracle.ts';
import type { ServerProcess } from './server-process.ts';
import { arm, instrumented, RARE_STEPS, STEPS, type StepName } from './steps.ts';

const USAGE = `crash [--cycles N] [--runtime node|bun|both] [--settlement local|facilitator|both] [--seed S] [--json]

Kills a server under load N times (10 by default, shared out among runtimes and settlements), starts it again on the same
folder and checks what it promised. Exit code 1, the seed and the folder at the first broken promise.

  --entry FILE   the program to start, src/main.ts by default
  --aim STAGE    one kind of kill only: any of those that the summary counts, but at the start
`;

/** All steps together end as many loads as all other aims. */
const STEP_WEIGHT = 8;

/** How the load ends, and the weight of each way. */
const AIMS = {
  'any moment': 22,
  'heavy, any moment': 8,
  'cut, any moment': 4,
  'verify-arrived': 6,
  'verify-answered': 6,
  'settle-arrived': 8,
  'settle-moved': 8,
  'settle-answered': 12,
  'answer-begun': 8,
  paid: 8,
  created: 6,
  'webhook-written': 10,
  'webhook-acknowledged': 6,
  'deletion-sent': 4,
  'deletion-acknowledged': 3,
  charged: 4,
  ...(Object.fromEntries(STEPS.map((step) => [step, STEP_WEIGHT])) as Record<StepName, number>),
} as const satisfies Record<string, number>;
type AimName = keyof typeof AIMS;

const KILL_AFTER_MS_MIN = 20;
const KILL_AFTER_MS_MAX = 900;
/** When a stage is not reached by then, the kill comes at that moment. */
const AIM_MS_MAX = 1500;
const AIM_COUNT_MAX = 25;
const STEP_COUNT_MAX = 12;
const RARE_STEP_COUNT_MAX = 3;
/** The same for a step, which only purchases with an identifier reach. */
const STEP_MS_MAX = 4000;
/** For stages that are rare. */
const RARE_AIM_COUNT_MAX = 4;
const AIM_DELAY_MS_MAX = 6;
/** Share of the cycles whose server is killed while it starts, once to three times, before one start succeeds. */
const KILLED_STARTS_SHARE = 0.4;
const KILLED_STARTS_MAX = 3;
const FOLDER_CHANGES_MAX = 14;
/** Number of cycles between two waits for all settlements to end. */
const SETTLED_EVERY = 10;

interface Tally {
  readonly kills: Map<string, number>;
  /** Purchases under way when the server was killed, by the stage of their settlement. */
  readonly cut: Map<string, number>;
  readonly audited: AuditCounts;
  /** Of the latest audit of each server's books, all together. */
  readonly books: BooksCounts;
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

/** Prints a line a cycle on a terminal, nothing elsewhere. */
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

/** Starts a server and kills it before it serves a request: some time after its start, or at some change in its folder. */
async function killStart(harness: CrashHarness, chance: Chance, usualStartMs: number, tally: Tally): Promise<void> {
  const { stateDir } = harness.options;
  const generation = generationOf(stateDir);
  const server = harness.start();
  if (chance.is(0.5) || !existsSync(stateDir)) {
    await Promise.race([pause(chance.below(Math.ceil(usualStartMs * 1.1))), server.exited]);
    server.kill();
  } else {
    let left = chance.wholeBetween(1, FOLDER_CHANGES_MAX);
    const watcher = watch(stateDir, () => {
      if (--left === 0) server.kill();
    });
    await Promise.race([server.listening.then(() => server.kill()), server.exited]);
    watcher.close();
  }
  await server.exited;
  count(tally.kills, generationOf(stateDir) > generation ? 'start, state taken over' : 'start');
}

/** Arms the kill of a server before the load begins. @returns disarms */
function armKill(harness: CrashHarness, server: ServerProcess, aim: AimName, chance: Chance, tally: Tally): () => void {
  const step = STEPS.find((name) => name === aim);
  if (step !== undefined)
    arm(harness.armedFile, step, chance.wholeBetween(1, RARE_STEPS.has(step) ? RARE_STEP_COUNT_MAX : STEP_COUNT_MAX));
  const kill = (): void => {
    if (server.hasEnded) return;
    server.kill();
    for (const authorization of harness.oracle.authorizations) {
      if (authorization.inFlightCount === 0) continue;
      const movement = harness.facilitator?.movementOf(authorization.nonce);
      count(tally.cut, movement?.stage ?? 'before verification');
    }
  };
  const isTimed = aim.endsWith('any moment');
  const latestMs = step === undefined ? AIM_MS_MAX : STEP_MS_MAX;
  const timer = setTimeout(kill, isTimed ? chance.wholeBetween(KILL_AFTER_MS_MIN, KILL_AFTER_MS_MAX) : latestMs);
  void server.exited.then(() => rmSync(harness.armedFile, { force: true }));
  let left = chance.wholeBetween(1, /^(created|deletion)/.test(aim) ? RARE_AIM_COUNT_MAX : AIM_COUNT_MAX);
  const delayMs = chance.is(0.5) ? 0 : chance.wholeBetween(1, AIM_DELAY_MS_MAX);
  harness.onStage = (stage: Stage) => {
    if (stage !== aim || --left !== 0) return;
    if (delayMs === 0) kill();
    else setTimeout(kill, delayMs);
  };
  return () => {
    clearTimeout(timer);
    harness.onStage = () => {};
  };
}

const loadOf = (aim: AimName): LoadKind => {
  if (aim === 'heavy, any moment') return 'heavy';
  if (aim === 'cut, any moment') return 'cut';
  return RARE_STEPS.has(aim) ? 'named' : 'usual';
};

/** With `local` a kill can be aimed only at what the clients see. */
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
  harness: CrashHarness,
  chance: Chance,
  only: AimName | undefined,
  usualStartMs: number,
  tally: Tally,
): Promise<number> {
  const { runtime, settlement } = harness.options;
  if (chance.is(KILLED_STARTS_SHARE)) {
    for (let i = chance.wholeBetween(1, KILLED_STARTS_MAX); i > 0; i--)
      await killStart(harness, chance, usualStartMs, tally);
  }
  const bornMs = performance.now();
  const server = await harness.startAndCheck();
  const startMs = performance.now() - bornMs;
  const counts = await audit(harness, chance.named('audit'));
  add(tally.audited, counts);
  if (harness.cycle % SETTLED_EVERY === 0) await settleDown(harness);
  const aim = aimOf(chance, settlement, only);
  const disarm = armKill(harness, server, aim, chance, tally);
  const loadedMs = performance.now();
  try {
    await load(harness, chance.named('load'), loadOf(aim));
  } finally {
    disarm();
  }
  const wasKilled = server.wasEnded;
  server.kill();
  const code = await server.exited;
  // A step kills by a signal, which has no code.
  if (!wasKilled && (code !== null || !STEPS.some((step) => step === aim))) {
    throw new BrokenPromise(`the server ended by itself\n${server.output}`);
  }
  count(tally.kills, !wasKilled || !/^step/.test(aim) ? aim : `${aim} (not reached)`);
  tally.cycles++;
  tell(
    `cycle ${harness.cycle}  ${runtime} ${settlement}  up in ${startMs.toFixed(0)} ms, audited ${counts.payments} payments ` +
      `(${counts.free} free, ${counts.unknown} unknown, ${counts.settled} settled unseen), ${counts.callbacks} callbacks, ` +
      `${counts.events} events; killed at "${aim}" after ${(performance.now() - loadedMs).toFixed(0)} ms`,
  );
  return startMs;
}

function addBooks(total: BooksCounts, more: BooksCounts): void {
  const longestMs = Math.max(total.longestMs, more.longestMs);
  for (const name of Object.keys(total) as (keyof BooksCounts)[]) total[name] += more[name];
  total.longestMs = longestMs;
}

function add(total: AuditCounts, more: AuditCounts): void {
  for (const name of Object.keys(total) as (keyof AuditCounts)[]) total[name] += more[name];
}

/** The last start: all settlements end, the server stops with exit code 0, and the play ledger adds up. */
async function lastStart(harness: CrashHarness, chance: Chance, tally: Tally): Promise<void> {
  await harness.startAndCheck();
  add(tally.audited, await audit(harness, chance.named('audit')));
  await settleDown(harness);
  await recoverAll(harness, chance.named('recovery'), tally.audited);
  const code = await harness.server.stop();
  if (code !== 0) throw new BrokenPromise(`SIGTERM is exit code ${code}\n${harness.server.output}`);
  if (harness.facilitator === undefined) auditPlayLedger(harness);
  addBooks(tally.books, await auditBooks(harness, harness.options.stateDir, true));
}

/** Each payer must have spent the sum of its settled authorizations. */
function auditPlayLedger(harness: CrashHarness): void {
  const expected = new Map<string, number>();
  for (const { payer, valueAtomic, isSettled } of harness.oracle.authorizations) {
    if (isSettled) count(expected, payer.toLowerCase(), valueAtomic);
  }
  const database = new DatabaseSync(join(harness.options.stateDir, 'state.db'), { readOnly: true });
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

/** A copy of the folder as the last kill left it. */
const leftBy = (stateDir: string): string => `${stateDir}.as-killed`;

async function run(options: Options): Promise<number> {
  const chance = new Chance(options.seed);
  const kinds = options.runtimes.flatMap((runtime) =>
    options.settlements.map((settlement) => ({ runtime, settlement })),
  );
  const tally: Tally = { kills: new Map(), cut: new Map(), audited: emptyCounts(), books: emptyBooks(), cycles: 0 };
  const outcomes = new Map<string, number>();
  const identifiers = { charged: 0, unanswered: 0 };
  let settledCount = 0;
  let movedCount = 0;
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-crash-'));
  const hasSteps = options.aim === undefined || STEPS.some((step) => step === options.aim);
  const program = hasSteps ? instrumented(options.entry, join(folder, 'program')) : options.entry;
  for (const [index, { runtime, settlement }] of kinds.entries()) {
    const name = `${runtime}-${settlement}`;
    const stateDir = join(folder, name, 'state');
    const harness = await new CrashHarness({
      runtime,
      settlement,
      stateDir,
      entry: program,
      chance: chance.named(name),
    }).open();
    const cycles = Math.floor((options.cycles + index) / kinds.length);
    try {
      let usualStartMs = 500;
      for (harness.cycle = 1; harness.cycle <= cycles; harness.cycle++) {
        usualStartMs = await cycleOf(
          harness,
          harness.options.chance.named('cycle', harness.cycle),
          options.aim,
          usualStartMs,
          tally,
        );
        rmSync(leftBy(stateDir), { recursive: true, force: true });
        cpSync(stateDir, leftBy(stateDir), { recursive: true });
        await auditBooks(harness, chance.is(0.5) ? stateDir : leftBy(stateDir), true);
      }
      if (cycles > 0) await lastStart(harness, harness.options.chance.named('last'), tally);
    } catch (failure) {
      if (!(failure instanceof BrokenPromise)) throw failure;
      process.stderr.write(
        `broken promise in cycle ${harness.cycle} (${runtime}, ${settlement}): ${failure.message}\n` +
          `seed ${options.seed}; the state is kept in ${stateDir}, as it was killed before in ${leftBy(stateDir)}\n`,
      );
      process.stdout.write(
        options.isJson
          ? `${JSON.stringify({ ok: false, seed: options.seed, runtime, settlement, cycle: harness.cycle, broken: failure.message, stateDir })}\n`
          : `crash: a promise was broken in cycle ${harness.cycle}, seed ${options.seed}\n`,
      );
      await harness.close();
      return 1;
    }
    await harness.close();
    for (const [outcome, times] of harness.outcomes) count(outcomes, outcome, times);
    settledCount += harness.oracle.authorizations.filter(({ isSettled }) => isSettled).length;
    movedCount += harness.facilitator?.movedCount ?? 0;
    identifiers.charged += harness.oracle.identifiers.filter(({ charged }) => charged !== undefined).length;
    identifiers.unanswered += harness.oracle.identifiers.filter(isUnanswered).length;
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
    books: tally.books,
    identifiers,
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
