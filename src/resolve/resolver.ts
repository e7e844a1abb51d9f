/**
 * Resolves in flight (siblings §7). A request claims a place; after the look-up its work begins, and the request waits for it
 * as long as the customer chose. A paid resolve is kept: its outcome is recorded, by a later process if need be. Releasing a
 * claim ends its work, because it is not paid for.
 *
 * Invariants: at most WORK_COUNT_MAX claims at a time, at most half of them of one payer; as many works again that dead
 * processes left, which thus have a place in a process that is full; every claim ends in `keep` or `release`; an outcome is
 * recorded for kept resolves only, once.
 */
import type { Clock } from '../base/clock.ts';
import { isSameDigest } from '../base/digest.ts';
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import { chain, type MaybePromise } from '../base/maybe-promise.ts';
import type { Random } from '../base/random.ts';
import { Tally } from '../base/tally.ts';
import type { Timers } from '../base/timers.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { Target } from '../outbound/target.ts';
import { newResolveId, newResolveToken, type ResolveId, resolveTokenDigest } from './identifier.ts';
import { KEPT_MS, OUTCOME_BYTES_MAX, PAYER_WORK_COUNT_MAX, WORK_COUNT_MAX } from './limits.ts';
import {
  type OutcomeJson,
  outcomeJson,
  type ResolveRecord,
  type ResolveStore,
  type StoredResolve,
} from './resolve-store.ts';
import { failedWith, type ResolveFailure, type ResolveOutcome, type ResolveQuestion } from './result.ts';
import { type Extractor, resolveAddress } from './work.ts';

/** Pause before recording again an outcome that the state refused. */
const RECORD_PAUSE_MS = 5_000;

export interface ResolverPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly outbound: Outbound;
  readonly extractor: Extractor;
  readonly store: ResolveStore;
  /** A bug in a work, or an outcome that could not be recorded yet. */
  onFailure(failure: unknown): void;
  /** A work ended by itself, during its look-up or after it. */
  onFinished(outcome: ResolveOutcome, durationMs: number): void;
}

/** A resolve that does not exist yet. Plain JSON. */
export interface ResolveDraft {
  readonly id: ResolveId;
  /** Shown to the customer; only its digest is stored. */
  readonly readToken: string;
}

/** The client of a request that waits for a work. */
export interface WaitingClient {
  onDisconnect(listener: DisconnectListener): void;
}

/** The state of a work at the end of its request's wait. */
export type Waited =
  | { readonly kind: 'resolved' | 'pending' }
  | { readonly kind: 'failed'; readonly failure: ResolveFailure };

/** A resolve as its reader sees it. */
export interface ShownResolve {
  readonly id: ResolveId;
  readonly status: 'pending' | ResolveOutcome['status'];
  /** Wall clock, milliseconds since 1970. */
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly outcome: OutcomeJson;
}

export type ResolveAuthorized =
  | { readonly kind: 'allowed'; readonly resolve: StoredResolve }
  | { readonly kind: 'not-found' | 'wrong-token' | 'expired' };

const NO_OUTCOME: OutcomeJson = '"result":null,"failure":null';

interface Work {
  readonly ending: AbortController;
  readonly outcome: Promise<ResolveOutcome>;
}

/** A place for one work. */
export interface ResolveClaim {
  /**
   * Looks the name up, begins the work, and waits for it.
   * @param waitMs includes the look-up, which is always waited for; 0 does not wait for the work
   * @param client its disconnection ends the work; undefined: the work is paid for and continues
   */
  run(question: ResolveQuestion, target: Target, waitMs: number, client: WaitingClient | undefined): Promise<Waited>;
  /** Records the paid resolve, with its outcome if `run` had one. Rejects when it is not on record. */
  keep(draft: ResolveDraft, question: ResolveQuestion): Promise<ShownResolve>;
  /** Returns the place and ends the work, unless the resolve is kept. */
  release(): void;
}

export class Resolver {
  readonly #ports: ResolverPorts;
  readonly #works = new Set<Work>();
  /** Claims by payer. */
  readonly #claims = new Tally();
  #claimCount = 0;
  /** Of them, works that a dead process left. */
  #takenUpCount = 0;
  readonly #waits = new Set<() => void>();
  #isDraining = false;
  #isClosed = false;

  constructor(ports: ResolverPorts) {
    this.#ports = ports;
  }

  /** Number of claims, with or without a work. */
  get claimCount(): number {
    return this.#claimCount;
  }

