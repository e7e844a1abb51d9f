/**
 * One process of a run: the real app over the real stores of `src/storage/postgres`, whose connections lead to the modelled
 * database. It is killed between two steps and at the n-th call to the outside, stalls, and loses its way to the database.
 */
import type { ExchangeResult } from '../../../src/adapters/outbound/exchange.ts';
import { RUNTIME_BODIES } from '../../../src/adapters/process/runtime-bodies.ts';
import { type App, type AppPorts, openApp } from '../../../src/app/app.ts';
import { CONFIGURATION } from '../../../src/app/configuration.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { OutageError } from '../../../src/base/outage.ts';
import type { Timers } from '../../../src/base/timers.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/backend.ts';
import { LOOK_MS } from '../../../src/storage/postgres/owners.ts';
import { StateError } from '../../../src/storage/state-error.ts';
import type { Chance } from '../../support/chance.ts';
import { checkPublished } from '../../support/published.ts';
import { promptWorker } from '../../support/recovery.ts';
import { sourceOf } from '../catalogues.ts';
import { FACILITATOR_URL, type Facilitator } from '../facilitator.ts';
import { virtualExtractor } from '../reader-of-pages.ts';
import { type Answer, BASE_URL, PAY_TO } from '../server.ts';
import type { Signing } from '../signer.ts';
import type { World } from '../world.ts';
import type { SharedProfile } from './profile.ts';
import type { Client, Wire } from './wire.ts';

/** Longest stay of a request: a verification, a settlement, and records that are repeated. */
const BOUND_MS = 150_000;
const DATABASE_URL = 'postgres://gate@127.0.0.1/model';
const DRAIN_MS = 9_000;
/** A process that is well compares its clock with the database's this often, and a second for the trip. */
const CLOCK_SEEN_MS = LOOK_MS + 1_000;
/** Public and of nobody. */
const PUBLIC = '93.184.216.34';

/** What every process of a run has outside of itself. */
export interface Outside {
  readonly world: World;
  readonly profile: SharedProfile;
  readonly wire: Wire;
  readonly facilitator: Facilitator;
  readonly signing: Signing;
}

/** A request under way. */
export interface Exchange {
  readonly name: string;
  readonly gate: Gate;
  readonly arrivedMs: number;
  judge(answer: Answer): void;
  /** The process died with it. */
  cut(): void;
}

export class Gate implements Client {
  readonly name: string;
  isDead = false;
  isAccepting = false;
  isDraining = false;
  /** It says that the database cannot be used. */
  hasFault = false;
  app: App | undefined;
  cutUntilMs = 0;
  troubleMs = Number.NEGATIVE_INFINITY;
  leaseTroubleMs = Number.NEGATIVE_INFINITY;
  crowdedMs = Number.NEGATIVE_INFINITY;
  hangsUntilMs = 0;
  stalledUntilMs = 0;
  ownerId = '';
  /** Calls to the outside that are left to it. */
  touchesLeft = Number.POSITIVE_INFINITY;
  readonly outstanding = new Set<Exchange>();
  readonly #outside: Outside;
  readonly #chance: Chance;
  readonly #skewMs: number;
  readonly #bornAtMs: number;
  /** How far its wall clock was set wrong, besides, and until when at the latest. */
  #wallOffMs = 0;
  #wallOffUntilMs = 0;
  /** For how long its clocks have stood still. */
  #suspendedMs = 0;

  constructor(name: string, chance: Chance, outside: Outside) {
    this.name = name;
    this.#chance = chance;
    this.#outside = outside;
    const { skewMsMax } = outside.profile;
    this.#skewMs = chance.between(-skewMsMax, skewMsMax);
    this.#bornAtMs = outside.world.nowMs;
  }

  touch(what: string): boolean {
    if (this.isDead) return false;
    if (--this.touchesLeft <= 0) this.kill(`at ${what}`);
    return !this.isDead;
  }

  deliver(run: () => void): void {
    if (this.isDead) return;
    const leftMs = this.stalledUntilMs - this.#outside.world.nowMs;
    if (leftMs > 0) this.#outside.world.after(leftMs, () => this.deliver(run));
    else run();
  }

