/** Turns of outbound requests: the rules one by one, then all of them over seeded load against a model of what may be in flight. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { SILENCE_MS, SILENT_HOSTS_MAX, SILENT_KEPT_MS, SILENT_LOOKS_MAX } from '../../src/outbound/limits.ts';
import { OutboundTurns, type Turn } from '../../src/outbound/turns.ts';
import { partOf } from '../support/whole.ts';

class ManualClock {
  nowMs = 0;
  monotonicMs(): number {
    return this.nowMs;
  }
}

interface Asked {
  readonly customer: string;
  readonly host: string;
  turn: Turn | undefined;
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) await Promise.resolve();
};

class Trial {
  readonly clock = new ManualClock();
  readonly turns: OutboundTurns;
  readonly asked: Asked[] = [];

  constructor(slots: number) {
    this.turns = new OutboundTurns(slots, this.clock);
  }

  ask(customer: string, host: string, signal?: AbortSignal): Asked {
    const one: Asked = { customer, host, turn: undefined };
    this.asked.push(one);
    void this.turns.take(customer, host, signal).then((turn) => {
      one.turn = turn;
    });
    return one;
  }

  /** How many have a turn, of those that `of` chooses. */
  async granted(of: (one: Asked) => boolean = () => true): Promise<number> {
    await settled();
    return this.asked.filter((one) => one.turn !== undefined && of(one)).length;
  }
}

const times = (count: number, run: (index: number) => void): void => {
  for (let i = 0; i < count; i++) run(i);
};

