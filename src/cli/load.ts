/**
 * `paygrade load`: puts a running server under load and says what it took. Only a server of one's own: addresses beyond this
 * machine need `--i-own-this-server`. Pays with throwaway wallets, which only a play ledger (SETTLEMENT=local) lends anything.
 */
import { Buffer } from 'node:buffer';
import { availableParallelism } from 'node:os';
import { grouped } from '../base/grouped.ts';
import { VERSION } from '../base/version.ts';
import { LIFETIME_MS } from '../callback/limits.ts';
import { MIX_TEXT, mixOf, parseMix, SCENARIOS, type Scenario } from '../load/mix.ts';
import { reportHtml } from '../load/report-html.ts';
import { type LoadResult, unexpectedShareOf } from '../load/result.ts';
import { type LivePicture, type LoadPlan, runLoad } from '../load/run.ts';
import { duration, summaryText } from '../load/summary.ts';
import { addressesOf, LoadError, parseTarget, type Target, TargetError } from '../load/target.ts';
import { CommandError, command, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { NewFile } from './new-file.ts';
import { Progress } from './progress.ts';

/** Requests under way in a closed loop, and at most in an open one, where no number is given. */
const CONNECTIONS_CLOSED = 32;
const CONNECTIONS_OPEN = 256;
/** Webhooks a second that wake waits, where neither a rate nor a number is given: a closed loop uses callbacks up at once. */
const WAIT_RATE = 50;
/** Signing takes a core of its own for each thread. */
const SIGNERS_MAX = 16;
/** Room for buying before a run and deleting after it, within the ten minutes that a callback lives. */
const CALLBACK_RUN_MS_MAX = LIFETIME_MS - 120_000;

/** The target and its addresses, judged before anything is sent. @throws UsageError, CommandError */
async function judged(text: string, isOwn: boolean): Promise<{ target: Target; addresses: readonly string[] }> {
  try {
    const target = parseTarget(text);
    return { target, addresses: await addressesOf(target, isOwn) };
  } catch (failure) {
    if (failure instanceof TargetError) throw new UsageError(failure.message);
    if (failure instanceof LoadError) throw new CommandError(failure.message);
    throw failure;
  }
}

function liveLine(picture: LivePicture): string {
  const { elapsedMs, totalMs, isWarmingUp, perSecond, p50Us, p99Us, unexpectedCount, inFlight } = picture;
  const parts = [
    `${(elapsedMs / 1000).toFixed(0)} of ${(totalMs / 1000).toFixed(0)} s${isWarmingUp ? ', warming up' : ''}`,
    `${grouped(Math.round(perSecond))}/s`,
  ];
  if (p50Us > 0) parts.push(`p50 ${duration(p50Us)}`, `p99 ${duration(p99Us)}`);
  parts.push(`${grouped(inFlight)} under way`);
  if (unexpectedCount > 0) parts.push(`${grouped(unexpectedCount)} not as expected`);
  return parts.join('  ');
}

/** @throws CommandError when the file cannot be written */
function writeReport(file: NewFile, result: LoadResult): void {
  file.write(Buffer.from(reportHtml(result)));
  file.commit();
}

/** The first Ctrl-C ends the run with what there is; the next one ends the process, as the system would. */
function stopOnSignal(io: Io): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const releases = (['SIGINT', 'SIGTERM'] as const).map((name) => io.onSignal(name, () => stop()));
  const release = (): void => {
    for (const each of releases.splice(0)) each();
  };
  const stop = (): void => {
    release();
    controller.abort();
  };
  return { signal: controller.signal, release };
}