  /** Whether a claim would succeed now. Claims nothing. */
  isFree(): boolean {
    const { storedBytes, capacityBytes } = this.#ports.store.counts;
    return (
      this.#claimCount < WORK_COUNT_MAX && storedBytes + (this.#claimCount + 1) * OUTCOME_BYTES_MAX <= capacityBytes
    );
  }

  /** Claims a place; undefined when there is none for this payer. */
  tryClaim(payer: string): ResolveClaim | undefined {
    if (!this.isFree() || this.#claims.of(payer) >= PAYER_WORK_COUNT_MAX) return undefined;
    return this.#claim(payer);
  }

  draft(): ResolveDraft {
    const { random } = this.#ports;
    return { id: newResolveId(random), readToken: newResolveToken(random) };
  }

  /** Checks a read token: existence, then token, then expiry. */
  authorize(id: ResolveId, token: string): MaybePromise<ResolveAuthorized> {
    const digest = resolveTokenDigest(token);
    return chain(this.#ports.store.find(id), (resolve): ResolveAuthorized => {
      if (resolve === undefined) return { kind: 'not-found' };
      if (!isSameDigest(digest, resolve.tokenDigest)) return { kind: 'wrong-token' };
      return resolve.status === 'expired' ? { kind: 'expired' } : { kind: 'allowed', resolve };
    });
  }

  /** The current state of a resolve; undefined when it has just expired. */
  async show({ id }: Pick<StoredResolve, 'id'>): Promise<ShownResolve | undefined> {
    const { store } = this.#ports;
    const found = await store.find(id);
    if (found === undefined || found.status === 'expired') return undefined;
    if (found.status === 'pending') return shownOf(found, found.status, NO_OUTCOME);
    const outcome = await store.readOutcome(id);
    return outcome === undefined ? undefined : shownOf(found, found.status, outcome);
  }

  /** Resumes the resolves that an earlier process left pending. */
  async start(): Promise<void> {
    const { store } = this.#ports;
    store.onPending?.(
      () => void this.#takeUp().catch((failure: unknown) => this.#ports.onFailure(failure)),
      () => WORK_COUNT_MAX - this.#takenUpCount,
    );
    await this.#takeUp();
  }

