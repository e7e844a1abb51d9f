import { describe, expect, it } from 'vitest';
import { Exposition } from '../../src/base/prometheus.ts';
import { MetricsPage } from '../support/metrics-page.ts';

describe('the text format', () => {
  it('is written line by line, with what must be escaped escaped', () => {
    const { text } = new Exposition()
      .family('jobs_total', 'counter', 'Jobs.\nBy "kind" \\.')
      .sample(1, { kind: 'a "b" \\ c\nd', other: '' })
      .sample(2.5)
      .single('age_seconds', 'gauge', 'Age.', Number.POSITIVE_INFINITY);
    expect(text).toBe(
      [
        '# HELP jobs_total Jobs.\\nBy "kind" \\\\.',
        '# TYPE jobs_total counter',
        'jobs_total{kind="a \\"b\\" \\\\ c\\nd",other=""} 1',
        'jobs_total 2.5',
        '# HELP age_seconds Age.',
        '# TYPE age_seconds gauge',
        'age_seconds +Inf',
        '',
      ].join('\n'),
    );
    const page = new MetricsPage(text);
    expect(page.value('jobs_total', { kind: 'a "b" \\ c\nd', other: '' })).toBe(1);
    expect(page.value('age_seconds')).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ['a sample before its family', 'a 1\n'],
    ['a family twice', '# HELP a A.\n# TYPE a gauge\na 1\n# HELP a A.\n# TYPE a gauge\na 2\n'],
    ['a series twice', '# HELP a A.\n# TYPE a gauge\na{b="c"} 1\na{b="c"} 2\n'],
    ['a quote that is not escaped', '# HELP a A.\n# TYPE a gauge\na{b="c"d"} 1\n'],
    ['a counter without _total', '# HELP a A.\n# TYPE a counter\na 1\n'],
    [
      'buckets that fall',
      '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
    ],
    ['no line end', '# HELP a A.\n# TYPE a gauge\na 1'],
  ])('%s is no page', (_, text) => {
    expect(() => new MetricsPage(text)).toThrow();
  });
});
