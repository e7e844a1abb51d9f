/**
 * `paygrade serve`: the server on a socket, until SIGTERM. Every variable of the operator's contract is a flag too.
 * SIGHUP takes the catalogue anew; a second SIGTERM or SIGINT ends at once, as the system would.
 */

import { SAMPLE } from '../adapters/files/catalogue-source.ts';
import { lineLog } from '../adapters/files/log-lines.ts';
import type { Listener, ListenOptions } from '../adapters/listen/listen.ts';
import { openListener } from '../adapters/listen/open-listener.ts';
import { type App, openApp } from '../app/app.ts';
import { CONFIGURATION, type Config } from '../app/configuration.ts';
import type { RequestRecord } from '../app/request-log.ts';
import { systemRandom } from '../base/random.ts';
import { SnapshotError } from '../catalogue/snapshot/snapshot-error.ts';
import { ConfigError } from '../config/config.ts';
import { LOG_LEVELS, type LogLevel, originOf } from '../config/settings.ts';
import { type ErrorCode, NOT_FOUND, refuse } from '../http/errors.ts';
import { Responder } from '../http/respond.ts';
import { CATALOGUE_UNAVAILABLE } from '../modules/jobs/refusals.ts';
import { StateError } from '../storage/sqlite/state.ts';
import { CommandError, command, EXIT_OK, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { SETTING_OPTIONS, settingsIn } from './settings.ts';

/** Everything under way has ten seconds at SIGTERM (reliability, case 264); the last one is for the process itself. */
const DRAIN_MS = 9_000;
/** The sample counts its times back from its building: built anew each day it is never stale. */
const SAMPLE_REFRESH_MS = 24 * 3_600_000;
const STDOUT = 1;

function configFrom(flags: Readonly<Record<string, unknown>>, env: Io['env']): Config {
  try {
    return CONFIGURATION.read(settingsIn(flags, env));
  } catch (failure) {
    if (failure instanceof ConfigError) throw new UsageError(failure.message);
    throw failure;
  }
}

async function listenerOf(options: ListenOptions): Promise<Listener> {
  try {
    return await openListener(options);
  } catch (failure) {
    const { code } = failure as { code?: unknown };
    const reason =
      code === 'EADDRINUSE' ? 'the port is in use' : failure instanceof Error ? failure.message : String(failure);
    throw new CommandError(`cannot listen on ${options.host}:${options.port}: ${reason}`);
  }
}

const levelOf = (status: number): LogLevel => (status >= 500 ? 'error' : 'info');

function requestLine(record: RequestRecord, nowMs: number): string {
  const { requestId, method, path, surface, operation, status, durationMs, client, code, detail } = record;
  return JSON.stringify({
    time: new Date(nowMs).toISOString(),
    level: levelOf(status),
    request_id: requestId,
    method,
    path: path.length > 200 ? `${path.slice(0, 200)}…` : path,
    ...(surface === null ? {} : { surface }),
    operation,
    status,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    client,
    ...(code === null ? {} : { code }),
    ...(detail === null ? {} : { detail }),
  });
}

/** Resolves with the first of the two signals that end a server; what comes after it is the system's again. */
function endAsked(io: Io): Promise<void> {
  return new Promise((resolve) => {
    const stops = (['SIGTERM', 'SIGINT'] as const).map((name) =>
      io.onSignal(name, () => {
        for (const stop of stops) stop();
        resolve();
      }),
    );
  });
}

export const serve = command({
  name: 'serve',
  summary: 'Serves the catalogue and the callbacks; settings come from the environment or from flags',
  notes: [
    'Prints `listening on http://HOST:PORT` when it is ready, then one JSON line a request.',
    'SIGHUP takes the catalogue file anew without dropping a request; SIGTERM answers what is under way and exits 0.',
  ],
  options: SETTING_OPTIONS,
  async run({ options }, io) {
    const config = configFrom(options, io.env);
    const log = lineLog(STDOUT);
    const shown = LOG_LEVELS.indexOf(config.logLevel);
    const isShown = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) <= shown;

    const note = (level: LogLevel, facts: Readonly<Record<string, unknown>>): void => {
      if (!isShown(level)) return;
      log.write(JSON.stringify({ time: new Date(io.clock.nowMs()).toISOString(), level, ...facts }));
    };

    let app: App | undefined;
    /** What SIGHUP does now. It is caught from here on to the end: unhandled, it would end the process. */
    let onHangUp = (): void => {};
    const stopHangUps = io.onSignal('SIGHUP', () => onHangUp());
    const plain = new Responder({}, false);
    const refusal = (code: ErrorCode, message: string): Response =>
      plain.refusal(refuse(code, message), `req_${systemRandom.uuid()}`);
    const listener = await listenerOf({
      host: config.host,
      port: config.port,
      fetch: (request, caller) =>
        app === undefined ? refusal(CATALOGUE_UNAVAILABLE, 'the server is starting') : app.fetch(request, caller),
      unreadable: () => refusal(NOT_FOUND, 'there is nothing at this path'),
    });

    const address = originOf(config.host, listener.port);
    try {
      app = await openApp(
        { ...config, baseUrl: config.baseUrl ?? address, hookBaseUrl: config.hookBaseUrl ?? address },
        {
          clock: io.clock,
          random: systemRandom,
          copiesIntoResponse: 'Bun' in globalThis,
          onRequest:
            config.logLevel === 'silent'
              ? undefined
              : (record) => {
                  if (isShown(levelOf(record.status))) log.write(requestLine(record, io.clock.nowMs()));
                },
          onFailure(failure, requestId) {
            const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
            note('error', { request_id: requestId, failure: text });
          },
          onStateFault(fault) {
            if (fault === undefined) note('warn', { message: 'the state can be written again' });
            else note('error', { message: 'no payments are taken', fault });
          },
          onVerificationFault(fault) {
            if (fault === undefined) note('warn', { message: 'a verification thread works again' });
            else note('error', { message: 'a verification thread is started anew', fault });
          },
          onCaseReport(resolution) {
            const { kind, order } = resolution;
            note('warn', {
              message: `a settlement of unknown outcome is ${kind}`,
              payer: order.payer,
              nonce: order.authorization.nonce,
              ...(kind === 'settled' ? { transaction: resolution.transaction } : { detail: resolution.detail }),
            });
          },
        },
      );
    } catch (failure) {
      await listener.close(0);
      if (failure instanceof ConfigError) throw new UsageError(failure.message);
      if (failure instanceof SnapshotError || failure instanceof StateError) throw new CommandError(failure.message);
      throw failure;
    }

    for (const notice of app.notices) io.stderr.write(`${notice}\n`);
    const reload = (): void => {
      try {
        app?.reload();
        io.stderr.write('the catalogue was taken anew\n');
      } catch (failure) {
        const reason = failure instanceof Error ? failure.message : String(failure);
        io.stderr.write(`the catalogue was not taken anew, the one from before is served on: ${reason}\n`);
      }
    };
    onHangUp = reload;
    const refresh = config.snapshot === SAMPLE ? setInterval(reload, SAMPLE_REFRESH_MS) : undefined;
    const ended = endAsked(io);
    io.stdout.write(`listening on ${address}\n`);

    await ended;
    clearInterval(refresh);
    onHangUp = () => {};
    app.drain();
    await listener.close(DRAIN_MS);
    await app.close();
    await log.flush();
    stopHangUps();
    return EXIT_OK;
  },
});