  /** The process does nothing for a while, and then goes on as if nothing had been. */
  stall(forMs: number): void {
    const { world } = this.#outside;
    this.#standStill(forMs);
    world.count('stalls');
    world.note(`${this.name} stalls for ${Math.round(forMs)} ms`);
  }

  /** A stall of the whole machine: its timers wait as long, and its wall clock is behind until it is set, `rightMs` later. */
  suspend(forMs: number, rightMs: number): void {
    const { world } = this.#outside;
    if (this.isDead || this.stalledUntilMs > world.nowMs) return;
    this.#standStill(forMs);
    this.#suspendedMs += forMs;
    this.#setWall(this.#wallOffMs - forMs, forMs + rightMs);
    world.count('suspensions');
    world.note(`${this.name} is suspended for ${Math.round(forMs)} ms`);
  }

  stepWall(offMs: number, forMs: number): void {
    const { world } = this.#outside;
    this.#setWall(offMs, forMs);
    world.count('steps of a wall clock');
    world.note(`${this.name} has a clock that is ${(offMs / 1000).toFixed(1)} s off`);
  }

  #standStill(forMs: number): void {
    this.stalledUntilMs = Math.max(this.stalledUntilMs, this.#outside.world.nowMs + forMs);
    this.#noteTrouble(this.stalledUntilMs);
  }