export const load = command({
  name: 'load',
  summary: 'Puts a running server of your own under load: open or closed loop, latency percentiles, errors by code',
  notes: [
    'With --rate requests are sent at that rate whatever becomes of the answers (open loop), and each latency is counted from when the request was due, so that a stall is not hidden. Without it a fixed number of requests is under way (closed loop).',
    'Paid requests and callbacks are bought with throwaway wallets, which only a server with SETTLEMENT=local lends anything. A server of your own is best started with RATE_LIMIT_PER_MINUTE=0 and LOG_LEVEL=error for this.',
    'unpaid expects 402, paid 200 with a receipt, webhook 200 (410 and 429 for what is over the limits of a callback), wait the event that a webhook has just brought; the latency of a wait is counted from when its webhook was due.',
    'The result goes to stderr, with --json to stdout. Exit code 1: no answer, or more than --unexpected-max of the answers not as expected. Ctrl-C ends the run with the results so far.',
  ],
  arguments: [{ name: 'URL', help: 'address of the server, http://127.0.0.1:8402', count: 'one' }],
  options: {
    scenario: { type: 'text', value: 'NAME', choices: SCENARIOS, help: 'what is sent', default: 'unpaid' },
    mix: { type: 'text', value: 'LIST', help: 'weights of the kinds of requests in mixed', default: MIX_TEXT },
    rate: {
      type: 'integer',
      value: 'R',
      min: 1,
      max: 200_000,
      help: `open loop: requests a second (wait: ${WAIT_RATE} unless --connections is given)`,
    },
    connections: {
      type: 'integer',
      value: 'C',
      min: 1,
      max: 10_000,
      help: `closed loop: requests under way (default ${CONNECTIONS_CLOSED}); open loop: connections at most (default ${CONNECTIONS_OPEN})`,
    },
    duration: { type: 'integer', value: 'SECONDS', min: 1, max: 3600, help: 'measured part', default: 10 },
    warmup: { type: 'integer', value: 'SECONDS', min: 0, max: 600, help: 'before it, not measured', default: 2 },
    timeout: { type: 'integer', value: 'SECONDS', min: 1, max: 120, help: 'longest wait for an answer', default: 10 },
    waits: { type: 'integer', value: 'N', min: 1, max: 10_000, help: 'wait: requests held at a time', default: 100 },
    callbacks: {
      type: 'integer',
      value: 'N',
      min: 1,
      max: 10_000,
      help: 'webhook, wait: callbacks to buy, ten webhooks each (default as the rate needs, 1000 at most)',
    },
    signers: {
      type: 'integer',
      value: 'N',
      min: 1,
      max: SIGNERS_MAX,
      help: 'paid: signing threads (default cores - 1)',
    },
    signed: {
      type: 'integer',
      value: 'N',
      min: 1,
      max: 100_000,
      help: 'paid: payments kept signed ahead (default by rate and duration)',
    },
    'unexpected-max': {
      type: 'integer',
      value: 'PERCENT',
      min: 0,
      max: 100,
      help: 'part of the answers that may be other than expected',
      default: 1,
    },
    report: { type: 'text', value: 'FILE', help: 'also write a page with plots, HTML' },
    json: { type: 'flag', help: 'the result as JSON on stdout' },
    'i-own-this-server': { type: 'flag', help: 'the address may be beyond this machine' },
  },
  async run({ options, arguments: [url] }, io) {
    const mixed = parseMix(options.mix);
    if (typeof mixed === 'string') throw new UsageError(`--mix: ${mixed}`);
    const scenario = options.scenario as Scenario;
    const mix = mixOf(scenario, mixed);
    const durationMs = options.duration * 1000;
    const warmUpMs = options.warmup * 1000;
    if ((mix.has('webhook') || mix.has('wait')) && durationMs + warmUpMs > CALLBACK_RUN_MS_MAX) {
      throw new UsageError(
        `--duration and --warmup must not exceed ${CALLBACK_RUN_MS_MAX / 1000} seconds together where callbacks are used, which live ten minutes`,
      );
    }
    const rate = options.rate ?? (scenario === 'wait' && options.connections === undefined ? WAIT_RATE : undefined);
    const plan: LoadPlan = {
      ...(await judged(url as string, options['i-own-this-server'])),
      scenario,
      mix,
      rate,
      connectionCount: options.connections ?? (rate === undefined ? CONNECTIONS_CLOSED : CONNECTIONS_OPEN),
      durationMs,
      warmUpMs,
      timeoutMs: options.timeout * 1000,
      waitCount: options.waits,
      callbackCount: options.callbacks,
      signerCount: options.signers ?? Math.min(SIGNERS_MAX, Math.max(1, availableParallelism() - 1)),
      signedCount: options.signed,
    };

    // Opened before the run: a place that cannot be written to must not cost one.
    const report = options.report === undefined ? undefined : new NewFile(options.report);
    const progress = new Progress(io.stderr, io.clock);
    const stop = stopOnSignal(io);
    let result: LoadResult;
    try {
      result = await runLoad(plan, {
        version: VERSION,
        clock: io.clock,
        stop: stop.signal,
        onPhase: (text) => progress.showLine(() => text),
        onPicture: (picture) => progress.showLine(() => liveLine(picture)),
      });
      progress.clear();
      if (report !== undefined) writeReport(report, result);
    } catch (failure) {
      progress.clear();
      if (failure instanceof LoadError) throw new CommandError(failure.message);
      throw failure;
    } finally {
      stop.release();
      report?.discard();
    }

    if (options.json) io.stdout.write(`${JSON.stringify(result)}\n`);
    else io.stderr.write(summaryText(result));
    const share = unexpectedShareOf(result);
    if (share * 100 <= options['unexpected-max']) return EXIT_OK;
    const { expected } = result.requests;
    if (expected === 0 && result.ended === 'interrupted') return EXIT_OK;
    const found = expected === 0 ? 'nothing was answered' : `${(share * 100).toFixed(1)} % of the answers were not`;
    io.stderr.write(`paygrade: ${found} as the scenario expects\n`);
    return EXIT_FAILED;
  },
});
