/** Results of a load test, as a run gives them. */
import { Latencies } from '../../src/load/latencies.ts';
import { Recorder } from '../../src/load/recorder.ts';
import { generatorResult, type LoadResult, operationResults } from '../../src/load/result.ts';

export const EVIL = '</script><script src="http://evil.test/x.js">&';

export function resultOf(fill: (recorder: Recorder) => void, changes: Partial<LoadResult> = {}): LoadResult {
  const recorder = new Recorder(2_000);
  recorder.begin(0);
  fill(recorder);
  const latency = recorder.latenciesOf().summary();
  const generator = generatorResult({
    cpuShare: 0.5,
    lag: new Latencies(),
    latencyP99Us: latency?.p99 ?? 0,
    connectionsBusyShare: 0,
    waitsBusyShare: 0,
    unsignedShare: 0.2,
    signingFailure: undefined,
    isOpenLoop: true,
    unsentCount: recorder.unsentCount,
  });
  return {
    paygrade: '0.1.0',
    runtime: 'Node 26',
    url: 'http://127.0.0.1:8402',
    server_version: EVIL,
    started_at: '2026-11-21T12:00:00.000Z',
    scenario: 'mixed',
    mix: { unpaid: 7, paid: 3 },
    loop: 'open',
    rate: 1000,
    connections: 256,
    warmup_ms: 0,
    duration_ms: 2000,
    ended: 'in time',
    requests: {
      expected: recorder.expectedCount,
      unexpected: recorder.unexpectedCount,
      unsent: recorder.unsentCount,
      passed_over: 0,
      in_warmup: recorder.warmUpCount,
      per_second: recorder.expectedCount / 2,
    },
    latency_us: latency,
    operations: operationResults(recorder),
    timeline: { stretch_ms: recorder.stretchMs, stretches: recorder.stretchesUntil(2_000) },
    generator,
    payments: { signed: 10, sent: 9, expired: 0, failure: null },
    credits: null,
    callbacks: null,
    hints: ['a hint <b>'],
    ...changes,
  };
}

/** Two operations with every kind of outcome. */
export const FULL = resultOf((recorder) => {
  for (let i = 0; i < 1_000; i++) {
    recorder.record(
      i % 3 === 0 ? 'paid' : 'unpaid',
      i % 3 === 0 ? '200' : '402 PAYMENT_REQUIRED',
      true,
      i,
      i + 1 + (i % 50),
    );
  }
  recorder.record('paid', EVIL, false, 5, 900);
  recorder.recordUnsent('paid', 1_500, 2_000);
});
