/**
 * The memory of all request bodies in flight (`BODY_BYTES`, decisions §2). A reader claims the bytes of a body before it reads
 * and gives them back when the body is no longer needed. A body that does not fit waits unread: client networks take turns,
 * and within a network bodies are served in order of arrival. A waiting body takes some memory too, because a part of it has
 * arrived; that has a smaller budget with the same shares.
 *
 * On Bun, looking up a client's address asks the system, which is dear beside a webhook (docs/benchmarks.md). While at most
 * half of the budget is claimed, any network's body fits, so claims stay unnamed. Above that, all unnamed claims look up their
 * networks, and the budget decides as if each had been named from the start.
 *
 * Invariants: claimed bytes <= `bytesMax`; waiting bytes <= WAITING_BODY_BYTES_MAX. A body that waits because too few bytes
 * are free is never overtaken by a later one, empty bodies excepted. While a body waits, every claim on bytes is named. Cost:
 * O(1) a claim while none waits, else O(networks that wait); naming takes at most UNNAMED_COUNT_MAX look-ups in one turn.
 */
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import { FairQueue } from '../base/fair-queue.ts';
import type { Exposition } from '../base/prometheus.ts';
import { FairBytes } from './fair-bytes.ts';
import { UNNAMED_COUNT_MAX, WAITING_BODY_BYTES_MAX } from './limits.ts';

/** Whose body it is. */
export interface BodyOwner {
  /** May be unknown once the client has disconnected. */
  clientNetwork(): string;
}

/** The bytes of the budget that one body claims. As a disconnect listener it gives up waiting. */
export class BodyClaim implements DisconnectListener {
  readonly bytes: number;
  /** Memory that it takes while it waits. */
  readonly waitingBytes: number;
  isOver = false;
  isGranted = false;
  readonly #budget: BodyBudget;
  readonly #owner: BodyOwner;
  #network: string | undefined;
  #settle: ((isGranted: boolean) => void) | undefined;

  constructor(budget: BodyBudget, owner: BodyOwner, bytes: number, waitingBytes: number) {
    this.#budget = budget;
    this.#owner = owner;
    this.bytes = bytes;
    this.waitingBytes = waitingBytes;
  }

  /** Looked up at the first use. */
  get network(): string {
    this.#network ??= this.#owner.clientNetwork();
    return this.#network;
  }

  /** Resolves when the claim is granted (true) or given up (false). Call it once. */
  granted(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.isOver || this.isGranted) resolve(this.isGranted);
      else this.#settle = resolve;
    });
  }

  /** Called by the budget. */
  grant(): void {
    this.isGranted = true;
    this.#settle?.(true);
  }

  /** The client has disconnected: gives up a claim that still waits. The reader of a granted one notices the disconnect itself. */
  handleEvent(): void {
    if (!this.isGranted) this.release();
  }

  /** Gives back what was granted, or gives up waiting. May be called more than once. */
  release(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#budget.end(this);
    if (!this.isGranted) this.#settle?.(false);
  }
}

export class BodyBudget {
  readonly #claimed: FairBytes;
  readonly #waiting = new FairBytes(WAITING_BODY_BYTES_MAX);
  /** Bounded by the bytes of {@link #waiting}. */
  readonly #queue = new FairQueue<BodyClaim>();
  /** Granted claims whose network {@link #claimed} does not know yet; at most UNNAMED_COUNT_MAX. */
  readonly #unnamed = new Set<BodyClaim>();
  #crowdedCount = 0;
  /** Whether a claim waits because too few bytes are free, not because of its network's share. */
  #isFull = false;

  constructor(bytesMax: number) {
    this.#claimed = new FairBytes(bytesMax);
  }

  get claimedBytes(): number {
    return this.#claimed.heldBytes;
  }

  get waitingCount(): number {
    return this.#queue.count;
  }

  /**
   * @param waitingBytes memory that the body takes while it waits
   * @returns the claim, granted or waiting; undefined when it would have to wait and its network may have no more waiting
   */
  claim(owner: BodyOwner, bytes: number, waitingBytes: number): BodyClaim | undefined {
    const claim = new BodyClaim(this, owner, bytes, waitingBytes);
    // An empty body takes nothing from others, so it never waits and its network is not looked up.
    if (bytes === 0) {
      claim.grant();
      return claim;
    }
    if (this.#queue.count === 0 && this.#unnamed.size < UNNAMED_COUNT_MAX && this.#claimed.fitsAnyShare(bytes)) {
      this.#claimed.takeUnnamed(bytes);
      this.#unnamed.add(claim);
      claim.grant();
      return claim;
    }
    this.#nameAll();
    const { network } = claim;
    if (!this.#isFull && this.#queue.lengthOf(network) === 0 && this.#claimed.check(network, bytes) === 'free') {
      this.#grant(claim);
      return claim;
    }
    if (this.#waiting.check(network, waitingBytes) !== 'free') {
      this.#crowdedCount++;
      return undefined;
    }
    this.#waiting.take(network, waitingBytes);
    this.#queue.add(claim);
    this.#serve();
    return claim;
  }

  /** Called by a claim that has ended. */
  end(claim: BodyClaim): void {
    if (claim.bytes === 0) return;
    if (this.#unnamed.delete(claim)) this.#claimed.releaseUnnamed(claim.bytes);
    else if (claim.isGranted) this.#claimed.release(claim.network, claim.bytes);
    else {
      this.#queue.remove(claim);
      this.#waiting.release(claim.network, claim.waitingBytes);
    }
    this.#serve();
  }

  metrics(page: Exposition): void {
    page
      .single('paygrade_body_bytes_in_flight', 'gauge', 'Bytes of BODY_BYTES that are claimed.', this.claimedBytes)
      .single('paygrade_bodies_waiting', 'gauge', 'Requests whose body waits unread for them.', this.waitingCount)
      .single('paygrade_bodies_crowded_total', 'counter', 'Bodies that could not even wait.', this.#crowdedCount);
  }

  #grant(claim: BodyClaim): void {
    this.#claimed.take(claim.network, claim.bytes);
    claim.grant();
  }

  #nameAll(): void {
    for (const { network, bytes } of this.#unnamed) this.#claimed.name(network, bytes);
    this.#unnamed.clear();
  }

  /** Grants the claims that fit, one per network in each round. */
  #serve(): void {
    this.#isFull = false;
    if (this.#queue.count === 0) return;
    for (const claim of this.#queue.inTurn()) {
      const found = this.#claimed.check(claim.network, claim.bytes);
      if (found === 'share') continue;
      if (found === 'full') {
        this.#isFull = true;
        return;
      }
      this.#queue.serve(claim);
      this.#waiting.release(claim.network, claim.waitingBytes);
      this.#grant(claim);
    }
  }
}
