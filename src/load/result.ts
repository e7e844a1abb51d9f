/** The result of a run, in the shape of `--json`: times in milliseconds or microseconds, as the names say. */
import type { CurvePoint, Latencies, LatencySummary } from './latencies.ts';
import type { Kind, Scenario } from './mix.ts';
import type { Recorder, Stretch } from './recorder.ts';

export interface OutcomeResult {
  readonly outcome: string;
  readonly expected: boolean;
  readonly count: number;
  readonly latency_us: LatencySummary | null;
}

export interface OperationResult {
  readonly operation: Kind;
  readonly latency_us: LatencySummary | null;
  /** [percentile, microseconds], up to the highest percentile that the count can resolve. */
  readonly curve: readonly CurvePoint[];
  readonly outcomes: readonly OutcomeResult[];
}

export interface GeneratorResult {
  /** Share of one core, in the sending thread. */
  readonly cpu_share: number;
  /** Open loop: delay of requests for which a connection was free; null in a closed loop. */
  readonly lag_us: LatencySummary | null;
  /** Share of the run, warm-up included, in which a request was due and every connection was busy. */
  readonly connections_busy_share: number;
  /** Share of the run in which a webhook was due and no wait was held that it could wake. */
  readonly waits_busy_share: number;
  /** Share of the run in which a request was due and no payment was signed. */
  readonly unsigned_share: number;
  /** Whether the generator, not the server, was the limit; `reason` then has the evidence. */
  readonly was_the_limit: boolean;
  readonly reason: string | null;
}

export interface LoadResult {
  readonly paygrade: string;
  readonly runtime: string;
  readonly url: string;
  readonly server_version: string | null;
  readonly started_at: string;
  readonly scenario: Scenario;
  /** Kind -> weight. */
  readonly mix: Readonly<Record<string, number>>;
  readonly loop: 'open' | 'closed';
  /** `--rate`, requests a second; null in a closed loop. */
  readonly rate: number | null;
  readonly connections: number;
  readonly warmup_ms: number;
  /** Length of the measured part, which is shorter than `--duration` when the run ended early. */
  readonly duration_ms: number;
  readonly ended: 'in time' | 'interrupted' | 'nothing left to send';
  readonly requests: {
    readonly expected: number;
    readonly unexpected: number;
    /** Due and never sent. */
    readonly unsent: number;
    /** Requests of a mix that were skipped because their kind had nothing to send at that moment. */
    readonly passed_over: number;
    readonly in_warmup: number;
    /** Expected answers a second. */
    readonly per_second: number;
  };
  /** All kinds; a request that timed out or was never sent counts with the time it has waited so far. */
  readonly latency_us: LatencySummary | null;
  readonly operations: readonly OperationResult[];
  readonly timeline: { readonly stretch_ms: number; readonly stretches: readonly Stretch[] };
  readonly generator: GeneratorResult;
  readonly payments: {
    readonly signed: number;
    readonly sent: number;
    readonly expired: number;
    /** Why a signing thread ended during the run; null: none did. */
    readonly failure: string | null;
  } | null;
  /** What the answers of the Jobs Data API cost, those of the warm-up too. */
  readonly credits: { readonly charged: number } | null;
  readonly callbacks: { readonly created: number; readonly deleted: number; readonly waits_held: number } | null;
  /** Advice, one sentence each. */
  readonly hints: readonly string[];
}

/** Share of a core above which the sending thread is saturated. */
const CPU_SHARE_LIMIT = 0.9;
/** With a lag above both limits the run measured the generator. */
const LAG_LIMIT_US = 5_000;
const LAG_SHARE_LIMIT = 0.5;
/** Shares of the run above which it is no coincidence. */
const BUSY_SHARE_LIMIT = 0.5;
const UNSIGNED_SHARE_LIMIT = 0.05;

export interface GeneratorFigures {
  readonly cpuShare: number;
  readonly lag: Latencies;
  /** 99th percentile of all requests. */
  readonly latencyP99Us: number;
  readonly connectionsBusyShare: number;
  readonly waitsBusyShare: number;
  readonly unsignedShare: number;
  /** Why a signing thread ended during the run. */
  readonly signingFailure: string | undefined;
  readonly isOpenLoop: boolean;
  readonly unsentCount: number;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const rounded = (value: number): number => Math.round(value * 1000) / 1000;

/**
 * Evidence that the generator was the limit, or null. An open loop waits by spinning the event loop, which takes CPU,
 * so there a high share matters only if the loop has fallen behind its rate.
 */
function limitOf(figures: GeneratorFigures): string | null {
  const { cpuShare, lag, latencyP99Us, connectionsBusyShare, waitsBusyShare, unsignedShare, isOpenLoop, unsentCount } =
    figures;
  if (unsignedShare > UNSIGNED_SHARE_LIMIT) {
    const remedy = figures.signingFailure ?? 'more --signers or --signed, or a lower rate';
    return `no payment was signed in time for ${percent(unsignedShare)} of the run: ${remedy}`;
  }
  const lagP99Us = lag.at(99);
  if (isOpenLoop && lagP99Us > Math.max(LAG_LIMIT_US, LAG_SHARE_LIMIT * latencyP99Us)) {
    return `1 % of the requests were sent ${Math.round(lagP99Us / 1000)} ms late or more though a connection was free`;
  }
  const isBlocked = connectionsBusyShare + waitsBusyShare > BUSY_SHARE_LIMIT;
  const isBehind = !isOpenLoop || unsentCount > 0 || isBlocked;
  if (isBehind && cpuShare > CPU_SHARE_LIMIT) {
    return `the sending thread used ${percent(cpuShare)} of a core`;
  }
  return null;
}

export function generatorResult(figures: GeneratorFigures): GeneratorResult {
  const reason = limitOf(figures);
  return {
    cpu_share: rounded(figures.cpuShare),
    lag_us: figures.isOpenLoop ? figures.lag.summary() : null,
    connections_busy_share: rounded(figures.connectionsBusyShare),
    waits_busy_share: rounded(figures.waitsBusyShare),
    unsigned_share: rounded(figures.unsignedShare),
    was_the_limit: reason !== null,
    reason,
  };
}

/** Kinds in the order of their first outcome; the most frequent outcome first. */
export function operationResults(recorder: Recorder): readonly OperationResult[] {
  const kinds = [...new Set(recorder.seen.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const latencies = recorder.latenciesOf(kind);
    const outcomes = recorder.seen
      .filter((seen) => seen.kind === kind)
      .map(({ outcome, isExpected, latencies: own }) => ({
        outcome,
        expected: isExpected,
        count: own.count,
        latency_us: own.summary(),
      }))
      .sort((a, b) => b.count - a.count);
    return { operation: kind, latency_us: latencies.summary(), curve: latencies.curve(), outcomes };
  });
}

/** Share of the answers, and of the requests that got none, that were not as expected, 0 to 1; 1 when none was as expected. */
export function unexpectedShareOf({ requests: { expected, unexpected } }: LoadResult): number {
  return expected === 0 ? 1 : unexpected / (expected + unexpected);
}
