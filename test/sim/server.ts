/**
 * The server of a run: the real handler, one process life after another. A life sees the outside through ports that belong
 * to the world; when it is killed, its ports go dead in the middle of whatever it was doing, and nothing that it still has
 * to say is heard. Kills come between steps and at the n-th call to the outside, so between any two effects.
 */
import { RUNTIME_BODIES } from '../../src/adapters/process/runtime-bodies.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import type { Clock } from '../../src/base/clock.ts';
import { messageOf } from '../../src/base/failure.ts';
import type { Timers } from '../../src/base/timers.ts';
import { CLAIM_BYTES } from '../../src/callback/limits.ts';
import type { Backend } from '../../src/storage/backend.ts';
import type { Chance } from '../support/chance.ts';
import { checkPublished } from '../support/published.ts';
import { promptWorker } from '../support/recovery.ts';
import { sourceOf, VERSION_COUNT } from './catalogues.ts';
import { type Disk, type Process, READ_FAULT } from './disk.ts';
import { FACILITATOR_URL, type Facilitator } from './facilitator.ts';
import type { Profile } from './profile.ts';
import { virtualExtractor } from './reader-of-pages.ts';
import type { Signing } from './signer.ts';
import type { Targets } from './targets.ts';
import type { World } from './world.ts';

export const BASE_URL = 'http://api.test';
export const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
export const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A request on its way, until it is answered once. */
export interface Exchange {
  readonly name: string;
  readonly request: Request;
  readonly address: string;
  readonly arrivedMs: number;
  readonly life: Life;
  /** Catalogue versions that were served while it was here. */
  readonly versions: Set<number>;
  /** It has been there for so long at most. */
  readonly boundMs: number;
}

/** One process. */
export class Life implements Process {
  readonly number: number;
  isDead = false;
  isAccepting = false;
  app: App | undefined;
  /** Its stores, from when they are open. */
  backend: Backend | undefined;
  /** Calls to the outside that are left to it. */
  touchesLeft = Number.POSITIVE_INFINITY;
  readonly outstanding = new Set<Exchange>();
  stalledUntilMs = 0;
  hasDiskBroken = false;
  /** Graceful end: waits are answered early from then on. */
  drainedAtMs: number | undefined;
  readonly bornAtMs: number;
  readonly onLastTouch: (what: string) => void;

  constructor(number: number, bornAtMs: number, onLastTouch: (what: string) => void) {
    this.number = number;
    this.bornAtMs = bornAtMs;
    this.onLastTouch = onLastTouch;
  }

  get isDraining(): boolean {
    return this.drainedAtMs !== undefined;
  }

  touch(what: string): boolean {
    if (this.isDead) return false;
    if (--this.touchesLeft <= 0) this.onLastTouch(what);
    return !this.isDead;
  }
}

/** Longest stay of a request: verification, settlement, and three records that each wait for two commits of the slowest disk. */
const BOUND_MS = 200_000;

export class Server {
  life: Life | undefined;
  lifeCount = 0;
  skewMs = 0;
  /** What the operator's catalogue file holds. */
  fileVersion: number | undefined = 0;
  /** What is served, as the operator knows it. */
  servedVersion = 0;
  hasSkewed = false;
  /** Called with every answer that a life gave, in the turn in which it was given. */
  onAnswer: (exchange: Exchange, answer: Answer) => void = () => {};
  onKill: () => void = () => {};
  /** Called with a request whose answer broke off. */
  onCut: (exchange: Exchange) => void = () => {};
  /** Commits or reads failed lately: a 500 is no bug. */
  lastDiskFaultMs = Number.NEGATIVE_INFINITY;
  /** This life said that nothing can be written, and has not taken it back. */
  hasStateFault = false;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: Profile;
  readonly #disk: Disk;
  readonly #facilitator: Facilitator;
  readonly #signing: Signing;
  readonly #targets: Targets;

  constructor(
    world: World,
    chance: Chance,
    profile: Profile,
    outside: {
      readonly disk: Disk;
      readonly facilitator: Facilitator;
      readonly signing: Signing;
      readonly targets: Targets;
    },
  ) {
    this.#world = world;
    this.#chance = chance;
    this.#profile = profile;
    this.#disk = outside.disk;
    this.#facilitator = outside.facilitator;
    this.#signing = outside.signing;
    this.#targets = outside.targets;
  }

  get capacityBytes(): number {
    return this.#profile.callbackCapacity * CLAIM_BYTES;
  }

