/**
 * One run of several processes on one modelled database, from one seed: faults of processes, of the database and of the way
 * between them; then faults stop, everything has to end, and what is not charged has to be free.
 */
import { hexOfKey } from '../../../src/storage/postgres/claims.ts';
import { LEASE_MS, LOOK_MS } from '../../../src/storage/postgres/owners.ts';
import { RESERVED } from '../../../src/storage/postgres/tables/payments.ts';
import { Chance } from '../../support/chance.ts';
import { Facilitator } from '../facilitator.ts';
import type { Purchase } from '../purchase.ts';
import { PAY_TO } from '../server.ts';
import { markSigning } from '../signer.ts';
import { type Violation, World } from '../world.ts';
import { Callers } from './callers.ts';
import { Customers } from './customers.ts';
import { Gate, type Outside } from './gate.ts';
import { ModelDatabase } from './model.ts';
import { KEPT_MS } from './names.ts';
import { drawSharedProfile, type SharedProfile } from './profile.ts';
import { RESUMED_MS, Resumption } from './resumption.ts';
import { type OutageKind, Wire } from './wire.ts';

export interface SharedRunResult {
  readonly seed: number;
  readonly profile: SharedProfile;
  /** The same for the same seed on every machine, under one runtime: Node and Bun settle promises in another order. */
  readonly traceHash: string;
  readonly violation: Violation | undefined;
  readonly counts: ReadonlyMap<string, number>;
  readonly stepCount: number;
  readonly virtualMs: number;
  readonly lastLines: readonly string[];
}

export interface SharedRunWishes {
  readonly purchaseCount: number;
  /** Sees the database before anything happens. */
  readonly onDatabase?: (database: ModelDatabase, nowMs: () => number) => void;
}

/** A living process whose renewals were answered keeps what it holds: trouble excuses for so long. */
const EXCUSED_MS = LEASE_MS + 6_000;
/** What a dead process held is taken over within this time, of which a second is for round trips; siblings §9 allows 30 s. */
const TAKEN_OVER_MS = LEASE_MS + 2 * LOOK_MS + 1_000;
const OUTAGES: readonly OutageKind[] = ['away', 'away', 'frozen', 'stand-by', 'cut', 'locked', 'cancelled'];
const START_MS = 30_000;
const LONGEST_SUSPENSION_MS = 130_000;
const SUSPENSIONS_MS = [4_000, 14_000, 40_000, LONGEST_SUSPENSION_MS];
/** A purchase waits up to fifteen seconds for its idempotency key. */
const ANSWERED_MS = 20_000;
/** A case ends as dead no earlier than this after its window, less what a clock may be off, as far as a slow probe can tell. */
const FINALITY_MS = 60_000;
const CLOCKS_ALLOW_MS = 5_000;
/** Longest until the last case has its end: the window, its finality, a pause of the reconciler. */
const ENDED_MS = 600_000;

class Run {
  readonly world: World;
  readonly profile: SharedProfile;
  readonly #chance: Chance;
  readonly #outside: Outside;
  readonly #gates: Gate[] = [];
  readonly #customers: Customers;
  readonly #callers: Callers;
  #lifeCount = 0;
  #isHealed = false;
  /** No process is started again. */
  #isResting = false;
  /** How far the clock of a process was ahead at most: it may have kept identifiers for so much longer. */
  #aheadMsMax = 0;

