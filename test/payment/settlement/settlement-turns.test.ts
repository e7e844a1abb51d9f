import { describe, expect, it } from 'vitest';
import {
  NEWCOMER_COUNT_MAX,
  REFUSALS_FORGOTTEN_MS,
  REFUSALS_PER_SECOND,
  REFUSED_COUNT_MIN,
  SettlementTurns,
  TURN_COUNT_MAX,
  type Turn,
  type TurnRejection,
  WAIT_MS_MAX,
  WAITING_COUNT_MAX,
} from '../../../src/payment/settlement/settlement-turns.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const FLOOD = '198.51.100.66';
const HONEST = '192.0.2.1';
const PAID = '192.0.2.200';

interface Asked {
  readonly network: string;
  given: Turn | TurnRejection | undefined;
  isGone: boolean;
}

function setUp() {
  const time = new ManualTime();
  const known = new Set<string>([PAID]);
  const turns = new SettlementTurns({ clock: time, timers: time, isKnownPayer: (network) => known.has(network) });
  /** Asks for a turn; `given` is undefined while it waits. */
  const ask = (network: string): Asked => {
    const asked: Asked = { network, given: undefined, isGone: false };
    const entered = turns.enter(network, () => asked.isGone);
    if (entered instanceof Promise) void entered.then((given) => Object.assign(asked, { given }));
    else asked.given = entered;
    return asked;
  };
  const many = (count: number, network: string): Asked[] => Array.from({ length: count }, () => ask(network));
  return { time, known, turns, ask, many };
}

const hasTurn = ({ given }: Asked): boolean => typeof given === 'object';
const held = (asked: readonly Asked[]): number => asked.filter(hasTurn).length;
const turnOf = ({ given }: Asked): Turn => {
  if (typeof given !== 'object') throw new Error(`no turn but ${given}`);
  return given;
};
const end = (asked: Asked): void => turnOf(asked).end();