  /** A new process on what the disk has. Resolves when it serves, or when it died before that. */
  start(): void {
    const world = this.#world;
    const life = new Life(this.lifeCount++, world.nowMs, (what) => this.kill(`at ${what}`));
    this.life = life;
    this.hasStateFault = false;
    world.note(`life ${life.number} starts`);
    const clock: Clock = {
      nowMs: () => Math.floor(world.wallMs + this.skewMs),
      monotonicMs: () => world.nowMs - life.bornAtMs + 1_000,
    };
    const timers: Timers = { after: (delayMs, run) => this.#timer(life, delayMs, run) };
    const { settlement, sync, ratePerMinute } = this.#profile;
    const config = CONFIGURATION.read({
      STATE_DIR: 'simulated',
      STATE_KEY: Buffer.alloc(32, 1).toString('base64'), // else the start would make one and write it to the real disk
      STATE_SYNC: sync,
      SETTLEMENT: settlement,
      PAY_TO,
      LOCAL_BALANCE: '100000',
      RATE_LIMIT_PER_MINUTE: String(ratePerMinute),
      CALLBACK_LIMIT_PER_MINUTE: '0',
      CALLBACK_BYTES: String(this.capacityBytes),
      SNAPSHOT: 'simulated',
      SURFACES: 'jobs,callbacks,retry,resolve',
      ADMIN_TOKEN,
      OUTBOUND_CONCURRENCY: String(this.#profile.outboundConcurrency),
      KEY_RATE_LIMIT_PER_MINUTE: '0',
      ...(settlement === 'facilitator' ? { FACILITATOR_URL } : {}),
    });
    this.servedVersion = this.fileVersion ?? this.servedVersion;
    this.fileVersion ??= this.servedVersion;
    openApp(
      { ...config, baseUrl: BASE_URL, hookBaseUrl: BASE_URL },
      {
        clock,
        timers,
        startsAtOnce: false,
        soon: (run) => {
          if (life.touch('turn')) world.after(0, () => !life.isDead && run());
        },
        random: this.#chance.fork(),
        recoveryWorker: promptWorker(this.#signing.recover),
        facilitatorFetch: (url, init) => this.#fetch(life, url, init),
        resolver: this.#targets.resolver(life),
        exchange: this.#targets.exchange(life),
        extractor: virtualExtractor(world, this.#chance.fork(), life),
        openBackend: async (options, ports) => {
          life.backend = await this.#disk.open(life, options, ports);
          return life.backend;
        },
        catalogueSource: sourceOf(() => this.fileVersion),
        ...RUNTIME_BODIES,
        onRequest: undefined,
        onFailure: (failure) => {
          if (life.isDead || messageOf(failure) === READ_FAULT) return;
          world.fail('P2 no bugs', failure instanceof Error ? (failure.stack ?? failure.message) : String(failure));
        },
        onCaseReport: (report) => {
          if (!life.isDead) world.count(`reconciled: ${report.kind}`);
        },
        onStateFault: (fault) => {
          if (this.life === life) this.hasStateFault = fault !== undefined;
          if (life.isDead) return;
          // Records fail from now on, which is an outage and must not be reported as a bug.
          if (fault !== undefined) world.met('P2 no bugs');
          world.note(`state: ${fault ?? 'well again'}`);
          if (fault?.includes('until its next start')) life.hasDiskBroken = true;
        },
      },
    ).then(
      (app) => {
        if (life.isDead) return;
        life.app = app;
        life.isAccepting = true;
        world.met('P3 starts again');
        world.note(`life ${life.number} serves`);
      },
      (failure: Error) => {
        if (!life.isDead) world.fail('P3 starts again', failure.stack ?? failure.message);
      },
    );
  }

  #timer(life: Life, delayMs: number, run: () => void): () => void {
    if (!life.touch('timer')) return () => {};
    const chance = this.#chance;
    const errorMs = chance.is(0.2) ? -chance.unit() : chance.between(0, 2);
    let cancel = (): void => {};
    const ring = (): void => {
      if (life.isDead) return;
      const stalledMs = life.stalledUntilMs - this.#world.nowMs;
      if (stalledMs > 0) cancel = this.#world.after(stalledMs, ring);
      else run();
    };
    cancel = this.#world.after(delayMs + errorMs, ring);
    return () => cancel();
  }

  #fetch(life: Life, url: string, init: RequestInit): Promise<Response> {
    // A message may leave with the process's last breath.
    const wasAlive = !life.isDead;
    const isAlive = life.touch('fetch');
    if (!isAlive && !(wasAlive && this.#chance.is(0.5))) return new Promise(() => {});
    const answer = this.#facilitator.fetch(url, init);
    return new Promise((resolve, reject) => {
      answer.then(
        (response) => {
          if (!life.isDead) resolve(response);
        },
        (failure) => {
          if (!life.isDead) reject(failure);
        },
      );
    });
  }

  /** The process dies where it stands. */
  kill(why: string, cause: 'process' | 'power' = 'process'): void {
    const { life } = this;
    if (life === undefined || life.isDead) return;
    life.isDead = true;
    life.isAccepting = false;
    this.#world.count(cause === 'power' ? 'power losses' : 'kills');
    this.#world.note(`life ${life.number} is killed ${why}, ${cause}, ${life.outstanding.size} under way`);
    this.onKill();
    this.#disk.crash(cause);
    life.outstanding.clear();
    this.life = undefined;
  }

  /** As `serve` does at SIGTERM: no new requests, nine seconds for those under way, then the end. */
  stop(then: () => void): void {
    const { life } = this;
    if (life?.app === undefined) return;
    const { app } = life;
    this.#world.count('graceful stops');
    this.#world.note(`life ${life.number} is told to stop`);
    life.isAccepting = false;
    life.drainedAtMs = this.#world.nowMs;
    app.drain();
    const deadlineMs = this.#world.nowMs + 9_000;
    const end = (): void => {
      if (life.isDead) return;
      if (life.outstanding.size > 0 && this.#world.nowMs < deadlineMs) {
        this.#world.after(50, end);
        return;
      }
      // What is left is cut off; nobody hears what it still says.
      if (life.outstanding.size > 0) this.onKill();
      life.outstanding.clear();
      app.close().then(
        () => {
          if (life.isDead) return;
          this.#world.note(`life ${life.number} has ended`);
          life.isDead = true;
          this.life = undefined;
          then();
        },
        (failure) => this.#world.fail('P2 no bugs', String(failure)),
      );
    };
    this.#world.after(1, end);
  }

  /** A new catalogue file, damaged now and then, and the signal to take it. */
  reload(): void {
    const app = this.life?.app;
    if (app === undefined || this.life?.isAccepting !== true) return;
    const file = this.#chance.is(0.2) ? undefined : this.#chance.below(VERSION_COUNT);
    this.fileVersion = file;
    // The app reads the file at once and swaps some microtasks later, before the world goes on.
    app.reload().then(
      () => {
        this.#world.judge('A2 one snapshot', file !== undefined, () => 'a damaged catalogue was taken');
      },
      (failure) => {
        if (file !== undefined) this.#world.fail('A2 one snapshot', String(failure));
      },
    );
    this.servedVersion = file ?? this.servedVersion;
    this.fileVersion = this.servedVersion;
    this.#world.count('reloads');
    for (const { versions } of this.life.outstanding) versions.add(this.servedVersion);
    this.#world.note(`reloaded, edition ${this.servedVersion} is served`);
  }

  /** A request has come as far as the server; undefined when nobody is there. */
  arrive(name: string, request: Request, address: string): Exchange | undefined {
    const { life } = this;
    if (life?.app === undefined || !life.isAccepting) return undefined;
    const exchange: Exchange = {
      name,
      request,
      address,
      arrivedMs: this.#world.nowMs,
      life,
      versions: new Set([this.servedVersion]),
      boundMs: BOUND_MS,
    };
    life.outstanding.add(exchange);
    void this.#answer(life, life.app, exchange);
    return exchange;
  }

  async #answer(life: Life, app: App, exchange: Exchange): Promise<void> {
    const response = await app.fetch(exchange.request, { address: exchange.address });
    if (life.isDead) return;
    const { status, headers } = response;
    // The answer counts from here: its bytes are the listener's.
    const text = await response.text().catch(() => undefined);
    if (text === undefined) {
      // The callback ended or the disk failed in the middle of a long answer.
      if (!life.isDead && life.outstanding.delete(exchange)) this.onCut(exchange);
      return;
    }
    const { method, url } = exchange.request;
    checkPublished({ method, path: new URL(url).pathname, status, headers, bytes: Buffer.from(text) });
    if (!life.outstanding.delete(exchange)) return;
    this.onAnswer(exchange, { status, headers, text });
  }
}
