/** The numbers of docs/limits.md about callbacks, resolves, retries and outbound requests are those of the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { HOUR_MS } from '../src/base/durations.ts';
import { KIB, MIB } from '../src/base/sizes.ts';
import * as callback from '../src/callback/limits.ts';
import * as outbound from '../src/outbound/limits.ts';
import * as resolve from '../src/resolve/limits.ts';
import * as retry from '../src/retry/limits.ts';

const ROWS = readFileSync(new URL('../docs/limits.md', import.meta.url), 'utf8').split('\n');
const grouped = (count: number): string => count.toLocaleString('en');
const seconds = (ms: number): string => `${ms / 1000} s`;

it.each([
  ['reads of one callback', `${callback.READ_COUNT_MAX} in any ${seconds(callback.READ_WINDOW_MS)}`],
  ['open waits on one callback', `${callback.WAIT_COUNT_MAX}, then 429`],
  ['resolves under way', `${resolve.WORK_COUNT_MAX}, half for one payer`],
  ['results of resolves', `${resolve.STORED_BYTES_ON_DISK / KIB / MIB} GiB on disk`],
  ['results of resolves', `${resolve.STORED_BYTES_IN_MEMORY / MIB} MiB in memory`],
  ['body of a creation', `${grouped(retry.REQUEST_BYTES_MAX)} bytes, within ${seconds(retry.BODY_DEADLINE_MS)}`],
  ['headers of a request', `${retry.HEADER_COUNT_MAX}, ${retry.HEADER_BYTES_MAX / KIB} KiB together`],
  ['waiting for another request with the same idempotency key', seconds(retry.CLAIM_WAIT_MS_MAX)],
  ['attempts of a job', `${retry.ATTEMPT_COUNT_MAX}`],
  ['body of a result', `${grouped(retry.RESPONSE_BYTES_MAX)} bytes are kept`],
  ['jobs in memory', `${grouped(retry.HELD_COUNT_MAX)} that are due, ${retry.HELD_BYTES_MAX / MIB} MiB of requests`],
  ['an ended job', `${retry.KEPT_MS / HOUR_MS} hours`],
  ['to one host', `${outbound.HOST_SLOTS_MAX} at a time`],
  ['to hosts that have not answered for ', seconds(outbound.SILENCE_MS)],
  ['address', `${grouped(outbound.TARGET_LENGTH_MAX)} characters`],
  ['look-up of a name', `${seconds(outbound.LOOK_UP_MS)}; ${seconds(outbound.OTHER_FAMILY_MS)} for the other family`],
  ['connecting, TLS included', `${seconds(outbound.CONNECT_MS)}; `],
  ['connecting, TLS included', `at most ${outbound.ADDRESSES_TRIED_MAX} addresses`],
  ['head of the answer', `${outbound.HEAD_BYTES_MAX / KIB} KiB`],
  ['body on the wire', `${outbound.WIRE_BYTES_MAX / MIB} MiB`],
  ['body unpacked', `${outbound.UNPACKED_BYTES_MAX / MIB} MiB`],
])('docs/limits.md says the limit of the code: %s, %s', (name, limit) => {
  const rows = ROWS.filter((row) => row.startsWith(`| ${name}`));
  expect(rows).toHaveLength(1);
  expect(rows[0]?.slice('| '.length)).toContain(limit);
});
