/** The budget of bodies in flight: what fits, who waits, whose turn it is. */
import { describe, expect, it } from 'vitest';
import { Exposition } from '../../src/base/prometheus.ts';
import { BodyBudget, type BodyClaim } from '../../src/http/body-budget.ts';
import { FairBytes } from '../../src/http/fair-bytes.ts';
import { UNNAMED_COUNT_MAX, WAITING_BODY_BYTES_MAX } from '../../src/http/limits.ts';

const WAITING = 10;

const of = (network: string) => ({ clientNetwork: () => network });

const claims = (budget: BodyBudget, network: string, bytes: number, count: number): BodyClaim[] =>
  Array.from({ length: count }, () => budget.claim(of(network), bytes, WAITING)!);

const granted = (all: readonly BodyClaim[]): number => all.filter(({ isGranted }) => isGranted).length;

describe('shares of a number of bytes', () => {
  it.each([
    [1, 50],
    [2, 33],
    [3, 25],
    [9, 10],
  ])('%d networks that want everything hold %d of 100 each', (networkCount, eachHolds) => {
    const bytes = new FairBytes(100);
    const held = new Map<string, number>();
    for (let round = 0; round < 100; round++) {
      for (let n = 0; n < networkCount; n++) {
        const network = `n${n}`;
        if (bytes.check(network, 1) !== 'free') continue;
        bytes.take(network, 1);
        held.set(network, (held.get(network) ?? 0) + 1);
      }
    }
    expect([...held.values()]).toEqual(Array(networkCount).fill(eachHolds));
    expect(bytes.check('newcomer', 100 - networkCount * eachHolds)).toBe('free');
  });

  it('lets a network that holds nothing take all that is free, and nobody more than that', () => {
    const bytes = new FairBytes(100);
    expect([bytes.check('a', 100), bytes.check('a', 101)]).toEqual(['free', 'full']);
    bytes.take('a', 100);
    expect(bytes.check('b', 1)).toBe('full');
    bytes.release('a', 100);
    expect([bytes.check('b', 100), bytes.heldBytes]).toEqual(['free', 0]);
  });
});

