/** The result of a run as text, for people. */
import { grouped } from '../base/grouped.ts';
import type { LatencySummary } from './latencies.ts';
import type { LoadResult } from './result.ts';

/** Unit, and its length in microseconds. A run takes no more than 70 minutes. */
const UNITS = [
  ['ms', 1000],
  ['s', 1_000_000],
  ['min', 60_000_000],
] as const;

/** Microseconds as text in µs, ms, s or min, with three significant figures. */
export function duration(us: number): string {
  if (us < 1000) return `${us} µs`;
  const [unit, unitUs] = UNITS.find(([, each]) => us < each * 999.5) ?? UNITS[2];
  const value = us / unitUs;
  return `${value.toPrecision(3)} ${unit}`;
}

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Columns two spaces apart: the first two left-aligned, the others right-aligned. */
function columnsOf(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join('  '),
  );
  return lines.map((line) => `  ${line.trimEnd()}\n`).join('');
}

const cellsOf = (latency: LatencySummary | null): string[] =>
  latency === null
    ? ['', '', '', '', '']
    : [latency.p50, latency.p90, latency.p99, latency.p99_9, latency.max].map((us) => duration(us));

export function summaryText(result: LoadResult): string {
  const { requests, generator, operations, callbacks, payments } = result;
  const loop =
    result.rate === null
      ? `closed loop, ${result.connections} connections`
      : `open loop, ${grouped(result.rate)} requests/s, latency counted from when each was due`;
  const lines = [
    `${result.scenario} load on ${result.url}${result.server_version === null ? '' : ` (${result.server_version})`}, ${loop}`,
    `${(result.duration_ms / 1000).toFixed(1)} s measured after ${(result.warmup_ms / 1000).toFixed(1)} s of warm-up, ended: ${result.ended}`,
    '',
  ];
  const rows = [['operation', 'outcome', 'count', 'p50', 'p90', 'p99', 'p99.9', 'max']];
  for (const { operation, outcomes } of operations) {
    for (const { outcome, expected, count, latency_us } of outcomes) {
      rows.push([operation, `${outcome}${expected ? '' : ' (!)'}`, grouped(count), ...cellsOf(latency_us)]);
    }
  }
  if (operations.reduce((count, { outcomes }) => count + outcomes.length, 0) > 1) {
    const { expected, unexpected, unsent } = requests;
    rows.push(['all', '', grouped(expected + unexpected + unsent), ...cellsOf(result.latency_us)]);
  }
  let text = `${lines.join('\n')}\n${columnsOf(rows)}\n`;
  text += `  ${grouped(requests.expected)} answered as expected, ${requests.per_second.toLocaleString('en-US')}/s`;
  text += `; ${grouped(requests.unexpected)} otherwise (!)`;
  if (requests.unsent > 0) text += `; ${grouped(requests.unsent)} were due and never sent`;
  if (requests.passed_over > 0)
    text += `; ${grouped(requests.passed_over)} of the mix skipped: their kind had nothing to send`;
  text += '\n';
  if (payments !== null)
    text += `  ${grouped(payments.sent)} payments sent of ${grouped(payments.signed)} signed ahead\n`;
  if (result.credits !== null) text += `  ${grouped(result.credits.charged)} credits charged\n`;
  if (callbacks !== null) {
    text += `  ${grouped(callbacks.created)} callbacks bought, ${grouped(callbacks.deleted)} deleted\n`;
  }
  text += `  the generator used ${percent(generator.cpu_share)} of a core`;
  if (generator.lag_us !== null)
    text += `; its own lag: p50 ${duration(generator.lag_us.p50)}, p99 ${duration(generator.lag_us.p99)}`;
  if (generator.connections_busy_share > 0.01) {
    text += `; all ${result.connections} connections were busy ${percent(generator.connections_busy_share)} of the time`;
  }
  if (generator.waits_busy_share > 0.01) {
    text += `; no wait was held to be woken ${percent(generator.waits_busy_share)} of the time`;
  }
  text += '\n';
  if (generator.was_the_limit) text += `  the generator, not the server, was the limit: ${generator.reason}\n`;
  for (const hint of result.hints) text += `  hint: ${hint}\n`;
  return text;
}
