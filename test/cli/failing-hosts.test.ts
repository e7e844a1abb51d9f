/** When a host is left alone. */
import { expect, it } from 'vitest';
import { FailingHosts, HOST_FAILURES_MAX } from '../../src/cli/watch/failing-hosts.ts';

const MINUTE_MS = 60_000;
const visitAt = (minute: number, retryAfterMs: number | null = null) => ({
  ...{ startMs: minute * MINUTE_MS, nowMs: (minute + 1) * MINUTE_MS, retryAfterMs },
});

it('one board that fails again and again says nothing about the others of its host', () => {
  const hosts = new FailingHosts(() => 0.5);
  for (let minute = 0; minute < 60; minute++) expect(hosts.failed('h', 'lever:one', visitAt(minute))).toBeUndefined();
});

it('different boards do, in a row and over minutes, until one is answered', () => {
  const hosts = new FailingHosts(() => 0.5);
  for (let board = 1; board < HOST_FAILURES_MAX; board++) {
    expect(hosts.failed('h', `lever:${board}`, visitAt(board))).toBeUndefined();
  }
  hosts.answered('h');
  for (let board = 1; board < HOST_FAILURES_MAX; board++) {
    expect(hosts.failed('h', `lever:${board}`, visitAt(board))).toBeUndefined();
  }
  expect(hosts.failed('h', 'lever:last', visitAt(9))).toBeGreaterThan(10 * MINUTE_MS);
  // The one that tries it again decides alone.
  expect(hosts.failed('h', 'lever:1', visitAt(20))).toBeGreaterThan(21 * MINUTE_MS);
});

it('quick failures do not, unless the host asks for a pause', () => {
  const hosts = new FailingHosts(() => 0.5);
  const at = { startMs: 0, nowMs: 1000 };
  for (let board = 1; board <= 2 * HOST_FAILURES_MAX; board++) {
    expect(hosts.failed('h', `lever:${board}`, { ...at, retryAfterMs: null })).toBeUndefined();
  }
  expect(hosts.failed('h', 'lever:last', { ...at, retryAfterMs: 7_200_000 })).toBeGreaterThanOrEqual(7_200_000);
});
