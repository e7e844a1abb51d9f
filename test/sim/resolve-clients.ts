/**
 * The customers of resolves (siblings §7): what was answered 200 or 202 is read again until its hours are over. What is resolved stays
 * as it is, what was pending ends, through any kills; after an hour it is 410 and after another 404.
 */
import { KEPT_MS, TOMBSTONE_MS } from '../../src/resolve/limits.ts';
import type { Chance } from '../support/chance.ts';
import { codeOf, type Network } from './network.ts';
import type { Profile } from './profile.ts';
import { type Answer, BASE_URL, type Exchange, type Server } from './server.ts';
import type { Targets } from './targets.ts';
import { BEGIN_WALL_MS, type World } from './world.ts';

export const RESOLVE_URL = `${BASE_URL}/resolve/v1/resolve`;

interface TrackedResolve {
  readonly id: string;
  readonly token: string;
  /** True time, by what the server states: the answer of its creation may have been lost, and the same asked for minutes later. */
  readonly createdMs: number;
  /** The process that acknowledged it. */
  readonly lifeNumber: number | undefined;
  /** How it ended, as it was shown: result and failure. */
  outcome: string | undefined;
  /** When that was shown first. */
  shownMs: number;
}

interface Shown {
  readonly id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly read_token: string;
  readonly status: 'pending' | 'resolved' | 'failed';
  readonly result: unknown;
  readonly failure: unknown;
}

export const drawResolve = (chance: Chance, targets: Targets): string =>
  JSON.stringify({ url: targets.newUrl(), max_wait_seconds: chance.pick([0, 1, 5, 10, 20]) });

export class ResolveClients {
  readonly resolves = new Map<string, TrackedResolve>();
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: Profile;
  readonly #server: Server;
  readonly #network: Network;

  constructor(world: World, chance: Chance, profile: Profile, server: Server, network: Network) {
    this.#world = world;
    this.#chance = chance;
    this.#profile = profile;
    this.#server = server;
    this.#network = network;
  }

  /** A buyer's resolve; the same answer may come again. */
  created(answer: Answer): void {
    const world = this.#world;
    const shown = JSON.parse(answer.text) as Shown;
    if ((answer.status === 202) !== (shown.status === 'pending')) {
      world.fail('A4 right answers', `${answer.status} with ${shown.status}`);
    }
    const known = this.resolves.get(shown.id);
    if (known !== undefined) {
      this.#learn(known, shown, Number.NEGATIVE_INFINITY);
      return;
    }
    const resolve: TrackedResolve = {
      id: shown.id,
      token: shown.read_token,
      createdMs: Date.parse(shown.created_at) - BEGIN_WALL_MS - this.#server.skewMs,
      lifeNumber: this.#server.life?.number,
      outcome: undefined,
      shownMs: world.nowMs,
    };
    if (resolve.createdMs > world.nowMs + this.#toleranceMs()) {
      world.fail('A4 right answers', `${shown.id} was created at ${shown.created_at}`);
    }
    if (Date.parse(shown.expires_at) - Date.parse(shown.created_at) !== KEPT_MS) {
      world.fail('S3 an hour', `${shown.id}: ${shown.created_at} to ${shown.expires_at}`);
    }
    this.resolves.set(shown.id, resolve);
    world.count('resolves');
    world.count(`resolves answered ${shown.status}`);
    this.#learn(resolve, shown, Number.NEGATIVE_INFINITY);
    const chance = this.#chance;
    for (let i = chance.below(3); i > 0; i--) world.after(chance.between(0, 60_000), () => this.#read(resolve));
    if (chance.is(0.2)) world.after(KEPT_MS + chance.between(-600_000, 900_000), () => this.#read(resolve));
    if (chance.is(0.1))
      world.after(KEPT_MS + TOMBSTONE_MS + chance.between(-600_000, 900_000), () => this.#read(resolve));
  }

  /** Faults have stopped for longer than any work lasts. */
  readAll(): void {
    for (const resolve of this.resolves.values()) this.#read(resolve, true);
  }

  /** @param askedMs what was asked for before another answer was given may be read before it, and shown after it */
  #learn(resolve: TrackedResolve, { status, result, failure }: Shown, askedMs: number): void {
    const outcome = JSON.stringify([status, result, failure]);
    if (resolve.outcome !== undefined && (status !== 'pending' || askedMs > resolve.shownMs)) {
      const detail = (): string => `${resolve.id} was ${resolve.outcome} and is ${outcome}`;
      this.#world.judge('S2 an end stays', resolve.outcome === outcome, detail);
    }
    if (status === 'pending') return;
    if ((status === 'resolved') !== (result !== null))
      this.#world.fail('A4 right answers', `${resolve.id}: ${outcome}`);
    if (resolve.outcome === undefined) resolve.shownMs = this.#world.nowMs;
    resolve.outcome = outcome;
  }

  #read(resolve: TrackedResolve, isEnd = false): void {
    this.#network.send({
      name: `${resolve.id.slice(0, 8)} read`,
      method: 'GET',
      url: `${BASE_URL}/resolve/v1/resolves/${resolve.id}`,
      headers: { authorization: `Bearer ${resolve.token}` },
      judge: (answer, exchange) => this.#judge(resolve, answer, exchange, isEnd),
    });
  }

  #judge(resolve: TrackedResolve, answer: Answer, exchange: Exchange, isEnd: boolean): void {
    const world = this.#world;
    const ageMs = world.nowMs - resolve.createdMs;
    const toleranceMs = this.#toleranceMs();
    const code = answer.status < 300 ? '' : codeOf(answer);
    if (exchange.life.number !== resolve.lifeNumber && ageMs < KEPT_MS - toleranceMs) {
      world.met('S4 nothing acknowledged is lost');
    }
    switch (answer.status) {
      case 200:
        if (ageMs > KEPT_MS + toleranceMs) world.fail('S3 an hour', `${resolve.id} is readable after ${ageMs} ms`);
        this.#learn(resolve, JSON.parse(answer.text) as Shown, exchange.arrivedMs);
        if (isEnd) {
          const hasEnded = resolve.outcome !== undefined;
          world.judge('S1 every resolve ends', hasEnded, () => `${resolve.id} is pending`);
        }
        return;
      case 410:
        world.met('S3 an hour');
        if (code !== 'RESOLVE_EXPIRED' || ageMs < KEPT_MS - toleranceMs) {
          world.fail('S3 an hour', `${resolve.id} has expired after ${ageMs} ms`);
        }
        if (ageMs > KEPT_MS + TOMBSTONE_MS + toleranceMs) {
          world.fail('S3 an hour', `${resolve.id} is still known after ${ageMs} ms`);
        }
        return;
      case 404:
        world.count('resolves forgotten');
        if (code !== 'RESOLVE_NOT_FOUND' || ageMs < KEPT_MS + TOMBSTONE_MS - toleranceMs) {
          world.fail('S4 nothing acknowledged is lost', `${resolve.id} is unknown after ${ageMs} ms`);
        }
        return;
      default:
        if (answer.status >= 500 && this.#hasDiskTrouble()) return;
        world.fail('A4 right answers', `${exchange.name}: ${answer.status} ${answer.text}`);
    }
  }

  #toleranceMs(): number {
    return this.#server.hasSkewed ? 2 * this.#profile.wallSkewMsMax : 31_000;
  }

  #hasDiskTrouble(): boolean {
    return this.#server.hasStateFault || this.#world.nowMs - this.#server.lastDiskFaultMs < 60_000;
  }
}
