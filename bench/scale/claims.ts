/**
 * A model of claims beyond one database: an authorization belongs to its payer's partition, a partition has three
 * replicas, and a claim counts when two of them hold it. A replica that takes over first reads two of them and raises
 * the epoch; messages with an older epoch are refused. Any message may be lost, late or out of order, replicas may be
 * cut off from each other, and several may believe that they lead.
 *
 * One seed is one run: at each step one message in flight arrives or is lost, or a customer, a cut or an election
 * begins. Planted faults show that the model detects double sales.
 */
import { SeededRandom } from '../../src/base/seeded-random.ts';

export const FAULTS = [
  /** A leader answers before another replica has the claim. */
  'asynchronous replica',
  /** Replicas take claims of a leader that was replaced. */
  'no fencing',
  /** A new leader starts with only its own claims. */
  'takes over without reading',
  /** A gate claims in its own region, not in the payer's. */
  'claims by region of the gate',
  /** Gates disagree on the number of partitions into which payers are hashed. */
  'rehashed while selling',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface ClaimsPlan {
  readonly seed: number;
  readonly authorizations: number;
  /** Requests with the same authorization, at different gates. */
  readonly requestsEach: number;
  readonly fault?: Fault;
}

export interface ClaimsResult {
  readonly sold: number;
  /** Requests that got 503: they claimed nothing, or the outcome is unknown. */
  readonly unknown: number;
  readonly refused: number;
  /** Authorizations that bought two answers: there must be none. */
  readonly doubleSales: number;
  readonly elections: number;
}

const REPLICAS = 3;
const MAJORITY = 2;
const PARTITIONS = 4;
const REGIONS = 2;
/** Tries of one request before it is 503. */
const TRIES = 6;
const LOSS = 0.05;

interface Claim {
  readonly attempt: number;
  readonly epoch: number;
}

type Message =
  | { readonly kind: 'claim'; readonly to: Replica; readonly key: number; readonly request: ClaimRequest }
  | {
      readonly kind: 'store';
      readonly to: Replica;
      readonly from: Replica;
      readonly key: number;
      readonly claim: Claim;
    }
  | {
      readonly kind: 'stored';
      readonly to: Replica;
      readonly from: Replica;
      readonly key: number;
      readonly epoch: number;
    }
  | { readonly kind: 'ask'; readonly to: Replica; readonly from: Replica; readonly epoch: number }
  | {
      readonly kind: 'promise';
      readonly to: Replica;
      readonly from: Replica;
      readonly epoch: number;
      readonly claims: ReadonlyMap<number, Claim>;
    }
  | { readonly kind: 'result'; readonly request: ClaimRequest; readonly winner: number };

/** One request of a customer; its number is the attempt's own id, by which a repeated try knows its own claim. */
class ClaimRequest {
  readonly attempt: number;
  readonly authorization: number;
  readonly region: number;
  tries = 0;
  outcome: 'open' | 'won' | 'lost' | 'unknown' = 'open';

  constructor(attempt: number, authorization: number, region: number) {
    this.attempt = attempt;
    this.authorization = authorization;
    this.region = region;
  }
}

interface Pending {
  readonly attempt: number;
  readonly holders: Set<Replica>;
  readonly waiting: ClaimRequest[];
}

class Replica {
  readonly claims = new Map<number, Claim>();
  /** Highest epoch that the replica has promised to follow. */
  promised = 0;
  isLeader = false;
  /** Epoch of its own leadership or candidacy. */
  epoch = 0;
  decided = new Map<number, number>();
  pending = new Map<number, Pending>();
  promises = new Map<Replica, ReadonlyMap<number, Claim>>();
  readonly peers: Replica[] = [];
}

class Model {
  readonly #plan: ClaimsPlan;
  readonly #random: SeededRandom;
  readonly #messages: Message[] = [];
  /** By region if that fault is planted, else a single entry; then by partition. */
  readonly #partitions: readonly (readonly Replica[])[];
  readonly #cuts = new Set<Replica>();
  #epoch = 0;
  elections = 0;

  constructor(plan: ClaimsPlan) {
    this.#plan = plan;
    this.#random = new SeededRandom(plan.seed);
    this.#partitions = Array.from({ length: (PARTITIONS + 1) * REGIONS }, () => {
      const replicas = Array.from({ length: REPLICAS }, () => new Replica());
      for (const one of replicas) one.peers.push(...replicas.filter((other) => other !== one));
      return replicas;
    });
  }

  run(): ClaimsResult {
    const { authorizations, requestsEach } = this.#plan;
    const requests = Array.from(
      { length: authorizations * requestsEach },
      (_, attempt) => new ClaimRequest(attempt, attempt % authorizations, this.#below(REGIONS)),
    );
    const open = [...requests];
    while (open.length > 0) {
      this.#step(open);
      for (let i = open.length - 1; i >= 0; i--) if (open[i]!.outcome !== 'open') open.splice(i, 1);
    }
    const winners = requests.filter(({ outcome }) => outcome === 'won');
    const sold = new Set(winners.map(({ authorization }) => authorization));
    return {
      sold: sold.size,
      unknown: requests.filter(({ outcome }) => outcome === 'unknown').length,
      refused: requests.filter(({ outcome }) => outcome === 'lost').length,
      doubleSales: winners.length - sold.size,
      elections: this.elections,
    };
  }

  #below(count: number): number {
    return this.#random.bits() % count;
  }

  #chance(share: number): boolean {
    return this.#random.bits() / 2 ** 32 < share;
  }

  /** The replicas that have this payer's authorizations, as this gate sees it. */
  #homeOf({ authorization, region }: ClaimRequest): readonly Replica[] {
    const { fault } = this.#plan;
    const count = fault === 'rehashed while selling' && this.#chance(0.5) ? PARTITIONS + 1 : PARTITIONS;
    const home = fault === 'claims by region of the gate' ? region : 0;
    return this.#partitions[home * (PARTITIONS + 1) + (authorization % count)]!;
  }

  #step(open: readonly ClaimRequest[]): void {
    const request = open[this.#below(open.length)]!;
    const what = this.#below(100);
    if (what < 12) this.#try(request);
    else if (what < 15) this.#cutOrHeal(this.#homeOf(request));
    else if (what < 18) this.#elect(this.#homeOf(request)[this.#below(REPLICAS)]!);
    else this.#arrive();
  }

  /** The first try, or one more because no result came in time. */
  #try(request: ClaimRequest): void {
    if (request.tries === TRIES) {
      request.outcome = 'unknown';
      return;
    }
    request.tries++;
    const home = this.#homeOf(request);
    // Gates know the leader only from the replicas' own claims.
    const leaders = home.filter(({ isLeader }) => isLeader);
    const to = leaders.length === 0 ? home[0]! : leaders[this.#below(leaders.length)]!;
    if (leaders.length === 0) this.#elect(to);
    this.#messages.push({ kind: 'claim', to, key: request.authorization, request });
  }

  #cutOrHeal(home: readonly Replica[]): void {
    const one = home[this.#below(REPLICAS)]!;
    if (!this.#cuts.delete(one)) this.#cuts.add(one);
  }

  #elect(candidate: Replica): void {
    this.elections++;
    candidate.epoch = ++this.#epoch;
    candidate.promised = candidate.epoch;
    candidate.isLeader = false;
    candidate.promises = new Map([[candidate, new Map(candidate.claims)]]);
    if (this.#plan.fault === 'takes over without reading') this.#lead(candidate);
    for (const to of candidate.peers) this.#messages.push({ kind: 'ask', to, from: candidate, epoch: candidate.epoch });
  }

  #arrive(): void {
    const { length } = this.#messages;
    if (length === 0) return;
    const at = this.#below(length);
    const message = this.#messages[at]!;
    this.#messages[at] = this.#messages[length - 1]!;
    this.#messages.pop();
    if (this.#chance(LOSS)) return;
    // A cut separates replicas from each other, but not from gates.
    if ('from' in message && (this.#cuts.has(message.from) || this.#cuts.has(message.to))) return;
    this.#take(message);
  }

  #take(message: Message): void {
    switch (message.kind) {
      case 'claim':
        this.#claimed(message.to, message.key, message.request);
        break;
      case 'store':
        this.#store(message.to, message.from, message.key, message.claim);
        break;
      case 'stored':
        this.#stored(message.to, message.from, message.key, message.epoch);
        break;
      case 'ask':
        this.#asked(message.to, message.from, message.epoch);
        break;
      case 'promise':
        this.#promised(message.to, message.from, message.epoch, message.claims);
        break;
      case 'result': {
        const { request, winner } = message;
        if (request.outcome === 'open') request.outcome = winner === request.attempt ? 'won' : 'lost';
        break;
      }
      default:
        message satisfies never;
    }
  }

  #claimed(leader: Replica, key: number, request: ClaimRequest): void {
    if (!leader.isLeader) return;
    const winner = leader.decided.get(key);
    if (winner !== undefined) return void this.#messages.push({ kind: 'result', request, winner });
    const pending = leader.pending.get(key);
    if (pending === undefined) this.#propose(leader, key, request.attempt, [request]);
    else pending.waiting.push(request);
  }

  #propose(leader: Replica, key: number, attempt: number, waiting: ClaimRequest[]): void {
    const claim = { attempt, epoch: leader.epoch };
    leader.claims.set(key, claim);
    leader.pending.set(key, { attempt, holders: new Set([leader]), waiting });
    for (const to of leader.peers) this.#messages.push({ kind: 'store', to, from: leader, key, claim });
    if (this.#plan.fault === 'asynchronous replica') this.#decide(leader, key);
  }

  #decide(leader: Replica, key: number): void {
    const pending = leader.pending.get(key);
    if (pending === undefined) return;
    leader.pending.delete(key);
    leader.decided.set(key, pending.attempt);
    for (const request of pending.waiting) this.#messages.push({ kind: 'result', request, winner: pending.attempt });
  }

  #store(replica: Replica, from: Replica, key: number, claim: Claim): void {
    const isFenced = this.#plan.fault !== 'no fencing';
    if (isFenced && claim.epoch < replica.promised) return;
    if (isFenced && claim.epoch > replica.promised) {
      replica.promised = claim.epoch;
      replica.isLeader = false;
    }
    replica.claims.set(key, claim);
    this.#messages.push({ kind: 'stored', to: from, from: replica, key, epoch: claim.epoch });
  }

  #stored(leader: Replica, from: Replica, key: number, epoch: number): void {
    if (!leader.isLeader || leader.epoch !== epoch) return;
    const pending = leader.pending.get(key);
    if (pending === undefined) return;
    pending.holders.add(from);
    if (pending.holders.size >= MAJORITY) this.#decide(leader, key);
  }

  #asked(replica: Replica, from: Replica, epoch: number): void {
    const isFenced = this.#plan.fault !== 'no fencing';
    if (isFenced && epoch <= replica.promised) return;
    if (isFenced) {
      replica.promised = epoch;
      replica.isLeader = false;
    }
    this.#messages.push({ kind: 'promise', to: from, from: replica, epoch, claims: new Map(replica.claims) });
  }

  #promised(candidate: Replica, from: Replica, epoch: number, claims: ReadonlyMap<number, Claim>): void {
    if (candidate.isLeader || candidate.epoch !== epoch || candidate.promised !== epoch) return;
    candidate.promises.set(from, claims);
    if (candidate.promises.size >= MAJORITY) this.#lead(candidate);
  }

  /**
   * Of the versions of each claim that it has read, keeps the one with the highest epoch: only that can have been decided.
   */
  #lead(leader: Replica): void {
    leader.isLeader = true;
    leader.decided = new Map();
    leader.pending = new Map();
    const newest = new Map<number, Claim>();
    for (const claims of leader.promises.values()) {
      for (const [key, claim] of claims) {
        if (claim.epoch > (newest.get(key)?.epoch ?? 0)) newest.set(key, claim);
      }
    }
    for (const [key, { attempt }] of newest) this.#propose(leader, key, attempt, []);
  }
}

export const simulateClaims = (plan: ClaimsPlan): ClaimsResult => new Model(plan).run();