describe('turns with the facilitator', () => {
  it('are never all held by one network: it holds half of them, the rest waits, what does not fit is refused', async () => {
    const { turns, ask, many } = setUp();
    const flood = many(1000, FLOOD);
    expect(held(flood)).toBe(NEWCOMER_COUNT_MAX / 2);
    expect(flood.filter(({ given }) => given === undefined)).toHaveLength(WAITING_COUNT_MAX / 2);
    expect(flood.at(-1)?.given).toBe('client-crowded');
    expect(turns.rejectAtOnce(FLOOD)).toBe('client-crowded');
    expect(turns.rejectAtOnce(HONEST)).toBeUndefined();
    for (let i = 0; i < 20; i++) expect(hasTurn(ask(`192.0.2.${i}`))).toBe(true);
  });

  it('are at most so many, whoever asks, and each that ends is given to one who waits', async () => {
    const { turns, ask } = setUp();
    const asked = Array.from({ length: 400 }, (_, i) => ask(`10.0.${i >> 8}.${i & 255}`));
    expect(held(asked)).toBe(NEWCOMER_COUNT_MAX);
    const known = Array.from({ length: 100 }, () => ask(PAID));
    expect(held(known)).toBe((TURN_COUNT_MAX - NEWCOMER_COUNT_MAX) / 2);
    expect(turns.counts().held).toBe(NEWCOMER_COUNT_MAX + held(known));
    for (let ended = 0; ended < 400; ended++) {
      end(asked[ended] as Asked);
      await settle();
      expect(held(asked)).toBe(Math.min(400, NEWCOMER_COUNT_MAX + ended + 1));
      expect(turns.counts().held).toBeLessThanOrEqual(TURN_COUNT_MAX);
    }
  });

  it('go round among the networks that wait, and alternate between newcomers and known payers', async () => {
    const { ask, many, known } = setUp();
    known.add('192.0.2.201');
    const first = Array.from({ length: NEWCOMER_COUNT_MAX }, (_, i) => ask(`10.0.0.${i}`));
    const flood = many(100, FLOOD);
    const honest = [ask(HONEST), ask('192.0.2.2')];
    for (const one of first.slice(0, 3)) end(one);
    await settle();
    expect([held(flood), held(honest)]).toEqual([1, 2]);
  });

  it('alternate between newcomers and known payers while both wait', async () => {
    const { turns, ask, known } = setUp();
    const networks = (block: number, count: number): string[] =>
      Array.from({ length: count }, (_, i) => `10.0.${block}.${i}`);
    const payers = networks(1, TURN_COUNT_MAX - NEWCOMER_COUNT_MAX);
    const waitingPayers = networks(2, 10);
    for (const network of [...payers, ...waitingPayers]) known.add(network);
    const first = networks(0, NEWCOMER_COUNT_MAX).map(ask);
    for (const network of payers) ask(network);
    expect(turns.counts().held).toBe(TURN_COUNT_MAX);
    const waitingKnown = waitingPayers.map(ask);
    const waitingNewcomers = networks(3, 10).map(ask);
    for (const one of first.slice(0, 10)) end(one);
    await settle();
    expect([held(waitingNewcomers), held(waitingKnown)]).toEqual([5, 5]);
  });

  it('go to known payers one after the other while no newcomer waits', async () => {
    const { turns, ask, known } = setUp();
    const networks = Array.from({ length: TURN_COUNT_MAX + 10 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    for (const network of networks) known.add(network);
    const asked = networks.map(ask);
    expect(held(asked)).toBe(TURN_COUNT_MAX);
    for (const one of asked.slice(0, 10)) end(one);
    await settle();
    expect([held(asked), turns.counts().waiting]).toEqual([asked.length, 0]);
  });

  it('are begun at once by an honest network while networks with refused payments fill the places to wait', () => {
    const { turns, ask, many } = setUp();
    const refused = Array.from({ length: 9 }, (_, i) => `198.51.100.${i}`);
    for (const network of refused) {
      for (let i = 0; i < 8; i++) {
        const asked = ask(network);
        turnOf(asked).noteRefused();
        end(asked);
      }
      many(WAITING_COUNT_MAX, network);
    }
    expect(turns.counts()).toMatchObject({ held: refused.length * REFUSED_COUNT_MIN, waiting: WAITING_COUNT_MAX });
    expect(refused.map((network) => turns.rejectAtOnce(network))).toEqual(refused.map(() => 'client-crowded'));
    expect(turns.rejectAtOnce(HONEST)).toBeUndefined();
    expect(hasTurn(ask(HONEST))).toBe(true);
  });

  it('are found by known payers when a flood from very many networks holds all that newcomers may', () => {
    const { ask, turns } = setUp();
    for (let i = 0; i < 2000; i++) ask(`2001:db8:0:${i.toString(16)}::/64`);
    expect(turns.rejectAtOnce(HONEST)).toBe('crowded');
    expect(ask(HONEST).given).toBe('crowded');
    for (let i = 0; i < 32; i++) expect(hasTurn(ask(PAID))).toBe(true);
  });

  it('are waited for no longer than the bound, even when none ever ends', async () => {
    const { time, turns, many } = setUp();
    const flood = many(1000, FLOOD);
    time.pass(WAIT_MS_MAX - 1);
    await settle();
    const [waiting, rejected] = [WAITING_COUNT_MAX / 2, 1000 - (NEWCOMER_COUNT_MAX + WAITING_COUNT_MAX) / 2];
    expect(turns.counts()).toMatchObject({ waiting, rejected });
    time.pass(1);
    await settle();
    expect(turns.counts()).toMatchObject({ waiting: 0, rejected: rejected + waiting });
    expect(flood.filter(({ given }) => given === 'waited-too-long')).toHaveLength(WAITING_COUNT_MAX / 2);
    expect(time.pendingCount).toBe(0);
  });

  it('are not given to a client that went away', async () => {
    const { many, time, turns } = setUp();
    const flood = many(NEWCOMER_COUNT_MAX / 2 + 3, FLOOD);
    const waiting = flood.slice(-3);
    for (const one of waiting.slice(0, 2)) one.isGone = true;
    end(flood[0] as Asked);
    await settle();
    expect(waiting.map(({ given }) => (typeof given === 'object' ? 'turn' : given))).toEqual([
      'client-gone',
      'client-gone',
      'turn',
    ]);
    time.pass(WAIT_MS_MAX);
    expect(turns.counts()).toMatchObject({ waiting: 0, rejected: 2 });
  });

  it('are fewer for a network whose payments are refused, until one settles or a minute has passed', () => {
    const { time, many } = setUp();
    const shares = [];
    for (let refusals = 0; refusals < 10; refusals++) {
      const asked = many(TURN_COUNT_MAX, FLOOD).filter(hasTurn);
      shares.push(asked.length);
      time.pass(WAIT_MS_MAX);
      turnOf(asked[0] as Asked).noteRefused();
      for (const one of asked) end(one);
    }
    expect(shares).toEqual([96, 64, 32, 16, 8, 4, 2, 2, 2, REFUSED_COUNT_MIN]);
    time.pass(REFUSALS_FORGOTTEN_MS);
    expect(held(many(8, FLOOD))).toBe(REFUSED_COUNT_MIN);
    time.pass(1);
    expect(held(many(8, FLOOD))).toBe(8);
    const [refused, paid] = many(2, HONEST) as [Asked, Asked];
    turnOf(refused).noteRefused();
    turnOf(paid).notePaid();
    for (const one of [refused, paid]) end(one);
    expect(held(many(100, HONEST))).toBeGreaterThan(80);
  });

  it('are given to newcomers no faster than their lane may waste, while known payers go on', async () => {
    const { time, ask } = setUp();
    let refusedCount = 0;
    let paidCount = 0;
    const SECONDS = 20;
    let network = 0;
    const asked: Asked[] = [];
    for (let ms = 0; ms < SECONDS * 1000; ms++) {
      // A new network for each payment, as in a /48, and an empty wallet behind each.
      asked.push(ask(`2001:db8:0:${(network++).toString(16)}::/64`));
      await Promise.resolve();
      await Promise.resolve();
      for (let i = asked.length - 1; i >= 0; i--) {
        const one = asked[i] as Asked;
        if (one.given === undefined) continue;
        asked.splice(i, 1);
        if (!hasTurn(one)) continue;
        refusedCount++;
        turnOf(one).noteRefused();
        end(one);
      }
      if (ms % 50 === 0) {
        const paid = ask(PAID);
        if (hasTurn(paid)) {
          paidCount++;
          end(paid);
        }
      }
      time.pass(1);
    }
    expect(refusedCount).toBeGreaterThan(SECONDS * REFUSALS_PER_SECOND * 0.9);
    expect(refusedCount).toBeLessThan(SECONDS * REFUSALS_PER_SECOND + NEWCOMER_COUNT_MAX + 10);
    expect(paidCount).toBe(SECONDS * 20);
  });

  it('are given to one who comes in a pause of its lane as soon as that is over, though no turn ends then', async () => {
    const { time, ask } = setUp();
    for (let i = 0; i <= NEWCOMER_COUNT_MAX; i++) {
      const asked = ask(`10.0.0.${i}`);
      turnOf(asked).noteRefused();
      end(asked);
    }
    const pauseMs = 1000 / REFUSALS_PER_SECOND;
    for (const network of [HONEST, '192.0.2.2']) {
      const late = ask(network);
      time.pass(pauseMs - 1);
      await settle();
      expect(late.given).toBeUndefined();
      time.pass(1);
      await settle();
      expect(hasTurn(late)).toBe(true);
    }
  });

  it('all end: whatever was asked, nothing is held and no timer is left', async () => {
    const { time, turns, ask, known } = setUp();
    let seed = 1;
    const below = (bound: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * bound);
    };
    const open: Asked[] = [];
    for (let step = 0; step < 5000; step++) {
      const network = `192.0.2.${below(30)}`;
      const choice = below(10);
      if (choice < 6) open.push(ask(network));
      else if (choice === 6) known.add(network);
      else time.pass(below(300));
      await Promise.resolve();
      for (let i = open.length - 1; i >= 0 && below(3) > 0; i--) {
        const one = open[i] as Asked;
        if (one.given === undefined) continue;
        open.splice(i, 1);
        if (!hasTurn(one)) continue;
        if (below(2) === 0) turnOf(one).noteRefused();
        end(one);
      }
      expect(turns.counts().held).toBeLessThanOrEqual(TURN_COUNT_MAX);
    }
    time.pass(WAIT_MS_MAX);
    await settle();
    for (const one of open) if (hasTurn(one)) end(one);
    await settle();
    time.pass(60_000);
    expect([turns.counts().held, turns.counts().waiting, time.pendingCount]).toEqual([0, 0, 0]);
  });
});
