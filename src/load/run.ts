/** One load test: prepares what the scenario needs, runs it, cleans up, and returns the result. */
import { type Driven, drive } from './drive.ts';
import { hintsOn } from './hints.ts';
import type { LoadPlan, LoadPorts } from './plan.ts';
import { CleanUp, type Prepared, prepare } from './prepare.ts';
import { generatorResult, type LoadResult, operationResults } from './result.ts';

function resultOf(
  plan: LoadPlan,
  ports: LoadPorts,
  { server, callbacks, data, paid }: Prepared,
  driven: Driven,
): LoadResult {
  const { target, rate } = plan;
  const { recorder, pacing, runMs, durationMs } = driven;
  const latency = recorder.latenciesOf().summary();
  const result: Omit<LoadResult, 'hints'> = {
    paygrade: ports.version,
    runtime: process.versions.bun === undefined ? `Node ${process.versions.node}` : `Bun ${process.versions.bun}`,
    url: target.origin + target.basePath,
    server_version: server.version,
    started_at: driven.startedAt,
    scenario: plan.scenario,
    mix: Object.fromEntries(plan.mix),
    loop: rate === undefined ? 'closed' : 'open',
    rate: rate ?? null,
    connections: plan.connectionCount,
    warmup_ms: plan.warmUpMs,
    duration_ms: Math.round(durationMs),
    ended: driven.isInterrupted ? 'interrupted' : pacing.isUsedUp ? 'nothing left to send' : 'in time',
    requests: {
      expected: recorder.expectedCount,
      unexpected: recorder.unexpectedCount,
      unsent: recorder.unsentCount,
      passed_over: pacing.passedOverCount,
      in_warmup: recorder.warmUpCount,
      per_second: durationMs > 0 ? Math.round((recorder.expectedCount / durationMs) * 1e5) / 100 : 0,
    },
    latency_us: latency,
    operations: operationResults(recorder),
    timeline: { stretch_ms: recorder.stretchMs, stretches: recorder.stretchesUntil(driven.stoppedMs) },
    generator: generatorResult({
      cpuShare: driven.cpuMs / runMs,
      lag: pacing.lag,
      latencyP99Us: latency?.p99 ?? 0,
      connectionsBusyShare: rate === undefined ? 0 : pacing.roomBlockedMs / runMs,
      waitsBusyShare: rate === undefined ? 0 : pacing.waitsBlockedMs / runMs,
      unsignedShare: pacing.unsignedMs / runMs,
      signingFailure: paid?.supply.failure,
      isOpenLoop: rate !== undefined,
      unsentCount: recorder.unsentCount,
    }),
    payments:
      paid === undefined
        ? null
        : {
            signed: paid.supply.signedCount,
            sent: paid.supply.takenCount,
            expired: paid.supply.expiredCount,
            failure: paid.supply.failure ?? null,
          },
    credits: data === undefined ? null : { charged: data.charges.charged },
    callbacks:
      callbacks.wantedCount === 0
        ? null
        : {
            created: callbacks.createdCount,
            deleted: callbacks.deletedCount,
            waits_held: driven.areWaitsHeld ? plan.waitCount : 0,
          },
  };
  return { ...result, hints: hintsOn(result, callbacks.isCapacityExhausted) };
}

/** @throws LoadError when the server cannot be reached or does not sell what the scenario needs */
export async function runLoad(plan: LoadPlan, ports: LoadPorts): Promise<LoadResult> {
  const cleanUp = new CleanUp();
  try {
    const prepared = await prepare(plan, ports, cleanUp);
    const driven = await drive(plan, prepared, ports, cleanUp);
    await prepared.callbacks.delete();
    return resultOf(plan, ports, prepared, driven);
  } finally {
    await cleanUp.run();
  }
}