  constructor(seed: number, { purchaseCount, onDatabase }: SharedRunWishes, onLine?: (line: string) => void) {
    const world = new World(seed, onLine);
    this.world = world;
    const draws = new Chance(seed ^ 0x5_4a2e);
    const profile = drawSharedProfile(draws.fork(), purchaseCount);
    this.profile = profile;
    this.#chance = draws.fork();
    const database = new ModelDatabase(() => Math.floor(world.wallMs));
    onDatabase?.(database, database.nowMs);
    const facilitator = new Facilitator(world, draws.fork(), profile.outside, PAY_TO);
    const wire = new Wire(world, draws.fork(), profile, database);
    this.#outside = { world, profile, wire, facilitator, signing: markSigning(draws.fork()) };
    const gates = (): readonly Gate[] => this.#gates;
    this.#customers = new Customers(this.#outside, draws.fork(), gates);
    this.#callers = new Callers(this.#outside, draws.fork(), gates);
    const resumption = new Resumption(this.#outside, this.#customers, gates);
    wire.onOutageEnded = (kind) => resumption.judge(kind);
    this.#customers.onCreated = (answer) => this.#callers.created(answer);
    facilitator.onSettleAsked = ({ key, name }) => {
      world.met('I3 recorded first');
      if (database.payments.caseOf(hexOfKey(key)) !== undefined) return;
      if (this.#customers.salesOf(this.#customers.byKey.get(key) as never).length > 0) return;
      world.fail('I3 recorded first', `${name} was sent to settlement, and the database has no intent`);
    };
    database.payments.watch = {
      onSearch: (by) => this.#meetLiving(by),
      onTakenOver: (found, by) => this.#judgeTaken(found.owner, `case ${found.serial} by ${by}`),
      onClaimRemoved: (claim) => this.#judgeTaken(claim.owner, `claim ${claim.serial}`),
      onEndedDead: (key) => this.#named(key, (purchase) => this.#endedDead(purchase)),
      onMoved: (key) => this.#named(key, (purchase) => this.#customers.charged(purchase)),
    };
    facilitator.onMoved = (purchase) => this.#customers.charged(purchase);
  }

  async play(): Promise<void> {
    const { world, profile } = this;
    world.note(JSON.stringify(profile));
    this.#outside.wire.isHealed = true;
    for (let place = 0; place < profile.gateCount; place++) this.#startGate(place);
    if (!(await world.until(() => this.#gates.every(({ isAccepting }) => isAccepting), START_MS))) {
      throw new Error('the processes did not start');
    }
    await this.#customers.learnOffers(this.#gates[0] as Gate);
    this.#outside.wire.isHealed = false;
    this.#schedule();
    await world.passUntil(world.nowMs + profile.spanMs + 10_000);
    if (profile.diesLast) await this.#dieLast();
    await this.#heal();
  }

  #startGate(place: number): void {
    const gate = new Gate(`gate ${place}.${this.#lifeCount++}`, this.#chance.fork(), this.#outside);
    this.#gates[place] = gate;
    this.world.after(0, () => gate.start());
  }

  #schedule(): void {
    const { world, profile } = this;
    const chance = this.#chance;
    for (let i = 0; i < profile.purchaseCount; i++) {
      world.after(chance.between(0, profile.spanMs), () => this.#customers.buy());
    }
    for (let i = 0; i < profile.purchaseCount * profile.crowdShare; i++) {
      world.after(chance.between(0, profile.spanMs), () => this.#customers.crowd());
    }
    const perMinute = (rate: number, run: () => void): void => {
      const count = Math.floor((rate * profile.spanMs) / 60_000 + chance.unit());
      for (let i = 0; i < count; i++) world.after(chance.between(0, profile.spanMs), () => this.#isHealed || run());
    };
    const some = (): Gate => chance.pick(this.#gates);
    perMinute(profile.killsPerMinute, () => {
      const gate = some();
      if (chance.is(0.7)) gate.touchesLeft = 1 + chance.below(80);
      else gate.kill('between two steps');
    });
    perMinute(profile.stopsPerMinute, () => some().stop(() => {}));
    perMinute(profile.stallsPerMinute, () => some().stall(chance.pick([300, 4_000, 14_000, 25_000])));
    perMinute(profile.suspensionsPerMinute, () =>
      some().suspend(chance.pick(SUSPENSIONS_MS), chance.between(0, 20_000)),
    );
    perMinute(profile.wallStepsPerMinute, () => {
      const offMs = chance.pick([2_000, 90_000, 7_200_000]) * chance.between(-1, 1);
      this.#aheadMsMax = Math.max(this.#aheadMsMax, offMs);
      some().stepWall(offMs, chance.pick([500, 5_000, 60_000, 240_000]));
    });
    perMinute(profile.databaseStepsPerMinute, () => this.#stepDatabase());
    perMinute(profile.partitionsPerMinute, () => some().loseDatabase(chance.pick([200, 3_000, 9_000, 20_000])));
    perMinute(profile.outagesPerMinute, () => {
      const kind = chance.pick(OUTAGES);
      this.#outside.wire.beginOutage(kind, kind === 'cut' ? 0 : chance.pick([100, 1_500, 7_000, 25_000]));
    });
    this.#supervise();
  }

  /** The clock of the database is off for a while. */
  #stepDatabase(): void {
    const { world, profile } = this;
    const { database } = this.#outside.wire;
    const forMs = this.#chance.pick([500, 5_000, 20_000]);
    database.clockOffMs = Math.round(profile.databaseStepMsMax * this.#chance.between(-1, 1));
    database.clockOffUntilMs = Math.max(database.clockOffUntilMs, world.nowMs + forMs);
    world.count("steps of the database's clock");
    world.note(`the database has a clock that is ${database.clockOffMs} ms off`);
    world.after(forMs, () => {
      database.clockOffMs = 0;
    });
  }

  /** A process that has ended is started again after a while. */
  #supervise(): void {
    this.world.after(this.#chance.between(100, 3_000), () => {
      for (const [place, gate] of this.#gates.entries()) if (gate.isDead && !this.#isResting) this.#startGate(place);
      this.#supervise();
    });
  }

  /** @param key of a purchase, hexadecimal */
  #named(key: string, run: (purchase: Purchase) => void): void {
    const purchase = this.#customers.byKey.get(Buffer.from(key, 'hex').toString('latin1'));
    if (purchase !== undefined) run(purchase);
  }

  /** Until a minute after its window the money of a case may move, whatever any clock but the right one says. */
  #endedDead(purchase: Purchase): void {
    const { world } = this;
    const earlyMs = purchase.validBeforeSeconds * 1000 + FINALITY_MS - world.wallMs;
    world.judge('I4 no end too early', earlyMs <= CLOCKS_ALLOW_MS, () => `${purchase.name}: ${Math.round(earlyMs)} ms`);
    this.#customers.endedDead(purchase);
  }

  /** It lives and could renew its lease. */
  #isSafe({ isDead, leaseTroubleMs }: Gate): boolean {
    return !isDead && this.world.nowMs - leaseTroubleMs >= EXCUSED_MS;
  }

  /** A process looks for what the dead left, and another one lives and holds something. */
  #meetLiving(by: string): void {
    const holders = new Set([...this.#outside.wire.database.payments.cases.values()].map(({ owner }) => owner));
    const isLivingHolder = (gate: Gate): boolean =>
      gate.ownerId !== by && holders.has(gate.ownerId) && this.#isSafe(gate);
    if (this.#gates.some(isLivingHolder)) this.world.met('O1 the living keep what they hold');
  }

  /** A process that lives and could renew its lease loses nothing to another. */
  #judgeTaken(owner: string, what: string): void {
    const gate = this.#gates.find(({ ownerId }) => ownerId === owner);
    if (gate !== undefined && this.#isSafe(gate))
      this.world.fail('O1 the living keep what they hold', `${gate.name} lost ${what}`);
  }

  /** A process dies amid a crowd, with a case open, just before faults stop. */
  async #dieLast(): Promise<void> {
    const { cases } = this.#outside.wire.database.payments;
    const gate = this.#customers.crowd();
    await this.world.until(() => [...cases.values()].some(({ owner }) => owner === gate?.ownerId), 300);
    gate?.kill('before faults stop');
  }

  async #heal(): Promise<void> {
    const { world } = this;
    const { wire, facilitator } = this.#outside;
    const { payments } = wire.database;
    if (world.violation !== undefined) return;
    world.note('faults stop');
    this.#meetHeld();
    this.#isHealed = true;
    wire.isHealed = true;
    wire.outage = undefined;
    facilitator.isHealed = true;
    for (const gate of this.#gates) {
      gate.touchesLeft = Number.POSITIVE_INFINITY;
      gate.cutUntilMs = 0;
      gate.setClockRight();
    }
    wire.database.clockOffMs = 0;
    const isReady = (gate: Gate): boolean => gate.isAccepting && !gate.isDead && gate.stalledUntilMs <= world.nowMs;
    const areReady = (): boolean => this.#gates.every(isReady);
    if (!(await world.until(areReady, LONGEST_SUSPENSION_MS + 3 * START_MS)))
      return world.fail('P3 starts again', 'a process does not serve');
    await world.passUntil(world.nowMs + TAKEN_OVER_MS);
    for (const { serial, owner } of payments.cases.values()) {
      if (!this.#gates.some(({ ownerId }) => ownerId === owner)) {
        world.fail(
          'L1 taken over',
          `case ${serial} is of a process that is no more, ${TAKEN_OVER_MS} ms after all is well`,
        );
      }
    }
    if (this.#gates.some(({ outstanding }) => outstanding.size > 0)) await world.passUntil(world.nowMs + 30_000);
    this.#judgeFree();
    await this.#beAwayAtRest();
    this.#customers.buyTheRest();
    await world.passUntil(world.nowMs + ANSWERED_MS);
    this.#callers.listAll();
    await world.until(() => payments.cases.size === 0, ENDED_MS);
    for (const { serial } of payments.cases.values()) world.fail('L1 everything ends', `case ${serial} has no end`);
    this.#judgeNamed();
    this.#customers.asked.askNamed();
    await world.passUntil(world.nowMs + 10_000);
    this.#customers.askAll();
    await world.passUntil(world.nowMs + 1_000);
    if (world.violation === undefined) this.#customers.audit();
    if (world.violation === undefined && wire.database.identifiers.rows.size > 0) await this.#passTheirTime();
  }

  /** The database is away while customers are: no statement that a process repeats for one of them shows when it is back. */
  async #beAwayAtRest(): Promise<void> {
    const { world } = this;
    const forMs = this.#chance.named('away at rest').between(3_000, 9_000);
    this.#outside.wire.beginOutage('away', forMs);
    await world.passUntil(world.nowMs + forMs + RESUMED_MS + LOOK_MS);
  }

  /** What is held when faults stop, and has to be free or taken over soon. */
  #meetHeld(): void {
    const { world } = this;
    const { payments, identifiers } = this.#outside.wire.database;
    const isAnyones = (owner: string): boolean => this.#gates.some((gate) => !gate.isDead && gate.ownerId === owner);
    const claims = [...payments.claims.values()];
    world.met('L1 everything ends', payments.cases.size);
    world.met('L1 taken over', [...payments.cases.values()].filter(({ owner }) => !isAnyones(owner)).length);
    world.met('L2 nothing stays reserved', claims.filter(({ state }) => state === RESERVED).length);
    world.met(
      'N5 nothing stays claimed',
      [...identifiers.rows.values()].filter(({ sealed }) => sealed === null).length,
    );
  }

  /** Nothing is reserved any more; what a dead process reserved is free already. */
  #judgeFree(): void {
    const { world } = this;
    const { payments, identifiers, processes } = this.#outside.wire.database;
    const nameOf = (owner: string): string =>
      this.#gates.find((gate) => gate.ownerId === owner)?.name ?? 'a process that is no more';
    for (const { key, serial, state, owner } of payments.claims.values()) {
      if (state !== RESERVED || processes.isDead(owner)) continue;
      const what = `${this.#customers.nameOf(key)} stays reserved by ${nameOf(owner)}, claim ${serial}`;
      world.fail('L2 nothing stays reserved', what);
    }
    for (const { digest, sealed, owner } of identifiers.rows.values()) {
      if (sealed === null && !processes.isDead(owner))
        world.fail('N5 nothing stays claimed', `${digest} stays claimed by ${nameOf(owner)}`);
    }
  }

  /** No purchase is under way, so an identifier is free, or has its time. */
  #judgeNamed(): void {
    const { identifiers, payments } = this.#outside.wire.database;
    for (const { digest, serial, sealed, keptUntilMs } of identifiers.rows.values()) {
      if (sealed === null) continue;
      const hasTime = keptUntilMs !== null || payments.cases.has(serial as number);
      this.world.judge('N5 a name ends', hasTime, () => `${digest} belongs to ${serial}, which has ended`);
    }
  }

  /** No process runs until the time of all identifiers is over; then another one starts, to which they are new. */
  async #passTheirTime(): Promise<void> {
    const { world } = this;
    this.#isResting = true;
    for (const gate of this.#gates) gate.kill('at the end');
    await world.passUntil(world.nowMs + KEPT_MS + this.#aheadMsMax);
    this.#gates.length = 0;
    this.#startGate(0);
    if (!(await world.until(() => this.#gates[0]?.isAccepting === true, START_MS))) {
      return world.fail('P3 starts again', 'no process serves');
    }
    this.#customers.asked.reuseNames();
    await world.passUntil(world.nowMs + 10_000);
  }
}

/** Plays the run of a seed. Never throws for a broken invariant; only for a simulator that is broken itself. */
export async function playSharedRun(
  seed: number,
  wishes: SharedRunWishes,
  onLine?: (line: string) => void,
): Promise<SharedRunResult> {
  const run = new Run(seed, wishes, onLine);
  const { world } = run;
  world.met('P1 no unhandled rejections');
  const onRejection = (failure: unknown): void => {
    const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
    world.fail('P1 no unhandled rejections', text);
  };
  process.on('unhandledRejection', onRejection);
  try {
    await run.play();
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  return {
    seed,
    profile: run.profile,
    traceHash: world.traceHash,
    violation: world.violation,
    counts: world.counts,
    stepCount: world.stepCount,
    virtualMs: world.nowMs,
    lastLines: world.lines.slice(-60),
  };
}
