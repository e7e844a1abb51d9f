/** What a run observed, and what its result says about it. */
import { describe, expect, it } from 'vitest';
import { Latencies } from '../../src/load/latencies.ts';
import { Recorder, UNSENT } from '../../src/load/recorder.ts';
import { type GeneratorFigures, generatorResult, operationResults, unexpectedShareOf } from '../../src/load/result.ts';
import { resultOf } from './load-result.ts';

/** The measured part begins at 1,000 ms and has stretches of 100 ms. */
function begun(durationMs = 1000): Recorder {
  const recorder = new Recorder(durationMs);
  recorder.begin(1000);
  return recorder;
}

const rounded = ({ p50 = 0, max = 0 } = {}): number[] => [p50, max].map((us) => Math.round(us / 1000));

describe('the recorder', () => {
  it('counts what was due in the warm-up, whenever it was answered, and only counts it', () => {
    const recorder = new Recorder(1000);
    recorder.record('health', '200', true, 5, 10);
    recorder.begin(1000);
    recorder.record('health', '200', true, 999, 1500);
    recorder.recordUnsent('health', 999, 2000);
    expect(recorder).toMatchObject({ warmUpCount: 2, expectedCount: 0, unexpectedCount: 0, unsentCount: 0 });
    expect([recorder.seen, recorder.latenciesOf().count]).toEqual([[], 0]);
    recorder.record('health', '200', true, 1000, 1001);
    expect(recorder).toMatchObject({ warmUpCount: 2, expectedCount: 1 });
  });

  it('keeps kinds and outcomes apart, and an outcome that is expected now and then', () => {
    const recorder = begun();
    recorder.record('webhook', '429', true, 1000, 1010);
    recorder.record('webhook', '429', false, 1000, 1020);
    recorder.record('paid', '429', true, 1000, 1030);
    expect(
      recorder.seen.map(({ kind, outcome, isExpected, latencies }) => [kind, outcome, isExpected, latencies.count]),
    ).toEqual([
      ['webhook', '429', true, 1],
      ['webhook', '429', false, 1],
      ['paid', '429', true, 1],
    ]);
    expect(recorder).toMatchObject({ expectedCount: 2, unexpectedCount: 1 });
  });

  it('counts a request that timed out or was never sent with the time that it waited, and no other failure', () => {
    const recorder = begun();
    recorder.record('health', '200', true, 1000, 1010);
    recorder.record('health', 'ECONNRESET', false, 1000, 1001);
    expect(rounded(recorder.latenciesOf().summary()!)).toEqual([10, 10]);
    recorder.record('health', 'TIMEOUT', false, 1000, 1400);
    expect(rounded(recorder.latenciesOf().summary()!)).toEqual([10, 400]);
    recorder.recordUnsent('health', 1100, 2000);
    recorder.record('paid', '200', true, 1000, 3000);
    expect(recorder.latenciesOf('health').count).toBe(3);
    expect(rounded(recorder.latenciesOf('health').summary()!)).toEqual([400, 900]);
    expect(rounded(recorder.latenciesOf().summary()!)).toEqual([400, 2000]);
    expect(recorder).toMatchObject({ expectedCount: 2, unexpectedCount: 2, unsentCount: 1 });
    expect(recorder.seen.find(({ outcome }) => outcome === UNSENT)).toMatchObject({ isExpected: false });
  });

  it('has a stretch for each tenth of a second until the end, empty ones too, by when the answers came', () => {
    const recorder = begun(400);
    recorder.record('health', '200', true, 1000, 1099);
    recorder.record('health', '200', true, 1099, 1100);
    recorder.record('health', '500', false, 1090, 1150);
    recorder.record('health', '200', true, 1300, 1400);
    recorder.record('health', '200', true, 1300, 1399);
    recorder.record('health', '200', true, 1399, 1401); // after the end
    expect(recorder.expectedCount).toBe(5);
    const figures = recorder
      .stretchesUntil(5000)
      .map(({ at_ms, expected, unexpected, p50_us, p99_us }) => [at_ms, expected, unexpected, p50_us, p99_us]);
    expect(figures).toEqual([
      [0, 1, 0, 99_000, 99_000],
      [100, 1, 1, 1000, 1000],
      [200, 0, 0, 0, 0],
      [300, 1, 0, 99_000, 99_000],
    ]);
  });

  it('tells the slow answers of a stretch from most of them', () => {
    const recorder = begun();
    for (let i = 0; i < 90; i++) recorder.record('health', '200', true, 1000, 1001);
    for (let i = 0; i < 10; i++) recorder.record('health', '200', true, 1000, 1050);
    expect(recorder.recentLatencies()).toMatchObject({ count: 100 });
    expect(recorder.stretchesUntil(1060)).toEqual([
      { at_ms: 0, expected: 100, unexpected: 0, p50_us: 1000, p99_us: 50_000 },
    ]);
  });
});

