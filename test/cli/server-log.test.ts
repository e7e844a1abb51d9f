/** Lines of the log by what became of a request. */
import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../src/app/request-record.ts';
import { serverLog } from '../../src/cli/server-log.ts';
import { LOG_LEVELS, type LogLevel } from '../../src/config/settings.ts';
import { ManualTime } from '../support/manual-time.ts';

const LEVELS: readonly (readonly [status: number, level: LogLevel])[] = [
  [200, 'info'],
  [304, 'info'],
  [402, 'info'],
  [429, 'info'],
  [500, 'error'],
  [502, 'warn'],
  [503, 'error'],
  [504, 'warn'],
];

function logged(level: LogLevel, status: number): string[] {
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line), flush: async () => {} };
  const { onRequest, wantsRequest } = serverLog(log, level, new ManualTime());
  const record: RequestRecord = {
    requestId: 'req_1',
    method: 'POST',
    path: '/v1/resolve',
    surface: 'resolve',
    operation: 'createResolve',
    status,
    durationMs: 1.5,
    client: '192.0.2.1',
    code: null,
    detail: null,
  };
  if (wantsRequest?.(status) !== false) onRequest?.(record);
  return lines;
}

it('shows at the level of a warning also notices, and that the facilitator is away and back', () => {
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line), flush: async () => {} };
  const { onFacilitatorReachable, onStateNotice } = serverLog(log, 'warn', new ManualTime());
  onFacilitatorReachable(false);
  onFacilitatorReachable(true);
  onStateNotice('the database was restored');
  const told = lines.map((line) => JSON.parse(line));
  expect(told.map(({ level }) => level)).toEqual(Array(3).fill('warn'));
  expect(told.map(({ message }) => message)).toEqual([
    'the facilitator cannot be reached',
    'the facilitator can be reached',
    'the database was restored',
  ]);
});

it('shows the end of a fault wherever it shows the fault', () => {
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line), flush: async () => {} };
  const { onJobsService, onStateFault, onVerificationFault } = serverLog(log, 'error', new ManualTime());
  onStateFault('disk full');
  onStateFault(undefined);
  onJobsService('http://10.0.0.5', 'refused');
  onJobsService('http://10.0.0.5', undefined);
  onVerificationFault('a thread ended', false);
  onVerificationFault('all threads ended', true);
  onVerificationFault('a thread ended', false);
  onVerificationFault(undefined, false);
  onVerificationFault('a thread ended', false);
  onVerificationFault(undefined, false);
  const told = lines.map((line) => JSON.parse(line));
  expect(told.map(({ message, fault }) => [message, fault])).toEqual([
    ['the server accepts no payments', 'disk full'],
    ['the server can write its state again', undefined],
    ['a jobs service cannot be asked', 'refused'],
    ['a jobs service answers again', undefined],
    ['signatures are not verified as configured', 'all threads ended'],
    ['signatures are not verified as configured', 'a thread ended'],
    ['signatures are verified as configured again', undefined],
  ]);
  expect(told.every(({ level }) => level === 'error')).toBe(true);
});

it.each([
  ['error', 'stops payments', true],
  ['warn', 'only slows them', false],
])('has level %s for a fault of verification that %s', (level, _, isOutOfOrder) => {
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line), flush: async () => {} };
  serverLog(log, 'warn', new ManualTime()).onVerificationFault('a thread ended', isOutOfOrder);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level, fault: 'a thread ended' }]);
});

describe('the line of a request', () => {
  it.each(LEVELS)('with status %i has level %s, and is written from that LOG_LEVEL on', (status, level) => {
    const [line] = logged('debug', status);
    expect(JSON.parse(line!)).toMatchObject({ level, status, request_id: 'req_1', surface: 'resolve' });
    const shown = LOG_LEVELS.filter((one) => logged(one, status).length > 0);
    expect(shown).toEqual(LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)));
  });
});
