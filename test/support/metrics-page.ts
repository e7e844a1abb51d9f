/**
 * A metrics page read by the rules of the text format 0.0.4, each line whole or not at all: families with HELP, TYPE and their
 * samples in one piece, names that their type allows, histograms whose buckets rise to their count, no series twice.
 */
import type { Transport } from './transport.ts';

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its name and its labels, in an order of their own. */
  readonly key: string;
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

/** A page has hundreds of lines and is often read in a polling loop: an `expect` for each line would be slow. */
function check(isRight: boolean, fault: string): void {
  if (!isRight) throw new Error(fault);
}

const isRising = (numbers: readonly number[]): boolean => numbers.every((n, i) => i === 0 || numbers[i - 1]! <= n);

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

/** Labels by their text: a page that is read in a polling loop has the same ones each time. */
const known = new Map<string, { readonly labels: Sample['labels']; readonly key: string }>();

function knownLabels(text: string) {
  let found = known.get(text);
  if (found === undefined) {
    const labels = labelsOf(text);
    found = { labels, key: keyOf(labels) };
    known.set(text, found);
  }
  return found;
}

const numberOf = (text: string): number => Number(text.replace('Inf', 'Infinity'));

const keyOf = (labels: Sample['labels']): string => JSON.stringify(Object.entries(labels).sort());

function familiesOf(text: string): Map<string, Family> {
  const lines = text.split('\n');
  check(lines.pop() === '', 'the last line has no end');
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
      check(['counter', 'gauge', 'histogram'].includes(type), `the type of ${name}: ${type}`);
      families.set(name, { type, help, samples: [] });
      current = name;
      continue;
    }
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const family = families.get(current);
    const base = family?.type === 'histogram' ? name.replace(/_(?:bucket|sum|count)$/, '') : name;
    if (family === undefined || base !== current) throw new Error(`a sample out of place: ${line}`);
    const { labels: read, key } = knownLabels(labels);
    family.samples.push({ name, labels: read, key: `${name} ${key}`, value: numberOf(value) });
  }
  return families;
}

/** Checks one histogram with one set of labels: bounds rise, counts never fall, the last equals the count. */
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
    const of = `of ${name} ${key}`;
    check(isRising(bounds) && new Set(bounds).size === bounds.length, `bounds ${of}: ${bounds}`);
    check(isRising(counts), `counts ${of}: ${counts}`);
    check(bounds.at(-1) === Number.POSITIVE_INFINITY, `the last bound ${of}: ${bounds.at(-1)}`);
    check(counts.at(-1) === count, `the last count ${of}: ${counts.at(-1)}, of ${count}`);
    check(sum >= 0, `the sum ${of}: ${sum}`);
  }
}

export class MetricsPage {
  readonly families: ReadonlyMap<string, Family>;
  /** Names with their labels. */
  readonly series: readonly string[];

  constructor(text: string) {
    this.families = familiesOf(text);
    const samples = [...this.families.values()].flatMap((family) => family.samples);
    this.series = samples.map(({ key }) => key);
    check(new Set(this.series).size === this.series.length, 'a series twice');
    for (const [name, { type, help, samples: own }] of this.families) {
      check(/\S/.test(help), `no help: ${name}`);
      check(own.length > 0, `no samples: ${name}`);
      check(name.endsWith('_total') === (type === 'counter'), `the name of a ${type}: ${name}`);
      if (type === 'histogram') expectHistogram(name, own);
      else if (!SIGNED.has(name)) for (const { value } of own) check(value >= 0, `${name}: ${value}`);
    }
  }

  /** The sample with exactly these labels; for a histogram its count. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const family = this.families.get(name);
    const key = `${family?.type === 'histogram' ? `${name}_count` : name} ${keyOf(labels)}`;
    const found = family?.samples.find((sample) => sample.key === key);
    if (found === undefined) throw new Error(`no ${name} ${JSON.stringify(labels)}`);
    return found.value;
  }
}

export const metricsOf = async (server: Transport): Promise<MetricsPage> =>
  new MetricsPage(await (await server.fetch('/metrics')).text());
