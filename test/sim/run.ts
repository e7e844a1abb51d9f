/**
 * One run: a world from one seed. First everything goes wrong that the run's profile has; then faults stop, and whatever was
 * begun has to end; then every lifetime passes, and everything that was held has to be given back.
 */
import type { App } from '../../src/app/app.ts';
import { CLAIM_BYTES, LIFETIME_MS, TOMBSTONE_MS } from '../../src/callback/limits.ts';
import { orderOfText } from '../../src/payment/protocol/order.ts';
import { KEPT_MS } from '../../src/payment/reservations.ts';
import type { Operation } from '../../src/storage/sqlite/tables/table.ts';
import { Chance } from '../support/chance.ts';
import { Buyers } from './buyers.ts';
import { CallbackClients } from './callback-clients.ts';
import { Disk } from './disk.ts';
import { Facilitator } from './facilitator.ts';
import { Network } from './network.ts';
import { drawProfile, type Profile, type ProfileWishes } from './profile.ts';
import type { Purchase } from './purchase.ts';
import { isPayment } from './records.ts';
import { ResolveClients } from './resolve-clients.ts';
import { RetryClients } from './retry-clients.ts';
import { BASE_URL, PAY_TO, Server } from './server.ts';
import { keySigning, markSigning } from './signer.ts';
import { Targets } from './targets.ts';
import { type Violation, World } from './world.ts';

/** Virtual time within which a life serves, also when the ones before it were killed in their starts. */
const FIRST_LIFE_MS = 120_000;

export interface RunResult {
  readonly seed: number;
  readonly profile: Profile;
  /** The same for the same seed, on every machine and runtime. */
  readonly traceHash: string;
  readonly violation: Violation | undefined;
  readonly counts: ReadonlyMap<string, number>;
  readonly stepCount: number;
  readonly virtualMs: number;
  /** The last lines of the trace. */
  readonly lastLines: readonly string[];
}

/** Steps without an end to them: something keeps itself busy for ever. */
const STEPS_PER_PURCHASE_MAX = 4_000;
const DAY_MS = 25 * 3_600_000;
/** Steps between two looks at what is held. */
const LOOK_STEPS = 16;

const metricsOf = async (app: App): Promise<string> => (await app.fetch(new Request(`${BASE_URL}/metrics`))).text();

const lineOf = (page: string, name: string): string =>
  page.split('\n').find((line) => line.startsWith(`${name} `)) ?? `no ${name}`;

class Run {
  readonly world: World;
  readonly profile: Profile;
  readonly #chance: Chance;
  readonly #disk: Disk;
  readonly #facilitator: Facilitator;
  readonly #server: Server;
  readonly #network: Network;
  readonly #buyers: Buyers;
  readonly #callbackClients: CallbackClients;
  readonly #targets: Targets;
  readonly #retryClients: RetryClients;
  readonly #resolveClients: ResolveClients;
  #isHealed = false;
  /** Serial of an intent -> its key. */
  readonly #keys = new Map<number, string>();
  /** Reservations of the life that may be settled after the next start, or not. */
  #doubtCount = 0;
  /** When a settlement became durable, by its key. */
  readonly #settledMs = new Map<string, number>();
  /** Retries that payments bought, by the keys of their authorizations. */
  readonly #soldRetries = new Set<string>();

