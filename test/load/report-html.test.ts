/** The HTML report: well formed, whole, and with nothing in it that a browser would load or run. */
import { readFileSync } from 'node:fs';
import { Parser } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { reportHtml } from '../../src/load/report-html.ts';
import { duration, summaryText } from '../../src/load/summary.ts';
import { FULL, resultOf } from './load-result.ts';

const EMPTY = resultOf(() => {}, { operations: [], server_version: null });

interface Page {
  readonly elements: readonly { readonly name: string; readonly attributes: Readonly<Record<string, string>> }[];
  readonly text: string;
  readonly isBalanced: boolean;
}

const VOID = new Set(['meta', 'path']);

function parsed(html: string): Page {
  const elements: { name: string; attributes: Record<string, string> }[] = [];
  const open: string[] = [];
  let text = '';
  let isBalanced = true;
  const parser = new Parser({
    onopentag(name, attributes) {
      elements.push({ name, attributes });
      open.push(name);
    },
    ontext(part) {
      text += part;
    },
    onclosetag(name, isImplied) {
      if (open.pop() !== name || (isImplied && !VOID.has(name))) isBalanced = false;
    },
  });
  parser.end(html);
  return { elements, text, isBalanced: isBalanced && open.length === 0 };
}

describe.each([
  ['a full result', FULL],
  ['an empty one', EMPTY],
])('the report of %s', (_, result) => {
  const html = reportHtml(result);
  const page = parsed(html);

  it('is well formed and has three plots', () => {
    expect(page.isBalanced).toBe(true);
    expect(page.elements.filter(({ name }) => name === 'svg')).toHaveLength(3);
  });

  it('loads and runs nothing', () => {
    const names = new Set(page.elements.map(({ name }) => name));
    for (const name of ['script', 'link', 'img', 'iframe', 'object', 'image', 'use', 'base', 'a']) {
      expect(names).not.toContain(name);
    }
    const attributes = new Set(page.elements.flatMap(({ attributes }) => Object.keys(attributes)));
    for (const name of ['src', 'href', 'xlink:href', 'style', 'srcset', 'action', 'onload']) {
      expect(attributes).not.toContain(name);
    }
    expect(html).not.toMatch(/url\(|@import/);
    expect(html).toContain(`default-src 'none'`);
    expect(html).toContain('prefers-color-scheme: dark');
  });

  it('holds no figure that is none', () => {
    const drawn = page.elements.flatMap(({ attributes }) => Object.values(attributes)).join(' ');
    expect(drawn).not.toMatch(/NaN|Infinity|undefined/);
    expect(page.text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('holds the whole result as it was', () => {
    const json = /<pre>([\s\S]*)<\/pre>/.exec(html)?.[1] as string;
    expect(JSON.parse(parsed(`<pre>${json}</pre>`).text)).toEqual(JSON.parse(JSON.stringify(result)));
  });
});

describe('the plots', () => {
  it('stay inside their frames', () => {
    const page = parsed(reportHtml(FULL));
    const lines = page.elements.filter(
      ({ name, attributes }) => name === 'path' && attributes.class?.startsWith('line'),
    );
    expect(lines).toHaveLength(2 + 2 + 2);
    for (const { attributes } of lines) {
      const points = [...(attributes.d ?? '').matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [
        Number(x),
        Number(y),
      ]);
      expect(points.length).toBeGreaterThan(10);
      for (const [x, y] of points as [number, number][]) {
        expect(x).toBeGreaterThanOrEqual(70);
        expect(x).toBeLessThanOrEqual(760 - 14);
        expect(y).toBeGreaterThanOrEqual(14);
        expect(y).toBeLessThanOrEqual(260 - 40);
      }
    }
  });
});

describe('the throughput over time', () => {
  it('is a level line for a steady run, also where the last stretch is a short one', () => {
    const counts = [10, 10, 10, 10, 5];
    const stretches = counts.map((expected, i) => ({ at_ms: i * 100, expected, unexpected: 0, p50_us: 1, p99_us: 1 }));
    const changes = { duration_ms: 450, operations: [], timeline: { stretch_ms: 100, stretches } };
    const { elements } = parsed(reportHtml(resultOf(() => {}, changes)));
    const line = elements.find(({ attributes }) => attributes.class === 'line c0')?.attributes.d ?? '';
    const heights = [...line.matchAll(/[\d.]+ ([\d.]+)/g)].map(([, y]) => y);
    expect(heights).toHaveLength(counts.length);
    expect(new Set(heights).size).toBe(1);
  });
});

describe('the summary', () => {
  it.each([
    [7, '7 µs'],
    [999, '999 µs'],
    [1_000, '1.00 ms'],
    [99_960, '100 ms'],
    [999_499, '999 ms'],
    [999_600, '1.00 s'],
    [999_499_999, '999 s'],
    [999_500_000, '16.7 min'],
    [3_600_000_000, '60.0 min'],
  ])('has %i µs as %s', (us, text) => {
    expect(duration(us)).toBe(text);
  });

  it('has a line for each outcome, marks what was not expected and says what the limit was', () => {
    const text = summaryText(FULL);
    expect(text).toMatch(/^ {2}unpaid {2,}402 PAYMENT_REQUIRED {2,}666 {2}/m);
    expect(text).toMatch(/^ {2}paid {2,}UNSENT \(!\) {2,}1 {2,}500 ms /m);
    expect(text).toContain('1,000 answered as expected, 500/s; 1 otherwise (!); 1 were due and never sent');
    expect(text).toContain('the generator, not the server, was the limit: no payment was signed in time for 20 %');
    expect(text).toContain('hint: a hint <b>');
    expect(text).not.toContain('of the time');
    const generator = { ...FULL.generator, waits_busy_share: 0.5 };
    expect(summaryText({ ...FULL, generator })).toContain('; no wait was held to be woken 50 % of the time\n');
    expect(summaryText(EMPTY)).toContain('0 answered as expected');
    const [words = ''] = /\/s; 0 .*\n/.exec(summaryText(EMPTY)) ?? [];
    expect(words).not.toBe('');
    expect(readFileSync(new URL('../../docs/load-testing.md', import.meta.url), 'utf8')).toContain(words);
  });
});
