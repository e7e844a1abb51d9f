/**
 * The result of a run as one HTML page: latency by percentile, throughput and latency over time as inline SVG, the tables, and
 * the whole result as JSON. The page loads nothing and has no script; the only address on it is the tested server's, as text.
 */
import { grouped } from '../base/grouped.ts';
import { escapedHtml } from '../base/html-escape.ts';
import type { CurvePoint } from './latencies.ts';
import type { LoadResult } from './result.ts';
import { duration } from './summary.ts';

/** Size and margins of a plot, SVG user units. */
const WIDTH = 760;
const HEIGHT = 260;
const LEFT = 70;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 40;

const place = (value: number): string => value.toFixed(1);

interface Axis {
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  /** Position along the axis, 0..1. */
  readonly shareOf: (value: number) => number;
}

/** From zero to a round number above `max`, with four to eight ticks. */
function linearAxis(max: number, labelOf: (value: number) => string): Axis {
  const rough = Math.max(max, 1e-9) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const end = Math.ceil(Math.max(max, 1e-9) / step) * step;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => ({
    at: i * step,
    label: labelOf(i * step),
  }));
  return { ticks, shareOf: (value) => value / end };
}

/** Percentiles, where each further nine has the same width. */
function percentileAxis(last: number): Axis {
  const ninesOf = (percentile: number): number => -Math.log10(1 - Math.min(percentile, 99.99999999) / 100);
  const end = Math.max(1, ninesOf(last));
  const marks = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999].filter((mark) => ninesOf(mark) <= end + 0.01);
  return {
    ticks: marks.map((at) => ({ at, label: `${at} %` })),
    shareOf: (value) => Math.min(1, ninesOf(value) / end),
  };
}

interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const xOf = (axis: Axis, value: number): number => LEFT + axis.shareOf(value) * (WIDTH - LEFT - RIGHT);
const yOf = (axis: Axis, value: number): number => HEIGHT - BOTTOM - axis.shareOf(value) * (HEIGHT - TOP - BOTTOM);

function plot(title: string, xAxis: Axis, xName: string, yAxis: Axis, lines: readonly Line[]): string {
  const right = WIDTH - RIGHT;
  const bottom = HEIGHT - BOTTOM;
  const grid = [
    ...yAxis.ticks.map(({ at, label }) => {
      const y = place(yOf(yAxis, at));
      return `<path class="grid" d="M${LEFT} ${y}H${right}"/><text x="${LEFT - 8}" y="${y}" dy="0.32em" text-anchor="end">${escapedHtml(label)}</text>`;
    }),
    ...xAxis.ticks.map(({ at, label }) => {
      const x = place(xOf(xAxis, at));
      return `<path class="grid" d="M${x} ${TOP}V${bottom}"/><text x="${x}" y="${bottom + 16}" text-anchor="middle">${escapedHtml(label)}</text>`;
    }),
    `<text x="${(LEFT + right) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escapedHtml(xName)}</text>`,
  ];
  const drawn = lines.map(({ name, points }, index) => {
    const path = points.map(([x, y]) => `${place(xOf(xAxis, x))} ${place(yOf(yAxis, y))}`).join('L');
    return points.length === 0
      ? ''
      : `<path class="line c${index % 6}" d="M${path}"><title>${escapedHtml(name)}</title></path>`;
  });
  const legend = lines.map(({ name }, index) => `<span class="c${index % 6}">${escapedHtml(name)}</span>`).join(' ');
  return `<figure><figcaption>${escapedHtml(title)} <small>${legend}</small></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapedHtml(title)}">${grid.join('')}${drawn.join('')}</svg></figure>`;
}

const milliseconds = (us: number): string => (us === 0 ? '0' : duration(Math.round(us)));

function latencyPlot({ operations }: LoadResult): string {
  const curves = operations.filter(({ curve }) => curve.length > 0);
  const all: readonly CurvePoint[] = curves.flatMap(({ curve }) => curve);
  const xAxis = percentileAxis(Math.max(90, ...all.map(([percentile]) => percentile)));
  const yAxis = linearAxis(Math.max(1, ...all.map(([, us]) => us)), milliseconds);
  const lines = curves.map(({ operation, curve }) => ({ name: operation, points: curve }));
  return plot('Latency by percentile', xAxis, 'percentile of the requests', yAxis, lines);
}

function overTime({ duration_ms: durationMs, timeline }: LoadResult): readonly string[] {
  const { stretch_ms: stretchMs, stretches } = timeline;
  const seconds = linearAxis(
    Math.max(1, stretches.length) * (stretchMs / 1000),
    (value) => `${Number(value.toFixed(2))} s`,
  );
  // The last stretch ends with the measured part, so it may be a short one.
  const lengthMs = (atMs: number): number => Math.max(1, Math.min(stretchMs, durationMs - atMs));
  const middle = (atMs: number): number => (atMs + lengthMs(atMs) / 2) / 1000;
  const rateAt = (atMs: number, count: number): number => (count * 1000) / lengthMs(atMs);
  const rates: Line[] = [
    { name: 'as expected', points: stretches.map(({ at_ms, expected }) => [middle(at_ms), rateAt(at_ms, expected)]) },
    {
      name: 'not as expected',
      points: stretches.map(({ at_ms, unexpected }) => [middle(at_ms), rateAt(at_ms, unexpected)]),
    },
  ];
  const rateAxis = linearAxis(Math.max(1, ...rates.flatMap(({ points }) => points.map(([, y]) => y))), (value) =>
    grouped(Math.round(value)),
  );
  const latencies: Line[] = [
    { name: 'p50', points: stretches.map(({ at_ms, p50_us }) => [middle(at_ms), p50_us]) },
    { name: 'p99', points: stretches.map(({ at_ms, p99_us }) => [middle(at_ms), p99_us]) },
  ];
  const latencyAxis = linearAxis(
    Math.max(1, ...latencies.flatMap(({ points }) => points.map(([, y]) => y))),
    milliseconds,
  );
  return [
    plot('Throughput over time, answers a second', seconds, 'of the measured part', rateAxis, rates),
    plot('Latency over time, by when the answer came', seconds, 'of the measured part', latencyAxis, latencies),
  ];
}

