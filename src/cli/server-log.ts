/** The log of `paygrade serve`: one JSON line a request, and one for each event that the operator must know. */
import type { LineLog } from '../adapters/files/log-lines.ts';
import type { AppPorts } from '../app/app.ts';
import type { RequestRecord } from '../app/request-record.ts';
import type { Clock } from '../base/clock.ts';
import { stackOf } from '../base/failure.ts';
import { isoTime } from '../base/iso-time.ts';
import { printableLines } from '../base/printable.ts';
import { LOG_LEVELS, type LogLevel } from '../config/settings.ts';

const PATH_LENGTH_MAX = 200;

/**
 * 502 and 504 mean that another server failed (RFC 9110 §15.6): a customer's target, or a jobs service, which is logged
 *   separately.
 */
const levelOf = (status: number): LogLevel =>
  status < 500 ? 'info' : status === 502 || status === 504 ? 'warn' : 'error';

/** Written by hand: `JSON.stringify` and the text of a Date took a tenth of the time of a small answer. */
function requestLine(record: RequestRecord, nowMs: number): string {
  const { requestId, method, path, surface, operation, status, durationMs, client, code, detail } = record;
  const shownPath = path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX)}…` : path;
  const named = (name: string, value: string | null): string =>
    value === null ? '' : `,"${name}":${JSON.stringify(value)}`;
  const line =
    `{"time":"${isoTime(nowMs)}","level":"${levelOf(status)}","request_id":"${requestId}"` +
    `,"method":${JSON.stringify(method)},"path":${JSON.stringify(shownPath)}${named('surface', surface)}` +
    `,"operation":${operation === null ? 'null' : `"${operation}"`},"status":${status}` +
    `,"duration_ms":${Math.round(durationMs * 1000) / 1000},"client":${JSON.stringify(client)}` +
    `${named('code', code)}${named('detail', detail)}}`;
  // All other members are ASCII or escaped by the runtime.
  return detail === null ? line : printableLines(line);
}

const OVERLOAD_MESSAGES = [
  'the server is no longer overloaded',
  'the server is overloaded and makes no new offers',
  'the server is overloaded and accepts no payments',
] as const;

/**
 * Writes the app's reports as lines of the log, at this level and above. The end of a fault has the level of its beginning, so
 * that a log which shows the fault also shows when it is over.
 */
export function serverLog(log: LineLog, logLevel: LogLevel, clock: Clock) {
  const shown = LOG_LEVELS.indexOf(logLevel);
  const isShown = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) <= shown;
  const note = (level: LogLevel, facts: Readonly<Record<string, unknown>>): void => {
    if (!isShown(level)) return;
    log.write(printableLines(JSON.stringify({ time: isoTime(clock.nowMs()), level, ...facts })));
  };
  /** Of the fault that lasts: the highest that it has had. */
  let verificationLevel: LogLevel = 'warn';
  return {
    onRequest: logLevel === 'silent' ? undefined : (record) => log.write(requestLine(record, clock.nowMs())),
    wantsRequest: (status) => isShown(levelOf(status)),
    onFailure(failure, requestId) {
      note('error', { request_id: requestId, failure: stackOf(failure) });
    },
    onStateFault(fault) {
      const message = fault === undefined ? 'the server can write its state again' : 'the server accepts no payments';
      note('error', { message, fault });
    },
    onStateNotice: (message) => note('warn', { message }),
    onVerificationFault(fault, isOutOfOrder) {
      if (isOutOfOrder) verificationLevel = 'error';
      const how = fault === undefined ? 'verified as configured again' : 'not verified as configured';
      note(verificationLevel, { message: `signatures are ${how}`, fault });
      if (fault === undefined) verificationLevel = 'warn';
    },
    onJobsService(url, fault) {
      const message = fault === undefined ? 'a jobs service answers again' : 'a jobs service cannot be asked';
      note('error', { message, address: url, fault });
    },
    onOverload({ level, kind, memoryShare, lateMs }) {
      note('warn', {
        message: OVERLOAD_MESSAGES[level],
        overload_level: level,
        ...(level === 0 ? {} : { reason: kind }),
        memory_percent: Math.round(memoryShare * 1000) / 10,
        loop_lag_ms: Math.round(lateMs),
      });
    },
    onFacilitatorReachable(isReachable) {
      note('warn', { message: `the facilitator can${isReachable ? '' : 'not'} be reached` });
    },
    onFacilitatorSupport(support) {
      if (support.kind === 'supported') return;
      const level = support.kind === 'domain' ? 'warn' : 'error';
      note(level, { message: `the facilitator cannot be used as it is set up: ${support.words}` });
    },
    onRepeatedTransaction({ transaction, order }) {
      const { payer, authorization } = order;
      note('warn', {
        message: 'an authorization was settled with the transaction of another one',
        payer,
        nonce: authorization.nonce,
        transaction,
      });
    },
    onCaseReport(report) {
      const { kind, order } = report;
      note('warn', {
        message: `the outcome of an unknown settlement: ${kind}`,
        payer: order.payer,
        nonce: order.authorization.nonce,
        ...(kind === 'settled' ? { transaction: report.transaction } : { detail: report.detail }),
      });
    },
  } satisfies Partial<AppPorts>;
}