  /** Of two troubles that overlap the later end counts. */
  #noteTrouble(untilMs: number): void {
    this.leaseTroubleMs = Math.max(this.leaseTroubleMs, untilMs);
    this.troubleMs = Math.max(this.troubleMs, untilMs);
  }

  #setWall(offMs: number, forMs: number): void {
    const { world } = this.#outside;
    this.#wallOffMs = offMs;
    this.#wallOffUntilMs = Math.max(this.#wallOffUntilMs, world.nowMs + forMs);
    world.after(forMs, () => this.setClockRight());
  }

  /** Until then its clock or the database's is wrong, or it may not know yet that both are right again. */
  get clockOffUntilMs(): number {
    return Math.max(this.#wallOffUntilMs, this.#outside.wire.database.clockOffUntilMs) + CLOCK_SEEN_MS;
  }

  setClockRight(): void {
    this.#wallOffMs = 0;
  }

  #monotonicMs(): number {
    return this.#outside.world.nowMs - this.#bornAtMs - this.#suspendedMs + 1_000;
  }

  loseDatabase(forMs: number): void {
    const { world } = this.#outside;
    this.cutUntilMs = world.nowMs + forMs;
    this.#noteTrouble(this.cutUntilMs);
    world.count('partitions');
    world.note(`${this.name} loses the database for ${Math.round(forMs)} ms`);
  }

  /** The process dies where it stands. */
  kill(why: string): void {
    if (this.isDead) return;
    const { world, wire } = this.#outside;
    this.isDead = true;
    this.isAccepting = false;
    world.count('kills');
    world.note(`${this.name} is killed ${why}, ${this.outstanding.size} under way`);
    wire.dropAll(this);
    for (const exchange of this.outstanding) exchange.cut();
    this.outstanding.clear();
  }

  /** As `serve` does at SIGTERM. */
  stop(then: () => void): void {
    const { app } = this;
    const { world } = this.#outside;
    if (app === undefined || !this.isAccepting) return;
    world.count('graceful stops');
    world.note(`${this.name} is asked to stop`);
    this.isAccepting = false;
    this.isDraining = true;
    app.drain();
    const deadlineMs = world.nowMs + DRAIN_MS;
    const end = (): void => {
      if (this.isDead) {
        then();
        return;
      }
      if (this.outstanding.size > 0 && world.nowMs < deadlineMs) {
        world.after(50, end);
        return;
      }
      for (const exchange of this.outstanding) exchange.cut();
      this.outstanding.clear();
      app.close().then(
        () => {
          world.note(`${this.name} has ended`);
          this.isDead = true;
          then();
        },
        (failure) => world.fail('P2 no bugs', String(failure)),
      );
    };
    world.after(1, end);
  }

  /** Opens the app; it accepts requests from then on. */
  start(): void {
    const { world, profile } = this.#outside;
    world.met('P3 starts again');
    world.note(`${this.name} starts`);
    const config = CONFIGURATION.read({
      DATABASE_URL,
      STATE_KEY: Buffer.alloc(32, 1).toString('base64'),
      STATE_SYNC: 'normal',
      SETTLEMENT: profile.settlement,
      PAY_TO,
      LOCAL_BALANCE: '100000',
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      SNAPSHOT: 'simulated',
      SURFACES: 'jobs,callbacks,retry',
      ...(profile.settlement === 'facilitator' ? { FACILITATOR_URL } : {}),
    });
    openApp({ ...config, baseUrl: BASE_URL, hookBaseUrl: BASE_URL }, this.#ports()).then(
      (app) => {
        if (this.isDead) return;
        this.app = app;
        this.isAccepting = true;
        world.note(`${this.name} serves`);
      },
      (failure: Error) => {
        if (this.isDead) return;
        // A start that does not reach the database ends, and its supervisor starts another.
        world.note(`${this.name} did not start: ${failure.message}`);
        if (!(failure instanceof StateError || failure instanceof OutageError))
          world.fail('P3 starts again', failure.stack ?? failure.message);
        this.isDead = true;
      },
    );
  }

  /** A request; nothing happens when the process takes none. */
  arrive(name: string, request: Request, judge: Exchange['judge'], cut: Exchange['cut']): void {
    const { world } = this.#outside;
    const { app } = this;
    if (app === undefined || !this.isAccepting) {
      cut();
      return;
    }
    world.met('A1 one answer');
    const exchange: Exchange = { name, gate: this, arrivedMs: world.nowMs, judge, cut };
    this.outstanding.add(exchange);
    this.#bound(exchange, BOUND_MS);
    this.deliver(() => void this.#answer(app, request, exchange));
  }

  /** A process that was suspended has as much more time. */
  #bound(exchange: Exchange, forMs: number): void {
    const { world } = this.#outside;
    const endMs = this.#monotonicMs() + forMs;
    world.after(forMs, () => {
      if (!this.outstanding.has(exchange)) return;
      const leftMs = endMs - this.#monotonicMs();
      if (leftMs >= 1) this.#bound(exchange, leftMs);
      else world.fail('A1 one answer', `${exchange.name} has had none for ${world.nowMs - exchange.arrivedMs} ms`);
    });
  }

  async #answer(app: App, request: Request, exchange: Exchange): Promise<void> {
    const { world } = this.#outside;
    const response = await app.fetch(request, { address: '10.0.0.1' });
    if (this.isDead) return;
    const text = await response.text().catch(() => undefined);
    if (this.isDead || !this.outstanding.delete(exchange)) return;
    if (text === undefined) {
      exchange.cut();
      return;
    }
    const { status, headers } = response;
    const path = new URL(request.url).pathname;
    checkPublished({ method: request.method, path, status, headers, bytes: Buffer.from(text) });
    const code = status < 400 ? '' : ` ${/"code":"([A-Z_]+)"/.exec(text)?.[1]}`;
    world.note(`${this.name} ${exchange.name}: ${status}${code}`);
    world.count(`answers ${status}${code}`);
    exchange.judge({ status, headers, text });
  }

  #ports(): AppPorts {
    const { world, wire, facilitator, signing } = this.#outside;
    const clock: Clock = {
      nowMs: () => Math.floor(world.wallMs + this.#skewMs + this.#wallOffMs),
      monotonicMs: () => this.#monotonicMs(),
    };
    const timers: Timers = { after: (delayMs, run) => this.#timer(delayMs, run) };
    return {
      clock,
      timers,
      startsAtOnce: false,
      soon: (run) => {
        if (this.touch('turn')) world.after(0, () => this.deliver(run));
      },
      random: this.#chance.fork(),
      ...RUNTIME_BODIES,
      recoveryWorker: promptWorker(signing.recover),
      facilitatorFetch: (url, init) => this.#fetch(facilitator, url, init),
      resolver: { resolve: () => this.#reached('look-up', { kind: 'addresses', addresses: [PUBLIC] }) },
      exchange: (_request, _addresses, { signal, onAnswer }) => this.#exchange(signal, onAnswer),
      extractor: virtualExtractor(world, this.#chance.fork(), this),
      openBackend: (options, ports) =>
        openPostgresBackend(
          { ...options, databaseUrl: DATABASE_URL },
          { ...ports, openConnections: () => wire.connectionsOf(this) },
        ),
      catalogueSource: sourceOf(() => 0),
      onRequest: undefined,
      onFailure: (failure) => this.#failed(failure),
      onCaseReport: (report) => {
        if (!this.isDead) world.count(`reconciled: ${report.kind}`);
      },
      onStateFault: (fault) => {
        if (this.hasFault) this.troubleMs = Math.max(this.troubleMs, world.nowMs);
        this.hasFault = fault !== undefined;
        if (!this.isDead) world.note(`${this.name} state: ${fault ?? 'well again'}`);
      },
    };
  }

  /** An outage is none of ours; anything else is a bug. */
  #failed(failure: unknown): void {
    if (this.isDead) return;
    const { world } = this.#outside;
    const { name, message } = failure as Error;
    world.note(`${this.name} reports ${name}: ${message}`);
    const isOutage = /(Outage|InDoubt|DatabaseAway|RecordsUnreadable|RecordInDoubt|Statement)Error/.test(name);
    const isOurs = message.includes('another process has recorded this payment');
    if (isOutage || isOurs) world.count(`reported: ${name}`);
    world.judge('P2 no bugs', isOutage || isOurs, () =>
      failure instanceof Error ? (failure.stack ?? message) : String(failure),
    );
  }

  #timer(delayMs: number, run: () => void): () => void {
    if (!this.touch('timer')) return () => {};
    const { world } = this.#outside;
    const chance = this.#chance;
    const errorMs = chance.is(0.2) ? -chance.unit() : chance.between(0, 2);
    let isCancelled = false;
    const dueMs = this.#monotonicMs() + delayMs + errorMs;
    const end = (): void => {
      if (isCancelled) return;
      const leftMs = dueMs - this.#monotonicMs();
      if (leftMs < 1) run();
      else cancel = world.after(leftMs, () => this.deliver(end));
    };
    let cancel = world.after(delayMs + errorMs, () => this.deliver(end));
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Sends a request, at times only after the process has stood still, whose decision to send it has been made. */
  #sent(facilitator: Facilitator, url: string, init: RequestInit): Promise<Response> {
    const { world, profile } = this.#outside;
    const isStalled = this.#chance.is(profile.stalledSendShare) && url.endsWith('/settle') && !facilitator.isHealed;
    if (!isStalled || this.isDead) return facilitator.fetch(url, init);
    world.count('stalls before a settlement is sent');
    const forMs = this.#chance.pick([14_000, 25_000, 25_000]);
    this.stall(forMs);
    if (this.#chance.is(0.5)) facilitator.suspect(init.body as string, forMs);
    return new Promise((resolve) => this.deliver(() => resolve(facilitator.fetch(url, init))));
  }

  /** Something outside that always answers soon. */
  #reached<T>(what: string, answer: T): Promise<T> {
    if (!this.touch(what)) return new Promise(() => {});
    const delayMs = this.#chance.between(0, 40);
    return new Promise((resolve) => this.#outside.world.after(delayMs, () => this.deliver(() => resolve(answer))));
  }

  /** An attempt of a retry, which succeeds. */
  async #exchange(signal: AbortSignal, onAnswer: () => void): Promise<ExchangeResult> {
    const aborted: ExchangeResult = { kind: 'aborted', detail: 'ended' };
    if (signal.aborted) return aborted;
    const ended = new Promise<ExchangeResult>((resolve) => signal.addEventListener('abort', () => resolve(aborted)));
    const body = new TextEncoder().encode('{"ok":true}');
    const headers = [['content-type', 'application/json']] as const;
    const answered = this.#reached('exchange', {
      kind: 'answer',
      status: 200,
      headers,
      body,
      isTruncated: false,
    } as const);
    const result = await Promise.race([ended, answered]);
    if (result.kind === 'answer') onAnswer();
    return result;
  }

  #fetch(facilitator: Facilitator, url: string, init: RequestInit): Promise<Response> {
    const isSent = this.touch('fetch') || this.#chance.is(0.5);
    if (!isSent) return new Promise(() => {});
    return new Promise((resolve, reject) => {
      this.#sent(facilitator, url, init).then(
        (response) => this.deliver(() => resolve(response)),
        (failure) => this.deliver(() => reject(failure)),
      );
    });
  }
}
