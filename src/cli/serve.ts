/**
 * `paygrade serve`: runs the server on a socket until SIGTERM. Every variable of the operator's contract is a flag too.
 * A catalogue that turns out to be damaged ends the start with a one-line error, even if the server already listens.
 * SIGHUP reloads the catalogue; a second SIGTERM or SIGINT ends at once, as the system would.
 */
import { setTimeout } from 'node:timers/promises';
import { isWebAddress, SAMPLE } from '../adapters/files/catalogue-source.ts';
import { lineLog } from '../adapters/files/log-lines.ts';
import { SnapshotWatch } from '../adapters/files/snapshot-watch.ts';
import type { ConnectionBounds, Listener, ListenOptions, ServedRequest } from '../adapters/listen/listen.ts';
import { openListener } from '../adapters/listen/open-listener.ts';
import { processMemory } from '../adapters/process/process-memory.ts';
import { LISTENER_BODIES } from '../adapters/process/runtime-bodies.ts';
import { systemTimers } from '../adapters/process/system-timers.ts';
import { type App, type AppConfig, type AppPorts, openApp, responderFinder } from '../app/app.ts';
import { CONFIGURATION, type Config, publicAddressesOf } from '../app/configuration.ts';
import { newRequestId } from '../app/request.ts';
import { errorCodeOf, messageOf } from '../base/failure.ts';
import { OutageError } from '../base/outage.ts';
import { systemRandom } from '../base/random.ts';
import { VERSION } from '../base/version.ts';
import { SnapshotError } from '../catalogue/snapshot/snapshot-error.ts';
import { ConfigError } from '../config/config.ts';
import { NO_CATALOGUE, originOf } from '../config/settings.ts';
import {
  type ErrorCode,
  NOT_FOUND,
  OVERLOADED,
  RATE_LIMIT_EXCEEDED,
  type RefusalExtras,
  refuse,
  retryAfter,
  STATE_UNAVAILABLE,
} from '../http/errors.ts';
import type { MadeResponse } from '../http/response-form.ts';
import { targetOf } from '../http/target.ts';
import { StateError } from '../storage/state-error.ts';
import { CommandError, command, commandErrorOf, EXIT_OK, quoted, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { catalogueFactsOf, OperatorLines } from './operator-lines.ts';
import { serverLog } from './server-log.ts';
import { SETTING_OPTIONS, settingsIn } from './settings.ts';
import { stopSignal, UNTIL_STDIN_ENDS } from './stop-signal.ts';

/** After SIGTERM, requests in flight have nine of the ten seconds of reliability 264; the last one is for closing the rest. */
export const DRAIN_MS = 9_000;
const STDOUT = 1;

export function configFrom(flags: Readonly<Record<string, unknown>>, env: Io['env']): Config {
  try {
    return CONFIGURATION.read(settingsIn(flags, env));
  } catch (failure) {
    if (failure instanceof ConfigError) throw new UsageError(failure.message);
    throw failure;
  }
}

/**
 * Errors of listen(2) and getaddrinfo(3) that mean that HOST is no valid address or name, so that waiting would not help.
 */
const NO_SUCH_HOST: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EINVAL', 'ENOTFOUND']);

async function listenerOf(options: ListenOptions<MadeResponse>): Promise<Listener> {
  try {
    return await openListener(options);
  } catch (failure) {
    const code = errorCodeOf(failure);
    if (code !== undefined && NO_SUCH_HOST.has(code)) {
      throw new UsageError(`HOST ${quoted(options.host)} is no address and no known name (${code})`);
    }
    const reason =
      code === 'EADDRINUSE'
        ? 'the port is in use; --port (or PORT) takes another one, 0 a free one'
        : messageOf(failure);
    throw new CommandError(`cannot listen on ${options.host}:${options.port} (HOST, PORT): ${reason}`);
  }
}

/** Without a product the server has no pages (siblings §1). */
const docsOf = ({ surfaces }: Config, baseUrl: string): string | undefined =>
  surfaces.length === 0 ? undefined : `${baseUrl}/docs`;

type Refuse = (
  request: Pick<ServedRequest, 'url'>,
  code: ErrorCode,
  message: string,
  extras?: RefusalExtras,
) => MadeResponse;

/** Makes the answers to requests that reach no app. */
function refuserOf({ corsOrigin }: Config): Refuse {
  const responderFor = responderFinder(corsOrigin, LISTENER_BODIES.responses, { report: () => {} }); // sends refusals only
  return ({ url }, code, message, extras) =>
    responderFor(targetOf(url).path).refusal(refuse(code, message, extras), newRequestId(systemRandom));
}

const SOON = { headers: retryAfter(1) };
/** The answer closes the connection, because the client, or all clients together, have too many. */
const CROWDED_EXTRAS: RefusalExtras = { headers: { ...SOON.headers, connection: 'close' } };
const CROWDED = {
  all: { code: OVERLOADED, message: 'the server has too many requests in flight' },
  address: { code: RATE_LIMIT_EXCEEDED, message: 'this address has too many requests in flight' },
} as const;

/** Behind a trusted proxy all connections have the proxy's address. */
const boundsOf = ({ connectionsMax, connectionsPerAddress, trustProxy }: Config): ConnectionBounds => ({
  connectionsMax,
  connectionsPerAddress: trustProxy ? 0 : connectionsPerAddress,
});

/** An app whose responses have the form of this runtime's listener. */
type ServedApp = App<MadeResponse>;

/** @throws UsageError, CommandError one line, when the app cannot start */
async function openServed(config: AppConfig, ports: AppPorts<MadeResponse>): Promise<ServedApp> {
  try {
    return await openApp(config, ports);
  } catch (failure) {
    if (failure instanceof ConfigError) throw new UsageError(failure.message);
    throw commandErrorOf(failure, SnapshotError, StateError, OutageError);
  }
}

/** @param fault why a reload failed; undefined: it succeeded @param app undefined while it opens */
function tellReload(lines: OperatorLines, app: ServedApp | undefined, fault: string | undefined): void {
  if (fault === undefined) lines.reloaded(app && catalogueFactsOf(app.catalogue));
  else lines.reloadFailed(fault, app?.catalogue.isReadable());
}

/** Reloads the catalogue and reports the result. Never rejects. */
async function reloadCatalogue(app: ServedApp, lines: OperatorLines): Promise<void> {
  const fault = await app.reload().then(() => undefined, messageOf);
  tellReload(lines, app, fault);
}

/**
 * Handles SIGHUP from here to `stop`, because unhandled it would end the process. A signal that comes before the first handler is
 * passed to it: the catalogue may have been read before that signal.
 */
function hangUpsOf(io: Io): { handle(handler: () => void): void; stop(): void } {
  let isWaiting = false;
  let handler = (): void => {
    isWaiting = true;
  };
  return {
    stop: io.onSignal('SIGHUP', () => handler()),
    handle(next) {
      handler = next;
      if (isWaiting) next();
      isWaiting = false;
    },
  };
}

/** undefined: there is no file to watch, or watching is off. */
const snapshotWatchOf = ({ snapshot, snapshotWatch }: Config): SnapshotWatch | undefined =>
  snapshotWatch && snapshot !== SAMPLE && snapshot !== NO_CATALOGUE && !isWebAddress(snapshot)
    ? new SnapshotWatch(snapshot)
    : undefined;

const snapshotMissing = (path: string): string =>
  `SNAPSHOT ${path} is missing: the server serves on what it has read, but its next start will fail; put the file back`;

export const serve = command({
  notes: [
    'Prints `listening on http://HOST:PORT` when it is ready, then one JSON line for each request. Notices, the pid and the results of reloads go to stderr, as JSON lines when stdout is no terminal.',
    'SIGHUP (or `paygrade reload`) reloads the catalogue file without dropping a request; SIGTERM answers requests in flight and exits 0.',
  ],
  options: { ...SETTING_OPTIONS, 'until-stdin-ends': UNTIL_STDIN_ENDS },
  async run({ options: { 'until-stdin-ends': endsWithStdin, ...settings } }, io) {
    const config = configFrom(settings, io.env);
    const log = lineLog(STDOUT);
    const reports = serverLog(log, config.logLevel, io.clock);
    let app: ServedApp | undefined;
    const hangUps = hangUpsOf(io);
    const { stopped: shutdown } = stopSignal(io, { endsWithStdin });
    const refused = refuserOf(config);
    const listener = await listenerOf({
      host: config.host,
      port: config.port,
      handle: (request, client) =>
        app === undefined
          ? refused(request, STATE_UNAVAILABLE, 'the server is starting', SOON)
          : app.handle(request, client),
      unreadable: () => refused({ url: '/' }, NOT_FOUND, 'there is nothing at this path'),
      report: (failure) => reports.onFailure(failure, 'listener'),
      bounds: boundsOf(config),
      crowded: (bound, request) => refused(request, CROWDED[bound].code, CROWDED[bound].message, CROWDED_EXTRAS),
    });

    const lines = new OperatorLines(io);
    const addresses = publicAddressesOf(config, listener.port);
    const watch = snapshotWatchOf(config);
    const damage = Promise.withResolvers<string>();
    const ports: AppPorts<MadeResponse> = {
      clock: io.clock,
      random: systemRandom,
      timers: systemTimers,
      startsAtOnce: false,
      memory: processMemory(),
      ...LISTENER_BODIES,
      components: [{ metrics: (page) => listener.metrics(page) }],
      ...reports,
      onDamagedCatalogue: damage.resolve,
      onCatalogue: (fault) => tellReload(lines, app, fault),
      onSnapshotFault: (fault) => lines.snapshotFault(fault),
    };
    try {
      app = await Promise.race([openServed({ ...config, ...addresses, port: listener.port }, ports), shutdown]);
    } finally {
      if (app === undefined) await listener.close(0);
    }
    // Half-open parts end with the process: they have accepted no request.
    if (app === undefined) return EXIT_OK;

    const opened = app;
    for (const notice of opened.notices) lines.notice(notice);
    void opened.laterNotices.then((notices) => {
      for (const notice of notices) lines.notice(notice);
    });
    if (opened.demoKey !== undefined) lines.demoKey(opened.demoKey);
    const catalogue = catalogueFactsOf(opened.catalogue);
    lines.started({ version: VERSION, processId: io.processId, docs: docsOf(config, addresses.baseUrl), catalogue });
    const onReplaced = (): void => void reloadCatalogue(opened, lines);
    watch?.start(systemTimers, onReplaced, () => lines.notice(snapshotMissing(config.snapshot)));
    const reload = (): void => {
      watch?.noteLoad();
      void reloadCatalogue(opened, lines);
    };
    hangUps.handle(reload);
    io.stdout.write(`listening on ${originOf(config.host, listener.port)}\n`);

    const damaged = await Promise.race([shutdown, damage.promise]);
    watch?.stop();
    hangUps.handle(() => {});
    opened.leave();
    if (config.drainSeconds > 0 && damaged === undefined) await setTimeout(config.drainSeconds * 1000);
    opened.drain();
    await listener.close(DRAIN_MS);
    await opened.close();
    await log.flush();
    hangUps.stop();
    if (damaged !== undefined) throw new CommandError(damaged);
    return EXIT_OK;
  },
});
