/**
 * `paygrade load`: puts a running server under load and reports its latencies and errors. Addresses beyond this machine need
 * `--i-own-this-server`. It pays with throwaway wallets, which have a balance only in a play ledger (SETTLEMENT=local).
 */
import { Buffer } from 'node:buffer';
import { availableParallelism } from 'node:os';
import { keyDigestOf } from '../accounts/key.ts';
import { MINUTE_MS } from '../base/durations.ts';
import { grouped } from '../base/grouped.ts';
import { VERSION } from '../base/version.ts';
import { LIFETIME_MS } from '../callback/limits.ts';
import { type Kind, MIX_TEXT, mixOf, parseMix, SCENARIOS } from '../load/mix.ts';
import type { LiveFigures, LoadPlan } from '../load/plan.ts';
import { reportHtml } from '../load/report-html.ts';
import { type LoadResult, unexpectedShareOf } from '../load/result.ts';
import { runLoad } from '../load/run.ts';
import { duration, summaryText } from '../load/summary.ts';
import { addressesOf, LoadError, parseTarget, type Target, TargetError } from '../load/target.ts';
import { command, commandErrorOf, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { NewFile } from './new-file.ts';
import { Progress } from './progress.ts';
import { stopSignal } from './stop-signal.ts';

/** Defaults of --connections: requests in flight in a closed loop, most connections in an open one. */
const CONNECTIONS_CLOSED = 32;
const CONNECTIONS_OPEN = 256;
/** Webhooks a second in the wait scenario without --rate and --connections: a closed loop would use up its callbacks at once. */
const WAIT_RATE = 50;
/** Each signing thread occupies a core. */
const SIGNERS_MAX = 16;
/** Longest run with callbacks: leaves time to buy and delete them within their ten minutes. */
const CALLBACK_RUN_MS_MAX = LIFETIME_MS - 2 * MINUTE_MS;

/** The target and its checked addresses, before anything is sent. @throws UsageError, CommandError */
async function checkedTarget(text: string, isOwn: boolean): Promise<{ target: Target; addresses: readonly string[] }> {
  try {
    const target = parseTarget(text);
    return { target, addresses: await addressesOf(target, isOwn) };
  } catch (failure) {
    if (failure instanceof TargetError) throw new UsageError(failure.message);
    throw commandErrorOf(failure, LoadError);
  }
}

function liveLine(figures: LiveFigures): string {
  const { elapsedMs, totalMs, isWarmingUp, perSecond, p50Us, p99Us, unexpectedCount, inFlight } = figures;
  const parts = [
    `${(elapsedMs / 1000).toFixed(0)} of ${(totalMs / 1000).toFixed(0)} s${isWarmingUp ? ', warming up' : ''}`,
    `${grouped(Math.round(perSecond))}/s`,
  ];
  if (p50Us > 0) parts.push(`p50 ${duration(p50Us)}`, `p99 ${duration(p99Us)}`);
  parts.push(`${grouped(inFlight)} under way`);
  if (unexpectedCount > 0) parts.push(`${grouped(unexpectedCount)} unexpected`);
  return parts.join('  ');
}

/** @throws UsageError, which never repeats the text */
function keyFor(given: string | undefined, { env }: Io): string {
  const key = given ?? (env.API_KEY || undefined);
  if (key === undefined) throw new UsageError('this scenario needs an API key: set API_KEY, or give --key');
  if (keyDigestOf(key) === undefined)
    throw new UsageError('the API key must be `svc_key_` and 43 letters, digits, - or _');
  return key;
}

/** Options that mean something only to some kinds of requests. */
const KINDS_OF: Readonly<Record<string, readonly Kind[]>> = {
  waits: ['wait'],
  callbacks: ['webhook', 'wait'],
  signers: ['paid'],
  signed: ['paid'],
  key: ['data'],
};

export const load = command({
  notes: [
    'With --rate the test sends requests at that rate, independent of the answers (open loop), and counts each latency from when the request was due, so that a stall shows. Without it a fixed number of requests is under way (closed loop).',
    'Paid requests and callbacks need a server with SETTLEMENT=local: the throwaway wallets that pay have money only there. Start it with RATE_LIMIT_PER_MINUTE=0, CALLBACK_LIMIT_PER_MINUTE=0 and LOG_LEVEL=error for the test.',
    'unpaid expects 402; paid expects 200 with a receipt; webhook expects 200 (410 and 429 above the limits of a callback); wait expects the event of a webhook sent just before, and its latency counts from when that webhook was due; data asks the Jobs Data API with a key and expects 200 with what it cost.',
    'Prints the result on stderr, with --json on stdout. Exit code 1: no expected answer, or more than --unexpected-max percent of unexpected answers. Ctrl-C ends the run with the results so far.',
  ],
  arguments: [{ name: 'URL', help: 'address of the server (default PAYGRADE_URL)', count: 'optional' }],
  options: {
    scenario: { type: 'text', value: 'NAME', choices: SCENARIOS, help: 'kind of requests', default: 'unpaid' },
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
    duration: {
      type: 'integer',
      value: 'SECONDS',
      min: 1,
      max: 3600,
      help: 'length of the measured part',
      default: 10,
    },
    warmup: {
      type: 'integer',
      value: 'SECONDS',
      min: 0,
      max: 600,
      help: 'length of the warm-up before it',
      default: 2,
    },
    timeout: { type: 'integer', value: 'SECONDS', min: 1, max: 120, help: 'longest time until an answer', default: 10 },
    waits: { type: 'integer', value: 'N', min: 1, max: 10_000, help: 'wait: waits held at a time', default: 100 },
    callbacks: {
      type: 'integer',
      value: 'N',
      min: 1,
      max: 10_000,
      help: 'webhook, wait: callbacks to buy, ten webhooks each (default by rate, at most 1000)',
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
      help: 'accepted share of unexpected answers',
      default: 1,
    },
    key: {
      type: 'text',
      value: 'KEY',
      help: 'data: API key, better in API_KEY, where no list of processes shows it',
    },
    report: { type: 'text', value: 'FILE', help: 'also write an HTML page with plots' },
    json: { type: 'flag', help: 'print the result as JSON on stdout' },
    'i-own-this-server': { type: 'flag', help: 'allow an address beyond this machine' },
  },
  async run({ options, given, arguments: [named] }, io) {
    const url = named ?? (io.env.PAYGRADE_URL || undefined);
    if (url === undefined) throw new UsageError('the argument URL is missing, for example http://127.0.0.1:8402');
    const mixed = parseMix(options.mix);
    if (typeof mixed === 'string') throw new UsageError(`--mix: ${mixed}`);
    const { scenario } = options;
    if (given.has('mix') && scenario !== 'mixed') throw new UsageError('--mix goes with --scenario mixed');
    const mix = mixOf(scenario, mixed);
    for (const [name, kinds] of Object.entries(KINDS_OF)) {
      if (given.has(name) && !kinds.some((kind) => mix.has(kind)))
        throw new UsageError(`--${name} is for ${kinds.join(' and ')} requests, and this run sends none`);
    }
    const durationMs = options.duration * 1000;
    const warmUpMs = options.warmup * 1000;
    if ((mix.has('webhook') || mix.has('wait')) && durationMs + warmUpMs > CALLBACK_RUN_MS_MAX) {
      throw new UsageError(
        `--duration and --warmup must not exceed ${CALLBACK_RUN_MS_MAX / 1000} seconds together: this scenario uses callbacks, which live ten minutes`,
      );
    }
    const key = mix.has('data') ? keyFor(options.key, io) : undefined;
    const rate = options.rate ?? (scenario === 'wait' && options.connections === undefined ? WAIT_RATE : undefined);
    const plan: LoadPlan = {
      ...(await checkedTarget(url, options['i-own-this-server'])),
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
      key,
    };

    // Opened before the run, so that an unwritable file does not waste one.
    const report = options.report === undefined ? undefined : new NewFile(options.report);
    const progress = new Progress(io.stderr, io.clock);
    // The first Ctrl-C ends the run with the results so far, the next one the process.
    const stop = stopSignal(io);
    let result: LoadResult;
    try {
      result = await runLoad(plan, {
        version: VERSION,
        clock: io.clock,
        stop: stop.signal,
        onPhase: (text) => progress.showLine(() => text),
        onFigures: (figures) => progress.showLine(() => liveLine(figures)),
      });
      progress.clear();
      if (options.json) io.stdout.write(`${JSON.stringify(result)}\n`);
      else io.stderr.write(summaryText(result));
      // Written last, so that a failure to write it does not lose the results.
      report?.write(Buffer.from(reportHtml(result)));
      report?.commit();
    } catch (failure) {
      progress.clear();
      throw commandErrorOf(failure, LoadError);
    } finally {
      stop.restore();
      report?.discard();
    }

    const share = unexpectedShareOf(result);
    const hasNone = result.requests.expected === 0;
    const isFine = hasNone ? result.ended === 'interrupted' : share * 100 <= options['unexpected-max'];
    if (isFine) return EXIT_OK;
    const found = hasNone ? 'no answer was' : `${(share * 100).toFixed(1)} % of the answers were not`;
    io.stderr.write(`paygrade: ${found} as the scenario expects\n`);
    return EXIT_FAILED;
  },
});