  async #takeUp(): Promise<void> {
    const { store, outbound } = this.#ports;
    const records = await store.takePending();
    if (this.#isClosed) return;
    for (const record of records) {
      const judged = outbound.policy.judge(record.question.url, 'resolve');
      const release = this.#count(record.id);
      this.#takenUpCount++;
      const work = judged.ok
        ? this.#begin(record.question, judged.target, record.id)
        : { ending: new AbortController(), outcome: Promise.resolve(failedWith('TARGET_NOT_ALLOWED', judged.reason)) };
      void this.#recordLater(record.id, work.outcome).then(() => {
        release();
        this.#takenUpCount--;
      });
    }
  }

  /** Shutdown begins: every request stops waiting, now and from now on. */
  drain(): void {
    this.#isDraining = true;
    for (const end of [...this.#waits]) end();
  }

  /** Ends all works; pending resolves stay pending for the next process. */
  close(): void {
    this.drain();
    this.#isClosed = true;
    for (const { ending } of this.#works) ending.abort();
  }

  #count(payer: string): () => void {
    this.#claimCount++;
    this.#claims.add(payer);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#claimCount--;
      this.#claims.add(payer, -1);
    };
  }

  #claim(payer: string): ResolveClaim {
    const giveBack = this.#count(payer);
    const ending = new AbortController();
    let work: Work | undefined;
    let found: ResolveOutcome | undefined;
    let isKept = false;
    return {
      run: async (question, target, waitMs, client) => {
        const listener = onceGone(() => ending.abort());
        client?.onDisconnect(listener);
        const { clock } = this.#ports;
        const startMs = clock.monotonicMs();
        const refused = await this.#lookUp(target, ending.signal);
        if (refused === undefined) {
          work = this.#begin(question, target, payer, ending);
          found = await this.#wait(work, startMs + waitMs - clock.monotonicMs());
        } else {
          found = refused;
          if (!ending.signal.aborted) this.#ports.onFinished(found, clock.monotonicMs() - startMs);
        }
        listener.end();
        if (found?.status === 'failed') return { kind: 'failed', failure: found.failure };
        return { kind: found === undefined ? 'pending' : 'resolved' };
      },
      keep: async ({ id, readToken }, question) => {
        const outcome = found === undefined ? work?.outcome : Promise.resolve(found);
        if (outcome === undefined) throw new Error('a resolve is kept whose work has not begun');
        const recordLater = (missing?: ResolveRecord): void =>
          void this.#recordLater(id, outcome, missing).then(giveBack);
        isKept = true;
        const createdAtMs = this.#ports.clock.nowMs();
        const record = { id, tokenDigest: resolveTokenDigest(readToken), createdAtMs, question };
        try {
          const shown = await this.#record(record, found);
          if (shown.status === 'pending') recordLater();
          else giveBack();
          return shown;
        } catch (failure) {
          // It is paid for, and may be on record all the same, now or later.
          recordLater(record);
          throw failure;
        }
      },
      release: () => {
        if (isKept) return;
        ending.abort();
        giveBack();
      },
    };
  }

  /** The failure of a look-up, or undefined. */
  async #lookUp(target: Target, signal: AbortSignal): Promise<ResolveOutcome | undefined> {
    const found = await this.#ports.outbound.lookUp(target, signal);
    switch (found) {
      case 'allowed':
        return undefined;
      case 'blocked':
        return failedWith(
          'TARGET_NOT_ALLOWED',
          'the name of the address leads to one that is not public, or not allowed with this port',
        );
      case 'unreachable':
        return failedWith('TARGET_UNREACHABLE', 'the name does not resolve');
      case 'timeout':
        return failedWith('TARGET_TIMEOUT', 'the name was not resolved in time');
      default:
        return found satisfies never;
    }
  }

  #begin(question: ResolveQuestion, target: Target, customer: string, ending = new AbortController()): Work {
    const { clock } = this.#ports;
    const startMs = clock.monotonicMs();
    const { signal } = ending;
    const outcome = resolveAddress(this.#ports, { question, target, customer, signal }).catch((failure: unknown) => {
      this.#ports.onFailure(failure);
      return failedWith('INTERNAL_ERROR');
    });
    const work = { ending, outcome };
    this.#works.add(work);
    void outcome.then((ended) => {
      this.#works.delete(work);
      if (!signal.aborted) this.#ports.onFinished(ended, clock.monotonicMs() - startMs);
    });
    return work;
  }

  /** The outcome if it comes within the wait, else undefined. If the client disconnects meanwhile, work and wait end. */
  #wait({ outcome }: Work, waitMs: number): Promise<ResolveOutcome | undefined> {
    if (waitMs <= 0 || this.#isDraining) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const end = (found?: ResolveOutcome): void => {
        stop();
        this.#waits.delete(end);
        resolve(found);
      };
      const stop = this.#ports.timers.after(waitMs, end);
      this.#waits.add(end);
      void outcome.then(end);
    });
  }

  async #record(record: ResolveRecord, found: ResolveOutcome | undefined): Promise<ShownResolve> {
    const { store } = this.#ports;
    const created = store.create(record);
    if (found === undefined) {
      await created;
      return shownOf(record, 'pending', NO_OUTCOME);
    }
    const outcome = outcomeJson(found);
    // In one turn, so that they share a commit.
    await Promise.all([created, store.finish(record.id, found.status, outcome)]);
    return shownOf(record, found.status, outcome);
  }

  /**
   * Records the outcome of a kept resolve once it is known, unless its hour passes first. Never rejects.
   * @param missing the resolve, if it may not be on record yet: a creation that comes after its outcome would stay pending
   */
  async #recordLater(id: ResolveId, outcome: Promise<ResolveOutcome>, missing?: ResolveRecord): Promise<void> {
    const { clock } = this.#ports;
    const endMs = clock.monotonicMs() + KEPT_MS;
    const ended = await outcome;
    const json = outcomeJson(ended);
    // The outcome of a work that `close` ended is meaningless.
    while (!this.#isClosed && clock.monotonicMs() < endMs) {
      try {
        if (missing !== undefined) await this.#ports.store.create(missing);
        await this.#ports.store.finish(id, ended.status, json);
        return;
      } catch (failure) {
        this.#ports.onFailure(failure);
        await new Promise<void>((resolve) => this.#ports.timers.after(RECORD_PAUSE_MS, resolve));
      }
    }
  }
}

const shownOf = (
  { id, createdAtMs }: Pick<ResolveRecord, 'id' | 'createdAtMs'>,
  status: ShownResolve['status'],
  outcome: OutcomeJson,
): ShownResolve => ({ id, status, createdAtMs, expiresAtMs: createdAtMs + KEPT_MS, outcome });

/** A disconnect listener that `end` disables. */
function onceGone(run: () => void): DisconnectListener & { end(): void } {
  let isOver = false;
  return {
    get isOver() {
      return isOver;
    },
    handleEvent() {
      if (!isOver) run();
      isOver = true;
    },
    end() {
      isOver = true;
    },
  };
}