  constructor(seed: number, wishes: ProfileWishes, onLine?: (line: string) => void) {
    const world = new World(seed, onLine);
    this.world = world;
    world.afterStep = () => this.#afterStep();
    const draws = new Chance(seed ^ 0x5_1e55);
    this.profile = drawProfile(draws.fork(), wishes);
    this.#chance = draws.fork();
    const signing = this.profile.signing === 'keys' ? keySigning(draws.fork()) : markSigning(draws.fork());
    this.#disk = new Disk(world, draws.fork(), this.profile);
    this.#facilitator = new Facilitator(world, draws.fork(), this.profile, PAY_TO);
    this.#targets = new Targets(world, draws.fork(), this.#disk, this.profile.targetFaultShare);
    this.#targets.hasSkewed = () => this.#server.hasSkewed;
    const outside = { disk: this.#disk, facilitator: this.#facilitator, signing, targets: this.#targets };
    this.#server = new Server(world, draws.fork(), this.profile, outside);
    this.#network = new Network(world, draws.fork(), this.profile, this.#server);
    const { profile } = this;
    const parts = {
      world,
      profile,
      server: this.#server,
      network: this.#network,
      disk: this.#disk,
      facilitator: this.#facilitator,
      signing,
      targets: this.#targets,
    };
    this.#buyers = new Buyers(parts, draws.fork());
    this.#callbackClients = new CallbackClients(world, draws.fork(), profile, this.#server, this.#network, this.#disk);
    const [server, network, disk] = [this.#server, this.#network, this.#disk];
    this.#retryClients = new RetryClients(world, draws.fork(), server, network, disk, this.#targets);
    this.#resolveClients = new ResolveClients(world, draws.fork(), profile, server, network);
    this.#buyers.onSold = (route, answer) => {
      if (route === 'retry') this.#retryClients.created(answer);
      else this.#resolveClients.created(answer);
    };
    this.#buyers.onCreated = (answer, exchange) => this.#callbackClients.created(answer, exchange);
    this.#disk.onPosted = (operations) => this.#posted(operations);
    this.#disk.onDurable = (operations) => this.#durable(operations);
    this.#disk.onFault = (recordCount) => this.#diskFailed(recordCount);
    this.#facilitator.onSettleAsked = (purchase) => {
      world.met('I3 recorded first');
      if (!this.#disk.records.pendingKeys.has(purchase.key)) {
        world.fail('I3 recorded first', `${purchase.name} was sent to settlement before its intent was on disk`);
      }
    };
  }