describe('the stretches', () => {
  it('go on to the end without an answer, the last one too where nothing was as expected', () => {
    const recorder = begun(350);
    recorder.record('health', '503', false, 1310, 1320);
    const counts = (nowMs: number) => recorder.stretchesUntil(nowMs).map((one) => [one.expected, one.unexpected]);
    expect(counts(1340)).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 1],
    ]);
    const silent = begun(300);
    expect(silent.stretchesUntil(1200)).toHaveLength(2);
    expect(silent.stretchesUntil(5000)).toHaveLength(3);
  });
});

describe('the result', () => {
  it('has the latencies of each operation, its most frequent outcome first', () => {
    const recorder = begun();
    recorder.record('paid', '503', false, 1000, 1001);
    for (let i = 0; i < 2; i++) recorder.record('paid', '200', true, 1000, 1010);
    recorder.record('health', '200', true, 1000, 1500);
    expect(
      operationResults(recorder).map(({ operation, latency_us, outcomes }) => [
        operation,
        latency_us?.max,
        outcomes.map(({ outcome, count }) => `${outcome} ${count}`),
      ]),
    ).toEqual([
      ['paid', 10_000, ['200 2', '503 1']],
      ['health', 500_000, ['200 1']],
    ]);
  });

  it('has the share of answers that were not expected, whatever was never sent beside them', () => {
    const shareOf = (expected: number, unexpected: number, unsent: number): number =>
      unexpectedShareOf(
        resultOf((recorder) => {
          for (let i = 0; i < expected; i++) recorder.record('health', '200', true, 0, 1);
          for (let i = 0; i < unexpected; i++) recorder.record('health', '503', false, 0, 1);
          for (let i = 0; i < unsent; i++) recorder.recordUnsent('health', 0, 1);
        }),
      );
    expect(shareOf(0, 0, 0)).toBe(1);
    expect(shareOf(0, 0, 5)).toBe(1);
    expect(shareOf(3, 1, 0)).toBe(0.25);
    expect(shareOf(3, 1, 996)).toBe(0.25);
  });
});

describe('what the limit was', () => {
  const FAST = new Latencies();
  FAST.record(1);
  const LATE = new Latencies();
  LATE.record(20);
  const quiet: GeneratorFigures = {
    cpuShare: 0.5,
    lag: FAST,
    latencyP99Us: 10_000,
    connectionsBusyShare: 0,
    waitsBusyShare: 0,
    unsignedShare: 0,
    signingFailure: undefined,
    isOpenLoop: true,
    unsentCount: 0,
  };
  it.each<[string, Partial<GeneratorFigures>, RegExp | null]>([
    ['a quiet run', {}, null],
    ['payments that were not signed', { unsignedShare: 0.06 }, /signed in time for 6 %/],
    [
      'a thread that signs no more',
      { unsignedShare: 0.5, signingFailure: 'a signing thread ended' },
      /for 50 % of the run: a signing thread ended$/,
    ],
    ['requests that were sent late', { lag: LATE }, /sent 20 ms late/],
    ['a lag below half of the latency', { lag: LATE, latencyP99Us: 50_000 }, null],
    ['a lag of few milliseconds', { latencyP99Us: 100 }, null],
    ['a lag in a closed loop, which has none', { lag: LATE, isOpenLoop: false }, null],
    ['a busy thread that keeps its rate, which it waits for', { cpuShare: 1 }, null],
    ['a busy thread behind its rate', { cpuShare: 0.95, unsentCount: 1 }, /95 % of a core/],
    ['a busy thread with every connection taken', { cpuShare: 0.95, connectionsBusyShare: 0.6 }, /95 % of a core/],
    ['a busy thread with every wait woken', { cpuShare: 0.95, waitsBusyShare: 0.6 }, /95 % of a core/],
    ['a busy thread of a closed loop', { cpuShare: 0.95, isOpenLoop: false }, /95 % of a core/],
    ['an idle thread behind its rate', { unsentCount: 1, connectionsBusyShare: 1 }, null],
  ])('of %s', (_, figures, reason) => {
    const result = generatorResult({ ...quiet, ...figures });
    expect(result.was_the_limit).toBe(reason !== null);
    if (reason === null) expect(result.reason).toBeNull();
    else expect(result.reason).toMatch(reason);
  });
});