const COLUMNS = ['min', 'p50', 'p75', 'p90', 'p95', 'p99', 'p99_9', 'max'] as const;

function outcomeTable({ operations }: LoadResult): string {
  const heads = ['operation', 'outcome', 'count', ...COLUMNS.map((name) => name.replace('_', '.'))];
  const rows = operations.flatMap(({ operation, outcomes }) =>
    outcomes.map(({ outcome, expected, count, latency_us }) => {
      const cells = COLUMNS.map((name) => (latency_us === null ? '' : duration(latency_us[name])));
      const mark = expected ? '' : ' class="wrong"';
      return `<tr${mark}><th>${escapedHtml(operation)}</th><td>${escapedHtml(outcome)}</td>${[grouped(count), ...cells].map((cell) => `<td class="number">${cell}</td>`).join('')}</tr>`;
    }),
  );
  return `<table><thead><tr>${heads.map((head, i) => `<th${i < 2 ? '' : ' class="number"'}>${head}</th>`).join('')}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function factList(result: LoadResult): string {
  const { requests, generator } = result;
  const loop =
    result.rate === null
      ? `closed, ${result.connections} connections`
      : `open, ${grouped(result.rate)} requests a second`;
  const facts: (readonly [string, string])[] = [
    ['server', `${result.url}${result.server_version === null ? '' : `, paygrade ${result.server_version}`}`],
    [
      'scenario',
      `${result.scenario} (${Object.entries(result.mix)
        .map(([kind, weight]) => `${kind}=${weight}`)
        .join(', ')})`,
    ],
    ['loop', loop],
    ['started', result.started_at],
    [
      'measured',
      `${(result.duration_ms / 1000).toFixed(1)} s after ${(result.warmup_ms / 1000).toFixed(1)} s of warm-up; ended: ${result.ended}`,
    ],
    ['as expected', `${grouped(requests.expected)}, ${requests.per_second}/s`],
    ['not as expected', grouped(requests.unexpected)],
    ['due and never sent', grouped(requests.unsent)],
    [
      'generator',
      `paygrade ${result.paygrade}, ${result.runtime}, ${Math.round(generator.cpu_share * 100)} % of a core${generator.lag_us === null ? '' : `, own lag p99 ${duration(generator.lag_us.p99)}`}`,
    ],
  ];
  if (generator.reason !== null) facts.push(['the limit', `the generator, not the server: ${generator.reason}`]);
  for (const hint of result.hints) facts.push(['hint', hint]);
  return `<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${escapedHtml(value)}</dd>`).join('')}</dl>`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --faint: #d5d8dc; --muted: #5f6670; --wrong: #b3261e;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b0578d; --c4: #8a6d00; --c5: #3d8fc4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #15171a; --faint: #343a41; --muted: #9aa3ad; --wrong: #ff8a80;
  --c0: #56b4e9; --c1: #ff9a4d; --c2: #3fcf9f; --c3: #e39ac6; --c4: #e0c341; --c5: #8fd0ff; } }
body { margin: 2rem auto; max-width: 68rem; overflow-wrap: anywhere; padding: 0 1rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } figure { margin: 1.5rem 0; } figcaption { font-weight: 600; }
figcaption small span { margin-left: 0.8em; } figcaption small span::before { content: "— "; }
svg { width: 100%; height: auto; } svg text { fill: var(--muted); font-size: 11px; }
.grid { stroke: var(--faint); fill: none; } .line { stroke: currentColor; fill: none; stroke-width: 1.8; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.1rem 1.2rem; } dt { color: var(--muted); } dd { margin: 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { padding: 0.2rem 0.5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--faint); }
.number, thead th { white-space: nowrap; } .number { text-align: right; font-variant-numeric: tabular-nums; } .wrong td, .wrong th { color: var(--wrong); }
pre { overflow-x: auto; font-size: 12px; }
@media (max-width: 60rem) { table { font-size: 12px; } th, td { padding: 0.2rem; } }
@media print { body { margin: 0; max-width: none; } table { font-size: 10px; } th, td { padding: 0.1rem 0.2rem; } .scroll { overflow: visible; } }`;

export function reportHtml(result: LoadResult): string {
  const title = `${result.scenario} load on ${result.url}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapedHtml(title)}</title>
<style>${STYLE}
</style>
</head>
<body>
<h1>${escapedHtml(title)}</h1>
${factList(result)}
${latencyPlot(result)}
${overTime(result).join('\n')}
<h2>Outcomes</h2>
<div class="scroll">${outcomeTable(result)}</div>
<details><summary>The whole result, JSON</summary>
<pre>${escapedHtml(JSON.stringify(result, null, 1))}</pre>
</details>
</body>
</html>
`;
}