  async play(): Promise<void> {
    const { world } = this;
    world.note(JSON.stringify(this.profile));
    world.after(0, () => this.#server.start());
    // A commit of the start that is slow is a fault, during which nothing is offered.
    const isSelling = (): boolean => this.#server.life?.isAccepting === true && !this.#server.hasStateFault;
    await this.world.until(isSelling, FIRST_LIFE_MS);
    const app = this.#server.life?.app;
    if (app === undefined) throw new Error('the first life did not start');
    await this.#buyers.learnOffers((request) => app.fetch(request));
    let isOpen = false;
    void this.#retryClients
      .openAccount((request) => app.fetch(request))
      .then(() => {
        isOpen = true;
      });
    if (!(await this.world.until(() => isOpen, FIRST_LIFE_MS))) throw new Error('no key of the organization');
    this.#schedule();
    const endMs = world.nowMs + this.profile.spanMs + 30_000;
    await this.world.passUntil(endMs);
    await this.#heal();
    await this.#end();
  }

  /** Removes what the run left on the machine's own disk. */
  remove(): void {
    this.#disk.remove();
  }

  #posted(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (!isPayment(operation) || operation.kind !== 'intent') continue;
      const { key } = orderOfText(operation.order);
      this.#keys.set(operation.serial, key);
      const purchase = this.#buyers.byKey.get(key);
      if (purchase === undefined) this.world.fail('D2 possible records', 'an intent of nobody');
      else if (purchase.again !== undefined) {
        this.world.fail(
          'C3 charged once',
          `${purchase.name} asks for the answer of ${purchase.again.name}, and is charged`,
        );
      } else if (this.#disk.records.usedKeys.has(purchase.key) || this.#disk.records.pendingKeys.has(purchase.key)) {
        this.world.fail('I1 one answer', `${purchase.name} is settled again while it is on record`);
      } else if (purchase.isHonest() && purchase.mayBeCharged() && this.profile.settlement === 'facilitator') {
        this.world.fail('I5 unknown stays used', `${purchase.name} was free again, though it is charged or may be`);
      } else this.#judgeNames(purchase);
    }
  }

  /** What a name has bought within its ten minutes, or may have, it buys no second time. */
  #judgeNames(purchase: Purchase): void {
    const { pendingKeys } = this.#disk.records;
    for (const other of purchase.namesakes()) {
      // A clock that was set may have ended the ten minutes.
      const isKept =
        this.world.nowMs < (this.#settledMs.get(other.key) ?? -KEPT_MS) + KEPT_MS && !this.#server.hasSkewed;
      if (isKept || pendingKeys.has(other.key)) {
        this.world.fail('N1 one name buys once', `${purchase.name} is charged beside ${other.name}`);
      }
    }
  }

  #durable(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (isPayment(operation) && operation.kind === 'release') {
        const key = this.#keys.get(operation.serial);
        if (key !== undefined) this.#buyers.releasedMs.set(key, this.world.nowMs);
      }
      if (isPayment(operation) && operation.kind === 'end' && operation.end.kind === 'settled') {
        const { key } = operation.end;
        this.#settledMs.set(key, this.world.nowMs);
        if (this.#buyers.byKey.get(key)?.route === 'retry') this.#soldRetries.add(key);
      }
      if (operation.kind === 'delete-callback' || operation.kind === 'expire-callback') {
        this.world.count(`records: ${operation.kind}`);
      }
    }
  }

  #diskFailed(recordCount: number): void {
    this.#server.lastDiskFaultMs = this.world.nowMs;
    this.#buyers.hasDiskFailed = true;
    this.#doubtCount += recordCount;
    for (const purchase of this.#buyers.purchases) if (purchase.outstandingCount > 0) purchase.hasBeenCut = true;
  }

  /** Everything that will happen, but for what follows from it. */
  #schedule(): void {
    const { world, profile } = this;
    const chance = this.#chance;
    for (let i = 0; i < profile.purchaseCount; i++) {
      world.after(chance.between(0, profile.spanMs), () => {
        const purchase = this.#buyers.buy();
        if (chance.is(0.3)) world.after(chance.between(0, 60_000), () => this.#buyers.ask(purchase, false));
      });
    }
    for (let i = Math.floor(profile.keyedShare * profile.purchaseCount); i > 0; i--) {
      world.after(chance.between(0, profile.spanMs), () => this.#retryClients.create());
    }
    const perMinute = (rate: number, run: () => void): void => {
      const count = Math.floor((rate * profile.spanMs) / 60_000 + chance.unit());
      for (let i = 0; i < count; i++) world.after(chance.between(0, profile.spanMs), () => this.#isHealed || run());
    };
    perMinute(profile.killsPerMinute, () => this.#kill());
    perMinute(profile.stopsPerMinute, () => {
      if (this.#server.life?.isAccepting === true) this.#server.stop(() => this.#startLater());
    });
    perMinute(profile.reloadsPerMinute, () => this.#server.reload());
    perMinute(profile.wallStepsPerMinute, () => {
      this.#server.skewMs = chance.is(0.3) ? 0 : chance.between(-profile.wallSkewMsMax, profile.wallSkewMsMax);
      this.#server.hasSkewed = true;
      world.count('clock steps');
      world.note(`the wall clock is ${(this.#server.skewMs / 1000).toFixed(1)} s off`);
    });
    perMinute(profile.stallsPerMinute, () => {
      const { life } = this.#server;
      if (life !== undefined) life.stalledUntilMs = world.nowMs + chance.between(50, 3_000);
      world.count('stalls');
    });
    perMinute(profile.outagesPerMinute, () => this.#facilitator.beginOutage(chance.pick([500, 5_000, 40_000])));
    perMinute(profile.diskFaultsPerMinute, () => {
      if (chance.is(0.6)) {
        this.#disk.refusesUntilMs = world.nowMs + chance.pick([200, 3_000, 20_000]);
        world.note('the disk takes no writes');
        world.count('full disks');
        return;
      }
      this.#disk.breaksNext = true;
      // The operator sees it and starts the server anew.
      world.after(chance.between(2_000, 20_000), () => this.#restartBroken());
    });
  }

  #kill(): void {
    const { world } = this;
    const chance = this.#chance;
    const { life } = this.#server;
    if (life === undefined) return;
    const die = (why: string): void => {
      if (life.isDead) return;
      this.#server.kill(why, chance.is(this.profile.powerShare) ? 'power' : 'process');
    };
    if (chance.is(0.6)) life.touchesLeft = 1 + chance.below(60);
    else die('between two steps');
    // Whatever it dies of, somebody starts it again; sometimes it dies while it starts.
    world.after(3_000, () => die('in the end'));
    this.#watch(life.number);
  }

  /** The supervisor: a process that has died is started again. */
  #watch(lifeNumber: number): void {
    const chance = this.#chance;
    this.world.after(chance.between(10, 800), () => {
      const { life } = this.#server;
      if (life !== undefined) {
        if (life.number === lifeNumber && !life.isDead) this.#watch(lifeNumber);
        return;
      }
      this.#server.start();
      const next = this.#server.life as NonNullable<Server['life']>;
      if (this.#isHealed || !chance.is(0.3)) return;
      next.touchesLeft = 1 + chance.below(12);
      this.#watch(next.number);
    });
  }

  #startLater(): void {
    this.world.after(this.#chance.between(10, 2_000), () => {
      if (this.#server.life === undefined) this.#server.start();
    });
  }

  #restartBroken(): void {
    const { life } = this.#server;
    if (life === undefined || !life.hasDiskBroken || life.isDead) return;
    this.world.note('the operator starts it anew');
    if (life.isAccepting && this.#chance.is(0.5)) this.#server.stop(() => this.#startLater());
    else {
      this.#server.kill('by its operator');
      this.#startLater();
    }
  }

  #afterStep(): void {
    const { world } = this;
    if (world.stepCount % LOOK_STEPS === 0) this.#look();
    if (world.stepCount > STEPS_PER_PURCHASE_MAX * (this.profile.purchaseCount + 50)) {
      world.fail('L1 everything ends', 'the run does not come to an end');
    }
  }

  /** What must be so at every moment of a life. */
  #look(): void {
    const { world } = this;
    const { life } = this.#server;
    // After its nine seconds a stopping process still holds what belongs to connections that were cut off.
    if (life?.app === undefined || life.backend === undefined || life.isDead || life.isDraining) return;
    const { callbacks, reservations } = life.backend;
    let creationCount = 0;
    let paidCount = 0;
    for (const exchange of life.outstanding) {
      if (world.nowMs - exchange.arrivedMs > exchange.boundMs) {
        world.fail('A1 one answer', `${exchange.name} has had none for ${world.nowMs - exchange.arrivedMs} ms`);
      }
      if (exchange.request.headers.has('payment-signature')) paidCount++;
      if (exchange.request.method === 'POST' && exchange.request.url.endsWith('/callbacks')) creationCount++;
    }
    const claimCount = callbacks.capacity.claimedBytes / CLAIM_BYTES;
    const { live } = callbacks.counts;
    if (claimCount < live || claimCount > live + creationCount) {
      world.fail('R1 room', `${claimCount} claims, ${live} callbacks and ${creationCount} on their way`);
    }
    if (claimCount > 0) world.met('R1 room');
    if (reservations.count > 0) world.met('R2 reservations');
    const { records } = this.#disk;
    // What is released on disk is held until the process hears of it.
    let justReleasedCount = 0;
    for (const ms of this.#buyers.releasedMs.values()) if (world.nowMs - ms < 50) justReleasedCount++;
    const boundCount = paidCount + records.pending.size + records.used.size + this.#doubtCount + justReleasedCount;
    if (reservations.count > boundCount) {
      world.fail('R2 reservations', `${reservations.count} are held, ${boundCount} can be`);
    }
  }

  /** Faults stop. Then everything has to end, and paying has to work. */
  async #heal(): Promise<void> {
    const { world } = this;
    if (world.violation !== undefined) return;
    world.note('faults stop');
    this.#isHealed = true;
    this.#facilitator.isHealed = true;
    this.#facilitator.outageUntilMs = 0;
    this.#disk.isHealed = true;
    this.#disk.refusesUntilMs = 0;
    this.#disk.breaksNext = false;
    this.#network.isHealed = true;
    this.#server.skewMs = 0;
    // Past its window a case may be given up by a question that was asked before faults stopped.
    const open = this.#buyers.purchases.filter(({ validBeforeSeconds }) => validBeforeSeconds > world.wallMs / 1000);
    const { pendingKeys } = this.#disk.records;
    this.#buyers.pendingAtHeal = new Set(open.map(({ key }) => key).filter((key) => pendingKeys.has(key)));
    await world.passUntil(world.nowMs + 15_000);
    const { life } = this.#server;
    if (life !== undefined) life.touchesLeft = Number.POSITIVE_INFINITY;
    if (life?.hasDiskBroken === true) this.#server.kill('by its operator');
    if (this.#server.life === undefined) this.#server.start();
    if (this.#server.life !== undefined) this.#server.life.touchesLeft = Number.POSITIVE_INFINITY;
    // The circuit closes at its next probe, and the rate of every address is free after a minute.
    await world.passUntil(world.nowMs + 65_000);
    const purchases = Array.from({ length: 3 }, () => this.#buyers.buy(true));
    await world.passUntil(world.nowMs + 10_000);
    await this.#askForLost();
    for (const purchase of purchases) {
      const isPoor = (this.#disk.records.spent.get(purchase.account.payer.address) ?? 0n) > 0n;
      const isRefusable = purchase.route === 'create' || (this.profile.settlement === 'local' && isPoor);
      if (isRefusable) continue;
      const detail = (): string => `${purchase.name} cannot pay, a minute after all is well`;
      world.judge('L2 well again', purchase.successCount === 1, detail);
    }
  }

  /** What a kill cut off is still there for who named the purchase: every charge has its answer. */
  async #askForLost(): Promise<void> {
    const { world } = this;
    // A clock that was set may have ended the ten minutes.
    if (this.#server.hasSkewed) return;
    const lost = this.#buyers.askForLost();
    await world.passUntil(world.nowMs + 40_000);
    for (const purchase of lost) {
      world.judge('C1 every charge has its answer', purchase.successCount > 0, () => `${purchase.name} has none`);
    }
  }

  async #end(): Promise<void> {
    const { world } = this;
    if (world.violation !== undefined) return;
    // Every window and the reconciler's margin are over.
    await world.passUntil(world.nowMs + 400_000);
    if (world.violation !== undefined) return;
    for (const purchase of this.#buyers.purchases) {
      // Of those that never came near money, a share is asked for.
      const isOfInterest = purchase.moved !== '' || purchase.hasBeenUnknown || purchase.hasBeenCut;
      if (!isOfInterest && purchase.number % 8 !== 0) continue;
      this.#buyers.ask(purchase, world.wallMs / 1000 < purchase.validBeforeSeconds + 590);
    }
    this.#callbackClients.listAll();
    this.#resolveClients.readAll();
    await world.passUntil(world.nowMs + 10_000);
    await this.#judgeRest();
    // Every callback is past its end, and every tombstone.
    await world.passUntil(world.nowMs + LIFETIME_MS + 10_000);
    const { life } = this.#server;
    if (world.violation !== undefined) return;
    if (life?.app === undefined || life.backend === undefined) {
      world.fail('L1 everything ends', 'nobody serves at the end');
      return;
    }
    const { capacity, counts } = life.backend.callbacks;
    if (capacity.claimedBytes !== 0 || counts.live !== 0 || counts.waits !== 0) {
      world.fail('R1 room', `at the end: ${capacity.claimedBytes} bytes, ${JSON.stringify(counts)}`);
    }
    await world.passUntil(world.nowMs + TOMBSTONE_MS + 700_000);
    if (world.violation === undefined) this.#retryClients.judgeEnd(this.#soldRetries.size);
    this.#retryClients.readAll();
    await world.passUntil(world.nowMs + 10_000);
    await this.#judgeHeld();
    await this.#startAfresh();
  }

  async #judgeRest(): Promise<void> {
    const { world } = this;
    const { life } = this.#server;
    if (world.violation !== undefined || life?.app === undefined) return;
    for (const { name, arrivedMs } of life.outstanding) {
      // A wait may take its half minute.
      if (world.nowMs - arrivedMs > 35_000) world.fail('A1 one answer', `${name} has none, long after all is well`);
    }
    const unknown = lineOf(await metricsOf(life.app), 'paygrade_settlements_unknown');
    if (!unknown.endsWith(' 0')) world.fail('L1 everything ends', `settlements have no end: ${unknown}`);
    const { pending } = this.#disk.records;
    if (pending.size > 0) world.fail('L1 everything ends', `${pending.size} intents are on record without an end`);
    if (this.profile.settlement === 'local') this.#judgePlayMoney();
    else this.#judgeMoney();
  }

  #judgeMoney(): void {
    const { world } = this;
    for (const purchase of this.#buyers.purchases) {
      const isUsed = this.#disk.records.usedKeys.has(purchase.key);
      const isRecent = world.wallMs / 1000 < purchase.validBeforeSeconds + 590;
      if (purchase.moved !== '' && purchase.isHonest() && isRecent && !isUsed) {
        world.fail('I3 receipt', `${purchase.name} moved, and no record is left of it`);
      }
    }
  }

  /** Nothing is under way any more, as the metrics have it. */
  async #judgeHeld(): Promise<void> {
    const { world } = this;
    const app = this.#server.life?.app;
    if (world.violation !== undefined || app === undefined) return;
    const page = await metricsOf(app);
    for (const name of ['paygrade_retries_due', 'paygrade_retries_running', 'paygrade_resolves_under_way']) {
      const value = lineOf(page, name);
      world.met('R4 nothing is held');
      if (!value.endsWith(' 0')) world.fail('R4 nothing is held', `at the end: ${value}`);
    }
  }

  /** Nobody spent what he did not have, and the sums on disk are those of the settled payments. */
  #judgePlayMoney(): void {
    const { world } = this;
    const answered = new Map<string, bigint>();
    for (const { account, successCount, amountAtomic } of this.#buyers.purchases) {
      const { address } = account.payer;
      if (successCount > 0) answered.set(address, (answered.get(address) ?? 0n) + amountAtomic);
    }
    for (const [address, atomic] of answered) {
      const spent = this.#disk.records.spent.get(address) ?? 0n;
      const detail = (): string => `${address} was answered for ${atomic} and spent ${spent} of 100000`;
      world.judge('I17 sums', spent >= atomic && spent <= 100_000n, detail);
    }
  }

  /** A last start: what is too old is forgotten, and nothing else is held. */
  async #startAfresh(): Promise<void> {
    const { world } = this;
    if (world.violation !== undefined) return;
    const { records } = this.#disk;
    const tables = ['callback', 'event', 'retry', 'resolve'] as const;
    if (tables.some((table) => records.rowCount(table) > 0)) world.met('R3 records');
    this.#server.kill('for the last time');
    // Nothing happens for a day: ended jobs and resolves are past their time.
    await world.passUntil(world.nowMs + DAY_MS);
    world.after(0, () => this.#server.start());
    await this.world.until(() => this.#server.life?.isAccepting === true, 1_000);
    const heldCount = this.#server.life?.backend?.reservations.count;
    if (heldCount !== 0 || records.used.size > 0 || records.pending.size > 0) {
      world.fail('R2 reservations', `${heldCount} held, ${records.used.size} on record when all is over`);
    }
    await world.passUntil(world.nowMs + 40_000);
    this.#resolveClients.readAll();
    await world.passUntil(world.nowMs + 1_000);
    for (const table of tables) {
      const count = records.rowCount(table);
      if (count > 0) world.fail('R3 records', `${count} rows of ${table} are left`);
    }
  }
}

/** Plays the run of a seed. Never throws for a broken invariant; only for a simulator that is broken itself. */
export async function playRun(
  seed: number,
  wishes: ProfileWishes,
  onLine?: (line: string) => void,
): Promise<RunResult> {
  const run = new Run(seed, wishes, onLine);
  const { world } = run;
  world.met('P1 no unhandled rejections');
  const onRejection = (failure: unknown): void => {
    world.fail(
      'P1 no unhandled rejections',
      failure instanceof Error ? (failure.stack ?? failure.message) : String(failure),
    );
  };
  process.on('unhandledRejection', onRejection);
  try {
    await run.play();
  } finally {
    process.off('unhandledRejection', onRejection);
    run.remove();
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
