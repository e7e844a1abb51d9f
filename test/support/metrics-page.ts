/**
 * A metrics page read by the rules of the text format 0.0.4, each line whole or not at all: families with HELP, TYPE and their
 * samples in one piece, names that their type allows, histograms whose buckets rise to their count, no series twice.
 */
import { expect } from 'vitest';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const HEAD = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/;
const SAMPLE = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? ([-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|Inf)|NaN)$/;
/** Gauges that may be below zero. */
const SIGNED: ReadonlySet<string> = new Set(['paygrade_clock_skew_seconds']);
const LABEL = /([a-z_][a-z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/y;
const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const found = LABEL.exec(text);
    if (found === null) throw new Error(`bad labels: ${text}`);
    const [, name = '', escaped = ''] = found;
    if (name in labels) throw new Error(`a label twice: ${text}`);
    labels[name] = escaped.replace(/\\["\\n]/g, (pair) => ESCAPES[pair]!);
  }
  return labels;
}

const numberOf = (text: string): number => Number(text.replace('Inf', 'Infinity'));

const keyOf = ({ name, labels }: Pick<Sample, 'name' | 'labels'>): string =>
  `${name} ${JSON.stringify(Object.entries(labels).sort())}`;

function familiesOf(text: string): Map<string, Family> {
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  const families = new Map<string, Family>();
  let current = '';
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const head = HEAD.exec(line);
    if (head !== null) {
      const [, kind, name = '', help = ''] = head;
      const [, second, same, type = ''] = HEAD.exec(lines[++at] ?? '') ?? [];
      if (kind !== 'HELP' || second !== 'TYPE' || same !== name) throw new Error(`HELP and TYPE: ${line}`);
      if (families.has(name)) throw new Error(`${name} begins twice`);
      expect(['counter', 'gauge', 'histogram']).toContain(type);
      families.set(name, { type, help, samples: [] });
      current = name;
      continue;
    }
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const family = families.get(current);
    const base = family?.type === 'histogram' ? name.replace(/_(?:bucket|sum|count)$/, '') : name;
    if (family === undefined || base !== current) throw new Error(`a sample out of place: ${line}`);
    family.samples.push({ name, labels: labelsOf(labels), value: numberOf(value) });
  }
  return families;
}

/** Of one histogram with one set of labels: bounds rise, counts never fall, the last is the count. */
function expectHistogram(name: string, samples: readonly Sample[]): void {
  const byLabels = new Map<string, { bounds: number[]; counts: number[]; count: number; sum: number }>();
  for (const { name: full, labels, value } of samples) {
    const { le, ...own } = labels;
    const key = JSON.stringify(own);
    const entry = byLabels.get(key) ?? { bounds: [], counts: [], count: Number.NaN, sum: Number.NaN };
    byLabels.set(key, entry);
    if (full === `${name}_bucket`) {
      entry.bounds.push(numberOf(le ?? 'NaN'));
      entry.counts.push(value);
    } else if (full === `${name}_count`) entry.count = value;
    else entry.sum = value;
  }
  for (const [key, { bounds, counts, count, sum }] of byLabels) {
    expect(bounds, key).toEqual([...new Set(bounds)].sort((a, b) => a - b));
    expect(counts, key).toEqual([...counts].sort((a, b) => a - b));
    expect(bounds.at(-1), key).toBe(Number.POSITIVE_INFINITY);
    expect(counts.at(-1), key).toBe(count);
    expect(sum, key).toBeGreaterThanOrEqual(0);
  }
}

export class MetricsPage {
  readonly families: ReadonlyMap<string, Family>;
  /** Names with their labels. */
  readonly series: readonly string[];

  constructor(text: string) {
    this.families = familiesOf(text);
    const samples = [...this.families.values()].flatMap((family) => family.samples);
    this.series = samples.map(keyOf);
    expect(new Set(this.series).size).toBe(this.series.length);
    for (const [name, { type, help, samples: own }] of this.families) {
      expect(help, name).toMatch(/\S/);
      expect(own.length, name).toBeGreaterThan(0);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      if (type === 'histogram') expectHistogram(name, own);
      else if (!SIGNED.has(name)) for (const { value } of own) expect(value, name).toBeGreaterThanOrEqual(0);
    }
  }

  /** The one sample with exactly these labels; of a histogram its count. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const family = this.families.get(name);
    const full = family?.type === 'histogram' ? `${name}_count` : name;
    const found = family?.samples.find((sample) => keyOf(sample) === keyOf({ name: full, labels }));
    if (found === undefined) throw new Error(`no ${name} ${JSON.stringify(labels)}`);
    return found.value;
  }
}
