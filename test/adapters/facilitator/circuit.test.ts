import { describe, expect, it } from 'vitest';
import { Circuit, FAILURES_TO_OPEN, PROBE_PAUSE_MS } from '../../../src/adapters/facilitator/circuit.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

function setUp() {
  const time = new ManualTime();
  const news: boolean[] = [];
  const questions: ((isReached: boolean) => void)[] = [];
  let askedCount = 0;
  const askHealth = (): Promise<boolean> => {
    askedCount++;
    return new Promise((resolve) => questions.push(resolve));
  };
  const onFacilitatorReachable = (isReachable: boolean): void => void news.push(isReachable);
  const circuit = new Circuit({ clock: time, timers: time, onFacilitatorReachable }, askHealth);
  /** Answers the question that is open. */
  const answer = async (isReached: boolean): Promise<void> => {
    expect(questions).toHaveLength(1);
    questions.shift()?.(isReached);
    await settle();
  };
  return { time, news, circuit, answer, questions, askedCount: () => askedCount };
}

describe('the circuit of a facilitator', () => {
  it('opens after five calls in a row that never connected, and one success closes it', () => {
    const { circuit, news } = setUp();
    for (let i = 1; i < FAILURES_TO_OPEN; i++) {
      circuit.noteUnreached();
      expect(circuit.isOpen()).toBe(false);
    }
    circuit.noteUnreached();
    expect(circuit.isOpen()).toBe(true);
    circuit.noteReached();
    expect([circuit.isOpen(), circuit.isReachable(), news]).toEqual([false, true, [false, true]]);
  });

  it('stays closed while every fifth call arrives', () => {
    const { circuit } = setUp();
    for (let round = 0; round < 3; round++) {
      for (let i = 1; i < FAILURES_TO_OPEN; i++) circuit.noteUnreached();
      circuit.noteReached();
      expect([circuit.isOpen(), circuit.isReachable()]).toEqual([false, true]);
    }
  });

  it('asks one question at a time and not more often than each second, however many calls raise it', async () => {
    const { time, circuit, answer, askedCount } = setUp();
    for (let i = 0; i < 1000; i++) circuit.ask();
    time.pass(4000);
    for (let i = 0; i < 1000; i++) circuit.ask();
    expect(askedCount()).toBe(1);
    await answer(true);
    for (let i = 0; i < 1000; i++) circuit.ask();
    time.pass(PROBE_PAUSE_MS - 1);
    expect(askedCount()).toBe(1);
    time.pass(1);
    expect(askedCount()).toBe(2);
    await answer(true);
    expect([circuit.isOpen(), circuit.isReachable(), time.pendingCount]).toEqual([false, true, 0]);
  });

  it('counts the answers to the question, and asks every second until one is good', async () => {
    const { time, circuit, answer, askedCount, news } = setUp();
    circuit.ask();
    for (let failures = 1; failures <= FAILURES_TO_OPEN + 3; failures++) {
      expect(askedCount()).toBe(failures);
      await answer(false);
      expect(circuit.isOpen()).toBe(failures >= FAILURES_TO_OPEN);
      time.pass(PROBE_PAUSE_MS);
    }
    await answer(true);
    expect([circuit.isOpen(), circuit.isReachable(), news]).toEqual([false, true, [false, true]]);
    expect(time.pendingCount).toBe(0);
    time.pass(10_000);
    expect(askedCount()).toBe(FAILURES_TO_OPEN + 4);
  });

  it('says when the facilitator goes and when it is back, once each', async () => {
    const { time, circuit, answer, news } = setUp();
    circuit.ask();
    await answer(true);
    time.pass(PROBE_PAUSE_MS);
    circuit.noteUnreached();
    await answer(false);
    time.pass(PROBE_PAUSE_MS);
    await answer(true);
    expect(news).toEqual([false, true]);
  });

  it('says once that the facilitator has not answered since the start', async () => {
    const { time, circuit, answer, news } = setUp();
    circuit.ask();
    await answer(false);
    time.pass(PROBE_PAUSE_MS);
    await answer(false);
    expect(news).toEqual([false]);
  });

  it('asks nothing more after it was stopped, even when an answer is still to come', async () => {
    const { time, circuit, answer, questions, askedCount } = setUp();
    circuit.noteUnreached();
    circuit.stop();
    await answer(false);
    for (let i = 0; i < 10; i++) circuit.noteUnreached();
    time.pass(10_000);
    expect([askedCount(), questions.length, time.pendingCount]).toEqual([1, 0, 0]);
  });

  it.each([true, false])('reports nothing more after it was stopped, when the last answer is %s', async (isReached) => {
    const { circuit, answer, news } = setUp();
    if (isReached) circuit.noteUnreached();
    else circuit.ask();
    const before = [...news];
    circuit.stop();
    await answer(isReached);
    expect(news).toEqual(before);
  });
});