describe('the budget of bodies', () => {
  it('grants one network half, lets the rest wait, and grants another network at once', () => {
    const budget = new BodyBudget(100);
    const flood = claims(budget, 'flood', 10, 20);
    expect([granted(flood), budget.claimedBytes, budget.waitingCount]).toEqual([5, 50, 15]);
    expect(budget.claim(of('honest'), 20, WAITING)?.isGranted).toBe(true);
    expect(budget.claimedBytes).toBe(70);
  });

  it('lets an empty body wait for nobody, of whatever network', () => {
    const budget = new BodyBudget(100);
    const flood = claims(budget, 'flood', 100, 2);
    for (const network of ['flood', 'honest']) {
      const empty = budget.claim(of(network), 0, 0)!;
      expect(empty.isGranted).toBe(true);
      empty.release();
      expect([budget.claimedBytes, budget.waitingCount]).toEqual([100, 1]);
    }
    for (const claim of flood) claim.release();
    expect([budget.claimedBytes, budget.waitingCount]).toEqual([0, 0]);
  });

  it('gives what is released to the networks in turn, and within one to the first that came', () => {
    const budget = new BodyBudget(100);
    const big = budget.claim(of('big'), 100, WAITING)!;
    const [a, b] = [claims(budget, 'a', 10, 4), claims(budget, 'b', 10, 4)];
    const order: string[] = [];
    for (const [name, queue] of Object.entries({ a, b }))
      queue.forEach((claim, i) => void claim.granted().then(() => order.push(`${name}${i}`)));
    big.release();
    return Promise.resolve().then(() => {
      expect(order).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']); // then each holds as much as is left free
      a[0]!.release();
      expect([a[3]!.isGranted, b[3]!.isGranted]).toEqual([true, false]);
    });
  });

  it('lets no later claim pass one that waits because the bytes are not free', () => {
    const budget = new BodyBudget(100);
    const held = claims(budget, 'held', 10, 5);
    const small = budget.claim(of('small'), 10, WAITING)!;
    const large = budget.claim(of('large'), 60, WAITING)!;
    const later = budget.claim(of('later'), 10, WAITING)!;
    expect([small.isGranted, large.isGranted, later.isGranted]).toEqual([true, false, false]);
    small.release();
    held[0]!.release();
    expect([large.isGranted, later.isGranted]).toEqual([true, false]);
    large.release();
    expect(later.isGranted).toBe(true);
  });

  it('lets no later claim of a network pass an earlier one that waits for its share', () => {
    const budget = new BodyBudget(100);
    const first = budget.claim(of('a'), 40, WAITING)!;
    const [large, small] = [30, 5].map((bytes) => budget.claim(of('a'), bytes, WAITING)!);
    expect([first, large, small].map((claim) => claim?.isGranted)).toEqual([true, false, false]);
    first.release();
    expect([large, small].map((claim) => claim?.isGranted)).toEqual([true, true]);
  });

  it('bounds what waits, with the same shares, and refuses the rest at once', () => {
    const budget = new BodyBudget(100);
    const holder = budget.claim(of('holder'), 100, WAITING)!;
    const waiting = WAITING_BODY_BYTES_MAX / 8;
    const flood = () =>
      Array.from({ length: 8 }, () => budget.claim(of('flood'), 10, waiting)).filter((claim) => claim !== undefined);
    const first = flood();
    expect(first).toHaveLength(4);
    const page = new Exposition();
    budget.metrics(page);
    expect(page.text).toContain('\npaygrade_bodies_crowded_total 4\n');
    const honest = budget.claim(of('honest'), 10, waiting)!;
    expect(honest.isGranted).toBe(false);
    // What gives up or is granted waits no more.
    for (const claim of first) claim.release();
    const second = flood();
    expect(second).toHaveLength(3);
    holder.release();
    expect([honest.isGranted, granted(second)]).toEqual([true, 3]);
    budget.claim(of('large'), 100 - budget.claimedBytes, waiting);
    expect(flood()).toHaveLength(4);
  });

  it('grants what fits although nothing more may wait', () => {
    const budget = new BodyBudget(100);
    const holder = budget.claim(of('holder'), 100, WAITING)!;
    const [first, second] = [50, 40].map((bytes) => {
      const claim = budget.claim(of('large'), bytes, WAITING_BODY_BYTES_MAX)!;
      holder.release();
      return claim;
    });
    expect([first!.isGranted, second!.isGranted]).toEqual([true, false]);
    expect(budget.claim(of('small'), 10, WAITING)?.isGranted).toBe(true);
  });

  it('forgets a claim that gives up waiting, once, and grants the ones behind it', async () => {
    const budget = new BodyBudget(100);
    const holder = budget.claim(of('holder'), 95, WAITING)!;
    const [first, second] = claims(budget, 'a', 10, 2) as [BodyClaim, BodyClaim];
    const outcome = first.granted();
    first.handleEvent();
    first.handleEvent();
    expect(await outcome).toBe(false);
    expect([first.isOver, budget.waitingCount]).toEqual([true, 1]);
    holder.release();
    holder.release();
    expect([second.isGranted, budget.claimedBytes, budget.waitingCount]).toEqual([true, 10, 0]);
    second.handleEvent(); // the client of a granted one disconnects: its reader notices and releases it
    expect(budget.claimedBytes).toBe(10);
    second.release();
    expect(budget.claimedBytes).toBe(0);
  });

  it('looks up no client while less than half is claimed, then all that are in flight, each once', () => {
    const budget = new BodyBudget(100);
    const lookedUp: string[] = [];
    const owner = (network: string) => ({
      clientNetwork: () => {
        lookedUp.push(network);
        return network;
      },
    });
    const gone = budget.claim(owner('gone'), 10, WAITING)!;
    const flood = Array.from({ length: 4 }, () => budget.claim(owner('flood'), 10, WAITING)!);
    gone.release();
    expect([lookedUp, budget.claimedBytes]).toEqual([[], 40]);
    expect(budget.claim(owner('honest'), 11, WAITING)?.isGranted).toBe(true);
    expect(new Set(lookedUp)).toEqual(new Set(['flood', 'honest']));
    expect(lookedUp.filter((network) => network === 'flood')).toHaveLength(4);
    // What came before anything was looked up counts towards its share.
    const last = budget.claim(owner('flood'), 10, WAITING)!;
    expect(last.isGranted).toBe(false);
    for (const claim of [...flood, last]) claim.release();
    expect(budget.claim(owner('flood'), 100 - budget.claimedBytes, WAITING)?.isGranted).toBe(true);
  });

  it('looks clients up at once when as many are in flight as one turn may look up', () => {
    const budget = new BodyBudget(2 ** 40);
    let lookUpCount = 0;
    const owner = { clientNetwork: () => `n${lookUpCount++}` };
    for (let i = 0; i < UNNAMED_COUNT_MAX; i++) budget.claim(owner, 1, WAITING);
    expect(lookUpCount).toBe(0);
    budget.claim(owner, 1, WAITING);
    expect(lookUpCount).toBeGreaterThan(UNNAMED_COUNT_MAX);
  });
});
