/** A budget that names clients late decides as one that names each client when it comes. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FairQueue } from '../../src/base/fair-queue.ts';
import { BodyBudget, type BodyClaim } from '../../src/http/body-budget.ts';
import { WAITING_BODY_BYTES_MAX } from '../../src/http/limits.ts';

interface Body {
  readonly network: string;
  readonly bytes: number;
  readonly waitingBytes: number;
  isGranted: boolean;
}

/** The rules by adding up: who may hold how much, and whose turn it is. */
class NamedBudget {
  readonly #bytesMax: number;
  readonly #granted = new Set<Body>();
  readonly #waiting = new Set<Body>();
  readonly #queue = new FairQueue<Body>();
  #isFull = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get claimedBytes(): number {
    return this.#sum(this.#granted, 'bytes');
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  claim(network: string, bytes: number, waitingBytes: number): Body | undefined {
    const body = { network, bytes, waitingBytes, isGranted: false };
    if (bytes === 0) {
      this.#grant(body);
      return body;
    }
    const isNext = !this.#isFull && this.#queue.lengthOf(network) === 0;
    if (isNext && this.#found(this.#granted, this.#bytesMax, body, 'bytes') === 'free') {
      this.#grant(body);
      return body;
    }
    if (this.#found(this.#waiting, WAITING_BODY_BYTES_MAX, body, 'waitingBytes') !== 'free') return undefined;
    this.#waiting.add(body);
    this.#queue.add(body);
    this.#serve();
    return body;
  }

  end(body: Body): void {
    this.#granted.delete(body);
    this.#waiting.delete(body);
    this.#queue.remove(body);
    this.#serve();
  }

  #sum(bodies: Iterable<Body>, what: 'bytes' | 'waitingBytes'): number {
    return [...bodies].reduce((sum, body) => sum + body[what], 0);
  }

  #found(bodies: Set<Body>, max: number, asking: Body, what: 'bytes' | 'waitingBytes'): 'free' | 'share' | 'full' {
    const left = max - this.#sum(bodies, what) - asking[what];
    const own = this.#sum(
      [...bodies].filter(({ network }) => network === asking.network),
      what,
    );
    if (left < 0) return 'full';
    return own > 0 && own + asking[what] > left ? 'share' : 'free';
  }

  #grant(body: Body): void {
    body.isGranted = true;
    this.#granted.add(body);
  }

  #serve(): void {
    this.#isFull = false;
    for (const body of this.#queue.inTurn()) {
      const found = this.#found(this.#granted, this.#bytesMax, body, 'bytes');
      if (found === 'share') continue;
      if (found === 'full') {
        this.#isFull = true;
        return;
      }
      this.#queue.serve(body);
      this.#waiting.delete(body);
      this.#grant(body);
    }
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ network: fc.constantFrom('a', 'b', 'c', 'd'), bytes: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ network: fc.constantFrom('a', 'b'), bytes: fc.integer({ min: 31, max: 100 }) }) },
  { weight: 3, arbitrary: fc.record({ ends: fc.nat(200) }) },
);

it('grants, queues and refuses the same bodies as a budget that knows every client from the start', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const [late, named] = [new BodyBudget(100), new NamedBudget(100)];
      const open: (readonly [BodyClaim, Body])[] = [];
      for (const one of steps) {
        if ('ends' in one) {
          const [ended] = open.splice(one.ends % Math.max(1, open.length), 1);
          ended?.[0].release();
          if (ended !== undefined) named.end(ended[1]);
        } else {
          const waitingBytes = WAITING_BODY_BYTES_MAX / 16;
          const claim = late.claim({ clientNetwork: () => one.network }, one.bytes, waitingBytes);
          const body = named.claim(one.network, one.bytes, waitingBytes);
          expect(claim === undefined).toBe(body === undefined);
          if (claim !== undefined && body !== undefined) open.push([claim, body]);
        }
        expect([late.claimedBytes, late.waitingCount]).toEqual([named.claimedBytes, named.waitingCount]);
        expect(open.map(([claim]) => claim.isGranted)).toEqual(open.map(([, body]) => body.isGranted));
      }
    }),
    { numRuns: 500 },
  );
});