describe('turns of outbound requests', () => {
  it('are as many as there are slots, and a slot that is given back goes on', async () => {
    const trial = new Trial(3);
    times(5, (i) => trial.ask('a', `h${i}`));
    expect(await trial.granted()).toBe(3);
    const first = trial.asked[0]?.turn;
    first?.end();
    first?.end();
    expect(await trial.granted()).toBe(4);
    expect(trial.turns.counts).toMatchObject({ inUse: 3, waiting: 1 });
  });

  it('are four to one host at most, whoever asks, and other hosts go on', async () => {
    const trial = new Trial(64);
    times(6, (i) => trial.ask(i % 2 === 0 ? 'a' : 'b', 'h'));
    const other = trial.ask('a', 'other');
    expect(await trial.granted(({ host }) => host === 'h')).toBe(4);
    expect(other.turn).toBeDefined();
    trial.asked[0]?.turn?.end();
    expect(await trial.granted(({ host }) => host === 'h')).toBe(5);
  });

  it('go round among customers: one that comes late does not wait for all of another', async () => {
    const trial = new Trial(4);
    times(4, (i) => trial.ask('c', `c${i}`));
    times(100, (i) => trial.ask('a', `a${i}`));
    const late = trial.ask('b', 'b');
    await settled();
    trial.asked[0]?.turn?.end();
    trial.asked[1]?.turn?.end();
    await settled();
    expect(late.turn).toBeDefined();
  });

  it('are half of the slots at most for one customer while another waits, and all of them when none does', async () => {
    const alone = new Trial(10);
    times(20, (i) => alone.ask('a', `a${i}`));
    expect(await alone.granted()).toBe(10);

    const trial = new Trial(10);
    times(4, () => trial.ask('b', 'full'));
    const waiting = trial.ask('b', 'full');
    times(20, (i) => trial.ask('a', `a${i}`));
    expect(await trial.granted(({ customer }) => customer === 'a')).toBe(5);
    expect(waiting.turn).toBeUndefined();
    trial.asked[0]?.turn?.end();
    expect(await trial.granted(({ customer }) => customer === 'a')).toBe(6);
    expect(waiting.turn).toBeDefined();
  });

  it('are had by another customer at a host whose turn was that of a customer at its half', async () => {
    const trial = new Trial(4);
    times(4, (i) => trial.ask('a', `x${i}`));
    await settled();
    const a = trial.ask('a', 'h');
    const b = trial.ask('b', 'h');
    trial.asked[0]?.turn?.end();
    await settled();
    expect([a.turn === undefined, b.turn === undefined]).toEqual([true, false]);

    const parked = new Trial(8);
    times(4, () => parked.ask('c', 'h'));
    const first = parked.ask('a', 'h');
    const second = parked.ask('b', 'h');
    times(4, (i) => parked.ask('a', `x${i}`));
    await settled();
    parked.asked[0]?.turn?.end();
    await settled();
    expect([first.turn === undefined, second.turn === undefined]).toEqual([true, false]);
  });

  it('are had at once by who waits for a host, whoever has given up waiting for it', async () => {
    const trial = new Trial(6);
    times(4, () => trial.ask('a', 'h'));
    const waiting = trial.ask('b', 'h');
    times(2, (i) => trial.ask('c', `x${i}`));
    await settled();
    const gaveUp = new AbortController();
    trial.ask('d', 'h', gaveUp.signal);
    gaveUp.abort();
    trial.asked[0]?.turn?.end();
    await settled();
    expect(waiting.turn).toBeDefined();
  });

  it('are not for a host that has been silent for two seconds, while another could use them', async () => {
    const trial = new Trial(6);
    times(20, () => trial.ask('a', 'hangs'));
    times(20, (i) => trial.ask('a', `h${i}`));
    expect(await trial.granted(({ host }) => host === 'hangs')).toBe(4);
    trial.clock.nowMs = SILENCE_MS;
    trial.asked[0]?.turn?.end();
    expect(await trial.granted(({ host }) => host === 'hangs')).toBe(4);
    trial.clock.nowMs = 2 * SILENCE_MS;
    for (const { host, turn } of trial.asked) if (host !== 'hangs') turn?.end();
    expect(await trial.granted(({ host }) => host !== 'hangs')).toBeGreaterThan(4);
    expect(await trial.granted(({ host }) => host === 'hangs')).toBe(4);
  });

  it('are for it again when it has answered, when nothing else waits, and after a minute', async () => {
    const silent = async (): Promise<Trial> => {
      const trial = new Trial(4);
      times(20, () => trial.ask('a', 'hangs'));
      await settled();
      trial.clock.nowMs = SILENCE_MS;
      return trial;
    };
    const answering = await silent();
    times(20, (i) => answering.ask('a', `h${i}`));
    answering.asked[1]?.turn?.answered();
    answering.asked[0]?.turn?.end();
    answering.asked[1]?.turn?.end();
    expect(await answering.granted(({ host }) => host === 'hangs')).toBe(5);

    const alone = await silent();
    times(4, (i) => alone.asked[i]?.turn?.end());
    expect(await alone.granted()).toBe(4 + 2); // half of the slots

    const later = await silent();
    times(200, (i) => later.ask('a', `h${i}`));
    times(4, (i) => later.asked[i]?.turn?.end());
    expect(await later.granted(({ host }) => host === 'hangs')).toBe(4);
    later.clock.nowMs += SILENT_KEPT_MS;
    for (let round = 0; round < 60; round++) {
      for (const { host, turn } of later.asked) if (host !== 'hangs') turn?.end();
      await settled();
    }
    expect(await later.granted(({ host }) => host === 'hangs')).toBeGreaterThan(4);
  });

  it('take a host as silent from a request without an answer, in flight or over, not from one that was answered', async () => {
    const grantedAfter = async (act: (trial: Trial) => void | Promise<void>): Promise<number> => {
      const trial = new Trial(4);
      trial.ask('a', 'h');
      await settled();
      await act(trial);
      times(4, () => trial.ask('a', 'h'));
      return trial.granted();
    };
    const firstOf = (trial: Trial): Turn => trial.asked[0]?.turn as Turn;
    const later = (trial: Trial): void => {
      trial.clock.nowMs = SILENCE_MS;
    };
    expect(await grantedAfter(() => {})).toBe(4);
    expect(await grantedAfter(later)).toBe(1 + 2); // half of the slots
    expect(
      await grantedAfter((trial) => {
        later(trial);
        firstOf(trial).end();
      }),
    ).toBe(1 + 2);
    expect(
      await grantedAfter(async (trial) => {
        later(trial);
        const other = await trial.turns.take('a', 'other');
        trial.clock.nowMs += SILENT_KEPT_MS;
        other?.end();
      }),
    ).toBe(1 + 2);
    // A minute after the first silence, whatever was silent during it.
    expect(
      await grantedAfter(async (trial) => {
        later(trial);
        firstOf(trial).end();
        const again = await trial.turns.take('a', 'h');
        trial.clock.nowMs += SILENT_KEPT_MS / 2;
        again?.end();
        trial.clock.nowMs += SILENT_KEPT_MS / 2;
      }),
    ).toBe(1 + 4);
    expect(
      await grantedAfter((trial) => {
        firstOf(trial).answered();
        later(trial);
      }),
    ).toBe(4);
  });

  it('are given back by a silent host, and it has the rest as soon as it answers', async () => {
    const trial = new Trial(4);
    trial.ask('a', 'h');
    await settled();
    trial.clock.nowMs = SILENCE_MS;
    times(5, () => trial.ask('a', 'h'));
    expect(await trial.granted()).toBe(3);
    trial.asked[1]?.turn?.end();
    expect(await trial.granted()).toBe(4);
    trial.asked[0]?.turn?.answered();
    expect(await trial.granted()).toBe(5);
  });

  it('are not for a silent host either while its customer has half of the slots and another waits', async () => {
    const trial = new Trial(20);
    times(4, () => trial.ask('c', 'hangs'));
    await settled();
    trial.clock.nowMs = SILENCE_MS;
    const one = trial.ask('a', 'hangs');
    times(10, (i) => trial.ask('a', `a${i}`));
    times(5, () => trial.ask('b', 'full'));
    await settled();
    trial.asked[0]?.turn?.end();
    await settled();
    expect(one.turn).toBeUndefined();
    trial.asked.find(({ host }) => host === 'full')?.turn?.end();
    await settled();
    expect(one.turn).toBeDefined();
  });

  it('go round among silent hosts: one for which few wait does not wait for all of another', async () => {
    const trial = new Trial(4);
    for (const host of ['many', 'few']) trial.ask('z', host);
    await settled();
    trial.clock.nowMs = SILENCE_MS;
    times(8, (i) => trial.ask(`c${i}`, 'many'));
    const few = trial.ask('d', 'few');
    await settled();
    times(2, (i) => trial.asked.find(({ customer }) => customer === `c${i}`)?.turn?.end());
    await settled();
    expect(few.turn).toBeDefined();
  });

  it.each([
    ['at their four', 5],
    ['without any who wait', 0],
  ])('are for a silent host at once, past any number of others that are %s', async (_, askedOfEach) => {
    const trial = new Trial(128);
    const OTHERS = SILENT_LOOKS_MAX + 1;
    times(OTHERS, (i) => trial.ask('z', `silent${i}`));
    trial.ask('z', 'hangs');
    await settled();
    trial.clock.nowMs = SILENCE_MS;
    times(OTHERS, (i) => times(askedOfEach, () => trial.ask(`c${i}`, `full${i}`)));
    const one = trial.ask('d', 'hangs');
    await settled();
    expect(one.turn).toBeDefined();
    expect(trial.turns.counts.waiting).toBe(askedOfEach === 0 ? 0 : OTHERS);
  });

  it('are four to one host also when others have waited for it while it had none', async () => {
    const trial = new Trial(8);
    times(7, (i) => trial.ask('z', `x${i % 2}`));
    trial.ask('a', 'h');
    trial.ask('b', 'h');
    await settled();
    trial.asked[7]?.turn?.end();
    times(7, (i) => trial.asked[i]?.turn?.end());
    times(4, () => trial.ask('a', 'h'));
    expect(await trial.granted(({ host }) => host === 'h')).toBe(1 + 4);
    expect(trial.turns.counts).toMatchObject({ inUse: 4, waiting: 1 });
  });

  it('remember ten thousand silent hosts at most', async () => {
    const trial = new Trial(1000);
    for (let hosts = 0; hosts <= SILENT_HOSTS_MAX; hosts += 1000) {
      times(1000, (i) => trial.ask('a', `h${hosts + i}`));
      await settled();
      trial.clock.nowMs += SILENCE_MS;
      for (const { turn } of trial.asked.splice(0)) turn?.end();
    }
    expect(trial.turns.counts).toMatchObject({ inUse: 0, hosts: SILENT_HOSTS_MAX });
  });

  it('are no longer waited for after an abort, and the rest is served', async () => {
    const trial = new Trial(10);
    const abort = new AbortController();
    times(4, () => trial.ask('b', 'full'));
    const aborted = trial.turns.take('b', 'full', abort.signal);
    times(20, (i) => trial.ask('a', `a${i}`));
    expect(await trial.granted(({ customer }) => customer === 'a')).toBe(5);
    abort.abort();
    expect(await aborted).toBeUndefined();
    expect(await trial.granted(({ customer }) => customer === 'a')).toBe(6);
    expect(trial.turns.counts.waiting).toBe(14);
    expect(await trial.turns.take('d', 'j', AbortSignal.abort())).toBeUndefined();
  });

  it('go to a line that waits for room at its host when those before it are aborted', async () => {
    const trial = new Trial(5);
    const abort = new AbortController();
    times(4, () => trial.ask('z', 'h'));
    trial.ask('z', 'other');
    for (const customer of ['a', 'b', 'c', 'd']) trial.ask(customer, 'h', abort.signal);
    const last = trial.ask('e', 'h');
    await settled();
    trial.asked[4]?.turn?.end(); // all of them are parked: their host has its four
    for (const customer of ['u', 'v', 'w', 'x', 'y']) trial.ask(customer, `of-${customer}`);
    await settled();
    for (const one of trial.asked.slice(0, 4)) one.turn?.end();
    expect(await trial.granted(({ host }) => host.startsWith('of-'))).toBe(5);
    abort.abort();
    trial.asked.at(-1)?.turn?.end();
    await settled();
    expect(last.turn).toBeDefined();
  });

  it('leave nothing behind of a host that was silent for a minute, of an abort, or at the signal of a request', async () => {
    const trial = new Trial(1);
    const abort = new AbortController();
    const first = await trial.turns.take('a', 'hangs', abort.signal);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    void trial.turns.take('b', 'h', abort.signal);
    abort.abort();
    trial.clock.nowMs = SILENCE_MS;
    first?.end();
    trial.clock.nowMs += SILENT_KEPT_MS;
    const last = await trial.turns.take('c', 'i');
    expect(trial.turns.counts).toEqual({ inUse: 1, waiting: 0, hosts: 1, customers: 1 });
    last?.end();
  });

  it.each([1, 2, 3])('hold their rules under seeded load, serve everything and forget it (seed %i)', async (seed) => {
    const random = new SeededRandom(seed);
    const below = (count: number): number => random.below(count);
    const slots = 1 + below(20);
    const trial = new Trial(slots);
    const customerCount = 1 + below(5);
    const hostCount = 1 + below(12);
    let askedCount = 0;
    const aborts = new Map<Asked, AbortController>();
    const done = new Set<Asked>();
    for (let step = 0; step < 3000; step++) {
      trial.clock.nowMs += below(300);
      if (askedCount < 800 && below(2) === 0) {
        askedCount++;
        const abort = new AbortController();
        aborts.set(trial.ask(`c${below(customerCount)}`, `h${below(hostCount)}`, abort.signal), abort);
      }
      await settled();
      const running = trial.asked.filter((one) => one.turn !== undefined && !done.has(one));
      const byHost = Map.groupBy(running, ({ host }) => host);
      const mostOfHost = Math.max(0, ...[...byHost.values()].map(({ length }) => length));
      const { inUse } = trial.turns.counts;
      if (running.length > slots || mostOfHost > 4 || inUse !== running.length)
        expect.unreachable(
          `step ${step}: ${running.length} of ${slots} run, ${mostOfHost} at a host, ${inUse} counted`,
        );
      // The host of a few is silent for a while.
      const ended = running.filter(({ host }) => host !== 'h0' || below(20) === 0)[0];
      if (ended !== undefined && below(2) === 0) {
        if (ended.host !== 'h0') ended.turn?.answered();
        ended.turn?.end();
        done.add(ended);
      }
      await settled();
      const waiting = trial.asked.find((one) => one.turn === undefined && !done.has(one));
      if (waiting !== undefined && below(15) === 0) {
        aborts.get(waiting)?.abort();
        done.add(waiting);
      }
    }
    for (let round = 0; round < 2000 && done.size < trial.asked.length; round++) {
      await settled();
      trial.clock.nowMs += 100;
      for (const one of trial.asked) {
        if (one.turn === undefined || done.has(one)) continue;
        one.turn.answered();
        one.turn.end();
        done.add(one);
      }
    }
    expect(done.size).toBe(trial.asked.length);
    trial.clock.nowMs += 2 * SILENT_KEPT_MS;
    const last = await trial.turns.take('last', 'last');
    last?.end();
    expect(trial.turns.counts).toEqual({ inUse: 0, waiting: 0, hosts: 0, customers: 0 });
  });

  const WAITING = partOf(100_000, 30_000);
  it('cost little with many waiting, of as many customers to one host, or of 300 to 1,000', async () => {
    for (const [customers, hosts] of [
      [WAITING, 1],
      [300, 1000],
    ] as const) {
      const trial = new Trial(1024);
      const startMs = performance.now();
      let servedCount = 0;
      const run = async (i: number): Promise<void> => {
        const turn = await trial.turns.take(`c${i % customers}`, `h${i % hosts}`);
        servedCount++;
        turn?.answered();
        await Promise.resolve();
        turn?.end();
      };
      await Promise.all(Array.from({ length: WAITING }, (_, i) => run(i)));
      expect(servedCount).toBe(WAITING);
      // A queue that is gone through for every turn takes minutes.
      expect(performance.now() - startMs, `${customers} customers, ${hosts} hosts`).toBeLessThan(12_000);
    }
  });
});
